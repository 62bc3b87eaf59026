"""The number of rows that have a number in a column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.lattice import Lattice, RowLattice
from sordino.privacy import Neighbors
from sordino.reading.profile import Opened, Profile, Reach
from sordino.reading.requests import Request
from sordino.reading.summaries import Summaries
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Case, Statistic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.hints import Hints
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Summary


def count_reach(count: int, depth: int, *, most: int | None) -> Reach:
    """One step changes a count by one, between 0 and ``most``.

    Example:
        >>> count_reach(1, 2, most=2).high
        (1, 2)
    """
    if not depth and most is None:
        return Reach((0,), (count,), (count,), 1)
    lows = [max(0, count - l) for l in range(depth + 1)]
    if most is None:
        return Reach(tuple(range(depth + 1)), tuple(lows), tuple(count + l for l in range(depth + 1)), 1)
    return Reach.dense(lows, [min(most, count + l) for l in range(depth + 1)], bottom=0, top=most)


@dataclass(frozen=True, slots=True)
class Count(Statistic):
    """How many rows have a number in the column (NaN and nulls are not counted).

    Args:
        column: Name of the column.

    Example:
        >>> Count("income").define([3, 4])
        2
    """

    name: ClassVar[str] = "count"
    suits: ClassVar[tuple[str, ...]] = ("geometric", "additive")
    tallies: ClassVar[bool] = True

    column: str
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    def __post_init__(self) -> None:
        self.check_relation()

    def shows(self) -> tuple[Trait, ...]:
        """A count without an upper end."""
        return Trait.REACH, Trait.WHOLE

    @property
    def exact(self) -> tuple[str, ...]:
        """Exact when rows come and go; under replace-one the number of all rows would bound it too."""
        return ("profile", "low", "high") if self.neighbors is Neighbors.ADD_REMOVE_ONE else ()

    @property
    def units(self) -> Lattice:
        """Whole rows."""
        return Lattice()

    def request(self, *, depth: int = DEPTH) -> Request:
        """The number of rows alone."""
        return Request(self.column, RowLattice.point(), depth=depth)

    def define(self, rows: Sequence[Any]) -> int:
        """Count what is a number."""
        return sum(row == row for row in rows)  # noqa: PLR0124  NaN differs from itself

    def open(self, summary: Summary) -> Opened:
        """A row changes the count by at most one."""
        reach = count_reach(summary.rows, summary.request.depth, most=None)
        return Opened(summary.rows, self.units, Profile.constant(1), reach, summary.rows)

    def values_alike(self, summaries: Sequence[Summary]) -> list[int]:
        """The numbers of rows: a row moves each of them by one."""
        self.check_rows()
        values: list[int] = Summaries.of(summaries).columns.rows.tolist()
        return values

    def smoothing(self, price: Guarantee, hints: Hints) -> Fraction:  # noqa: ARG002
        """A row moves it by one: noise for that needs no smooth bound."""
        return Fraction(0)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Rows with and without a number, both relations."""
        for relation in cls.relations:
            rows = ((1.0,), (float("nan"),)) if relation is Neighbors.REPLACE_ONE else ((0.0,), (1.0,))
            yield Case(cls("x", neighbors=relation), rows)
