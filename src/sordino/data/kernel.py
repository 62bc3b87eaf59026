"""The numpy kernel: rows, sums, squares, rank windows and cuts of a column of codes, in exact integers.

Plain functions on arrays; which rows count is decided by the sources. Nothing here raises for a value.
"""

from __future__ import annotations

import sys
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.objects import double_places, key_places
from sordino.data.schema import NUMBERS
from sordino.lattice import RAISED, RowLattice
from sordino.reading.requests import Request, Run, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sordino.data.table import Column

BLOCK = 1 << 16
"""Rows per block: codes of a block stay in the cache."""

RAISED_BITS = int(np.array(RAISED).view(np.int64)[()])
"""The bits of 2^52 as a double, as a whole number."""

COMPARED = 128
"""Up to so many cuts a comparison each is faster than a search in their list."""


def key_index(column: Column, keys: tuple[str | int, ...]) -> NDArray[np.intp]:
    """The place of each row's key in the public list, -1 where it is not in it; no value raises.

    Whole-number keys are found in text too, by what the text reads as: columns of a CSV file are all text.
    """
    texts = bool(keys) and isinstance(keys[0], str)
    if not keys or (texts and column.kind in NUMBERS):
        return np.full(len(column), -1, np.intp)
    if column.kind == "object":
        return key_places(column.values.tolist(), keys)
    if column.kind not in NUMBERS and texts:
        return _text_index(column.values, keys)
    exact = column.kind in NUMBERS and column.values.dtype.kind in "iub"
    place = _whole_index(column.values, keys) if exact else _double_index(column.numeric(), keys)
    return place if column.absent is None else np.where(column.absent, -1, place)


def _text_index(values: NDArray[Any], keys: tuple[str | int, ...]) -> NDArray[np.intp]:
    """The place of texts among texts; what stands for nothing in a column of a frame is no text."""
    if values.dtype.kind != "O":
        return _found(values, np.array(keys), np.arange(len(keys)))
    places: dict[Any, int] = {key: place for place, key in enumerate(keys)}
    found = (places.get(value, -1) if type(value) is str else -1 for value in values.tolist())
    return np.fromiter(found, np.intp, len(values))


def _double_index(values: NDArray[Any], keys: tuple[str | int, ...]) -> NDArray[np.intp]:
    """The place of doubles among whole numbers, by the double nearest to each."""
    places = double_places(keys)
    return _found(values, np.array(list(places), np.float64), np.array(list(places.values()), np.intp))


def _whole_index(values: NDArray[Any], keys: tuple[str | int, ...]) -> NDArray[np.intp]:
    """The place of whole numbers among whole numbers, exactly: keys beyond the type of the column are nobody's."""
    if values.dtype.kind == "b":
        values = values.view(np.int8)
    least, most = np.iinfo(values.dtype).min, np.iinfo(values.dtype).max
    places = [place for place, key in enumerate(keys) if least <= int(key) <= most]
    wanted, place = np.array([keys[place] for place in places], values.dtype), np.array(places, np.intp)
    dense = _dense_index(values, wanted, place)
    return _found(values, wanted, place) if dense is None else dense


def _found(values: NDArray[Any], wanted: NDArray[Any], place: NDArray[np.intp]) -> NDArray[np.intp]:
    """The place of each value in a list of different ones, by a search."""
    if not len(wanted):
        return np.full(len(values), -1, np.intp)
    order = np.argsort(wanted, kind="stable")
    near = np.minimum(np.searchsorted(wanted[order], values), len(wanted) - 1)
    return np.where(wanted[order][near] == values, place[order[near]], -1)


def _dense_index(
    values: NDArray[Any], wanted: NDArray[Any], place: NDArray[np.intp]
) -> NDArray[np.intp] | None:
    """The place of whole numbers in a list of keys that lie close together, by a table; None where they do not."""
    if not len(wanted) or values.dtype.kind != "i":
        return None
    low, high = int(wanted.min()), int(wanted.max())
    if high - low > 4 * len(wanted) + len(values):
        return None
    table = np.full(high - low + 2, -1, np.intp)  # the last place is for all other numbers
    table[wanted.astype(np.int64) - low] = place
    wide = values.astype(np.int64, copy=False)
    inside = (wide >= low) & (wide <= high)
    return table[np.where(inside, wide - low, -1)]


def divided(group: NDArray[np.intp], groups: int) -> tuple[NDArray[np.intp], list[int]]:
    """The rows in the order of their groups, and where each group starts; rows of no group are left out."""
    narrow = group.astype(np.int16) if groups < 2**15 else group  # numpy sorts 16 bits by counting
    order = np.argsort(narrow, kind="stable")
    starts = np.searchsorted(narrow[order], np.arange(groups + 1)).tolist()
    return order[starts[0] :], [start - starts[0] for start in starts]


def joined(group: NDArray[Any], codes: NDArray[Any], top: int) -> NDArray[np.int64]:
    """Group and code in one whole number: the group above the bits of the largest code."""
    both = group.astype(np.int64)
    both <<= top.bit_length()
    both |= codes
    return both


def fits_joined(groups: int, top: int) -> bool:
    """Whether 64 bits hold group and code together; public."""
    return groups.bit_length() + top.bit_length() <= 63


def parted(both: NDArray[np.int64], groups: int, top: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What `joined` has put together, in order: the codes, and where each group starts; groups below 0 are left out.

    One sort of whole numbers is many times faster than one of pairs. The numbers are sorted and cut in place.
    """
    shift = top.bit_length()
    both.sort()
    places = np.searchsorted(both, np.arange(groups + 1, dtype=np.int64) << shift)
    inner = both[places[0] :]
    inner &= (1 << shift) - 1
    return inner, places - places[0]


def sorted_by_group(
    index: NDArray[Any], codes: NDArray[Any], groups: int, top: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes in the order of group and code, and where each group starts; rows of no group (-1) are left out."""
    if fits_joined(groups, top):
        return parted(joined(index, codes, top), groups, top)
    order = np.lexsort((codes, index))
    places = np.searchsorted(index[order], np.arange(groups + 1))
    return codes[order[places[0] :]].astype(np.int64, copy=False), places - places[0]


class RunningSums:
    """Exact sums of the codes from one place to another, at most ``longest`` rows apart; private.

    Running sums may wrap: their differences modulo 2^64 are right wherever the sum itself is below 2^64. Where so many
    rows could exceed that, both halves of the codes are summed.
    """

    __slots__ = ("_sums",)

    def __init__(self, codes: NDArray[Any], top: int, longest: int) -> None:
        parts = [(codes, 0)] if top * longest < 2**64 else [(codes & (2**32 - 1), 0), (codes >> 32, 32)]
        self._sums = []
        for part, shift in parts:
            running = np.zeros(len(codes) + 1, np.uint64)
            np.cumsum(part, dtype=np.uint64, out=running[1:])
            self._sums.append((running, shift))

    def __call__(self, start: int, stop: int) -> int:
        """One sum."""
        return sum(
            ((int(running[stop]) - int(running[start])) % 2**64) << shift for running, shift in self._sums
        )

    def each(self, starts: NDArray[Any], stops: NDArray[Any]) -> list[int]:
        """Many of them."""
        (first, _), *rest = self._sums
        found: list[int] = (first[stops] - first[starts]).tolist()
        for running, shift in rest:
            more = (running[stops] - running[starts]).tolist()
            found = [low + (high << shift) for low, high in zip(found, more, strict=True)]
        return found


def summarise_together(codes: NDArray[Any], requests: tuple[Request, ...]) -> dict[Request, Summary]:
    """Answer several requests on one grid from one pass: ask for everything at once and hand out the parts."""
    windows = tuple(dict.fromkeys(window for request in requests for window in request.windows))
    cuts = tuple(dict.fromkeys(cut for request in requests for cut in request.cuts))
    squares = any(request.squares and request.within is None for request in requests)
    within = {request: _sums_within(codes, request) for request in requests if request.within is not None}
    whole = summarise(codes, Request(requests[0].column, requests[0].grid, windows, squares, cuts))
    runs = dict(zip(windows, whole.runs, strict=True))
    below = dict(zip(cuts, whole.below, strict=True))
    return {
        request: Summary(
            request,
            whole.rows,
            *within.get(request, (whole.total, whole.squares if request.squares else 0)),
            tuple(runs[window] for window in request.windows),
            tuple(below[cut] for cut in request.cuts),
        )
        for request in requests
    }


def _sums_within(codes: NDArray[Any], request: Request) -> tuple[int, int]:
    """The sum of the codes cut to an interval and counted from its first code, and of their squares where asked."""
    assert request.within is not None
    low, high = request.within
    total = squares = 0
    for start in range(0, len(codes), BLOCK):
        cut = np.clip(codes[start : start + BLOCK].astype(np.int64), low, high) - low
        total += exact_sum(cut, high - low)
        squares += exact_squares(cut, high - low) if request.squares else 0
    return total, squares


def summarise(codes: NDArray[Any], request: Request) -> Summary:
    """Rows, total, squares, windows and cuts of a column of codes, in exact integers; the codes are rearranged."""
    rows, top = len(codes), request.grid.last
    squares = exact_squares(codes, top) if request.squares else 0
    below = counts_below(codes, request.cuts)
    windows = [window.ranks(rows) for window in request.windows]
    places = sorted({place for first, last in windows if first <= last for place in (first - 1, last)})
    if places and heaped(codes):
        codes.sort()
    else:
        arrange(codes, places, 0, rows)
    sums = dict(zip(places, accumulate(_segments(codes, places, top)), strict=False))
    total = exact_sum(codes[places[-1] :], top) + sums[places[-1]] if places else exact_sum(codes, top)
    runs = tuple(_run(codes, first, last, sums, rows=rows, top=top) for first, last in windows)
    return Summary(request, rows, total, squares, runs, below)


def _segments(codes: NDArray[Any], places: list[int], top: int) -> Iterator[int]:
    """Sums of the codes between neighbouring places, from the first row on."""
    for start, stop in pairwise([0, *places]):
        yield exact_sum(codes[start:stop], top)


def _run(codes: NDArray[Any], first: int, last: int, sums: dict[int, int], *, rows: int, top: int) -> Run:
    """Sort one window that selection has put in its place."""
    if first > last:
        return Run(1, np.zeros(0, np.int64), 0, rows, top)
    window = codes[first - 1 : last].astype(np.int64)
    window.sort()
    return Run(first, window, sums[first - 1], rows, top)


def heaped(codes: NDArray[Any]) -> bool:
    """Whether many rows share one code, from a thousand of them: selection is slow there and sorting fast."""
    _, counts = np.unique(codes[:: max(1, len(codes) // 1024)], return_counts=True)
    return bool(np.max(counts, initial=0) * 16 > counts.sum())


def arrange(codes: NDArray[Any], places: list[int], start: int, stop: int) -> None:
    """Put smaller codes before every place and larger ones after it, by halving the list of places.

    One place at a time keeps numpy on its vectorised selection, which several at once would leave.
    """
    inside = [place for place in places if start < place < stop]
    if not inside:
        return
    middle = inside[len(inside) // 2]
    codes[start:stop].partition(middle - start)
    arrange(codes, inside, start, middle)
    arrange(codes, inside, middle, stop)


def counts_below(codes: NDArray[Any], cuts: tuple[int, ...]) -> tuple[int, ...]:
    """For every cut, the number of smaller codes."""
    if len(cuts) < 8:
        return tuple(int(np.count_nonzero(codes < cut)) for cut in cuts)
    levels = np.unique(np.asarray(cuts, np.int64))
    if (
        len(levels) <= COMPARED
        and len(codes)
        and levels[0] >= 0
        and int(levels[-1]) <= np.iinfo(codes.dtype).max
    ):
        below = np.zeros(len(levels), np.int64)
        marks = levels.astype(codes.dtype).tolist()
        for start in range(0, len(codes), BLOCK):
            block = codes[start : start + BLOCK]
            below += [np.count_nonzero(block < mark) for mark in marks]
        found = dict(zip(levels.tolist(), below.tolist(), strict=True))
        return tuple(found[cut] for cut in cuts)
    counts = np.zeros(len(levels) + 1, np.int64)
    for start in range(0, len(codes), BLOCK):
        cells = np.searchsorted(levels, codes[start : start + BLOCK].astype(np.int64), side="right")
        counts += np.bincount(cells, minlength=len(levels) + 1)
    smaller = dict(zip(levels.tolist(), np.cumsum(counts).tolist(), strict=False))
    return tuple(smaller[cut] for cut in cuts)


def coded(values: NDArray[Any], grid: RowLattice) -> NDArray[Any]:
    """The codes of a column, in the narrowest integer type, block by block."""
    narrow = grid.last < 2**32 and sys.byteorder == "little"
    codes = np.empty(len(values), np.uint32 if narrow else np.int64)
    room = (
        np.empty(min(BLOCK, len(values))) if narrow else codes.view(np.float64)
    )  # wide codes are made in place
    filled = 0
    for start in range(0, len(values), BLOCK):
        block = values[start : start + BLOCK]
        if block.dtype != np.float64:
            block = block.astype(np.float64)
        first = 0 if narrow else filled
        raised = grid.raised(block, out=room[first : first + len(block)])
        if np.isnan(np.add.reduce(raised)):
            found: NDArray[Any] = grid.codes(block)
            codes[filled : filled + len(found)] = found
        elif narrow:
            found = codes[filled : filled + len(block)]
            found[:] = raised.view(np.uint32)[::2]  # the low half of the mantissa is the code
        else:
            found = codes[filled : filled + len(block)]
            np.subtract(found, RAISED_BITS, out=found)  # the mantissa is the code
        filled += len(found)
    return codes[:filled]


def exact_sum(codes: NDArray[Any], top: int) -> int:
    """The sum as a Python integer: blocks that cannot overflow, then Python integers across blocks."""
    block = max(1, 2**62 // max(top, 1))
    return sum(int(codes[i : i + block].sum(dtype=np.int64)) for i in range(0, len(codes), block))


def exact_squares(codes: NDArray[Any], top: int) -> int:
    """The sum of squares as a Python integer, from two halves of each code."""
    half = max(1, (top.bit_length() + 1) // 2)
    total = 0
    size = min(BLOCK, (1 << 62) >> (2 * half))
    for start in range(0, len(codes), size):
        block = codes[start : start + size].astype(np.int64)
        high, low = block >> half, block & ((1 << half) - 1)
        for left, right, shift in ((high, high, 2 * half), (high, low, half + 1), (low, low, 0)):
            total += int((left * right).sum()) << shift
    return total
