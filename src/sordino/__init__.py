"""Sordino: differential privacy whose noise is fitted to the data at hand.

The public vocabulary: names only, no logic. Everything is loaded on first use, so that importing stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sordino import geo, plots, smoothed
    from sordino.errors import (
        BudgetExceeded,
        DataError,
        LedgerDamaged,
        LedgerError,
        ParameterError,
        SordinoError,
        Unsupported,
    )
    from sordino.ledger import Ledger
    from sordino.noise.arsinh_normal import ArsinhNormal
    from sordino.noise.calibration import Calibration
    from sordino.noise.gaussian import Gaussian
    from sordino.noise.generalized_cauchy import GeneralizedCauchy
    from sordino.noise.laplace import Laplace
    from sordino.noise.laplace_log_normal import LaplaceLogNormal
    from sordino.noise.laplace_pareto import LaplacePareto
    from sordino.noise.limit import lower_bound
    from sordino.noise.polyplace import PolyPlace
    from sordino.noise.staircase_polyplace import StaircasePolyPlace
    from sordino.noise.student_t import StudentT
    from sordino.noise.uniform_log_normal import UniformLogNormal
    from sordino.planner import (
        BudgetPlan,
        Plan,
        Sweep,
        add_remove_cost,
        best_trim,
        needed_price,
        needed_rows,
        plan,
        plan_budget,
        widest_bounds,
    )
    from sordino.privacy import (
        Approx,
        BoundedRange,
        Concentrated,
        Geo,
        Neighbors,
        Pure,
        TruncatedConcentrated,
        Unit,
        compose,
    )
    from sordino.reading.requests import Condition
    from sordino.session import (
        Session,
        open,  # noqa: A004
    )
    from sordino.session.oneline import (
        count,
        mean,
        median,
        quantile,
        standard_deviation,
        trimmed_mean,
        variance,
    )
    from sordino.session.release import Event, Release
    from sordino.statistics.categories import Categories
    from sordino.statistics.count import Count
    from sordino.statistics.count_above import CountAbove
    from sordino.statistics.edges import Edges
    from sordino.statistics.histogram import Histogram
    from sordino.statistics.interquantile_range import InterquantileRange
    from sordino.statistics.maximum import Maximum
    from sordino.statistics.maximum_degree import MaximumDegree
    from sordino.statistics.mean import Mean
    from sordino.statistics.median import Median
    from sordino.statistics.minimum import Minimum
    from sordino.statistics.minimum_spanning_tree import MinimumSpanningTree
    from sordino.statistics.mode import Mode
    from sordino.statistics.mode_count import ModeCount
    from sordino.statistics.output_trimmed_mean import OutputTrimmedMean
    from sordino.statistics.quantile import Quantile
    from sordino.statistics.quantiles import Quantiles
    from sordino.statistics.second_moment import SecondMoment
    from sordino.statistics.standard_deviation import StandardDeviation
    from sordino.statistics.sum import Sum
    from sordino.statistics.tail_counts import TailCounts
    from sordino.statistics.theil_sen import TheilSen
    from sordino.statistics.triangles import Triangles
    from sordino.statistics.trimmed_mean import TrimmedMean
    from sordino.statistics.variance import Variance
    from sordino.statistics.vector import Vector
    from sordino.statistics.winsorized_mean import WinsorizedMean

__version__ = "0.1.0"

__all__ = [
    "Approx",
    "ArsinhNormal",
    "BoundedRange",
    "BudgetExceeded",
    "BudgetPlan",
    "Calibration",
    "Categories",
    "Concentrated",
    "Condition",
    "Count",
    "CountAbove",
    "DataError",
    "Edges",
    "Event",
    "Gaussian",
    "GeneralizedCauchy",
    "Geo",
    "Histogram",
    "InterquantileRange",
    "Laplace",
    "LaplaceLogNormal",
    "LaplacePareto",
    "Ledger",
    "LedgerDamaged",
    "LedgerError",
    "Maximum",
    "MaximumDegree",
    "Mean",
    "Median",
    "Minimum",
    "MinimumSpanningTree",
    "Mode",
    "ModeCount",
    "Neighbors",
    "OutputTrimmedMean",
    "ParameterError",
    "Plan",
    "PolyPlace",
    "Pure",
    "Quantile",
    "Quantiles",
    "Release",
    "SecondMoment",
    "Session",
    "SordinoError",
    "StaircasePolyPlace",
    "StandardDeviation",
    "StudentT",
    "Sum",
    "Sweep",
    "TailCounts",
    "TheilSen",
    "Triangles",
    "TrimmedMean",
    "TruncatedConcentrated",
    "UniformLogNormal",
    "Unit",
    "Unsupported",
    "Variance",
    "Vector",
    "WinsorizedMean",
    "add_remove_cost",
    "best_trim",
    "compose",
    "count",
    "geo",
    "lower_bound",
    "mean",
    "median",
    "needed_price",
    "needed_rows",
    "open",
    "plan",
    "plan_budget",
    "plots",
    "quantile",
    "smoothed",
    "standard_deviation",
    "trimmed_mean",
    "variance",
    "widest_bounds",
]

# Where each public name lives; modules that are public themselves live at home.
_HOMES = {
    "errors": (
        "BudgetExceeded",
        "DataError",
        "LedgerDamaged",
        "LedgerError",
        "ParameterError",
        "SordinoError",
        "Unsupported",
    ),
    "noise.arsinh_normal": ("ArsinhNormal",),
    "noise.calibration": ("Calibration",),
    "noise.gaussian": ("Gaussian",),
    "noise.generalized_cauchy": ("GeneralizedCauchy",),
    "noise.laplace": ("Laplace",),
    "noise.laplace_log_normal": ("LaplaceLogNormal",),
    "noise.laplace_pareto": ("LaplacePareto",),
    "noise.limit": ("lower_bound",),
    "noise.polyplace": ("PolyPlace",),
    "noise.staircase_polyplace": ("StaircasePolyPlace",),
    "noise.student_t": ("StudentT",),
    "noise.uniform_log_normal": ("UniformLogNormal",),
    "planner": (
        "BudgetPlan",
        "Plan",
        "Sweep",
        "add_remove_cost",
        "best_trim",
        "needed_price",
        "needed_rows",
        "plan",
        "plan_budget",
        "widest_bounds",
    ),
    "privacy": (
        "Approx",
        "BoundedRange",
        "Concentrated",
        "Geo",
        "Neighbors",
        "Pure",
        "TruncatedConcentrated",
        "Unit",
        "compose",
    ),
    "ledger": ("Ledger",),
    "session.release": ("Event", "Release"),
    "session.oneline": (
        "count",
        "mean",
        "median",
        "quantile",
        "standard_deviation",
        "trimmed_mean",
        "variance",
    ),
    "session": ("Session", "open"),
    "reading.requests": ("Condition",),
    "statistics.categories": ("Categories",),
    "statistics.count": ("Count",),
    "statistics.count_above": ("CountAbove",),
    "statistics.edges": ("Edges",),
    "statistics.histogram": ("Histogram",),
    "statistics.interquantile_range": ("InterquantileRange",),
    "statistics.maximum": ("Maximum",),
    "statistics.maximum_degree": ("MaximumDegree",),
    "statistics.mean": ("Mean",),
    "statistics.median": ("Median",),
    "statistics.minimum": ("Minimum",),
    "statistics.minimum_spanning_tree": ("MinimumSpanningTree",),
    "statistics.mode": ("Mode",),
    "statistics.mode_count": ("ModeCount",),
    "statistics.output_trimmed_mean": ("OutputTrimmedMean",),
    "statistics.quantile": ("Quantile",),
    "statistics.quantiles": ("Quantiles",),
    "statistics.second_moment": ("SecondMoment",),
    "statistics.standard_deviation": ("StandardDeviation",),
    "statistics.sum": ("Sum",),
    "statistics.tail_counts": ("TailCounts",),
    "statistics.theil_sen": ("TheilSen",),
    "statistics.triangles": ("Triangles",),
    "statistics.trimmed_mean": ("TrimmedMean",),
    "statistics.variance": ("Variance",),
    "statistics.vector": ("Vector",),
    "statistics.winsorized_mean": ("WinsorizedMean",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name in _HOME_OF:
        value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    elif name in __all__:
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
