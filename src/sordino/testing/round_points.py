"""Lattice points that stand for parts of a law: worked out when they are asked for, and round ones among those near.

Other pairs of tables have a round point too, so that a table is asked the same things again and not others. Losses are
counted where they are exact; only what leads on is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

EQUAL = 1e-12  # losses that differ by rounding alone
LITTLE, TWICE = 1.25, 2.0  # so much nearer or farther a point may lie than the place that it stands for


def rooms(places: Floats, cuts: Floats, loss: Floats) -> tuple[Floats, Floats]:
    """Between what ends a round point may stand for each place: its cell and a little more; more of equal losses."""
    lows, highs = np.concatenate([places[:1], cuts]), np.concatenate([cuts, places[-1:]])
    begins = np.concatenate(
        [[0], np.flatnonzero(np.abs(np.diff(loss)) > EQUAL) + 1, [len(loss)]]
    )  # equal runs
    alike = np.diff(begins)
    first, last = np.repeat(places[begins[:-1]], alike), np.repeat(places[begins[1:] - 1], alike)
    for factor, least, most in ((TWICE, first, last), (LITTLE, -math.inf, math.inf)):
        nearer, farther = np.sort([places / factor, factor * places], axis=0)
        lows, highs = (
            np.minimum(lows, np.maximum(least, nearer)),
            np.maximum(highs, np.minimum(most, farther)),
        )
    return lows, highs


class LazyPoints(Sequence[int]):
    """Lattice points that are worked out when they are asked for.

    Args:
        point: The nearest lattice point.
        places: One of each part.
        lows: Where the room begins in which another point may stand for it.
        highs: Where that ends.
    """

    def __init__(self, point: Callable[[float], int], places: Floats, lows: Floats, highs: Floats) -> None:
        self._point, self._places, self._lows, self._highs = point, places, lows, highs

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        return self._point(float(self._places[index]))

    @property
    def line(self) -> int:
        """All of them are cells of noise."""
        return len(self)

    def near(self, index: int) -> int:
        """A round point that may stand for one of them: other pairs of tables have it too."""
        low, high = (self._point(float(ends[index])) for ends in (self._lows, self._highs))
        return (
            roundest(low + 1, high - 1) if high - low > 2 else int(self[index])
        )  # the ends are its neighbours'


class LazyTuples(Sequence[tuple[int, ...]]):
    """Several numbers that are drawn together: every point of the first with each of the second, and so on.

    Args:
        axes: The points of each number.

    Example:
        >>> points = LazyPoints(int, np.arange(3.0), np.arange(3.0), np.arange(3.0))
        >>> both = LazyTuples([points, points])
        >>> len(both), both[5], both.near(7)
        (9, (1, 2), (2, 1))
    """

    def __init__(self, axes: Sequence[LazyPoints]) -> None:
        self._axes = tuple(axes)
        self._shape = tuple(len(axis) for axis in self._axes)

    def __len__(self) -> int:
        return math.prod(self._shape)

    def __getitem__(self, index: Any) -> Any:
        return tuple(axis[place] for axis, place in self._each(index))

    def near(self, index: int) -> tuple[int, ...]:
        """A round point of every number."""
        return tuple(axis.near(place) for axis, place in self._each(index))

    @property
    def line(self) -> int:
        """All of them are cells of noise."""
        return len(self)

    def _each(self, index: Any) -> Any:
        places = np.unravel_index(int(index), self._shape)
        return zip(self._axes, map(int, places), strict=True)


def roundest(low: int, high: int) -> int:
    """Of a range of whole numbers the one that most powers of two divide.

    Example:
        >>> roundest(-3, 9), roundest(5, 13), roundest(33, 39), roundest(-13, -5), roundest(7, 7)
        (0, 8, 36, -8, 7)
    """
    if low <= 0 <= high:
        return 0
    if high < 0:
        return -roundest(-high, -low)
    shift = ((low - 1) ^ high).bit_length() - 1
    return high >> shift << shift
