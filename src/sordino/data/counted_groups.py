"""`CountedGroups`: how often each code of a short grid occurs in every group, as an engine has counted it.

Answers what `SortedGroups` does, to the integer, without a list of rows.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sordino.reading.requests import Request, Run, Summary
from sordino.reading.summaries import Summaries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

_NOTHING = np.zeros(0, np.int64)


class CountedGroups:
    """Codes of many groups; private.

    Args:
        counts: For each group and code, the number of rows.

    Example:
        >>> from sordino.reading.requests import Rank, Window
        >>> from sordino.lattice import RowLattice
        >>> some = CountedGroups(np.array([[0, 2, 1], [0, 0, 0]]))
        >>> found = some.summary(0, Request("x", RowLattice(0, 2, step=1), (Window(Rank(1, 2), 1),), cuts=(2,)))
        >>> found.rows, found.total, found.runs[0].codes.tolist(), found.below
        (3, 4, [1, 1, 2], (2,))
    """

    def __init__(self, counts: Numbers) -> None:
        self._counts, self._top = counts, counts.shape[1] - 1
        self._codes = np.arange(counts.shape[1])
        self._rows = counts.sum(axis=1).tolist()

    @cached_property
    def _until(self) -> Numbers:
        """Rows up to and including each code."""
        return np.cumsum(self._counts, axis=1)

    @cached_property
    def _totals(self) -> list[int]:
        return [int(one) for one in (self._counts @ self._codes).tolist()]

    def summary(self, place: int, request: Request) -> Summary:
        """Answer one request about one group."""
        rows = self._rows[place]
        if not request.windows and not request.cuts and not request.squares and request.within is None:
            return Summary(request, rows, self._totals[place])
        counts = self._counts[place]
        runs = []
        for window in request.windows:
            first, last = window.ranks(rows)
            if first > last:
                runs.append(Run(1, _NOTHING, 0, rows, self._top))
                continue
            ahead = self._until[place] - counts
            taken = np.minimum(self._until[place], last) - np.maximum(ahead, first - 1)
            before = np.clip(first - 1 - ahead, 0, counts)
            some = np.repeat(self._codes, np.maximum(taken, 0))
            runs.append(Run(first, some, _dot(self._codes, before), rows, self._top))
        below = tuple(
            int(self._until[place, min(cut - 1, self._top)]) if cut > 0 else 0 for cut in request.cuts
        )
        low, high = request.within or (0, self._top)
        codes = np.clip(self._codes, low, high) - low
        squares = _dot(codes * codes, counts) if request.squares else 0
        return Summary(request, rows, _dot(codes, counts), squares, tuple(runs), below)

    def summaries(self, request: Request) -> Summaries:
        """Answer one request about every group."""
        return Summaries(self, request, range(len(self._rows)))


def _dot(values: Numbers, counts: Numbers) -> int:
    """The exact sum of products: values below 2^34 in halves of 17 bits, times up to 2^46 rows, stay in 64 bits."""
    high, low = values >> 17, values & (2**17 - 1)
    return (int(high @ counts) << 17) + int(low @ counts)
