"""What the smallest and the largest row have in common: the outermost quantile on one side, or a row further inside."""

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
class OutermostRow(Quantile):
    """The row at one end of a column, or with ``shift=k`` the row k places inside, which moves less."""

    name: ClassVar[str] = ""
    suits: ClassVar[tuple[str, ...]] = ("counted", "extreme", "quantile")
    extreme: ClassVar[bool] = True
    outermost: ClassVar[Trait]

    q: Fraction = Fraction(0)

    def shows(self) -> tuple[Trait, ...]:
        """The outermost row, unless it is one further inside."""
        outermost = () if self.shift else (self.outermost,)
        return Trait.REACH, Trait.RANGE, Trait.COLUMN, Trait.QUANTILE, Trait.ROW, *outermost

    def check(self) -> None:
        """The quantile at the end, by the lower rule, shifted inwards."""
        Quantile.check(self)
        checks.one_of(self.name, ("lower",), rule=self.rule)
        checks.whole(self.name, shift=self.shift)

    def weights(self, rows: int) -> Weights:
        """The row so many places inside, or the one at the other end."""
        rank = max(rows - self.shift, 1) if self.only else min(1 + self.shift, rows)
        return Weights(((rank, rank, 1),), 1)

    def ranks(self) -> tuple[Rank, ...]:
        """One rank: counted from the last row, or one that does not depend on the number of rows."""
        return (Rank(1, 1, offset=-self.shift) if self.only else Rank(0, 1, offset=1 + self.shift),)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """At the edge and one row inside, both relations."""
        rows = tuple((x,) for x in (0, 1, 3, 4))
        for relation in cls.relations:
            for shift in (0, 1):
                yield Case(cls("x", shift=shift, low=0, high=4, step=1, neighbors=relation), rows)
