"""The column of block values: few rows, answered here in exact integers as any source would; private."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from sordino.reading.requests import Run, Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.reading.requests import Request


def summary(values: NDArray[np.float64], request: Request) -> Summary:
    """Rows, sums, rank windows and cuts of the values.

    Example:
        >>> from sordino.reading.requests import Rank, Request, Window
        >>> from sordino.lattice import RowLattice
        >>> asked = Request("value", RowLattice(0, 10, step=1), (Window(Rank(1, 2), 1),), cuts=(5,))
        >>> found = summary(np.array([3.0, 9.0, 1.0, 4.0]), asked)
        >>> found.total, found.runs[0].codes.tolist(), found.below
        (17, [1, 3, 4], (3,))
    """
    codes = np.sort(request.grid.codes(values))
    sums = list(accumulate(codes.tolist(), initial=0))
    runs = []
    for window in request.windows:
        first, last = window.ranks(len(codes))
        inner = codes[first - 1 : last] if first <= last else codes[:0]
        below = sums[min(max(first - 1, 0), len(codes))]
        runs.append(Run(first, inner, below, len(codes), request.grid.last))
    return Summary(
        request,
        len(codes),
        total=sums[-1],
        squares=sum(code * code for code in codes.tolist()) if request.squares else 0,
        runs=tuple(runs),
        below=tuple(int(np.searchsorted(codes, cut, side="left")) for cut in request.cuts),
    )
