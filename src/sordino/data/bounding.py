"""Contribution bounding: of each unit at most so many rows are used, chosen by a public rule that sees no value.

The rows of a unit are numbered 1, 2, ... in the order of the table (or of a row identifier), the numbers are hashed
under one public salt, and the rows with the smallest hashes stay. A number counts rows of the same unit only, so what
is kept of one person never depends on another. Rows without a unit are left out: nobody's limit would hold for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRIME = 2**31 - 1
"""Products of two numbers below it stay in 62 bits: every engine has such integers."""

FACTOR, SHIFT = 1_640_531_527 % PRIME, 1_013_904_223
"""The public salt. The hash of the j-th row of a unit is ``(FACTOR (j mod PRIME) + SHIFT) mod PRIME``."""


def hashed(occurrence: Any) -> Any:
    """The hash of a row number; takes integers, arrays and expressions of an engine alike.

    Example:
        >>> sorted(range(1, 6), key=hashed)
        [1, 5, 4, 3, 2]
    """
    return ((occurrence % PRIME) * FACTOR + SHIFT) % PRIME


def bounded(units: NDArray[np.int64], max_rows: int, order: NDArray[Any] | None = None) -> NDArray[np.intp]:
    """The places of the rows that stay, ascending; units are whole numbers, negative where a row has none.

    Example:
        >>> bounded(np.array([0, 0, 7, -1, 0]), 2).tolist()
        [0, 2, 4]
    """
    rows = np.flatnonzero(units >= 0)
    inner = np.lexsort((units[rows],) if order is None else (order[rows], units[rows]))
    rows = rows[inner]  # by unit, then in the order of the table
    place = _running(units[rows])
    if len(place) and int(place.max()) > max_rows:
        by_hash = np.lexsort((place, hashed(place), units[rows]))
        rows = rows[by_hash][_running(units[rows][by_hash]) <= max_rows]
    return np.sort(rows)


def _running(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """1, 2, ... within each stretch of equal numbers."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1) != 0)
    lengths = np.diff(starts, append=len(groups))
    return np.arange(1, len(groups) + 1) - np.repeat(starts, lengths)
