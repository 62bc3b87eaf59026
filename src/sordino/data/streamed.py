"""Codes of a column that come in batches, such as those of a Parquet file: sums, ends and group-bys in constant memory.

What `sordino.data.passes` asks of an engine by expressions is done here by numpy on blocks that stay in the cache. The
number of scans is public too, and one where nothing in the middle is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.kernel import BLOCK
from sordino.data.one_pass import blocks, end_pass, squares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from sordino.lattice import RowLattice
    from sordino.reading.requests import Request, Summary

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]

DENSE_BITS, FEW_BITS = 22, 12
"""Buckets of the first scan where two scans need so many of them, and where fewer do, which stay in the cache."""

DENSE = 1 << DENSE_BITS + 1
"""Up to so many buckets are counted in an array, more of them as far as they occur."""

SPREAD = 4
"""Where there are so many times more buckets than rows of a block, rows are added one by one."""


def shifts(top: int) -> tuple[int, ...]:
    """How many low bits of the code each scan leaves out; public, so the number of scans tells nothing.

    Example:
        >>> shifts(100), shifts(2**31), shifts(2**44), shifts(2**50)
        ((0,), (20, 0), (23, 0), (29, 14, 0))
    """
    bits = top.bit_length()
    if bits <= FEW_BITS:
        return (0,)
    few = bits - FEW_BITS
    if few <= DENSE_BITS - 2:
        return few, 0
    first = bits - DENSE_BITS
    return (first, 0) if first <= DENSE_BITS + 1 else (first, first // 2, 0)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class StreamedCodes:
    """The codes of a column, scanned as often as asked; private.

    Args:
        scan: Gives the codes as floats, block by block; a block lasts until the next one.
        spans: Half-open intervals that do not meet, in order: other codes are left out. Without any, all count.

    Example:
        >>> codes = StreamedCodes(lambda: iter([np.array([1.0, 6.0]), np.array([5.0])]))
        >>> [column.tolist() for column in codes.by_bucket(2)[0]]
        [[0, 1], [1, 2], [1, 3]]
    """

    scan: Callable[[], Iterator[Floats]]
    spans: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, batches: Callable[[], Iterable[NDArray[Any]]], grid: RowLattice) -> StreamedCodes:
        """Codes on a grid of numbers that come in batches."""
        return cls(lambda: (block for batch in batches() for block in blocks(batch, grid)))

    def inside(self, spans: list[tuple[int, int]]) -> StreamedCodes:
        """The codes in some half-open intervals that do not meet."""
        return StreamedCodes(self.scan, tuple(spans))

    def clipped(self, low: int, high: int) -> StreamedCodes:
        """The codes cut to an interval and counted from its first."""
        return StreamedCodes(lambda: (np.clip(block, low, high) - low for block in self.scan()))

    def by_bucket(
        self, shift: int, *, second: bool = False, cuts: tuple[int, ...] = ()
    ) -> tuple[tuple[Codes, Codes, Codes], int, dict[int, int]]:
        """Bucket, rows and sum of the low bits of every bucket that occurs, in order; and what the scan shows besides.

        That is the sum of squares, and for every cut the number of smaller codes: of all codes, not of intervals.
        """
        spans = self.spans or ((0, 0),)
        tallies, total, below = (
            [_Tally(low >> shift, len(spans)) for low, _ in spans],
            0,
            dict.fromkeys(cuts, 0),
        )
        for block in self.scan():
            for (low, high), tally in zip(spans, tallies, strict=True):
                some = block[(block >= low) & (block < high)] if self.spans else block
                codes = some.astype(np.int64)
                bucket = codes >> shift
                tally.add(bucket, codes - (bucket << shift) if shift else None)
            total += squares(block) if second else 0
            for cut in below:
                below[cut] += int(np.count_nonzero(block < cut))
        return _joined([tally.result() for tally in tallies]), total, below

    def in_one_pass(self, grid: RowLattice, requests: tuple[Request, ...]) -> dict[Request, Summary] | None:
        """Answer requests that ask for nothing in the middle."""
        plan = end_pass(grid, requests)
        if plan is None:
            return None
        for block in self.scan():
            plan.see(block)
        return plan.answers()


class _Tally:
    """Rows and sums by bucket, from a first bucket on; one of several that share what may be kept; private."""

    def __init__(self, first: int, tallies: int) -> None:
        self._first, self._most = first, DENSE // tallies
        self._rows: Codes | None = None
        self._low: Codes = np.zeros(0, np.int64)
        self._parts: list[tuple[Codes, Codes, Codes]] = []
        self._sparse = 0

    def add(self, bucket: Codes, low: Codes | None) -> None:
        """Add one block."""
        if not len(bucket):
            return
        bucket -= self._first
        top = int(bucket.max()) + 1
        if top > self._most:
            self._few(bucket, low)
            return
        if self._rows is None or len(self._rows) < top:
            self._grow(top)
        assert self._rows is not None
        if top > SPREAD * len(bucket):
            np.add.at(self._rows, bucket, 1)
            if low is not None:
                np.add.at(self._low, bucket, low)
            return
        self._rows[:top] += np.bincount(bucket, minlength=top)
        if low is not None:
            self._low[:top] += _sums(bucket, low, top)

    def _grow(self, top: int) -> None:
        """Room for more buckets: where there may be many, for all of them, as only what is written takes memory."""
        size = top if top <= BLOCK else self._most
        for name in ("_rows", "_low"):
            old, new = getattr(self, name), np.zeros(size, np.int64)
            if old is not None:
                new[: len(old)] = old
            setattr(self, name, new)

    def _few(self, bucket: Codes, low: Codes | None) -> None:
        found, place, rows = np.unique(bucket, return_inverse=True, return_counts=True)
        sums = np.zeros(len(found), np.int64) if low is None else _sums(place, low, len(found))
        self._parts.append((found, rows.astype(np.int64), sums))
        self._sparse += len(found)
        if self._sparse > self._most:  # what occurs twice is kept once
            self._parts = [_joined(self._parts)]
            self._sparse = len(self._parts[0][0])

    def result(self) -> tuple[Codes, Codes, Codes]:
        """The buckets that occur, in order."""
        parts = list(self._parts)
        if self._rows is not None:
            bucket = np.flatnonzero(self._rows)
            parts.append((bucket, self._rows[bucket], self._low[bucket]))
        bucket, rows, low = _joined(parts)
        return bucket + self._first, rows, low


def _sums(place: Codes, low: Codes, size: int) -> Codes:
    """Exact sums by place: numpy adds in doubles, which hold 2^16 numbers below 2^37."""
    if int(low.max(initial=0)) < 2**37:
        return np.bincount(place, low, size).astype(np.int64)
    high = low >> 20
    return (_sums(place, high, size) << 20) + _sums(place, low - (high << 20), size)


def _joined(parts: list[tuple[Codes, Codes, Codes]]) -> tuple[Codes, Codes, Codes]:
    """Tallies of the same buckets, added up."""
    if not parts:
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, nothing
    if len(parts) == 1:
        return parts[0]
    bucket, rows, low = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(bucket, kind="stable")
    bucket, rows, low = bucket[order], rows[order], low[order]
    starts = np.flatnonzero(np.append(True, bucket[1:] != bucket[:-1]))
    return bucket[starts], np.add.reduceat(rows, starts), np.add.reduceat(low, starts)
