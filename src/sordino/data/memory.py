"""Data in memory: one numpy kernel that answers every request in exact integers.

Reads mappings of arrays (numpy, pandas, pyarrow and polars columns convert). Files and engines live elsewhere.
Nothing here raises for a value: what is no number follows the grid's policy.
"""

from __future__ import annotations

import operator
import sys
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import DataError
from sordino.source import (
    RAISED,
    Bundle,
    Cells,
    Columns,
    Condition,
    Grid,
    Links,
    Request,
    Run,
    Summary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from sordino.source import Ask

BLOCK = 1 << 16
"""Rows per block: codes of a block stay in the cache."""

_COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Memory:
    """A table in memory.

    Args:
        columns: Name to array; all of one length.

    Example:
        >>> from sordino.statistics.median import Median
        >>> median = Median("x", low=0, high=10, step=1)
        >>> source = Memory({"x": [3, 1, 7]})
        >>> median.read(*source.summary(median.request(depth=1))).open().value
        3
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {name: np.asarray(column) for name, column in columns.items()}
        lengths = {column.shape for column in self._columns.values()}
        if len(lengths) > 1 or any(len(shape) != 1 for shape in lengths):
            raise DataError("memory", "columns must be one-dimensional and of one length")
        self._rows = lengths.pop()[0] if lengths else 0

    def __repr__(self) -> str:
        return f"<Memory source with columns {', '.join(self._columns)}>"

    def check(self, *requests: Ask) -> None:
        """Refuse columns that do not exist or hold no numbers, before anything is spent."""
        for request in requests:
            if isinstance(request, Bundle):
                self.check(*request.parts)
                continue
            for name, numeric in _needed(request):
                if name not in self._columns:
                    raise DataError(
                        "memory", "the column must exist", got={"column": name},
                        hint="one of " + ", ".join(self._columns),
                    )  # fmt: skip
                if numeric and self._columns[name].dtype.kind not in "fiub":
                    raise DataError(
                        "memory", "the column must hold numbers", got={"column": name},
                        hint="convert it to float first; what is no number becomes NaN",
                    )  # fmt: skip

    def summary(self, *requests: Ask) -> tuple[Summary, ...]:
        """Answer each request; requests for one column on one grid share their pass."""
        self.check(*requests)
        asked: dict[tuple[str, Grid], dict[Request, None]] = {}
        for request in requests:
            for part in request.parts if isinstance(request, Bundle) else (request,):
                if isinstance(part, Request):
                    asked.setdefault((part.column, part.grid), {})[part] = None
        shared: dict[Request, Summary] = {}
        for (column, _), together in asked.items():
            shared |= summarise_together(self._columns[column], tuple(together))
        return tuple(self._answer(request, shared) for request in requests)

    def summaries(
        self, by: str, keys: tuple[str | int, ...], *requests: Ask
    ) -> Iterator[tuple[Summary, ...]]:
        """Answer per public key, in the order of the keys."""
        if by not in self._columns:
            raise DataError("memory", "the column must exist", got={"column": by})
        self.check(*requests)
        group = key_index(self._columns[by], keys)
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(len(keys) + 1))
        for start, stop in pairwise(starts.tolist()):
            yield self._kept(order[start:stop]).summary(*requests)

    def where(self, *conditions: Condition) -> Memory:
        """The rows that fulfil all conditions; missing values fulfil none."""
        keep = np.ones(self._rows, bool)
        for condition in conditions:
            if condition.column not in self._columns:
                raise DataError("memory", "the column must exist", got={"column": condition.column})
            keep &= _fulfilled(self._columns[condition.column], condition)
        return self._kept(keep)

    def counts(self, column: str, keys: tuple[str | int, ...]) -> tuple[int, ...]:
        """How often each public key occurs."""
        group = key_index(self._columns[column], keys)
        return tuple(np.bincount(group[group >= 0], minlength=len(keys)).tolist())

    def _kept(self, keep: NDArray[np.bool_] | NDArray[np.intp]) -> Memory:
        return Memory({name: column[keep] for name, column in self._columns.items()})

    def _answer(self, request: Ask, shared: Mapping[Request, Summary]) -> Summary:
        if isinstance(request, Bundle):
            parts = tuple(self._answer(part, shared) for part in request.parts)
            return Summary(request, self._rows, parts=parts)
        if isinstance(request, Cells):
            counts = self.counts(request.column, request.keys)
            return Summary(request, self._rows, counts=counts)
        if isinstance(request, Links):
            return self._links(request)
        if isinstance(request, Columns):
            return self._aligned(request)
        return shared[request]

    def _aligned(self, request: Columns) -> Summary:
        """Codes of several columns for the rows that have a number in every column whose grid drops."""
        numbers = [self._columns[name].astype(np.float64) for name in request.columns]
        keep = np.ones(self._rows, bool)
        for values, grid in zip(numbers, request.grids, strict=True):
            if grid.drops:
                keep &= ~np.isnan(values)
        codes = [grid.codes(values[keep]) for values, grid in zip(numbers, request.grids, strict=True)]
        table = np.array(codes, np.int64).reshape(len(codes), -1)
        return Summary(request, table.shape[1], codes=table)

    def _links(self, request: Links) -> Summary:
        """Canonical edges, or the codes of a public topology."""
        left, right = (self._columns[name].astype(np.float64) for name in (request.left, request.right))
        fine = (left >= 0) & (left < request.vertices) & (right >= 0) & (right < request.vertices)
        fine &= (left == np.floor(left)) & (right == np.floor(right)) & (left != right)
        ends = np.stack([left[fine], right[fine]]).astype(np.int64)
        ends.sort(axis=0)
        keys = ends[0] * request.vertices + ends[1]
        if request.weight is None:
            unique = np.unique(keys)
            links = np.stack([unique // request.vertices, unique % request.vertices], axis=1)
            return Summary(request, len(links), links=links)
        assert request.grid is not None
        numbers = self._columns[request.weight].astype(np.float64)[fine]
        weights = request.grid.codes(np.where(np.isnan(numbers), request.grid.high, numbers))
        public = [min(a, b) * request.vertices + max(a, b) for a, b in request.topology]
        codes = np.full(len(public), request.grid.top, np.int64)
        order = np.lexsort((weights, keys))
        keys, weights = keys[order], weights[order]
        places = np.searchsorted(keys, public)
        for edge, place in enumerate(places.tolist()):
            if place < len(keys) and keys[place] == public[edge]:
                codes[edge] = weights[place]
        return Summary(request, len(public), codes=codes)


def key_index(values: NDArray[Any], keys: tuple[str | int, ...]) -> NDArray[np.intp]:
    """The place of each row's key in the public list, -1 where it is not in it; no value raises."""
    wanted = np.array(keys)
    numeric = (values.dtype.kind in "fiub", wanted.dtype.kind in "fiub")
    if (
        values.dtype.kind == "O"
        or wanted.dtype.kind == "O"
        or (not any(numeric) and values.dtype.kind != "U")
    ):
        places: dict[object, int] = {key: place for place, key in enumerate(keys)}
        found = (
            places.get(value, -1) if isinstance(value, str | int | float) else -1 for value in values.tolist()
        )
        return np.fromiter(found, np.intp, len(values))
    if not len(keys) or numeric[0] != numeric[1]:
        return np.full(len(values), -1, np.intp)
    order = np.argsort(wanted, kind="stable")
    place = np.minimum(np.searchsorted(wanted[order], values), len(keys) - 1)
    return np.where(wanted[order][place] == values, order[place], -1)


def _needed(request: Request | Cells | Columns | Links) -> list[tuple[str, bool]]:
    """The columns of a request, and whether each must hold numbers."""
    if isinstance(request, Cells):
        return [(request.column, False)]
    if isinstance(request, Columns):
        return [(name, True) for name in request.columns]
    if isinstance(request, Links):
        names = [request.left, request.right]
        return [(name, True) for name in (names if request.weight is None else [*names, request.weight])]
    return [(request.column, True)]


def _fulfilled(values: NDArray[Any], condition: Condition) -> NDArray[np.bool_]:
    """Which rows fulfil a condition; NaN never does."""
    if condition.op == "in":
        keep = np.isin(values, np.asarray(condition.value))
    else:
        keep = np.asarray(_COMPARE[condition.op](values, condition.value))
    if values.dtype.kind == "f":
        keep &= ~np.isnan(values)
    return keep


def summarise_together(values: NDArray[Any], requests: tuple[Request, ...]) -> dict[Request, Summary]:
    """Answer several requests on one grid from one pass: ask for everything at once and hand out the parts."""
    windows = tuple(dict.fromkeys(window for request in requests for window in request.windows))
    cuts = tuple(dict.fromkeys(cut for request in requests for cut in request.cuts))
    squares = any(request.squares for request in requests)
    whole = summarise(values, Request(requests[0].column, requests[0].grid, windows, squares, cuts))
    runs = dict(zip(windows, whole.runs, strict=True))
    below = dict(zip(cuts, whole.below, strict=True))
    return {
        request: Summary(
            request,
            whole.rows,
            whole.total,
            whole.squares if request.squares else 0,
            tuple(runs[window] for window in request.windows),
            tuple(below[cut] for cut in request.cuts),
        )
        for request in requests
    }


def summarise(values: NDArray[Any], request: Request) -> Summary:
    """Rows, total, squares, windows and cuts of one numeric column, in exact integers."""
    grid = request.grid
    codes = coded(values, grid)
    rows, top = len(codes), grid.top
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
    counts = np.zeros(len(levels) + 1, np.int64)
    for start in range(0, len(codes), BLOCK):
        cells = np.searchsorted(levels, codes[start : start + BLOCK].astype(np.int64), side="right")
        counts += np.bincount(cells, minlength=len(levels) + 1)
    smaller = dict(zip(levels.tolist(), np.cumsum(counts).tolist(), strict=False))
    return tuple(smaller[cut] for cut in cuts)


def coded(values: NDArray[Any], grid: Grid) -> NDArray[Any]:
    """The codes of a column, in the narrowest integer type, block by block."""
    narrow = grid.top < 2**32 and sys.byteorder == "little"
    codes = np.empty(len(values), np.uint32 if narrow else np.int64)
    room = np.empty(min(BLOCK, len(values)))
    filled = 0
    for start in range(0, len(values), BLOCK):
        block = values[start : start + BLOCK]
        if block.dtype != np.float64:
            block = block.astype(np.float64)
        raised = grid.raised(block, out=room[: len(block)])
        if np.isnan(np.add.reduce(raised)):
            found: NDArray[Any] = grid.codes(block)
        elif narrow:
            found = raised.view(np.uint32)[::2]  # the low half of the mantissa is the code
        else:
            found = (raised - RAISED).astype(np.int64)
        codes[filled : filled + len(found)] = found
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
