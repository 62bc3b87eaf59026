"""The largest row of a column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sordino.reading.requests import Rank
from sordino.reading.traits import Trait
from sordino.statistics.ordered import Weights
from sordino.statistics.outermost import OutermostRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Maximum(OutermostRow):
    """The largest row, or with ``shift=k`` the row k places inside, which moves less.

    Example:
        >>> Maximum("income", low=0, high=500_000, shift=2).weights(9).pieces
        ((7, 7, 1),)
    """

    name: ClassVar[str] = "maximum"
    end: ClassVar[int] = 1
    outermost: ClassVar[Trait] = Trait.LARGEST

    q: Fraction = Fraction(1)

    def weights(self, rows: int) -> Weights:
        """The row of rank n - shift, or the first one."""
        rank = max(rows - self.shift, 1)
        return Weights(((rank, rank, 1),), 1)

    def ranks(self) -> tuple[Rank, ...]:
        """One rank, counted from the last row."""
        return (Rank(1, 1, offset=-self.shift),)
