"""`SortedGroups`: the codes of a column in the order of group and code; all questions about groups are answered by it.

One sort serves all groups and all follow-up questions: sums, windows and cuts of a group are places and differences of
running sums.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.kernel import RunningSums, exact_squares, sorted_by_group
from sordino.reading.requests import Request, Run, Summary
from sordino.reading.summaries import GroupColumns, Stretches, Summaries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sordino.reading.requests import Window

    Numbers = NDArray[np.int64]

_NOTHING = np.zeros(0, np.int64)

TOGETHER = 1 << 17
"""Rows of the groups whose sums and ranks are found at once: they stay in the cache."""


class SortedGroups:
    """Codes of many groups; private.

    Args:
        codes: The codes, in the order of group and code.
        starts: Where each group starts, and where the last one ends.
        top: The largest code of the grid.

    Example:
        >>> from sordino.reading.requests import Rank, Window
        >>> from sordino.lattice import RowLattice
        >>> some = SortedGroups.of(np.array([0, 1, 0, -1]), np.array([7, 2, 5, 9]), 2, 10)
        >>> found = some.summary(0, Request("x", RowLattice(0, 10, step=1), (Window(Rank(1, 2), 1),), cuts=(6,)))
        >>> found.rows, found.total, found.runs[0].codes.tolist(), found.below
        (2, 12, [5, 7], (1,))
    """

    def __init__(self, codes: Numbers, starts: Numbers, top: int) -> None:
        self._codes, self._starts, self._top = codes, starts, top
        self._longest = int(np.diff(starts).max(initial=0))

    @classmethod
    def of(cls, index: NDArray[Any], codes: NDArray[Any], groups: int, top: int) -> SortedGroups:
        """From the group of each row, -1 for none, and its code."""
        return cls(*sorted_by_group(index, codes, groups, top), top)

    @cached_property
    def _between(self) -> RunningSums:
        """Sums between any two places, for whoever asks about one group after the other."""
        return RunningSums(self._codes, self._top, self._longest)

    def summary(self, place: int, request: Request) -> Summary:
        """Answer one request about one group."""
        start, stop = int(self._starts[place]), int(self._starts[place + 1])
        rows, codes = stop - start, self._codes
        runs = []
        for window in request.windows:
            first, last = window.ranks(rows)
            if first <= last:
                ahead = self._between(start, start + first - 1) if first > 1 else 0
                runs.append(Run(first, codes[start + first - 1 : start + last], ahead, rows, self._top))
            else:
                runs.append(Run(1, _NOTHING, 0, rows, self._top))
        below = tuple(np.searchsorted(codes[start:stop], request.cuts).tolist()) if request.cuts else ()
        total, squares = self._sums(start, stop, request)
        return Summary(request, rows, total, squares, tuple(runs), below)

    def summaries(self, request: Request) -> Summaries:
        """Answer one request about every group."""
        return Summaries(self, request, range(len(self._starts) - 1))

    def columns(self, request: Request, places: range) -> GroupColumns:
        """The same as columns, without the sums."""
        edges = self._starts[places.start : places.stop + 1]
        starts, rows = edges[:-1], np.diff(edges)
        below = np.zeros((len(rows), len(request.cuts)), np.int64)
        if request.cuts:
            for place, (start, stop) in enumerate(pairwise(edges.tolist())):
                below[place] = np.searchsorted(self._codes[start:stop], request.cuts)
        windows = []
        for window in request.windows:
            first, last = _ranks(window, rows)
            length = np.maximum(last - first + 1, 0)
            windows.append(Stretches(np.where(length > 0, first, 1), starts + first - 1, length))
        codes = self._codes if len(self._codes) else np.zeros(1, np.int64)
        return GroupColumns(rows, below, codes, tuple(windows))

    def together(self, request: Request, places: range) -> Iterator[Summary]:
        """Answer one request about neighbouring groups in turn, with what is the same for all of them done once."""
        if request.squares or request.within is not None:
            yield from (self.summary(place, request) for place in places)
            return
        begin = places.start
        while begin < places.stop:
            after = int(np.searchsorted(self._starts, self._starts[begin] + TOGETHER))
            end = min(max(after, begin + 1), places.stop)
            yield from self._together(self._starts[begin : end + 1], request)
            begin = end

    def _together(self, edges: Numbers, request: Request) -> Iterator[Summary]:
        """The same for groups whose codes stay in the cache."""
        origin = int(edges[0])
        codes, top, cuts = self._codes[origin : int(edges[-1])], self._top, request.cuts
        starts, stops = edges[:-1] - origin, edges[1:] - origin
        between = RunningSums(codes, top, self._longest)
        windows = []
        for window in request.windows:
            first, last = _ranks(window, stops - starts)
            low = starts + first - 1
            ahead = between.each(starts, np.maximum(low, starts))
            windows.append(zip(first.tolist(), low.tolist(), (starts + last).tolist(), ahead, strict=True))
        for start, stop, total, *places in zip(
            starts.tolist(), stops.tolist(), between.each(starts, stops), *windows, strict=True
        ):
            rows = stop - start
            runs = [
                Run(first, codes[low:high], ahead, rows, top)
                if low < high
                else Run(1, _NOTHING, 0, rows, top)
                for first, low, high, ahead in places
            ]
            below = tuple(np.searchsorted(codes[start:stop], cuts).tolist()) if cuts else ()
            yield Summary(request, rows, total, 0, tuple(runs), below)

    def _sums(self, start: int, stop: int, request: Request) -> tuple[int, int]:
        """The sum of the codes of a group, and of their squares where asked; cut to an interval where one is named."""
        if request.within is None:
            squares = exact_squares(self._codes[start:stop], self._top) if request.squares else 0
            return self._between(start, stop), squares
        low, high = request.within
        group = self._codes[start:stop]
        first, after = (start + int(place) for place in np.searchsorted(group, (low, high)))
        beyond = (high - low) * (stop - after)
        total = self._between(first, after) - low * (after - first) + beyond
        if not request.squares:
            return total, 0
        inner = self._codes[first:after] - low
        return total, exact_squares(inner, high - low) + beyond * (high - low)


def _ranks(window: Window, rows: Numbers) -> Numbers:
    """First and last rank of a window in groups of so many rows."""
    sizes, size = np.unique(rows, return_inverse=True)
    found = np.array([window.ranks(each) for each in sizes.tolist()], np.int64).reshape(-1, 2)
    return found.T[:, size]
