"""`SortedGroups`: the codes of a column in the order of group and code; all questions about groups are answered by it.

One sort serves all groups and all follow-up questions: sums, windows and cuts of a group are places and differences of
running sums.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.kernel import RunningSums, exact_squares, sorted_by_group
from sordino.reading.requests import Request, Run, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_NOTHING = np.zeros(0, np.int64)

TOGETHER = 1 << 10
"""Groups whose sums and ranks are found at once."""

WIDENED = 1 << 18
"""So many codes are turned into words at once; of more only those that are asked for."""


class SortedGroups:
    """Codes of many groups; private.

    Args:
        index: The group of each row, -1 for none.
        codes: The code of each row.
        groups: The number of groups.
        top: The largest code of the grid.

    Example:
        >>> from sordino.reading.requests import Rank, Window
        >>> from sordino.lattice import RowLattice
        >>> some = SortedGroups(np.array([0, 1, 0, -1]), np.array([7, 2, 5, 9]), 2, 10)
        >>> found = some.summary(0, Request("x", RowLattice(0, 10, step=1), (Window(Rank(1, 2), 1),), cuts=(6,)))
        >>> found.rows, found.total, found.runs[0].codes.tolist(), found.below
        (2, 12, [5, 7], (1,))
    """

    def __init__(self, index: NDArray[Any], codes: NDArray[Any], groups: int, top: int) -> None:
        self._codes, self._starts = sorted_by_group(index, codes, groups, top)
        longest = max((b - a for a, b in pairwise(self._starts)), default=0)
        self._between, self._top = RunningSums(self._codes, top, longest), top

    def summary(self, place: int, request: Request) -> Summary:
        """Answer one request about one group."""
        start, stop = self._starts[place], self._starts[place + 1]
        rows, codes = stop - start, self._codes
        runs = []
        for window in request.windows:
            first, last = window.ranks(rows)
            if first <= last:
                some = codes[start + first - 1 : start + last].astype(np.int64)
                ahead = self._between(start, start + first - 1) if first > 1 else 0
                runs.append(Run(first, some, ahead, rows, self._top))
            else:
                runs.append(Run(1, _NOTHING, 0, rows, self._top))
        below = tuple(np.searchsorted(codes[start:stop], request.cuts).tolist()) if request.cuts else ()
        total, squares = self._sums(start, stop, request)
        return Summary(request, rows, total, squares, tuple(runs), below)

    def summaries(self, request: Request) -> Iterator[Summary]:
        """Answer one request about every group in turn."""
        groups = len(self._starts) - 1
        if request.squares or request.within is not None:
            yield from (self.summary(place, request) for place in range(groups))
            return
        for begin in range(0, groups, TOGETHER):
            yield from self._together(np.array(self._starts[begin : begin + TOGETHER + 1], np.int64), request)

    def _together(self, edges: NDArray[np.int64], request: Request) -> Iterator[Summary]:
        """The same for neighbouring groups, with what is the same for all of them done once."""
        starts, stops = edges[:-1], edges[1:]
        totals = self._between.each(starts, stops)
        origin, many = int(edges[0]), int(edges[-1] - edges[0])
        codes = self._codes[origin : origin + many]
        wide = many <= WIDENED
        if wide:
            codes = codes.astype(np.int64, copy=False)
        sizes, size = np.unique(stops - starts, return_inverse=True)
        windows = []
        for window in request.windows:
            first, last = np.array([window.ranks(rows) for rows in sizes.tolist()], np.int64).T[:, size]
            ahead = self._between.each(starts, starts + np.maximum(first, 1) - 1)
            windows.append(
                zip(
                    first.tolist(),
                    (starts + first - 1 - origin).tolist(),
                    (starts + last - origin).tolist(),
                    ahead,
                    strict=True,
                )
            )
        top, cuts = self._top, request.cuts
        for start, stop, total, *places in zip(
            (starts - origin).tolist(), (stops - origin).tolist(), totals, *windows, strict=True
        ):
            rows = stop - start
            runs = [
                Run(first, codes[low:high] if wide else codes[low:high].astype(np.int64), ahead, rows, top)
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
        inner = self._codes[first:after].astype(np.int64) - low
        return total, exact_squares(inner, high - low) + beyond * (high - low)
