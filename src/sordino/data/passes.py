"""Two group-bys: all summaries of a column of codes in an engine, in constant memory.

The first groups by the top bits of the code: rows, sums and sums of squares of the low bits. The second groups by
the whole code, inside the buckets that hold wanted ranks. Numbers are put together in Python's integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sordino.errors import DataError
from sordino.source import Request, Run, Summary, Window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]

CODE, BUCKET, ROWS, LOW, HIGH_SQUARES, LOW_SQUARES = (
    f"sordino_{word}" for word in ("code", "bucket", "rows", "low", "high_squares", "low_squares")
)
BUCKET_BITS = 12
"""Balances the two passes: 4096 groups in the first, at most 2^20 codes per wanted bucket in the second."""

CUTS = 256
"""Counts below cuts that one scan takes."""


def collected(frame: nw.LazyFrame[Any]) -> dict[str, NDArray[Any]]:
    """The columns of a small table, as arrays."""
    table = frame.collect(backend="pyarrow")
    return {name: table[name].to_numpy() for name in table.columns}


def changed(subject: str) -> DataError:
    """The one error that may come after the debit: it says nothing of any value."""
    return DataError(
        subject,
        "the data changed while they were read",
        why="A summary takes two passes, and the second did not fit the first.",
        hint="read from a snapshot or a file that nobody writes to; ask again with the same token, it costs nothing",
    )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Buckets:
    """The answer of the first pass, ordered by bucket; private."""

    shift: int
    bucket: Codes
    rows: Codes
    low: Codes

    def until(self) -> Codes:
        """Rows up to and including each bucket."""
        return np.cumsum(self.rows)

    def total(self, stop: int) -> int:
        """The sum of the codes of the first ``stop`` buckets."""
        return (_dot(self.bucket[:stop], self.rows[:stop]) << self.shift) + sum(self.low[:stop].tolist())


def two_passes(
    codes: nw.LazyFrame[Any], requests: tuple[Request, ...], subject: str
) -> dict[Request, Summary]:
    """Answer requests on one grid from a frame with the one column of codes (doubles that hold integers)."""
    grid = requests[0].grid
    windows = tuple(dict.fromkeys(window for request in requests for window in request.windows))
    cuts = tuple(dict.fromkeys(cut for request in requests for cut in request.cuts))
    shift = max(0, grid.top.bit_length() - BUCKET_BITS)
    first, squares = _first(codes, shift, squares=any(request.squares for request in requests))
    rows = int(first.rows.sum())
    runs = _runs(codes, first, windows, rows, grid.top, subject)
    below = _below(codes, first, cuts, rows, subject)
    total = first.total(len(first.bucket))
    return {
        request: Summary(
            request,
            rows,
            total,
            squares if request.squares else 0,
            tuple(runs[window] for window in request.windows),
            tuple(below[cut] for cut in request.cuts),
        )
        for request in requests
    }


def _first(codes: nw.LazyFrame[Any], shift: int, *, squares: bool) -> tuple[_Buckets, int]:
    """Group by the top bits. Squares of low bits are summed in two halves: 64 bits then hold 2^43 rows."""
    width = 2.0**shift
    frame = codes.with_columns((nw.col(CODE) * (1 / width)).floor().alias(BUCKET))
    low = nw.col(CODE) - nw.col(BUCKET) * width
    frame = frame.select(nw.col(BUCKET).cast(nw.Int64), low.alias(LOW))
    sums = [LOW]
    if squares:
        square = nw.col(LOW) * nw.col(LOW)
        high = (square * 2.0**-20).floor()
        frame = frame.with_columns(high.alias(HIGH_SQUARES), (square - high * 2.0**20).alias(LOW_SQUARES))
        sums += [HIGH_SQUARES, LOW_SQUARES]
    frame = frame.with_columns(*(nw.col(name).cast(nw.Int64) for name in sums))
    found = collected(
        frame.group_by(BUCKET).agg(nw.len().alias(ROWS), *(nw.col(name).sum() for name in sums))
    )
    order = np.argsort(found[BUCKET])
    column = {name: integers(found[name][order]) for name in found}
    first = _Buckets(shift, column[BUCKET], column[ROWS], column[LOW])
    if not squares:
        return first, 0
    # (b 2^s + r)^2 = b^2 4^s + 2 b r 2^s + r^2
    parts = zip(
        *(column[name].tolist() for name in (BUCKET, ROWS, LOW, HIGH_SQUARES, LOW_SQUARES)), strict=True
    )
    return first, sum(
        (b * b * n << 2 * shift) + (b * r << shift + 1) + (high << 20) + rest for b, n, r, high, rest in parts
    )


def _runs(
    codes: nw.LazyFrame[Any],
    first: _Buckets,
    windows: tuple[Window, ...],
    rows: int,
    top: int,
    subject: str,
) -> dict[Window, Run]:
    """Group by the whole code inside the buckets that hold wanted ranks, and cut the windows out."""
    until = first.until()
    spans: dict[Window, tuple[int, int]] = {}
    for window in windows:
        low, high = window.ranks(rows)
        if low <= high:
            start, stop = np.searchsorted(until, [low, high]).tolist()
            spans[window] = (start, stop + 1)
    inside = _second(codes, first, merged(list(spans.values())), subject)
    runs = {}
    for window in windows:
        if window not in spans:
            runs[window] = Run(1, np.zeros(0, np.int64), 0, rows, top)
            continue
        start, stop = spans[window]
        low, high = window.ranks(rows)
        before = int(until[start] - first.rows[start])
        chosen = slice(*np.searchsorted(inside[0], [first.bucket[start] << first.shift,
                                                    (first.bucket[stop - 1] + 1) << first.shift]))  # fmt: skip
        value, count = inside[0][chosen], inside[1][chosen]
        last = before + np.cumsum(count)
        taken = np.minimum(last, high) - np.maximum(last - count, low - 1)
        ahead = np.minimum(count, np.maximum(low - 1 - (last - count), 0))
        below = first.total(start) + _dot(value, ahead)
        runs[window] = Run(low, np.repeat(value, np.maximum(taken, 0)), below, rows, top)
    return runs


def _second(
    codes: nw.LazyFrame[Any], first: _Buckets, spans: list[tuple[int, int]], subject: str
) -> tuple[Codes, Codes]:
    """Codes and how often each occurs, ordered, in the given spans of buckets."""
    if not spans:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if first.shift == 0:
        return first.bucket, first.rows
    chosen: Any = None
    for start, stop in spans:
        low = float(int(first.bucket[start]) << first.shift)
        high = float((int(first.bucket[stop - 1]) + 1) << first.shift)
        here = (nw.col(CODE) >= low) & (nw.col(CODE) < high)
        chosen = here if chosen is None else chosen | here
    frame = codes.filter(chosen).select(nw.col(CODE).cast(nw.Int64))
    found = collected(frame.group_by(CODE).agg(nw.len().alias(ROWS)))
    order = np.argsort(found[CODE])
    value, count = integers(found[CODE][order]), integers(found[ROWS][order])
    expected = np.concatenate([np.arange(start, stop) for start, stop in spans])
    bucket = value >> first.shift
    place = np.searchsorted(first.bucket, bucket)
    fits = len(value) > 0 and bool(np.all(first.bucket[np.minimum(place, len(first.bucket) - 1)] == bucket))
    if not fits or not np.array_equal(
        np.bincount(place, count, len(first.bucket))[expected].astype(np.int64), first.rows[expected]
    ):
        raise changed(subject)
    return value, count


def _below(
    codes: nw.LazyFrame[Any], first: _Buckets, cuts: tuple[int, ...], rows: int, subject: str
) -> dict[int, int]:
    """For every cut, the number of smaller codes."""
    if first.shift == 0:
        until = np.concatenate([[0], first.until()])
        return {cut: int(until[np.searchsorted(first.bucket, cut)]) for cut in cuts}
    answers: dict[int, int] = {}
    for start in range(0, len(cuts), CUTS):
        some = cuts[start : start + CUTS]
        marks = [
            nw.when(nw.col(CODE) < float(cut)).then(nw.lit(1)).otherwise(nw.lit(0)).alias(f"{CODE}_{i}")
            for i, cut in enumerate(some)
        ]
        sums = [nw.col(f"{CODE}_{i}").cast(nw.Int64).sum() for i in range(len(some))]
        found = collected(codes.select(*marks).select(nw.len().alias(ROWS), *sums))
        if int(found[ROWS][0]) != rows:
            raise changed(subject)
        answers |= {cut: int(found[f"{CODE}_{i}"][0] or 0) if rows else 0 for i, cut in enumerate(some)}
    return answers


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Half-open intervals, joined where they meet.

    Example:
        >>> merged([(5, 7), (1, 3), (2, 4), (7, 8)])
        [(1, 4), (5, 8)]
    """
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return joined


def integers(values: NDArray[Any]) -> Codes:
    """Whole numbers, however an engine sends them (DuckDB's sums come as decimals)."""
    return (
        np.array([int(value) for value in values], np.int64)
        if values.dtype == object
        else values.astype(np.int64)
    )


def _dot(values: Codes, counts: Codes) -> int:
    """The exact sum of products: halves of 26 bits times up to 2^36 rows stay in 64 bits."""
    high, low = values >> 26, values & (2**26 - 1)
    return (int((high * counts).sum()) << 26) + int((low * counts).sum())
