"""One-line releases for notebooks: ``sd.median(x, low=0, high=1, price=sd.Pure(1))``. In memory, in no ledger.

Nobody adds these up; the release says so. For anything that leaves the notebook use `sordino.open` and a ledger.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from sordino import session
from sordino.calling import explained
from sordino.errors import ParameterError
from sordino.statistics import Statistic, kinds

if TYPE_CHECKING:
    from sordino.privacy import Guarantee
    from sordino.session.release import Release


@explained("sd.count")
def count(x: Any, *, price: Guarantee, **options: Any) -> Release:
    """How many rows hold a number.

    Args:
        x: One column.
        price: What the answer may cost.
        options: Fields of the statistic and options of `Session.release`.
    """
    return _once("count", x, price, options)


@explained("sd.mean")
def mean(x: Any, *, low: float, high: float, price: Guarantee, **options: Any) -> Release:
    """The mean of a column with public bounds; see `count` for the arguments."""
    return _once("mean", x, price, {"low": low, "high": high, **options})


@explained("sd.median")
def median(x: Any, *, low: float, high: float, price: Guarantee, **options: Any) -> Release:
    """The median of a column with public bounds; see `count` for the arguments.

    Example:
        >>> from sordino.privacy import Pure
        >>> answer = median([31, 45, 28, 60], low=0, high=120, step=1, price=Pure(1))
        >>> 0 <= answer.value <= 120, answer.ledger_id
        (True, None)
    """
    return _once("median", x, price, {"low": low, "high": high, **options})


@explained("sd.quantile")
def quantile(x: Any, q: float, *, low: float, high: float, price: Guarantee, **options: Any) -> Release:
    """A quantile of a column with public bounds; see `count` for the arguments."""
    return _once("quantile", x, price, {"q": q, "low": low, "high": high, **options})


@explained("sd.standard_deviation")
def standard_deviation(x: Any, *, low: float, high: float, price: Guarantee, **options: Any) -> Release:
    """The standard deviation of a column with public bounds; see `count` for the arguments."""
    return _once("standard-deviation", x, price, {"low": low, "high": high, **options})


@explained("sd.trimmed_mean")
def trimmed_mean(
    x: Any, trim: float, *, low: float, high: float, price: Guarantee, **options: Any
) -> Release:
    """The mean without a share of the rows at both ends; see `count` for the arguments."""
    return _once("trimmed-mean", x, price, {"trim": trim, "low": low, "high": high, **options})


@explained("sd.variance")
def variance(x: Any, *, low: float, high: float, price: Guarantee, **options: Any) -> Release:
    """The variance of a column with public bounds; see `count` for the arguments."""
    return _once("variance", x, price, {"low": low, "high": high, **options})


def _once(name: str, x: Any, price: Guarantee, options: dict[str, Any]) -> Release:
    """Release one statistic of one column from a ledger that is thrown away."""
    kind: type[Statistic] = kinds()[name]
    own = {field.name for field in fields(kind) if field.init}  # type: ignore[arg-type]
    asked = {key: options.pop(key) for key in list(options) if key in own and key != "neighbors"}
    neighbors = options.pop("neighbors", None)
    if "token" in options:
        raise ParameterError(
            name, "has no token without a ledger", hint="sd.open(data, ledger=..., budget=...)"
        )
    statistic = kind("x", **asked)  # type: ignore[call-arg]
    people = session.open({"x": x}, budget=price, neighbors=neighbors, reason="a notebook")
    try:
        return replace(people.release(statistic, price, **options), ledger_id=None, token=None)
    finally:
        people.ledger.close()
