"""The sum of a column between public bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar

from sordino.lattice import Lattice
from sordino.privacy import Neighbors
from sordino.reading.profile import Exact, Opened, Profile, Reach
from sordino.reading.requests import FIRST, LAST, Request, Window
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Case, Numeric
from sordino.statistics.ordered import block_profile, codes_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.hints import Hints
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum(Numeric):
    """The sum of the rows clipped to the bounds; an empty column has the sum 0.

    Example:
        >>> Sum("income", low=-1, high=4, step=1).define([0, 5])
        Fraction(3, 1)
    """

    name: ClassVar[str] = "sum"
    suits: ClassVar[tuple[str, ...]] = ("additive", "plain-or-cut", "auto-clip")
    total: ClassVar[bool] = True

    def shows(self) -> tuple[Trait, ...]:
        """A sum of a private number of rows has no range."""
        ranged = () if self.neighbors is Neighbors.ADD_REMOVE_ONE else (Trait.RANGE,)
        return Trait.REACH, Trait.TOTAL, *ranged

    @property
    def exact(self) -> tuple[str, ...]:
        """Everything is exact."""
        return "profile", "low", "high"

    @property
    def units(self) -> Lattice:
        """Steps of the rows, counted from zero."""
        return Lattice(Fraction(0), self.grid.step)

    @property
    def base(self) -> Fraction:
        """The lower bound in steps: what a row of code 0 adds to the sum."""
        return Fraction(self.grid.low) / self.grid.step

    def request(self, *, depth: int = DEPTH) -> Request:
        """The total and the rows at both ends."""
        windows = (Window(FIRST, depth + 2), Window(LAST, depth + 2))
        return Request(self.column, self.grid, windows, depth=depth)

    def whole(self) -> Request | None:
        """The sum, where the number of rows is public."""
        public = self.neighbors is Neighbors.REPLACE_ONE
        return Request(self.column, self.grid) if public else None

    def define(self, rows: Sequence[int]) -> Exact:
        """Add the rows."""
        return sum(rows) + len(rows) * self.base

    def open(self, summary: Summary) -> Opened:
        """Move the rows that gain most."""
        n, depth, top, base = summary.rows, summary.request.depth, self.grid.last, self.base
        value = summary.total + n * base
        if not summary.runs:
            reach = Reach.dense([value], [value], bottom=n * base, top=n * (base + top))
            bound = Profile.constant(top)
            return Opened(value, self.units, bound, reach, n, bottom=n * base, top=n * (base + top))
        first = [int(x) for x in codes_between(summary.runs, 1, depth)]
        last = [int(x) for x in codes_between(summary.runs, n + 1 - depth, n)][::-1]
        if self.neighbors is Neighbors.REPLACE_ONE:
            up = [top - x for x in first[:n]]
            down = last[:n]
            bounds = block_profile(summary.runs, 1, n, depth) if n else [top]
            reach = Reach.dense(
                [value - gain for gain in _steps(down, depth)],
                [value + gain for gain in _steps(up, depth)],
                bottom=n * base,
                top=n * (base + top),
            )
            profile = Profile.dense([int(b) for b in bounds], top)
            return Opened(value, self.units, profile, reach, n, bottom=n * base, top=n * (base + top))
        # Each step either adds a row at a bound or removes the row that gains most; steps do not interact.
        up_gains = sorted([*(-(base + x) for x in first[:n]), *[base + top] * depth, *[Fraction(0)] * depth])
        down_gains = sorted([*(base + x for x in last[:n]), *[-base] * depth, *[Fraction(0)] * depth])
        ceiling = max(abs(base), abs(base + top))
        reach = Reach(
            tuple(range(depth + 1)),
            tuple(value - gain for gain in _steps(down_gains[::-1], depth)),
            tuple(value + gain for gain in _steps(up_gains[::-1], depth)),
            ceiling,
        )
        return Opened(value, self.units, Profile.constant(ceiling), reach, n)

    def smoothing(self, price: Guarantee, hints: Hints) -> Fraction | None:  # noqa: ARG002
        """Plain noise where the bounds fit, or where nothing is known of the rows."""
        fits = hints.rows is None or hints.fits(self.low, self.high)
        plain = self.neighbors is Neighbors.REPLACE_ONE and fits
        return Fraction(0) if plain else None

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Ranges on both sides of zero and on one, both relations."""
        for relation in cls.relations:
            for low, high in ((-2, 3), (1, 4), (-4, -1)):
                rows = tuple((x,) for x in (low, low + 1, high))
                statistic = cls("x", low=low, high=high, step=1, neighbors=relation)
                yield Case(statistic, rows, (1, 2, 3, 4))


def _steps(gains: Sequence[Exact], depth: int) -> list[Exact]:
    """What the best l steps gain together, for l = 0..depth."""
    padded = [*gains[:depth], *[0] * (depth - len(gains))]
    return list(accumulate(padded, initial=0))
