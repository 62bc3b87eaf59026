"""Rows of several columns in a box and in a ball, in whole numbers: what one row can move is exact, whatever it holds.

The box is [-1, 1] in every column, in units of 2^-20; a ball has a centre and a radius in the same units. A row is
mapped by itself. Every number here is private but for the box, the centre and the radii. Proof:
docs/proofs/mechanism_box_means.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Wholes = NDArray[np.int64]

UNIT = 2**20
"""Half the width of a box."""
SHRUNK = 1 - 2.0**-40
"""A factor that outweighs the rounding of a quotient, a root and a product of doubles."""
CHUNK = 1 << 16
"""Rows that are mapped at once."""


def boxed(codes: Wholes, lows: Sequence[int], highs: Sequence[int]) -> Wholes:
    """Codes cut to an interval per column, which becomes -2^20 to 2^20.

    Example:
        >>> (boxed(np.array([[0, 5, 9]]), [1], [9]) / UNIT).tolist()
        [[-1.0, 0.0, 1.0]]
    """
    low, high = (np.array(ends, np.int64)[:, None] for ends in (lows, highs))
    width = np.maximum(high - low, 1)
    twice = 2 * np.clip(codes, low, high) - low - high
    return np.asarray((2 * twice * UNIT + width) // (2 * width), np.int64)


def squared(points: Wholes, centre: Wholes) -> Wholes:
    """Squared distances to a centre, exactly."""
    away = points - centre[:, None]
    return np.asarray((away * away).sum(axis=0), np.int64)


def outside(squares: Wholes, radii: Sequence[int]) -> list[int]:
    """For each radius the number of rows beyond it."""
    ordered = np.sort(squares)
    ends = np.array([radius * radius for radius in radii], np.int64)
    return (len(ordered) - np.searchsorted(ordered, ends, side="right")).tolist()


def pulled(points: Wholes, centre: Wholes, squares: Wholes, radius: int) -> Wholes:
    """Rows about a centre, those beyond a radius pulled to it: no row is longer than the radius.

    Example:
        >>> points, centre = np.array([[3, 300], [4, -400]]), np.zeros(2, np.int64)
        >>> pulled(points, centre, squared(points, centre), 100).tolist()
        [[3, 59], [4, -79]]
    """
    away = (points - centre[:, None]).astype(np.float64)
    factor = np.ones(len(squares))
    beyond = squares > radius * radius
    factor[beyond] = SHRUNK * radius / np.sqrt(squares[beyond].astype(np.float64))
    return np.asarray(np.trunc(away * factor), np.int64)


def pulled_sums(points: Wholes, centre: Wholes, squares: Wholes, radius: int) -> Wholes:
    """Sums of `pulled` over all rows."""
    total = np.zeros(len(centre), np.int64)
    for start in range(0, points.shape[1], CHUNK):
        part = slice(start, start + CHUNK)
        total += pulled(points[:, part], centre, squares[part], radius).sum(axis=1)
    return total
