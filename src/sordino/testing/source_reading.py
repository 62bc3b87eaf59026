"""The reference reading: what a summary of a column is, in Python's own integers and one row at a time.

Sources compute the same in arrays and engines; the laws of sources and their tests compare the two to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.data.numbers import number
from sordino.lattice import FINE_BITS, RowLattice
from sordino.reading.requests import FIRST, LAST, Rank, Request, Window

if TYPE_CHECKING:
    from sordino.reading.requests import Summary


def asked(grid: RowLattice) -> Request:
    """Windows of 41 ranks at the first, middle and last row, nested and empty ones, sums, squares, cuts."""
    windows = (
        Window(FIRST, 20),
        Window(Rank(1, 2), 20),
        Window(LAST, 20),
        Window(Rank(1, 3), 0),
        Window(Rank(1, 2), 3),
    )
    cuts = (0, 1, grid.last // 3, grid.last // 2, grid.last, grid.last + 1)
    return Request("x", grid, windows, squares=grid.last <= 2**32, cuts=cuts)


def fine(grid: RowLattice) -> RowLattice:
    """The lattice of order statistics on the same bounds, when no step is declared."""
    return RowLattice(grid.low, grid.high, bits=FINE_BITS, missing=grid.missing)


def code(value: Any, grid: RowLattice) -> int | None:
    """The definition; None for a row that is dropped. The two roundings of doubles are part of it.

    Example:
        >>> [code(value, RowLattice(0, 10, step=1, missing=7)) for value in (2.5, None, 99, "3")]
        [2, 7, 10, 3]
    """
    x = math.nan if value is None else number(value) if isinstance(value, str) else float(value)
    if math.isnan(x):
        if grid.drops:
            return None
        x = float(grid.missing)
    distance = min(max(x, grid.low), grid.high) - grid.low
    return round(Fraction(distance / float(grid.step)))


def defined(values: Iterable[Any], request: Request) -> dict[str, Any]:
    """The whole summary, from sorted Python integers."""
    codes = sorted(k for k in (code(value, request.grid) for value in values) if k is not None)
    runs = []
    for window in request.windows:
        first, last = window.ranks(len(codes))
        inside = codes[first - 1 : last] if first <= last else []
        runs.append((first if inside else 1, inside, sum(codes[: first - 1]) if inside else 0))
    return {
        "rows": len(codes),
        "total": sum(codes),
        "squares": sum(k * k for k in codes) if request.squares else 0,
        "runs": runs,
        "below": tuple(sum(k < cut for k in codes) for cut in request.cuts),
    }


def shown(summary: Summary) -> dict[str, Any]:
    """A summary in the same form; Python integers only."""
    for value in (summary.rows, summary.total, summary.squares, *summary.below):
        if type(value) is not int:
            raise TypeError(f"a summary holds Python's integers, not {type(value).__name__}")
    return {
        "rows": summary.rows,
        "total": summary.total,
        "squares": summary.squares,
        "runs": [(run.first, run.codes.tolist(), run.below) for run in summary.runs],
        "below": summary.below,
    }
