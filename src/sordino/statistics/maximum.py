"""The largest row of a column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sordino import checks
from sordino.reading.requests import Rank
from sordino.reading.traits import Trait
from sordino.statistics import Case
from sordino.statistics.ordered import Weights
from sordino.statistics.quantile import Quantile

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Maximum(Quantile):
    """The largest row, or with ``shift=k`` the row k places inside, which moves less.

    Example:
        >>> Maximum("income", low=0, high=500_000, shift=2).weights(9).pieces
        ((7, 7, 1),)
    """

    name: ClassVar[str] = "maximum"
    suits: ClassVar[tuple[str, ...]] = ("extreme", "quantile")
    extreme: ClassVar[bool] = True

    q: Fraction = Fraction(1)

    def shows(self) -> tuple[Trait, ...]:
        """The largest row, unless it is one further inside."""
        outermost = () if self.shift else (Trait.LARGEST,)
        return Trait.REACH, Trait.RANGE, Trait.COLUMN, Trait.QUANTILE, Trait.ROW, *outermost

    def check(self) -> None:
        """A maximum is the one quantile by the lower rule, shifted inwards."""
        Quantile.check(self)
        checks.between(self.name, 1, 1, closed=True, q=self.q)
        checks.one_of(self.name, ("lower",), rule=self.rule)
        checks.whole(self.name, shift=self.shift)

    def weights(self, rows: int) -> Weights:
        """The row of rank n - shift, or the first one."""
        rank = max(rows - self.shift, 1)
        return Weights(((rank, rank, 1),), 1)

    def ranks(self) -> tuple[Rank, ...]:
        """One rank, counted from the last row."""
        return (Rank(1, 1, offset=-self.shift),)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """At the edge and one row inside, both relations."""
        rows = tuple((x,) for x in (0, 1, 3, 4))
        for relation in cls.relations:
            for shift in (0, 1):
                yield Case(cls("x", shift=shift, low=0, high=4, step=1, neighbors=relation), rows)
