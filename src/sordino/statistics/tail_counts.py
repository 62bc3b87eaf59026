"""How many rows lie outside public radii around a public centre."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from sordino import checks
from sordino.errors import ParameterError
from sordino.lattice import Lattice
from sordino.reading.profile import Opened, Profile
from sordino.reading.requests import Request
from sordino.statistics import DEPTH, Case, Numeric

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class TailCounts(Numeric):
    """For every radius, the number of rows farther than it from the centre.

    These are the scores of a private search for a clipping interval. A row that comes, goes or moves changes
    all counts in the same direction, each by at most one, so the search pays half of what a quantile search pays.

    Args:
        centre: Public or already released; taken to the nearest lattice point.
        radii: Increasing, public; taken down to whole steps.

    Example:
        >>> TailCounts("x", centre=5, radii=(1, 3), low=0, high=10, step=1).define([5, 7, 9])
        (2, 1)
    """

    name: ClassVar[str] = "tail-counts"
    vector: ClassVar[bool] = True
    norm: ClassVar[float] = math.inf

    centre: float
    radii: tuple[float, ...]

    def check(self) -> None:
        """At least one radius, increasing."""
        Numeric.check(self)
        checks.exact(self.name, centre=self.centre)
        radii = tuple(checks.non_negative(self.name, radius=radius) for radius in self.radii)
        if not radii or any(a >= b for a, b in pairwise(radii)):
            raise ParameterError(self.name, "radii must be increasing", got={"radii": self.radii})
        object.__setattr__(self, "radii", radii)

    @property
    def dimension(self) -> int:
        """How many numbers it is."""
        return len(self.radii)

    @property
    def units(self) -> Lattice:
        """Whole rows."""
        return Lattice()

    @property
    def steps(self) -> tuple[int, ...]:
        """The radii in whole steps."""
        return tuple(int(Fraction(radius) / self.grid.step) for radius in self.radii)

    def request(self, *, depth: int = DEPTH) -> Request:
        """The rows below and above each radius."""
        grid = self.grid
        centre = grid.code(float(self.centre))
        cuts = [cut for r in self.steps for cut in (centre - r, centre + r + 1)]
        cuts = [min(max(cut, 0), grid.last + 1) for cut in cuts]
        return Request(self.column, grid, cuts=tuple(cuts), depth=depth)

    def define(self, rows: Sequence[int]) -> tuple[int, ...]:
        """Count what is farther."""
        centre = self.grid.code(float(self.centre))
        return tuple(sum(abs(row - centre) > r for row in rows) for r in self.steps)

    def open(self, summary: Summary) -> Opened:
        """What is below, and what is not below the upper cut."""
        pairs = zip(summary.below[::2], summary.below[1::2], strict=True)
        counts = tuple(below + summary.rows - upto for below, upto in pairs)
        return Opened(counts, self.units, Profile.constant(1), None, summary.rows, counts=counts)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Centres inside and at an end, both relations."""
        rows = tuple((x,) for x in (0, 1, 4, 6))
        for relation in cls.relations:
            for centre in (0, 3):
                statistic = cls(
                    "x", centre=centre, radii=(0, 2, 3), low=0, high=6, step=1, neighbors=relation
                )
                yield Case(statistic, rows)
