"""Staircase scores of many groups at once, as rings of lattice points: level l lies between two nested intervals.

Arrays in place of lists of cells, for draws alone; the same sets as `nested.lattice_cells`, which the laws use. Ends
come from statistics or from `Intervals`. `MassTable` has the running totals of a base measure: exact integers for one
point, floats with a proved error for many at once (docs/proofs/exact_ladder.md).
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.exact.bits import Bits, Ladder

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sordino.mechanisms.nested.intervals import Intervals
    from sordino.mechanisms.parts.measure import Measure

    Codes = NDArray[np.int64]
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


ERROR = 2.0**-49
"""Relative error of a float mass (a few roundings of positive terms, each 2^-53)."""

SPARE = 2.0**-102
"""Absolute error on top of it, as a share of all mass: running totals are pairs of floats."""

_WIDEST = 1 << 61
_SMALLEST = 2.0**-900


class MassTable:
    """Runs of lattice points of equal mass, in order, from point 0 on.

    Args:
        firsts: First point of every run; ``firsts[0]`` is 0.
        masses: Mass of one point of every run.
        last: The largest point.

    Example:
        >>> table = MassTable([0, 5, 6], [1, 4, 1], 9)
        >>> [table.below(point) for point in (0, 5, 6, 10)], [table.holder(unit) for unit in (4, 5, 8, 9)]
        ([0, 5, 9, 13], [4, 5, 5, 6])
    """

    __slots__ = ("_before", "_ends", "_firsts", "_fits", "_floats", "_masses", "last")

    def __init__(self, firsts: Sequence[int], masses: Sequence[int], last: int) -> None:
        self._firsts, self._masses, self.last = list(firsts), list(masses), last
        self._before = [0]
        for first, after, mass in zip(firsts, [*firsts[1:], last + 1], masses, strict=True):
            self._before.append(self._before[-1] + mass * (after - first))
        scale = 1 << self.total.bit_length()
        least = min((mass for mass in self._masses if mass), default=1)
        self._fits = last < _WIDEST and least / scale > _SMALLEST
        self._floats: tuple[Floats, Floats, Floats] | None = None
        self._ends: Codes | None = None

    @property
    def total(self) -> int:
        """Mass of all points."""
        return self._before[-1]

    @property
    def fits(self) -> bool:
        """Whether floats can hold the masses and 64 bits the points."""
        return self._fits

    def below(self, point: int) -> int:
        """Mass of all smaller points; ``0 <= point <= last + 1``."""
        run = bisect_right(self._firsts, point) - 1
        return self._before[run] + self._masses[run] * (point - self._firsts[run])

    def each_below(self, points: Sequence[int]) -> list[int]:
        """The same for many points in increasing order."""
        runs = bisect_each(self._firsts, points)
        firsts, masses, before = self._firsts, self._masses, self._before
        return [
            before[run] + masses[run] * (point - firsts[run]) for run, point in zip(runs, points, strict=True)
        ]

    def of_many(self, points: Codes) -> list[int]:
        """The same for many points in any order."""
        if len(self._firsts) == 1:
            (mass,) = self._masses
            return [mass * point for point in points.tolist()]
        if not self._fits:
            return list(map(self.below, points.tolist()))
        ends, _ = self._tables()
        runs = np.searchsorted(ends[1:-1], points, side="right")
        masses, before = self._masses, self._before
        return [
            before[run] + masses[run] * ahead
            for run, ahead in zip(runs.tolist(), (points - ends[runs]).tolist(), strict=True)
        ]

    def holder(self, unit: int) -> int:
        """The point that holds a unit of the mass, counted from 0."""
        run = bisect_right(self._before, unit) - 1
        return self._firsts[run] + (unit - self._before[run]) // self._masses[run]

    def around(self, centre: Codes, low: Codes, high: Codes) -> Floats:
        """Mass of ``low..high - 1`` as a share of all mass, where ``low <= centre <= high``; rows by columns.

        It is the sum of what lies on either side of the centre, so that a small interval keeps its relative error.

        Args:
            centre: One point per row.
            low: First points, one row each.
            high: Points after the last.
        """
        if len(self._firsts) == 1:
            found: Floats = (high - low).astype(np.float64) / (self.last + 1)
            return found
        ends, (mass, coarse, fine) = self._tables()
        run = np.searchsorted(ends[1:-1], centre, side="right")
        here = mass[run]
        return self._right(centre, run, here, high, ends, mass, coarse, fine) + self._left(
            centre, run, here, low, ends, mass, coarse, fine
        )

    @staticmethod
    def _right(
        centre: Codes,
        run: Codes,
        here: Floats,
        high: Codes,
        ends: Codes,
        mass: Floats,
        coarse: Floats,
        fine: Floats,
    ) -> Floats:
        place = np.searchsorted(ends[1:-1], high, side="right")
        # From the centre to the end of its run, whole runs, and the last part: three terms, none negative.
        start = (ends[run + 1] - centre) * here
        found: Floats = (high - ends[place]) * mass[place]
        found += (coarse[place] - coarse[run + 1][:, None]) + (fine[place] - fine[run + 1][:, None])
        found += start[:, None]
        return np.where(place == run[:, None], (high - centre[:, None]) * here[:, None], found)

    @staticmethod
    def _left(
        centre: Codes,
        run: Codes,
        here: Floats,
        low: Codes,
        ends: Codes,
        mass: Floats,
        coarse: Floats,
        fine: Floats,
    ) -> Floats:
        place = np.searchsorted(ends[1:-1], low, side="right")
        start = (centre - ends[run]) * here
        found: Floats = (ends[place + 1] - low) * mass[place]
        found += (coarse[run][:, None] - coarse[place + 1]) + (fine[run][:, None] - fine[place + 1])
        found += start[:, None]
        return np.where(place == run[:, None], (centre[:, None] - low) * here[:, None], found)

    def _tables(self) -> tuple[Codes, tuple[Floats, Floats, Floats]]:
        """Run ends, point masses and running totals (two floats each) as shares of all mass; made on first use."""
        if self._floats is None or self._ends is None:
            total = self.total
            pairs = []
            for before in self._before:
                coarse = before / total
                top, bottom = coarse.as_integer_ratio()
                pairs.append((coarse, (before * bottom - top * total) / (bottom * total)))
            both = np.array(pairs)
            self._floats = (
                np.array([mass / total for mass in self._masses]),
                both[:, 0].copy(),
                both[:, 1].copy(),
            )
            self._ends = np.array([*self._firsts, self.last + 1], dtype=np.int64)
        return self._ends, self._floats


def bisect_each(firsts: Sequence[int], points: Sequence[int]) -> list[int]:
    """For points in increasing order the last of the firsts that is not above each.

    Example:
        >>> bisect_each([0, 5, 6], [0, 4, 5, 9])
        [0, 0, 1, 2]
    """
    ends = [*(bisect_left(points, first) for first in firsts[1:]), len(points)]
    starts = [0, *ends[:-1]]
    return [run for run, (start, end) in enumerate(zip(starts, ends, strict=True)) for _ in range(start, end)]


CELLS = 1 << 17
"""Levels of all groups that a draw works on together: the arrays stay in the cache."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Rings:
    """For every group the answers of level at most l: ``low[group, l] .. high[group, l] - 1``; private.

    Attributes:
        low: First points, non-increasing along a row.
        high: Points after the last, non-decreasing along a row.

    Example:
        >>> from fractions import Fraction
        >>> rings = Rings.between(np.array([[5, 3, 0]]), np.array([[5, 9, 12]]), Fraction(1, 2))
        >>> rings.low.tolist(), rings.high.tolist()
        ([[4, 2, 0]], [[8, 11, 13]])
    """

    low: Codes
    high: Codes

    @classmethod
    def between(cls, low: Codes, high: Codes, threshold: Fraction) -> Rings:
        """Rings of nested intervals with whole ends, the last of which is the whole range, for a staircase.

        A point between the intervals l and l + 1 counts as level l up to the threshold of its gap and as level
        l + 1 beyond it (nested.py); so the answers up to level l are the interval l and that part of the next gaps.
        """
        num, den = threshold.numerator, threshold.denominator
        widest = max(int(high.max(initial=0)), 1)
        if widest * 4 * den >= 1 << 62:  # exact beyond 64 bits, and slower
            low, high = low.astype(object), high.astype(object)
        up = high[:, :-1] + num * (high[:, 1:] - high[:, :-1]) // den + 1
        down = low[:, :-1] - num * (low[:, :-1] - low[:, 1:]) // den
        return cls(
            np.concatenate([down, low[:, -1:]], axis=1).astype(np.int64),
            np.concatenate([up, high[:, -1:] + 1], axis=1).astype(np.int64),
        )

    @classmethod
    def of(cls, intervals: Intervals, threshold: Fraction) -> Rings | None:
        """Rings of one family with any exact ends; None where 64 bits do not hold them.

        Example:
            >>> from sordino.mechanisms.nested.intervals import Intervals
            >>> from fractions import Fraction
            >>> family = Intervals.of([Fraction(9, 2)], [Fraction(9, 2)], first=0, last=8)
            >>> rings = Rings.of(family, Fraction(1, 4))
            >>> rings.low.tolist(), rings.high.tolist()
            ([[4, 0]], [[6, 9]])
        """
        first, last = math.ceil(intervals.first), math.floor(intervals.last)
        if not -_WIDEST < first <= last < _WIDEST:
            return None
        if all(type(end) is int for end in (*intervals.low, *intervals.high)):
            ends = [np.array([side], dtype=np.int64) for side in (intervals.low, intervals.high)]
            return cls.between(ends[0], ends[1], threshold)

        def turns(ends: tuple[Any, ...]) -> list[Any]:
            pairs = itertools.pairwise(ends)
            return [inner + threshold * (outer - inner) for inner, outer in pairs] + [ends[-1]]

        low = [math.ceil(turn) for turn in turns(intervals.low)]
        high = [math.floor(turn) + 1 for turn in turns(intervals.high)]
        return cls(np.array([low], dtype=np.int64), np.array([high], dtype=np.int64))

    @property
    def size(self) -> int:
        """Number of levels."""
        return self.low.shape[1]

    def __len__(self) -> int:
        return len(self.low)

    def shares(self, measure: Measure) -> NDArray[np.float64]:
        """Mass of the answers up to each level, as a share of all mass, to `ERROR` and `SPARE`."""
        return measure.table.around(self.low[:, 0], self.low, self.high)

    def masses(self, group: int, measure: Measure) -> list[int]:
        """The same masses of one group, exactly."""
        below = measure.table.below
        ends = zip(self.low[group].tolist(), self.high[group].tolist(), strict=True)
        return [below(high) - below(low) for low, high in ends]

    def gaps(self, level: NDArray[np.int64]) -> Codes:
        """Per group the ring of the given level as two runs of points: first, after, first, after.

        The second run of level 0 is the whole interval and the first one is empty.
        """
        rows, inner = np.arange(len(self)), np.maximum(level, 1) - 1
        core = level == 0
        low, high = self.low[rows, level], self.high[rows, level]
        until = np.where(core, low, self.low[rows, inner])
        since = np.where(core, low, self.high[rows, inner])
        return np.stack([low, until, since, high])

    def draw_points(self, measure: Measure, slope: Fraction, *, bits: Bits | None = None) -> list[int]:
        """Draw one lattice point per group with probability ``~ measure(point) exp(-slope level(point))``, exactly.

        The level first, by floats with proved errors that leave what they cannot decide to exact arithmetic, then a
        unit of the mass of its ring (docs/proofs/exact_ladder.md).

        Example:
            >>> from sordino.exact.bits import SeededBits
            >>> from sordino.mechanisms.parts.measure import Measure
            >>> from fractions import Fraction
            >>> rings = Rings.between(np.array([[5, 0]]), np.array([[5, 9]]), Fraction(0))
            >>> rings.draw_points(Measure.uniform(9), Fraction(50), bits=SeededBits(1))
            [5]
        """
        source = Bits() if bits is None else bits
        table = measure.table
        levels = Ladder.of(slope, self.size).choose(
            self.shares(measure) if table.fits else np.zeros(self.low.shape),
            error=ERROR,
            spare=SPARE,
            exact=lambda group: self.masses(group, measure),
            bits=source,
        )
        starts, untils, sinces, afters = map(table.of_many, self.gaps(levels))
        left = [until - start for start, until in zip(starts, untils, strict=True)]
        right = [after - since for since, after in zip(sinces, afters, strict=True)]
        units = source.below_each([some + others for some, others in zip(left, right, strict=True)])
        return [
            table.holder(start + unit if unit < some else since + unit - some)
            for start, since, some, unit in zip(starts, sinces, left, units, strict=True)
        ]
