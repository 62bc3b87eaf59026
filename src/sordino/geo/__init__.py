"""The local model in a metric space: each device reports its own point, moved by noise, or an answer about it.

References, mechanisms, reports, maps and estimates; on a map everything is in metres. Names are loaded on first use.
The promise is `sordino.privacy.Geo`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "ReportAnswer": "answers",
    "BlockMechanism": "blocks",
    "Box": "region",
    "Collector": "collector",
    "DensityMap": "maps",
    "DeviceBudget": "budget",
    "Disc": "region",
    "Estimate": "estimation",
    "FiniteMetric": "metric",
    "Flat": "reference",
    "FunctionMechanism": "function_mechanism",
    "FunctionOfDistance": "forms",
    "FunctionOfLinearForm": "forms",
    "FunctionOnBox": "function_on_box",
    "FunctionOnLine": "forms",
    "FunctionOnSet": "space_function",
    "Geofence": "region",
    "KernelDensity": "kernel_density",
    "Logarithmic": "logarithm",
    "Logistic": "forms",
    "PointReports": "points",
    "Points": "points",
    "Query": "query",
    "QueryMechanism": "mechanism",
    "Range": "line",
    "Reference": "reference",
    "ReportTally": "estimation",
    "Reports": "reporting",
    "Sphere": "reference",
    "Threshold": "line",
    "TwoWayThreshold": "region",
    "answer": "answers",
    "estimate": "estimation",
    "map_of": "maps",
    "mechanism_for": "reporting",
    "moments": "questions",
    "moved_answer": "moved",
    "nearest_shares": "questions",
    "plan_points": "point_planning",
    "report": "reporting",
    "stored_reports": "collector",
    "survey": "estimation",
}

__all__ = [
    "BlockMechanism",
    "Box",
    "Collector",
    "DensityMap",
    "DeviceBudget",
    "Disc",
    "Estimate",
    "FiniteMetric",
    "Flat",
    "FunctionMechanism",
    "FunctionOfDistance",
    "FunctionOfLinearForm",
    "FunctionOnBox",
    "FunctionOnLine",
    "FunctionOnSet",
    "Geofence",
    "KernelDensity",
    "Logarithmic",
    "Logistic",
    "PointReports",
    "Points",
    "Query",
    "QueryMechanism",
    "Range",
    "Reference",
    "ReportAnswer",
    "ReportTally",
    "Reports",
    "Sphere",
    "Threshold",
    "TwoWayThreshold",
    "answer",
    "estimate",
    "map_of",
    "mechanism_for",
    "moments",
    "moved_answer",
    "nearest_shares",
    "plan_points",
    "report",
    "stored_reports",
    "survey",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
