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
        LedgerError,
        ParameterError,
        SordinoError,
        Unsupported,
    )
    from sordino.noise.arsinh_normal import ArsinhNormal
    from sordino.noise.calibration import Calibration
    from sordino.noise.gaussian import Gaussian
    from sordino.noise.generalized_cauchy import GeneralizedCauchy
    from sordino.noise.laplace import Laplace
    from sordino.noise.laplace_log_normal import LaplaceLogNormal
    from sordino.noise.laplace_pareto import LaplacePareto
    from sordino.noise.limit import lower_bound
    from sordino.noise.polyplace import PolyPlace
    from sordino.noise.student_t import StudentT
    from sordino.noise.uniform_log_normal import UniformLogNormal
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

__version__ = "0.1.0"

__all__ = [
    "Approx",
    "ArsinhNormal",
    "BoundedRange",
    "BudgetExceeded",
    "Calibration",
    "Concentrated",
    "DataError",
    "Gaussian",
    "GeneralizedCauchy",
    "Geo",
    "Laplace",
    "LaplaceLogNormal",
    "LaplacePareto",
    "LedgerError",
    "Neighbors",
    "ParameterError",
    "PolyPlace",
    "Pure",
    "SordinoError",
    "StudentT",
    "TruncatedConcentrated",
    "UniformLogNormal",
    "Unit",
    "Unsupported",
    "compose",
    "geo",
    "lower_bound",
    "plots",
    "smoothed",
]

# Where each public name lives; modules that are public themselves live at home.
_HOMES = {
    "errors": ("BudgetExceeded", "DataError", "LedgerError", "ParameterError", "SordinoError", "Unsupported"),
    "noise.arsinh_normal": ("ArsinhNormal",),
    "noise.calibration": ("Calibration",),
    "noise.gaussian": ("Gaussian",),
    "noise.generalized_cauchy": ("GeneralizedCauchy",),
    "noise.laplace": ("Laplace",),
    "noise.laplace_log_normal": ("LaplaceLogNormal",),
    "noise.laplace_pareto": ("LaplacePareto",),
    "noise.limit": ("lower_bound",),
    "noise.polyplace": ("PolyPlace",),
    "noise.student_t": ("StudentT",),
    "noise.uniform_log_normal": ("UniformLogNormal",),
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
