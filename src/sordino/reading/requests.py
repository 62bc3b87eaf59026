"""The few exact summaries that a statistic may ask of data: grids, rank windows, sums, cuts, cells, links.

Requests are public (they hold parameters, never data) and summaries are private integers. How a source
computes them lives in `sordino.data`; what a statistic makes of them in `sordino.statistics`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from sordino import checks
from sordino.reading.combinations import Combinations as Combinations  # noqa: PLC0414
from sordino.reading.condition import Condition as Condition  # noqa: PLC0414, TC001  sources and callers find it here

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from sordino.lattice import RowLattice
    from sordino.running.block import Rows
    from sordino.running.far_rows import FarRows

    Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rank:
    """A public rank as a function of the number of rows: ``ceil((n num + plus) / den) + offset``.

    Example:
        >>> Rank(1, 2).of(9), Rank(9, 10).of(10), Rank(0, 1, offset=1).of(7)
        (5, 9, 1)
    """

    num: int
    den: int
    plus: int = 0
    offset: int = 0

    def of(self, rows: int) -> int:
        """The rank among this many rows; may lie outside 1..rows."""
        return -(-(rows * self.num + self.plus) // self.den) + self.offset


FIRST = Rank(0, 1, offset=1)
LAST = Rank(1, 1)


@dataclass(frozen=True, slots=True)
class Window:
    """The ranks ``r - reach .. r + reach`` around the rank r (itself cut to 1..n), cut to 1..n; the width is public."""

    at: Rank
    reach: int

    def ranks(self, rows: int) -> tuple[int, int]:
        """First and last rank of the window; empty (first > last) when no rank of it exists."""
        middle = min(max(self.at.of(rows), 1), max(rows, 1))
        return max(1, middle - self.reach), min(rows, middle + self.reach)


@dataclass(frozen=True, slots=True)
class Request:
    """What a statistic needs of one numeric column.

    Args:
        column: Name of the column.
        grid: The public lattice.
        windows: Rank windows.
        squares: Whether the sum of squared codes is needed (at most 32 bits).
        cuts: Codes; for each the number of rows with a smaller code is answered.
        depth: The largest distance that the statistic will answer for.
        within: Two codes: sums are of codes cut to them and counted from the first.
    """

    column: str
    grid: RowLattice
    windows: tuple[Window, ...] = ()
    squares: bool = False
    cuts: tuple[int, ...] = ()
    depth: int = 0
    within: tuple[int, int] | None = None

    @classmethod
    def around(cls, column: str, grid: RowLattice, ranks: Iterable[Rank], depth: int) -> Request:
        """Rank windows wide enough for every distance up to a depth."""
        return cls(column, grid, tuple(Window(rank, depth + 3) for rank in ranks), depth=depth)

    @property
    def width(self) -> int:
        """The largest number that is summed."""
        return self.grid.last if self.within is None else self.within[1] - self.within[0]


@dataclass(frozen=True, slots=True)
class Columns:
    """The aligned codes of whole columns; sources in memory only."""

    columns: tuple[str, ...]
    grids: tuple[RowLattice, ...]
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Cells:
    """Counts of public categories; rows outside them are not counted."""

    column: str
    keys: tuple[str | int, ...]
    depth: int = 0

    def __post_init__(self) -> None:
        checks.texts("keys", self.keys)


@dataclass(frozen=True, slots=True)
class Links:
    """A simple undirected graph on the vertices 0..vertices-1, or the weights of a public topology.

    Loops, vertices that do not exist and repeated edges are dropped. With a ``topology`` the answer is
    the code of every public edge: the smallest where rows repeat it, the largest code where it has no row.
    """

    left: str
    right: str
    vertices: int
    weight: str | None = None
    grid: RowLattice | None = None
    topology: tuple[tuple[int, int], ...] = ()
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Blocks:
    """The plain rows of named columns, to be dealt into blocks.

    Args:
        columns: Names of the columns.
        whole: All rows of every person. Otherwise rows beyond a unit's limit are left out, as everywhere: where one
            person may have rows in several groups, the limit bounds how many of them.
    """

    columns: tuple[str, ...]
    whole: bool = True
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Bundle:
    """Several requests that are answered together."""

    parts: tuple[Request | Columns | Cells | Links | Blocks | Combinations, ...]
    depth: int = 0


Ask = Request | Columns | Cells | Links | Blocks | Combinations | Bundle


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Run:
    """The sorted codes of one rank window; private.

    Attributes:
        first: Rank of ``codes[0]``.
        codes: Non-decreasing int64.
        below: Exact sum of all codes of lower rank.
        rows: Number of rows of the column.
        top: Largest code of the grid.
    """

    first: int
    codes: Codes
    below: int
    rows: int
    top: int

    def at(self, rank: int) -> int:
        """The code of a rank: 0 before the first, ``top`` after the last; outside the window is a bug and raises."""
        if rank < 1:
            return 0
        if rank > self.rows:
            return self.top
        index = rank - self.first
        if not 0 <= index < len(self.codes):
            raise IndexError("rank outside the requested window")
        return int(self.codes[index])

    def ranks(self, first: int, last: int) -> Codes:
        """The codes of the ranks first..last, with 0 before the first and ``top`` after the last."""
        ahead = max(0, min(last, 0) - first + 1)
        after = max(0, last - max(first, self.rows + 1) + 1)
        start, stop = max(first, 1), min(last, self.rows)
        inner = self.codes[:0]
        if start <= stop:
            if start < self.first or stop >= self.first + len(self.codes):
                raise IndexError("rank outside the requested window")
            inner = self.codes[start - self.first : stop - self.first + 1]
        return np.concatenate([np.zeros(ahead, np.int64), inner, np.full(after, self.top, np.int64)])


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Summary:
    """What a source answers, in exact integers; private.

    Attributes:
        request: The request that it answers.
        rows: Number of rows after the missing policy.
        total: Sum of codes.
        squares: Sum of squared codes, when asked.
        runs: One run per requested window.
        below: One count per requested cut.
        counts: One count per public category.
        codes: Aligned codes, one row per column (`Columns`), or the codes of the topology (`Links`).
        links: Canonical edges, shape (edges, 2), left < right, sorted (`Links`).
        parts: The summaries of a `Bundle`.
        table: The plain rows (`Blocks`), here or in an engine that cuts them.
        keys: The combinations that occur (`Combinations` without levels), whose weights are the codes. With levels the
            codes are the occupied cells and the number of rows of each.
    """

    request: Ask
    rows: int
    total: int = 0
    squares: int = 0
    runs: tuple[Run, ...] = ()
    below: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    codes: Codes | None = None
    links: Codes | None = None
    parts: tuple[Summary, ...] = ()
    table: Rows | FarRows | None = None
    keys: tuple[tuple[str | int, ...], ...] = ()


@runtime_checkable
class Source(Protocol):
    """Where data come from. Order, fixed: where, missing, contribution bounding, split, summary.

    Attributes:
        assumptions: What every release of these data rests on beyond the promise, in sentences; public.
    """

    assumptions: tuple[str, ...]

    def check(self, *requests: Ask) -> None:
        """Raise `DataError` or `Unsupported` from the schema alone, before anything is spent."""

    def ready(self) -> None:
        """Raise `DataError` when no answer can come now (another process, a lost server), before anything is spent."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Within it this thread alone reads, and one state of the data in engines that can promise it."""

    def summary(self, *requests: Ask) -> tuple[Summary, ...]:
        """Answer all requests in a public number of passes; no value raises."""

    def summaries(
        self, by: str | tuple[str, ...], keys: tuple[Any, ...], *requests: Ask
    ) -> Iterator[tuple[Summary, ...]]:
        """Answer per public key, or per combination of keys of several columns, in their order; others give no rows."""

    def where(self, *conditions: Condition) -> Source:
        """The rows that fulfil all conditions."""
