"""The number of rows above a public threshold."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.lattice import Lattice, RowLattice
from sordino.privacy import Neighbors
from sordino.reading.profile import Opened, Profile
from sordino.reading.requests import Request
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Case, Statistic
from sordino.statistics.count import count_reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.hints import Hints
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class CountAbove(Statistic):
    """How many rows are greater than the threshold; rows that are not numbers are not.

    Args:
        column: Name of the column.
        threshold: The public number that rows are compared with.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> CountAbove("income", threshold=3).define([2, 3, 4])
        1
    """

    name: ClassVar[str] = "count-above"
    suits: ClassVar[tuple[str, ...]] = ("geometric", "additive")
    tallies: ClassVar[bool] = True

    column: str = field(kw_only=False)
    threshold: float
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", float(checks.exact(self.name, threshold=self.threshold)))
        self.check_relation()
        self.request()  # a grid checks itself

    def shows(self) -> tuple[Trait, ...]:
        """A count, at most the number of rows where that is public."""
        ranged = (Trait.RANGE,) if self.neighbors is Neighbors.REPLACE_ONE else ()
        return Trait.REACH, Trait.WHOLE, *ranged

    @property
    def exact(self) -> tuple[str, ...]:
        """The count moves by one until it reaches an end."""
        return "low", "high"

    @property
    def units(self) -> Lattice:
        """Whole rows."""
        return Lattice()

    def request(self, *, depth: int = DEPTH) -> Request:
        """A grid of one step right above the threshold: the code of a row is 1 above it and 0 elsewhere."""
        return Request(self.column, _grid(self.threshold), depth=depth)

    def define(self, rows: Sequence[Any]) -> int:
        """Count what is greater."""
        return sum(row > self.threshold for row in rows)

    def open(self, summary: Summary) -> Opened:
        """The total of the codes."""
        most = summary.rows if self.neighbors is Neighbors.REPLACE_ONE else None
        reach = count_reach(summary.total, summary.request.depth, most=most)
        return Opened(summary.total, self.units, Profile.constant(1), reach, summary.rows)

    def smoothing(self, price: Guarantee, hints: Hints) -> Fraction:  # noqa: ARG002
        """A row moves it by one: noise for that needs no smooth bound."""
        return Fraction(0)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Rows below, at, right above and far above the threshold, both relations."""
        rows = ((-1.0,), (0.5,), (math.nextafter(0.5, 1),), (7.0,))
        for relation in cls.relations:
            yield Case(cls("x", threshold=0.5, neighbors=relation), rows)


@functools.lru_cache(maxsize=256)  # every release asks for it, and it takes as long as a tenth of one
def _grid(threshold: float) -> RowLattice:
    above = max(math.nextafter(threshold, math.inf), threshold + 2e-290)
    return RowLattice(threshold, above, bits=0, missing=threshold)
