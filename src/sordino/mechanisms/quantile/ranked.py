"""`Ranked`: the codes of a column by rank, without sorting all of them.

A few windows of ranks are all that quantiles ask for. Codes are counted in cells once; whatever lies in the cells of a
window is gathered and sorted when it is asked for. A cell that holds many rows is a column of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]

FEW = 1 << 15
"""So many rows are sorted at once."""

CELL_BITS = 16
"""Cells of a column: their counts stay in the cache."""

BLOCK = 1 << 16
"""Rows that are compared at a time: what is found out of them stays in the cache."""


class Ranked:
    """Codes in the order of their ranks; private.

    Args:
        codes: In any order, between ``first`` and ``last``.
        first: The smallest code that may occur.
        last: The largest.

    Example:
        >>> ranked = Ranked(np.array([5, 2, 9, 2]), 0, 9)
        >>> ranked.between(1, 3).tolist(), ranked.until(2), len(ranked)
        ([2, 5], 2, 4)
    """

    __slots__ = ("_before", "_codes", "_first", "_inner", "_parts", "_shift", "_whole")

    def __init__(self, codes: Codes, first: int, last: int) -> None:
        self._codes, self._first = codes, first
        self._whole = np.sort(codes) if len(codes) <= FEW or first == last else None
        self._shift = max((last - first).bit_length() - CELL_BITS, 0)
        self._parts: list[tuple[int, int, Codes]] = []
        self._inner: dict[int, Ranked] = {}
        if self._whole is None:
            cells = np.bincount((codes - first if first else codes) >> self._shift)
            self._before = np.concatenate([[0], np.cumsum(cells)])

    def __len__(self) -> int:
        return len(self._codes)

    def between(self, start: int, stop: int) -> Codes:
        """The codes of ranks ``start .. stop - 1``, counted from 0, in order."""
        if self._whole is not None:
            return self._whole[start:stop]
        if start >= stop:
            return np.zeros(0, np.int64)
        low, high = (np.searchsorted(self._before, (start, stop - 1), side="right") - 1).tolist()
        inside = (
            [(low, high)] if self._rows(low, high) <= FEW else [(low, low), (low + 1, high - 1), (high, high)]
        )
        pieces = []
        for begin, end in inside if low < high else inside[:1]:
            if begin <= end:
                origin, until = int(self._before[begin]), int(self._before[end + 1])
                pieces.append(self._piece(begin, end, max(start, origin) - origin, min(stop, until) - origin))
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def until(self, point: int) -> int:
        """The number of rows with this code or a smaller one."""
        if self._whole is not None:
            return int(self._whole.searchsorted(point, "right"))
        cell = (point - self._first) >> self._shift
        if cell < 0 or cell >= len(self._before) - 1:
            return 0 if cell < 0 else len(self)
        for begin, end, found in reversed(self._parts):
            if begin <= cell <= end:
                return int(self._before[begin]) + int(np.searchsorted(found, point, side="right"))
        below, rows = int(self._before[cell]), self._rows(cell, cell)
        if not rows:
            return below
        inner = self._column(cell)
        if inner is not None:
            return below + inner.until(point)
        return below + int(np.searchsorted(self._sorted(cell, cell), point, side="right"))

    def _rows(self, low: int, high: int) -> int:
        return int(self._before[high + 1] - self._before[low])

    def _piece(self, low: int, high: int, start: int, stop: int) -> Codes:
        """Ranks of the rows in some cells, counted from the first of these."""
        inner = self._column(low) if low == high else None
        return self._sorted(low, high)[start:stop] if inner is None else inner.between(start, stop)

    def _column(self, cell: int) -> Ranked | None:
        """A cell of many rows and several codes as a column of its own."""
        if self._rows(cell, cell) <= FEW or not self._shift:
            return None
        if cell not in self._inner:
            first = self._first + (cell << self._shift)
            last = first + (1 << self._shift) - 1
            self._inner[cell] = Ranked(self._gathered(cell, cell), first, last)
        return self._inner[cell]

    def _sorted(self, low: int, high: int) -> Codes:
        """The rows of some cells in order."""
        for begin, end, found in self._parts:
            if begin <= low and high <= end:
                origin = int(self._before[begin])
                return found[int(self._before[low]) - origin : int(self._before[high + 1]) - origin]
        found = np.sort(self._gathered(low, high))
        self._parts.append((low, high, found))
        return found

    def _gathered(self, low: int, high: int) -> Codes:
        first = self._first + (low << self._shift)
        last = self._first + ((high + 1) << self._shift) - 1
        found = []
        for start in range(0, len(self._codes), BLOCK):
            block = self._codes[start : start + BLOCK]
            found.append(block[(block >= first) & (block <= last)])
        return np.concatenate(found)


class RankedPart:
    """The rows of some ranks of a column, as a sorted array would be cut; private."""

    __slots__ = ("_column", "_start", "_stop")

    def __init__(self, column: Ranked, start: int, stop: int) -> None:
        self._column, self._start, self._stop = column, start, stop

    def __len__(self) -> int:
        return self._stop - self._start

    def __getitem__(self, ranks: slice) -> Any:
        first, last, _ = ranks.indices(len(self))
        return self._column.between(self._start + first, self._start + last)

    def split(self, point: int) -> tuple[RankedPart, RankedPart]:
        """The rows up to a point and those above it."""
        middle = min(max(self._column.until(point), self._start), self._stop)
        return RankedPart(self._column, self._start, middle), RankedPart(self._column, middle, self._stop)
