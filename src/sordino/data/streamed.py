"""Codes of a column that come in batches, such as those of a Parquet file: sums, ends and group-bys in constant memory.

What `sordino.data.passes` asks of an engine by expressions is done here by numpy on blocks that stay in the cache. The
number of scans is the same public one, and one where nothing in the middle is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.one_pass import blocks, end_pass, squares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from sordino.lattice import RowLattice
    from sordino.reading.requests import Request, Summary

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]

DENSE = 1 << 22
"""Up to so many buckets are counted in an array, more of them as far as they occur."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class StreamedCodes:
    """The codes of a column, scanned as often as asked; private.

    Args:
        scan: Gives the codes as floats, block by block; a block lasts until the next one.

    Example:
        >>> codes = StreamedCodes(lambda: iter([np.array([1.0, 6.0]), np.array([5.0])]))
        >>> [column.tolist() for column in codes.by_bucket(2)[0]]
        [[0, 1], [1, 2], [1, 3]]
    """

    scan: Callable[[], Iterator[Floats]]

    @classmethod
    def of(cls, batches: Callable[[], Iterable[NDArray[Any]]], grid: RowLattice) -> StreamedCodes:
        """Codes on a grid of numbers that come in batches."""
        return cls(lambda: (block for batch in batches() for block in blocks(batch, grid)))

    def inside(self, spans: list[tuple[int, int]]) -> StreamedCodes:
        """The codes in some half-open intervals that do not meet."""

        def scan() -> Iterator[Floats]:
            for block in self.scan():
                for low, high in spans:
                    some = block[(block >= low) & (block < high)]
                    if len(some):
                        yield some

        return StreamedCodes(scan)

    def clipped(self, low: int, high: int) -> StreamedCodes:
        """The codes cut to an interval and counted from its first."""
        return StreamedCodes(lambda: (np.clip(block, low, high) - low for block in self.scan()))

    def by_bucket(self, shift: int, *, second: bool = False) -> tuple[tuple[Codes, Codes, Codes], int]:
        """Bucket, rows and sum of the low bits of every bucket that occurs, in order; and the sum of squares."""
        tally, total = _Tally(), 0
        for block in self.scan():
            codes = block.astype(np.int64)
            bucket = codes >> shift
            tally.add(bucket, codes - (bucket << shift) if shift else None)
            total += squares(block) if second else 0
        return tally.result(), total

    def below(self, cuts: tuple[int, ...]) -> tuple[int, dict[int, int]]:
        """The rows, and for every cut the number of smaller codes."""
        rows, found = 0, dict.fromkeys(cuts, 0)
        for block in self.scan():
            rows += len(block)
            for cut in cuts:
                found[cut] += int(np.count_nonzero(block < cut))
        return rows, found

    def in_one_pass(self, grid: RowLattice, requests: tuple[Request, ...]) -> dict[Request, Summary] | None:
        """Answer requests that ask for nothing in the middle."""
        plan = end_pass(grid, requests)
        if plan is None:
            return None
        for block in self.scan():
            plan.see(block)
        return plan.answers()


class _Tally:
    """Rows and sums by bucket; private."""

    def __init__(self) -> None:
        self._rows: Codes | None = None
        self._low: Codes = np.zeros(0, np.int64)
        self._parts: list[tuple[Codes, Codes, Codes]] = []
        self._sparse = 0

    def add(self, bucket: Codes, low: Codes | None) -> None:
        """Add one block."""
        if not len(bucket):
            return
        top = int(bucket.max()) + 1
        if top > DENSE:
            self._few(bucket, low)
            return
        if self._rows is None or len(self._rows) < top:
            self._grow(top)
        assert self._rows is not None
        self._rows[:top] += np.bincount(bucket, minlength=top)
        if low is not None:
            self._low[:top] += _sums(bucket, low, top)

    def _grow(self, size: int) -> None:
        old = np.zeros(0, np.int64) if self._rows is None else self._rows
        self._rows, before = np.zeros(size, np.int64), self._low
        self._rows[: len(old)] = old
        self._low = np.zeros(size, np.int64)
        self._low[: len(before)] = before

    def _few(self, bucket: Codes, low: Codes | None) -> None:
        found, place, rows = np.unique(bucket, return_inverse=True, return_counts=True)
        sums = np.zeros(len(found), np.int64) if low is None else _sums(place, low, len(found))
        self._parts.append((found, rows.astype(np.int64), sums))
        self._sparse += len(found)
        if self._sparse > DENSE:  # what occurs twice is kept once
            self._parts = [_joined(self._parts)]
            self._sparse = len(self._parts[0][0])

    def result(self) -> tuple[Codes, Codes, Codes]:
        """The buckets that occur, in order."""
        parts = list(self._parts)
        if self._rows is not None:
            bucket = np.flatnonzero(self._rows)
            parts.append((bucket, self._rows[bucket], self._low[bucket]))
        return _joined(parts)


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
    bucket, rows, low = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(bucket, kind="stable")
    bucket, rows, low = bucket[order], rows[order], low[order]
    starts = np.flatnonzero(np.append(True, bucket[1:] != bucket[:-1]))
    return bucket[starts], np.add.reduceat(rows, starts), np.add.reduceat(low, starts)
