"""The smallest row of a column."""

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
class Minimum(Quantile):
    """The smallest row, or with ``shift=k`` the row k places inside, which moves less.

    Example:
        >>> Minimum("income", low=0, high=500_000, shift=2).weights(9).pieces
        ((3, 3, 1),)
    """

    name: ClassVar[str] = "minimum"
    suits: ClassVar[tuple[str, ...]] = ("extreme", "quantile")
    extreme: ClassVar[bool] = True

    q: Fraction = Fraction(0)

    def shows(self) -> tuple[Trait, ...]:
        """The smallest row, unless it is one further inside."""
        outermost = () if self.shift else (Trait.SMALLEST,)
        return Trait.REACH, Trait.RANGE, Trait.COLUMN, Trait.QUANTILE, Trait.ROW, *outermost

    def check(self) -> None:
        """A minimum is the zero quantile by the lower rule, shifted inwards."""
        Quantile.check(self)
        checks.between(self.name, 0, 0, closed=True, q=self.q)
        checks.one_of(self.name, ("lower",), rule=self.rule)
        checks.whole(self.name, shift=self.shift)

    def weights(self, rows: int) -> Weights:
        """The row of rank 1 + shift, or the last one."""
        rank = min(1 + self.shift, rows)
        return Weights(((rank, rank, 1),), 1)

    def ranks(self) -> tuple[Rank, ...]:
        """One rank that does not depend on the number of rows."""
        return (Rank(0, 1, offset=1 + self.shift),)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """At the edge and one row inside, both relations."""
        rows = tuple((x,) for x in (0, 1, 3, 4))
        for relation in cls.relations:
            for shift in (0, 1):
                yield Case(cls("x", shift=shift, low=0, high=4, step=1, neighbors=relation), rows)
