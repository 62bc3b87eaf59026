"""`MemoryGroups`: groups of a table in memory, asked first all together and then one by one.

Rows are put into groups once; the codes of a column are sorted once for all groups and all questions about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sordino.data.kernel import coded, divided
from sordino.data.schema import drops, parts
from sordino.data.sorted_groups import SortedGroups
from sordino.reading.requests import Request, Summary
from sordino.reading.summaries import Summaries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from sordino.lattice import RowLattice
    from sordino.reading.requests import Ask

    Rows = NDArray[np.intp]
    RowsOf = Callable[[tuple[str, ...]], Rows | None]


class MemoryGroups:
    """A conversation about groups; private.

    Args:
        group: The group of each row, -1 for none.
        groups: The number of groups.
        rows_of: The rows that count once some columns drop their missing ones.
        numeric: The numbers of a column in some rows.
        answer: Answers whatever is no request for numbers from some rows.
        check: Refuses what the schema cannot answer.
    """

    def __init__(
        self,
        group: NDArray[Any],
        groups: int,
        *,
        rows_of: RowsOf,
        numeric: Callable[[str, Rows | None], NDArray[Any]],
        answer: Callable[[Ask, dict[Request, Summary], RowsOf], Summary],
        check: Callable[[tuple[Ask, ...]], None],
    ) -> None:
        self._group, self._groups = group, groups
        self._rows_of, self._numeric, self._answer, self._check = rows_of, numeric, answer, check
        self._sorted: dict[tuple[str, RowLattice], SortedGroups] = {}
        self._last: tuple[Request, SortedGroups] | None = None
        self._splits: dict[tuple[str, ...], tuple[Rows, list[int]]] = {}

    def everyone(self, *requests: Ask) -> list[Summaries]:
        """Answer some requests for all groups."""
        return [
            self._ordered(request).summaries(request)
            if isinstance(request, Request)
            else Summaries(self, request, range(self._groups))
            for request in requests
        ]

    def first(self, *requests: Ask) -> Iterator[tuple[Summary, ...]]:
        """Answer some requests for every group in turn."""
        return zip(*self.everyone(*requests), strict=True)

    def __call__(self, place: int, request: Ask) -> Summary:
        """Answer one more request about one group."""
        self._check((request,))
        return self.summary(place, request)

    def summary(self, place: int, request: Ask) -> Summary:
        """One request, which was checked and read, about one group."""
        if isinstance(request, Request):
            if self._last is None or self._last[0] is not request:  # the same question of group after group
                self._last = request, self._ordered(request)
            return self._last[1].summary(place, request)

        def rows_of(dropping: tuple[str, ...]) -> Rows:
            rows, starts = self._split(dropping)
            return rows[starts[place] : starts[place + 1]]

        inner = [part for part in parts((request,)) if isinstance(part, Request)]
        return self._answer(request, {part: self.summary(place, part) for part in inner}, rows_of)

    def _ordered(self, request: Request) -> SortedGroups:
        """The sorted codes of a column on a grid."""
        asked = request.column, request.grid
        if asked not in self._sorted:
            kept = self._rows_of(drops(request))
            codes = coded(self._numeric(request.column, kept), request.grid)
            index = self._group if kept is None else self._group[kept]
            self._sorted[asked] = SortedGroups.of(index, codes, self._groups, request.grid.last)
        return self._sorted[asked]

    def _split(self, dropping: tuple[str, ...]) -> tuple[Rows, list[int]]:
        """Rows in the order of their groups and where each group starts, by the columns whose missing rows drop."""
        if dropping not in self._splits:
            rows = self._rows_of(dropping)
            order, starts = divided(self._group if rows is None else self._group[rows], self._groups)
            self._splits[dropping] = (order if rows is None else rows[order], starts)
        return self._splits[dropping]
