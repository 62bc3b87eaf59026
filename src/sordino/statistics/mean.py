"""The mean of a column between public bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sordino.privacy import Neighbors
from sordino.reading.profile import Opened, Profile, Reach
from sordino.reading.requests import FIRST, LAST, Rank, Request
from sordino.reading.traits import Trait
from sordino.statistics import Case
from sordino.statistics.ordered import Ordered, Weights, block_add_remove_profile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sordino.hints import Hints
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(Ordered):
    """The mean of the rows clipped to the bounds; an empty column has the mean ``low``.

    Example:
        >>> Mean("income", low=0, high=500_000).define([2, 4, 9])
        Fraction(5, 1)
    """

    name: ClassVar[str] = "mean"
    suits: ClassVar[tuple[str, ...]] = (
        "mean-interval", "additive", "symmetric-mean", "plain-or-cut", "auto-clip",
    )  # fmt: skip
    total: ClassVar[bool] = False

    def shows(self) -> tuple[Trait, ...]:
        """The mean of the column."""
        return Trait.REACH, Trait.RANGE, Trait.COLUMN, Trait.MEAN

    def ranks(self) -> tuple[Rank, ...]:
        """The first and the last row."""
        return FIRST, LAST

    def whole(self) -> Request | None:
        """The sum, where the number of rows is public."""
        public = self.neighbors is Neighbors.REPLACE_ONE
        return Request(self.column, self.grid) if public else None

    def open(self, summary: Summary) -> Opened:
        """Value, reach and profile from the windows; without any, the value and the global bound."""
        rows, top = summary.rows, self.grid.last
        if summary.runs or not rows:
            return super(Mean, self).open(summary)
        value = Fraction(summary.total, rows)
        reach = Reach.dense([value], [value], bottom=0, top=top)
        bound = Profile.constant(Fraction(top, rows))
        return Opened(value, self.units, bound, reach, rows, bottom=0, top=top)

    def weights(self, rows: int) -> Weights:
        """All rows alike."""
        return Weights(((1, rows, 1),), rows)

    def add_remove_profile(self, summary: Summary, depth: int, top: int) -> Profile | None:
        """One row more moves the mean by its share of the range."""
        return block_add_remove_profile(self, summary, depth, top)

    def smoothing(self, price: Guarantee, hints: Hints) -> Fraction | None:  # noqa: ARG002
        """Plain noise where the bounds fit, or where nothing is known of the rows."""
        fits = hints.rows is None or hints.fits(self.low, self.high)
        plain = self.neighbors is Neighbors.REPLACE_ONE and fits
        return Fraction(0) if plain else None

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Four points with a lower bound other than zero, both relations."""
        rows = tuple((x,) for x in (-2, -1, 1, 3))
        for relation in cls.relations:
            yield Case(cls("x", low=-2, high=3, step=1, neighbors=relation), rows, (1, 2, 3, 4))
