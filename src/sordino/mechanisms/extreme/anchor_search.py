"""Anchor search: a private point near the k-th outermost row, from which a minimum or maximum is then looked for.

A point pays four levels for each row that it would need beyond it and one for each row too many. Both counts move
in one direction when a row changes, so the two slopes together are one bounded range.
Proof: docs/proofs/mechanism_extreme.md. The plan is data-free (extreme_plan.py); the mechanism is extreme.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sordino.mechanisms.tuned import ForExtreme

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.mechanisms.parts.measure import Measure
    from sordino.privacy import Guarantee

    Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AnchorSearch:
    """The data-free half of the search.

    Attributes:
        aim: How many rows are to lie beyond the anchor.
        share: Of the price.
        measure: Public base measure of the anchor.
        nats: What the search must outbid; a reading looks until twice that is bid.

    Example:
        >>> from sordino.mechanisms.parts.measure import Measure
        >>> search = AnchorSearch(1, Fraction(1, 4), Measure.uniform(9), nats=2.0)
        >>> low, high = search.ends(np.array([[8, 6, 5, 0]]), last=9, upper=True)
        >>> low.tolist(), high.tolist()
        ([[6, 5, 0, 0, 0]], [[8, 8, 8, 8, 9]])
    """

    aim: int
    share: Fraction
    measure: Measure
    nats: float

    def __post_init__(self) -> None:
        # Anchor and answer have a part of the price each, and the search asks for a row of the table.
        if not 0 < self.share < 1 or self.aim < 1 or not 0 <= self.nats < math.inf:
            raise AssertionError(f"an anchor has a part of the price and a row to aim at: {self!r}")

    def by(self, contribution: int) -> AnchorSearch:
        """The same search where a person has up to so many rows: so many times the rows beyond the anchor."""
        return replace(self, aim=self.aim * contribution)

    def slope(self, price: Guarantee, contribution: int = 1) -> Fraction:
        """Nats per level; rows of one person share the bounded range of the search."""
        return price.share(self.share).bounded_range / ((1 + ForExtreme.LEAN) * contribution)

    def depth(self, price: Guarantee) -> int:
        """Rows to look at; public. Farther inside all points count alike, which costs accuracy and no privacy."""
        return self.aim + math.ceil(2 * self.nats / self.slope(price))

    def ends(self, outermost: Codes, *, last: int, upper: bool) -> tuple[Codes, Codes]:
        """First and last points of level at most l, per group: nested intervals that close with the range.

        Args:
            outermost: Per group the codes of the rows from the outermost inwards, closed by the inner end of the range.
            last: The largest lattice point.
            upper: The outermost rows are the largest.
        """
        size = outermost.shape[1]
        levels = np.arange(max(ForExtreme.LEAN * self.aim, size - 1 - self.aim, 0) + 1)
        beyond = self.aim - 1 - levels // ForExtreme.LEAN
        inner = outermost[:, np.minimum(self.aim + levels, size - 1)]
        outer = outermost[:, np.clip(beyond, 0, size - 1)]
        outer[:, beyond < 0] = last if upper else 0
        inner[:, -1] = 0 if upper else last
        return (inner, outer) if upper else (outer, inner)
