"""Running totals of a base measure: exact integers for one point, floats with a proved error for many at once.

Public numbers only; which points are asked about is the caller's business. The error is proved in
docs/proofs/exact_ladder.md.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
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
