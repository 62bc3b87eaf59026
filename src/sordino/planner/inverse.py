"""The questions people ask back: which price gives this error, and how many rows does a price need for it.

By bisection on the expected error of the default mechanism; the same generated columns serve every step, so the error
falls steadily. No private data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.errors import ParameterError, SordinoError, Unsupported
from sordino.planner.assumed import assumed
from sordino.planner.candidate import candidates
from sordino.planner.planning import size, tried
from sordino.planner.trial import Trial
from sordino.privacy import Concentrated, Guarantee, Neighbors, Pure
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from sordino.statistics import Statistic

TABLES = 6
DRAWS = 24
LEAST, MOST = 1e-4, 100.0  # prices between which is searched
FEW, MANY = 8, 10**6


def expected_error(
    statistic: Statistic,
    price: Guarantee,
    *,
    rows: int | None = None,
    assume: Any = None,
    neighbors: Neighbors | None = None,
    tables: int = TABLES,
    draws: int = DRAWS,
    seed: int = 0,
    **hints: Any,
) -> float:
    """The root mean square error to expect of the default mechanism.

    Example:
        >>> from sordino.statistics.count import Count
        >>> round(expected_error(Count("x"), Concentrated(0.005), rows=100))
        10
    """
    relation = statistic.neighbors if neighbors is None else Neighbors.of(neighbors)
    shape = assumed(assume, statistic)
    count = size(statistic, rows, shape)
    (default,) = candidates(
        statistic, price, rows=count, neighbors=relation, hints=hints, only_default=True
    )  # fmt: skip
    trial = Trial(default.part.statistic, shape, rows=count, seed=seed)
    return tried(default, trial, tables=tables, draws=draws).rms


@checks.explained(
    "", call='sd.needed_price(sd.Median("income", low=0, high=500_000), error=100, rows=20_000)'
)
def needed_price(
    statistic: Statistic,
    *,
    error: float,
    rows: int | None = None,
    like: Guarantee | None = None,
    **options: Any,
) -> Guarantee:
    """The smallest price at which the default mechanism has at most this root mean square error, to three digits.

    Args:
        statistic: What would be asked.
        error: The error that is wanted.
        rows: How many rows there are.
        like: A price of the kind that is wanted; pure epsilon by default.
        options: As for `plan`.

    Example:
        >>> from sordino.statistics.count import Count
        >>> needed_price(Count("x"), error=10.1, rows=1000, like=Concentrated(1))
        Concentrated(rho=0.00492)
    """
    wanted = float(checks.positive("needed price", error=error))
    _knowable("needed price", statistic)
    kind = Pure if like is None else type(like)
    if kind not in (Pure, Concentrated):
        raise Unsupported(
            "needed price", f"is not searched in {kind.__name__}", hint="like=sd.Concentrated(0.5)"
        )

    def enough(amount: float) -> bool:
        price = kind(Fraction(f"{amount:.6g}"))
        try:
            return expected_error(statistic, price, rows=rows, **options) <= wanted
        except Unsupported:  # too small a price for any theorem
            return False

    found = _search(enough, start=1.0, least=LEAST, most=MOST)
    if found is None:
        raise ParameterError(
            "needed price", "no price up to 100 gives this error", got={"error": error, "rows": rows},
            why="The grid of the answer, or the bias of clipping, is larger than that.", hint="a larger error",
        )  # fmt: skip
    return kind(_rounded_up(found))


@checks.explained(
    "", call='sd.needed_rows(sd.Median("income", low=0, high=500_000), sd.Pure(0.5), error=100)'
)
def needed_rows(statistic: Statistic, price: Guarantee, *, error: float, **options: Any) -> int:
    """The smallest number of rows at which the default mechanism has at most this error, to three digits.

    Args:
        statistic: What would be asked.
        price: What it may cost.
        error: The root mean square error that is wanted, from privacy alone.
        options: As for `plan`.

    Example:
        >>> from sordino.statistics.mean import Mean
        >>> needed_rows(Mean("x", low=0, high=1), Pure(1), error=0.001, tight=True)
        1420
    """
    wanted = float(checks.positive("needed rows", error=error))
    _knowable("needed rows", statistic)

    def enough(rows: float) -> bool:
        try:
            return expected_error(statistic, price, rows=round(rows), **options) <= wanted
        except SordinoError:
            return False

    found = _search(enough, start=64, least=FEW, most=MANY)
    if found is None:
        raise ParameterError(
            "needed rows", "a million rows do not give this error", got={"error": error, "price": price},
            hint="a larger price or a larger error",
        )  # fmt: skip
    return math.ceil(_rounded_up(found))


def _knowable(subject: str, statistic: Statistic) -> None:
    """Refuse a function of the caller's own: how far it is off by itself is known to nobody beforehand."""
    if Trait.BLOCKS in statistic.traits:
        raise Unsupported(
            subject, "is not searched for a function",
            why="Its error is a factor of the function's own error, which depends on the data.",
            hint="sd.plan(function, price, rows=20_000) shows the factor, and how many rows would do",
        )  # fmt: skip


def _search(enough: Callable[[float], bool], *, start: float, least: float, most: float) -> float | None:
    """The smallest amount that is enough, to a part in five hundred; None where the most is not."""
    low = high = start
    while not enough(high):
        if high >= most:
            return None
        low, high = high, min(4 * high, most)
    while low == high or (low < start and enough(low)):
        if low <= least:
            return least
        low, high = max(low / 4, least), min(low, high)
    while high / low > 1.002:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _rounded_up(value: float) -> Fraction:
    """Three digits, never less."""
    unit = Fraction(10) ** (math.floor(math.log10(value)) - 2)
    return math.ceil(Fraction(value) / unit) * unit
