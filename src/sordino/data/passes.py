"""Two or three group-bys: all summaries of a column of codes in an engine, in constant memory.

The first groups by the top bits of the code: rows, sums and sums of squares of the low bits. The last groups by the
whole code, inside the buckets that hold wanted ranks; on a fine lattice one between them makes these buckets smaller.
Numbers are put together in Python's integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sordino.data.streamed import StreamedCodes
from sordino.data.streamed import shifts as stream_shifts
from sordino.errors import DataError
from sordino.reading.requests import Request, Run, Summary, Window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Column = nw.LazyFrame[Any] | StreamedCodes

CODE, BUCKET, ROWS, LOW, HIGH_SQUARES, LOW_SQUARES = (
    f"sordino_{word}" for word in ("code", "bucket", "rows", "low", "high_squares", "low_squares")
)
BUCKET_BITS, CODE_BITS = 12, 20
"""Balances the passes: 4096 groups in the first, at most 2^20 per wanted bucket in each later one."""

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
        why="A summary takes several passes, and a later one did not fit the first.",
        hint="read from a snapshot or a file that nobody writes to; ask again with the same token, it costs nothing",
    )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Span:
    """Codes ``first .. after - 1`` that hold a window's ranks; number and sum of the rows before them; private."""

    first: int
    after: int
    rows: int
    total: int


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Buckets:
    """The answer of one pass, ordered by bucket; private."""

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

    def within(self, span: _Span) -> _Buckets:
        """The buckets of a span, which ends where buckets do."""
        ends = [span.first >> self.shift, -(-span.after >> self.shift)]
        part = slice(*np.searchsorted(self.bucket, ends))
        return _Buckets(self.shift, self.bucket[part], self.rows[part], self.low[part])

    def narrowed(self, span: _Span, low: int, high: int) -> _Span:
        """The buckets of a span that hold the ranks from low to high."""
        part = self.within(span)
        until = span.rows + part.until()
        start, stop = np.searchsorted(until, [low, high]).tolist()
        return _Span(
            int(part.bucket[start]) << self.shift,
            (int(part.bucket[stop]) + 1) << self.shift,
            int(until[start] - part.rows[start]),
            span.total + part.total(start),
        )


def shifts(top: int) -> tuple[int, ...]:
    """How many low bits of the code each pass leaves out; public, so the number of scans tells nothing.

    Example:
        >>> shifts(100), shifts(2**31), shifts(2**44)
        ((0,), (20, 0), (33, 16, 0))
    """
    first = max(0, top.bit_length() - BUCKET_BITS)
    if first == 0:
        return (0,)
    return (first, 0) if first <= CODE_BITS else (first, first // 2, 0)


def summarise_frame(codes: Column, requests: tuple[Request, ...], subject: str) -> dict[Request, Summary]:
    """Answer requests on one grid from a stream, or a frame with one column of codes (doubles that hold integers)."""
    grid = requests[0].grid
    if isinstance(codes, StreamedCodes) and (found := codes.in_one_pass(grid, requests)) is not None:
        return found
    windows = tuple(dict.fromkeys(window for request in requests for window in request.windows))
    cuts = tuple(dict.fromkeys(cut for request in requests for cut in request.cuts))
    plain = not windows and not cuts and not any(request.squares or request.within for request in requests)
    if plain and not isinstance(codes, StreamedCodes):
        rows, total = _sum(codes)
        return {request: Summary(request, rows, total) for request in requests}
    squared = any(request.squares and request.within is None for request in requests)
    if isinstance(codes, StreamedCodes):
        shift = stream_shifts(grid.last)[0]
        counted, squares, below = codes.by_bucket(shift, second=squared, cuts=cuts)
        first = _Buckets(shift, *counted)
    else:
        first, squares = _by_bucket(codes, shifts(grid.last)[0], squares=squared)
    rows = int(first.rows.sum())
    runs = _runs(codes, first, windows, rows, grid.last, subject)
    if not isinstance(codes, StreamedCodes):
        below = _below(codes, first, cuts, rows, subject)
    total = first.total(len(first.bucket))
    within = {request: _within(codes, request, rows, subject) for request in requests if request.within}
    return {
        request: Summary(
            request,
            rows,
            *within.get(request, (total, squares if request.squares else 0)),
            tuple(runs[window] for window in request.windows),
            tuple(below[cut] for cut in request.cuts),
        )
        for request in requests
    }


def _sum(codes: nw.LazyFrame[Any]) -> tuple[int, int]:
    """Rows and the sum of their codes. A server sums whole numbers of any length; others get them in halves."""
    rows = nw.len().alias(ROWS)
    if codes.implementation.is_ibis():  # what stands once is computed once there
        found = collected(codes.select(rows, nw.col(CODE).cast(nw.Int64).sum().alias(LOW)))
        return int(found[ROWS][0]), int(found[LOW][0] or 0)
    high = (nw.col(CODE) * 2.0**-16).floor()
    frame = codes.with_columns(high.alias(BUCKET), (nw.col(CODE) - high * 2.0**16).alias(LOW))
    found = collected(frame.select(rows, *(nw.col(name).cast(nw.Int64).sum() for name in (BUCKET, LOW))))
    return int(found[ROWS][0]), (int(found[BUCKET][0] or 0) << 16) + int(found[LOW][0] or 0)


def _within(codes: Column, request: Request, rows: int, subject: str) -> tuple[int, int]:
    """The sum of the codes cut to an interval and counted from its first code, and of their squares where asked."""
    assert request.within is not None
    low, high = map(float, request.within)
    cut: Column = (
        codes.clipped(*request.within)
        if isinstance(codes, StreamedCodes)
        else codes.select((nw.col(CODE).clip(low, high) - low).alias(CODE))
    )
    found, squares = _by_bucket(cut, shifts(request.width)[0], squares=request.squares)
    if int(found.rows.sum()) != rows:
        raise changed(subject)
    return found.total(len(found.bucket)), squares


def _by_bucket(codes: Column, shift: int, *, squares: bool = False) -> tuple[_Buckets, int]:
    """Group by all but the low bits. Squares of low bits are summed in two halves: 64 bits then hold 2^43 rows."""
    if isinstance(codes, StreamedCodes):
        counted, second, _ = codes.by_bucket(shift, second=squares)
        return _Buckets(shift, *counted), second
    if codes.implementation.is_ibis() and not squares:
        return _by_bucket_once(codes, shift), 0
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
    level = _Buckets(shift, column[BUCKET], column[ROWS], column[LOW])
    if not squares:
        return level, 0
    # (b 2^s + r)^2 = b^2 4^s + 2 b r 2^s + r^2
    parts = zip(
        *(column[name].tolist() for name in (BUCKET, ROWS, LOW, HIGH_SQUARES, LOW_SQUARES)), strict=True
    )
    return level, sum(
        (b * b * n << 2 * shift) + (b * r << shift + 1) + (high << 20) + rest for b, n, r, high, rest in parts
    )


def _by_bucket_once(codes: nw.LazyFrame[Any], shift: int) -> _Buckets:
    """The same in a server, which computes a code as often as it is named and sums whole numbers of any length."""
    bucket = (nw.col(CODE) * 2.0**-shift).floor() if shift else nw.col(CODE)
    whole = [nw.col(CODE).cast(nw.Int64).alias(LOW)] if shift else []
    frame = codes.select(bucket.cast(nw.Int64).alias(BUCKET), *whole).group_by(BUCKET)
    found = collected(frame.agg(nw.len().alias(ROWS), *(nw.col(LOW).sum() for _ in whole)))
    order = np.argsort(found[BUCKET])
    place, rows = integers(found[BUCKET][order]), integers(found[ROWS][order])
    if not shift:
        return _Buckets(0, place, rows, np.zeros(len(place), np.int64))
    sums = zip(found[LOW][order].tolist(), place.tolist(), rows.tolist(), strict=True)
    low = [int(total) - (start * count << shift) for total, start, count in sums]
    return _Buckets(shift, place, rows, np.array(low, np.int64))


def _runs(
    codes: Column,
    first: _Buckets,
    windows: tuple[Window, ...],
    rows: int,
    top: int,
    subject: str,
) -> dict[Window, Run]:
    """Group by more and more bits inside the buckets that hold wanted ranks, and cut the windows out of the codes."""
    nothing = np.zeros(0, np.int64)
    runs = {window: Run(1, nothing, 0, rows, top) for window in windows}
    ranks = {window: window.ranks(rows) for window in windows}
    spans = {window: _Span(0, top + 1, 0, 0) for window in windows if ranks[window][0] <= ranks[window][1]}
    if not spans:
        return runs
    level = first
    later = stream_shifts(top) if isinstance(codes, StreamedCodes) else shifts(top)
    for shift in later[1:]:
        spans = {window: level.narrowed(span, *ranks[window]) for window, span in spans.items()}
        level = _inside(codes, level, [(span.first, span.after) for span in spans.values()], shift, subject)
    for window, span in spans.items():
        low, high = ranks[window]
        part = level.within(span)
        value, count, last = part.bucket, part.rows, span.rows + part.until()
        taken = np.minimum(last, high) - np.maximum(last - count, low - 1)
        ahead = np.minimum(count, np.maximum(low - 1 - (last - count), 0))
        below = span.total + _dot(value, ahead)
        runs[window] = Run(low, np.repeat(value, np.maximum(taken, 0)), below, rows, top)
    return runs


def _inside(
    codes: Column, outer: _Buckets, spans: list[tuple[int, int]], shift: int, subject: str
) -> _Buckets:
    """The smaller buckets of the given spans of codes, which end where buckets of the level before do."""
    chosen: Any = None
    wanted = np.zeros(len(outer.bucket), bool)
    for low, high in merged(spans):
        here = (nw.col(CODE) >= float(low)) & (nw.col(CODE) < float(high))
        chosen = here if chosen is None else chosen | here
        wanted |= (outer.bucket >= low >> outer.shift) & (outer.bucket < high >> outer.shift)
    part = codes.inside(merged(spans)) if isinstance(codes, StreamedCodes) else codes.filter(chosen)
    found, _ = _by_bucket(part, shift)
    parent = found.bucket >> (outer.shift - shift)
    place = np.minimum(np.searchsorted(outer.bucket, parent), len(outer.bucket) - 1)
    counted = np.bincount(place, found.rows, len(outer.bucket)).astype(np.int64)
    if not np.array_equal(outer.bucket[place], parent) or not np.array_equal(
        counted, np.where(wanted, outer.rows, 0)
    ):
        raise changed(subject)
    return found


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
