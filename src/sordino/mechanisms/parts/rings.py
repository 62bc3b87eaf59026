"""Staircase scores of many groups at once, as rings of lattice points: level l lies between two nested intervals.

Arrays in place of lists of cells, for draws alone; the same sets as `nested.lattice_cells`, which the laws use.
Ends come from statistics or from `Intervals`; how a level is chosen exactly is `sordino.exact.ladder`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.mechanisms.nested.intervals import Intervals
    from sordino.mechanisms.parts.measure import Measure

    Codes = NDArray[np.int64]

CELLS = 1 << 17
"""Levels of all groups that a draw works on together: the arrays stay in the cache."""

_WIDEST = 1 << 61


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Rings:
    """For every group the answers of level at most l: ``low[group, l] .. high[group, l] - 1``; private.

    Attributes:
        low: First points, non-increasing along a row.
        high: Points after the last, non-decreasing along a row.

    Example:
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
        """Mass of the answers up to each level, as a share of all mass, to the error of `mass_table`."""
        return measure.table.around(self.low[:, 0], self.low, self.high)

    def masses(self, group: int, measure: Measure) -> list[int]:
        """The same masses of one group, exactly."""
        below = measure.table.below
        ends = zip(self.low[group].tolist(), self.high[group].tolist(), strict=True)
        return [below(high) - below(low) for low, high in ends]

    def gaps(self, level: NDArray[np.int64]) -> list[tuple[int, int, int, int]]:
        """Per group the ring of the given level as two runs of points: first, after, first, after.

        The second run of level 0 is the whole interval and the first one is empty.
        """
        rows, inner = np.arange(len(self)), np.maximum(level, 1) - 1
        core = level == 0
        low, high = self.low[rows, level], self.high[rows, level]
        until = np.where(core, low, self.low[rows, inner])
        since = np.where(core, low, self.high[rows, inner])
        return list(zip(low.tolist(), until.tolist(), since.tolist(), high.tolist(), strict=True))
