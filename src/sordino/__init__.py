"""Sordino: differential privacy whose noise is fitted to the data at hand.

The public vocabulary. Everything is loaded on first use, so that importing stays light: the fundamental names from the
table below, statistics, noise families and mechanisms from the files of their folders, plug-ins from the catalogue. A
new file is public by being there. Type checkers read ``__init__.pyi``.
"""

from importlib import import_module as _import_module
from pkgutil import iter_modules as _iter_modules
from typing import Any as _Any

__version__ = "0.1.0"

# Where the fundamental names live. Statistics, noise families and mechanisms are found in their folders.
_HOMES = {
    "catalogue": "register",
    "client": "connect",
    "errors": "BudgetExceeded DataError LedgerDamaged LedgerError ParameterError SordinoError Unsupported",
    "ledger": "Ledger",
    "noise.calibration": "Calibration",
    "noise.limit": "lower_bound",
    "planner": (
        "BudgetPlan Plan Sweep add_remove_cost best_trim needed_price needed_rows plan plan_budget "
        "widest_bounds"
    ),
    "coverage": "Population Sample",
    "privacy": (
        "Approx ApproxConcentrated BoundedRange Concentrated Geo Guarantee Neighbors Pure Purse "
        "TruncatedConcentrated Unit compose"
    ),
    "reading.bound_check": "check_bound smooth_bound",
    "reading.condition": "Condition",
    "reading.discover": "Discover discover",
    "reading.formula": "col",
    "reading.profile": "Profile",
    "session": "Session open",
    "session.columns": "columns",
    "testing.audit": "audit",
    "session.oneline": "count histogram max mean median min quantile quantiles std sum trimmed_mean var",
    "session.own": "add_noise",
    "session.release": "Event Release",
}
_ROOMS = ("geo", "plots", "smoothed")


def _found(name: str) -> _Any:
    """A public name, or None."""
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(_import_module(f"{__name__}.{home}"), name)
    if name in _ROOMS:
        return _import_module(f"{__name__}.{name}")
    # Only classes are catalogued; other names are modules, which Python imports by itself.
    return _import_module(f"{__name__}.catalogue").public(name) if name[0].isupper() else None


def __getattr__(name: str) -> _Any:
    """Load a public name on first use."""
    if name == "__all__":
        return __dir__()
    value = None if name.startswith("_") else _found(name)
    if value is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_near(name)}")
    globals()[name] = value
    return value


def _near(name: str) -> str:
    """What was perhaps meant; numpy's other names for what is here are known."""
    if name.startswith("_"):
        return ""
    from difflib import get_close_matches

    numpy = {
        "percentile": "quantile",
        "average": "mean",
        "nanmean": "mean",
        "nanmedian": "median",
        "amax": "max",
    }
    # Python asks for a module before it imports it: the files of the catalogue are not read for that.
    ours = any(module.name == name for module in _iter_modules(__path__))
    names = [*_fundamental(), *_ROOMS] if ours else __dir__()
    near = [numpy[name]] if name in numpy else get_close_matches(name, sorted(names), n=1)
    return f"; sordino.{near[0]} is there" if near else ""


def _fundamental() -> list[str]:
    return [name for names in _HOMES.values() for name in names.split()]


def __dir__() -> list[str]:
    catalogue = _import_module(f"{__name__}.catalogue")
    return sorted({*_fundamental(), *_ROOMS, *catalogue.own_names(), "__version__"})
