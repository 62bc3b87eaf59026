"""The mid-range: half-way between the smallest and the largest row. A statistic of one's own, in one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sordino.reading.requests import FIRST, LAST, Rank
from sordino.statistics import Case
from sordino.statistics.ordered import Ordered, Weights

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class MidRange(Ordered):
    """Half the sum of the smallest and the largest row, between public bounds.

    Example:
        >>> MidRange("income", low=0, high=500_000).define([2, 3, 10])
        Fraction(6, 1)
    """

    name: ClassVar[str] = "mid-range"

    def ranks(self) -> tuple[Rank, ...]:
        """The first and the last row."""
        return FIRST, LAST

    def weights(self, rows: int) -> Weights:
        """One half each; with one row both are the same."""
        return Weights(((1, 1, 1), (rows, rows, 1)), 2)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Tiny worlds in which the laws enumerate every dataset, both relations."""
        rows = tuple((x,) for x in (0, 1, 4))
        for relation in cls.relations:
            yield Case(cls("x", low=0, high=4, step=1, neighbors=relation), rows, (1, 2, 3, 4))
