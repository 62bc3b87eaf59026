"""The local model in a metric space: each device reports a privatised answer about its own point.

Queries, mechanisms, reports and estimates; everything is in metres (or in the unit of the numbers). Names are
loaded on first use. The promise is `sordino.privacy.Geo`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "BlockMechanism": "blocks",
    "Box": "region",
    "Collector": "wire",
    "DeviceBudget": "budget",
    "Disc": "region",
    "Estimate": "estimation",
    "FunctionOfDistance": "forms",
    "FunctionOfLinearForm": "forms",
    "FunctionOnLine": "forms",
    "Geofence": "region",
    "KernelDensity": "kernel_density",
    "Logistic": "forms",
    "Mechanism": "mechanism",
    "Projection": "projection",
    "Query": "query",
    "Range": "line",
    "Reports": "reporting",
    "Tally": "estimation",
    "Threshold": "line",
    "TwoWayThreshold": "region",
    "estimate": "estimation",
    "mechanism_for": "reporting",
    "report": "reporting",
    "survey": "estimation",
}

__all__ = [
    "BlockMechanism",
    "Box",
    "Collector",
    "DeviceBudget",
    "Disc",
    "Estimate",
    "FunctionOfDistance",
    "FunctionOfLinearForm",
    "FunctionOnLine",
    "Geofence",
    "KernelDensity",
    "Logistic",
    "Mechanism",
    "Projection",
    "Query",
    "Range",
    "Reports",
    "Tally",
    "Threshold",
    "TwoWayThreshold",
    "estimate",
    "mechanism_for",
    "report",
    "survey",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
