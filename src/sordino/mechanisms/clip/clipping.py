"""`Clipping`: what mechanisms that may clip a column before they average it have in common.

Bounds, rows and hints are public; what is averaged, and how a clipping interval is found, is said by subclasses.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from sordino.mechanisms import Answer, lacking, matched, other_bounds
from sordino.mechanisms.clip.column import AskedColumn
from sordino.mechanisms.parts.conversing import Conversing
from sordino.privacy import Neighbors
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from fractions import Fraction

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.lattice import Lattice
    from sordino.mechanisms import Asking, Words
    from sordino.mechanisms.clip.column import ClippableColumn
    from sordino.privacy import Guarantee


@dataclass(frozen=True, slots=True, kw_only=True)
class Clipping(Conversing):
    """Mean, sum or squares of one column between public bounds.

    Args:
        price: What the whole answer costs.
        rows: Public number of rows; under add/remove a declared rough one (it steers the search, not the promise).
        low: Public lower bound.
        high: Public upper bound.
        step: Declared lattice of the data.
        centre: Public guess of the centre.
        spread: Public guess of the spread; with a centre it is worth more than any tuning when rows are few.
        tight: The bounds fit the column: no search, the whole price for the noise.
        neighbors: Which two datasets are neighbours.
    """

    price: Guarantee
    rows: int
    low: float
    high: float
    step: Fraction | float | None = None
    centre: float | None = None
    spread: float | None = None
    tight: bool = False
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    @classmethod
    def of(cls, statistic: Any, price: Guarantee, hints: Hints, **mode: Any) -> Self:
        """The mechanism for the column of a statistic, from what the caller says of it."""
        said = {"centre": hints.centre, "spread": hints.spread, **mode}
        return cls(
            price=price, rows=hints.rows or 0, low=statistic.low, high=statistic.high, step=statistic.step,
            neighbors=statistic.neighbors, **said,
        )  # fmt: skip

    @abstractmethod
    def converse(
        self, column: ClippableColumn, grid: Lattice, *, contribution: int = 1, bits: Bits | None = None
    ) -> Answer:
        """Ask about the column, and answer."""

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Ask the source for counts and clipped sums, a few times at most."""
        column = AskedColumn(statistic.column, statistic.grid, ask)
        return matched(self, statistic).converse(column, grid, contribution=contribution, bits=bits)

    def _other(self, statistic: Any, trait: Trait) -> str | None:
        """Why no theorem covers a statistic: another trait, relation or column than it was planned for."""
        reason = lacking(statistic, trait) or self._other_relation(statistic)
        return reason or other_bounds(statistic, self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippingMean(Clipping):
    """Mean or sum.

    Args:
        total: Answer the sum instead of the mean.
    """

    total: bool = False

    def refusal(self, statistic: Any) -> str | None:
        """The mean, or the sum, of a column within the bounds it was planned for."""
        return self._other(statistic, Trait.TOTAL if self.total else Trait.MEAN)

    @staticmethod
    def averaged(statistic: Any) -> bool:
        """Whether a statistic is a mean or a sum."""
        return bool({Trait.MEAN, Trait.TOTAL} & statistic.traits)
