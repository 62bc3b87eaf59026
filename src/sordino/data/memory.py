"""Data in memory: every request is answered in exact integers by the numpy kernel.

Arrays and frames come in as a `Table`; files and engines live elsewhere. The order is fixed: where, missing,
contribution bounding, split, summary. Nothing here raises for a value: what is not a number follows the grid's
policy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.bounding import bounded
from sordino.data.kernel import (
    coded,
    divided,
    groups_in_order,
    key_index,
    sorted_by_group,
    summarise_groups,
    summarise_together,
)
from sordino.data.objects import text_of
from sordino.data.schema import FLOATS, Unlisted, by_column, check_condition, check_requests, drops
from sordino.data.table import Column, table_of
from sordino.privacy import Unit
from sordino.reading.requests import Blocks, Bundle, Cells, Columns, Condition, Links, Request, Summary
from sordino.running.block import Plain
from sordino.running.block import Rows as PlainRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.reading.requests import Ask

    Rows = NDArray[np.intp]

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
        columns: Name to array, all of one length; or a frame of pandas, polars or pyarrow.
        unit: Whom to protect; rows beyond its ``max_rows`` are left out.
        row: Column that orders the rows of a unit; without one the order of the table does.
        numbers: Columns whose texts are to be read as numbers.
        name: What messages call the source.
        assumptions: What every release of these data rests on, in sentences.

    Example:
        >>> from sordino.statistics.median import Median
        >>> median = Median("x", low=0, high=10, step=1)
        >>> source = Memory({"x": [3, 1, 7]})
        >>> median.read(*source.summary(median.request(depth=1))).open().value
        3
    """

    def __init__(
        self,
        columns: Any,
        *,
        unit: Unit | None = None,
        row: str | None = None,
        numbers: tuple[str, ...] = (),
        name: str = "memory",
        assumptions: tuple[str, ...] = (),
    ) -> None:
        self._table = table_of(columns)
        self.unit, self._row, self._numbers = unit or Unit(), row, numbers
        self._name, self.assumptions = name, assumptions
        self._filters: tuple[tuple[Condition, str], ...] = ()
        self._passing: Rows | None = None
        self._kept: dict[tuple[str, ...], Rows | None] = {}

    def __repr__(self) -> str:
        if isinstance(self._table.kinds, Unlisted):
            return f"<{self._name} source with {len(self._table)} columns>"
        return f"<{self._name.capitalize()} source with columns {', '.join(self._table)}>"

    def ready(self) -> None:
        """Refuse to convert columns of an engine that has threads in another process."""
        self._table.ready()

    def snapshot(self) -> AbstractContextManager[None]:
        """What is in memory is in one state, and all threads may read it at once."""
        return nullcontext()

    @property
    def kinds(self) -> Mapping[str, str]:
        """What each column holds, by its declared type."""
        return self._table.kinds

    @property
    def rows(self) -> int:
        """The number of rows, before missing ones are dropped and units bounded."""
        return self._table.rows if self._chosen is None else len(self._chosen)

    def check(self, *requests: Ask) -> None:
        """Refuse columns that do not exist or hold no numbers, before anything is spent."""
        self._check(requests, keys=True)

    def _check(self, requests: tuple[Ask, ...], *, keys: bool = False) -> None:
        check_requests(
            self._name,
            self._table.kinds,
            requests,
            unit=self.unit,
            row=self._row,
            numbers=self._numbers,
            keys=keys,
        )

    def summary(self, *requests: Ask) -> tuple[Summary, ...]:
        """Answer each request; requests for one column on one grid share their pass."""
        self._check(requests)
        shared: dict[Request, Summary] = {}
        for (column, grid), together in by_column(requests).items():
            # Without units the kernel itself leaves missing rows out, and no list of rows is made.
            rows = None if self.unit.column is None else self._rows_of(drops(together[0]))
            shared |= summarise_together(coded(self._numeric(column, rows), grid), together)
        return tuple(self._answer(request, shared, self._rows_of) for request in requests)

    def summaries(
        self, by: str, keys: tuple[str | int, ...], *requests: Ask
    ) -> Iterator[tuple[Summary, ...]]:
        """Answer per public key, in the order of the keys; units are bounded over all keys together."""
        self._check((Cells(by, ()), *requests))
        group = key_index(self._column(by), keys)
        split = self._splitter(group, len(keys))
        answers = []
        for (column, grid), together in by_column(requests).items():
            kept = self._rows_of(drops(together[0]))
            codes = coded(self._numeric(column, kept), grid)
            ordered = sorted_by_group(group if kept is None else group[kept], codes, len(keys), grid.last)
            answers.append((together, summarise_groups(*ordered, together)))
        if all(isinstance(request, Request) for request in requests):
            yield from groups_in_order(requests, answers)
            return
        for place in range(len(keys)):
            shared: dict[Request, Summary] = {}
            for together, groups in answers:
                shared |= zip(together, next(groups), strict=True)

            def rows_of(dropping: tuple[str, ...], place: int = place) -> Rows:
                rows, starts = split(dropping)
                return rows[starts[place] : starts[place + 1]]

            yield tuple(self._answer(request, shared, rows_of) for request in requests)

    def conversation(self, by: str, keys: tuple[str | int, ...]) -> Callable[[int, Ask], Summary]:
        """Answer one request of one group at a time, as `summaries` would: the table is split once for all of them.

        For mechanisms whose next question depends on what was released; groups are counted in the order of the keys.
        """
        self._check((Cells(by, ()),))
        split = self._splitter(key_index(self._column(by), keys), len(keys))

        def ask(place: int, request: Ask) -> Summary:
            def rows_of(dropping: tuple[str, ...]) -> Rows:
                rows, starts = split(dropping)
                return rows[starts[place] : starts[place + 1]]

            self._check((request,))
            shared: dict[Request, Summary] = {}
            for (column, grid), together in by_column((request,)).items():
                codes = coded(self._numeric(column, rows_of(drops(together[0]))), grid)
                shared |= summarise_together(codes, together)
            return self._answer(request, shared, rows_of)

        return ask

    def _splitter(
        self, group: NDArray[np.intp], groups: int
    ) -> Callable[[tuple[str, ...]], tuple[Rows, list[int]]]:
        """Rows in the order of their groups and where each group starts, by the columns whose missing rows drop."""
        splits: dict[tuple[str, ...], tuple[Rows, list[int]]] = {}

        def split(dropping: tuple[str, ...]) -> tuple[Rows, list[int]]:
            if dropping not in splits:
                rows = self._rows_of(dropping)
                order, starts = divided(group if rows is None else group[rows], groups)
                splits[dropping] = (order if rows is None else rows[order], starts)
            return splits[dropping]

        return split

    def where(self, *conditions: Condition) -> Memory:
        """The rows that fulfil all conditions; missing values fulfil none. Nothing is looked at before it is read."""
        asked = [(one, check_condition(self._name, self._table.kinds, one)) for one in conditions]
        chosen = Memory(
            self._table,
            unit=self.unit,
            row=self._row,
            numbers=self._numbers,
            name=self._name,
            assumptions=self.assumptions,
        )
        chosen._filters = (*self._filters, *asked)
        return chosen

    @property
    def _chosen(self) -> Rows | None:
        """The rows that `where` has left, found when they are first needed; None for all."""
        if self._filters and self._passing is None:
            keep = np.ones(self._table.rows, bool)
            for condition, kind in self._filters:
                if kind == "text":
                    keep &= _same_text(self._table[condition.column], condition)
                else:
                    keep &= _compared(self._table.numeric(condition.column, text=True), condition)
            self._passing = np.flatnonzero(keep)
        return self._passing

    def counts(self, column: str, keys: tuple[str | int, ...]) -> tuple[int, ...]:
        """How often each public key occurs."""
        (summary,) = self.summary(Cells(column, keys))
        return summary.counts

    def _column(self, name: str) -> Column:
        """A column of the rows that `where` has left."""
        column = self._table[name]
        return column if self._chosen is None else column[self._chosen]

    def _numeric(self, name: str, rows: Rows | None) -> NDArray[Any]:
        if self._chosen is not None:
            rows = self._chosen if rows is None else self._chosen[rows]
        return self._table.numeric(name, rows, text=name in self._numbers)

    def _rows_of(self, dropping: tuple[str, ...]) -> Rows | None:
        """The rows that count once missing ones are dropped and units bounded; None for all."""
        if dropping not in self._kept:
            rows: Rows | None = None
            if dropping:
                gone = np.zeros(self.rows, bool)
                for name in dropping:
                    gone |= np.isnan(self._numeric(name, None).astype(np.float64))
                rows = np.flatnonzero(~gone)
            if self.unit.column is not None:
                rows = self._bounded(rows)
            self._kept[dropping] = rows
        return self._kept[dropping]

    def _bounded(self, rows: Rows | None) -> Rows:
        assert self.unit.column is not None
        units = self._column(self.unit.column).identities()
        order = None if self._row is None else self._column(self._row).order(text=self._row in self._numbers)
        if rows is None:
            return bounded(units, self.unit.max_rows, order)
        inner = bounded(units[rows], self.unit.max_rows, None if order is None else order[rows])
        return rows[inner]

    def _answer(
        self,
        request: Ask,
        shared: Mapping[Request, Summary],
        rows_of: Callable[[tuple[str, ...]], Rows | None],
    ) -> Summary:
        if isinstance(request, Request):
            return shared[request]
        if isinstance(request, Bundle):
            parts = tuple(self._answer(part, shared, rows_of) for part in request.parts)
            return Summary(request, self._count(rows_of(())), parts=parts)
        if isinstance(request, Blocks):
            return self._plain(request, rows_of)
        rows = rows_of(drops(request))
        if isinstance(request, Cells):
            column = self._column(request.column)
            group = key_index(column if rows is None else column[rows], request.keys)
            counts = np.bincount(group[group >= 0], minlength=len(request.keys))
            return Summary(request, self._count(rows), counts=tuple(counts.tolist()))
        if isinstance(request, Links):
            return self._links(request, rows)
        return self._aligned(request, rows)

    def _plain(self, request: Blocks, rows_of: Callable[[tuple[str, ...]], Rows | None]) -> Summary:
        """Plain values of the rows, and to whom each belongs; rows of nobody are left out."""
        unit = self.unit.column
        units = None if unit is None else self._column(unit).identities()
        rows = rows_of(())
        if units is not None and request.whole and rows_of == self._rows_of:  # in a split the limit holds
            rows = np.flatnonzero(units >= 0)
        if units is not None and rows is not None:
            units = units[rows]
        columns = {name: self._values(name, rows) for name in request.columns}
        return Summary(request, self._count(rows), table=PlainRows(columns, units))

    def _values(self, name: str, rows: Rows | None) -> Plain:
        """Numbers as doubles, texts as texts: by the declared type of the column, or value by value."""
        column = self._column(name)
        if rows is not None:
            column = column[rows]
        if column.kind in {"number", FLOATS, "decimal"}:
            return Plain(column.numeric().astype(np.float64))
        numbers = self._numeric(name, rows).astype(np.float64)
        if name not in self._numbers:
            texts = (text_of(one) for one in column.values.tolist())
            return Plain(numbers, np.fromiter(texts, object, len(column)), words=column.kind == "text")
        # Fields of a text file: what reads as a number is one, another field is a text, an empty one is missing.
        pairs = zip(column.values.tolist(), np.isnan(numbers).tolist(), strict=True)
        fields = ((text_of(one) or None) if nothing else None for one, nothing in pairs)
        return Plain(numbers, np.fromiter(fields, object, len(column)))

    def _count(self, rows: Rows | None) -> int:
        return self.rows if rows is None else len(rows)

    def _aligned(self, request: Columns, rows: Rows | None) -> Summary:
        """Codes of several columns for the rows that have a number in every column whose grid drops."""
        codes = [
            coded(self._numeric(name, rows), grid)
            for name, grid in zip(request.columns, request.grids, strict=True)
        ]
        table = np.array(codes, np.int64).reshape(len(codes), -1)
        return Summary(request, table.shape[1], codes=table)

    def _links(self, request: Links, rows: Rows | None) -> Summary:
        """Canonical edges, or the codes of a public topology."""
        left, right = (self._numeric(name, rows).astype(np.float64) for name in (request.left, request.right))
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
        numbers = self._numeric(request.weight, rows).astype(np.float64)[fine]
        weights = request.grid.codes(np.where(np.isnan(numbers), request.grid.high, numbers))
        public = [min(a, b) * request.vertices + max(a, b) for a, b in request.topology]
        codes = np.full(len(public), request.grid.last, np.int64)
        order = np.lexsort((weights, keys))
        keys, weights = keys[order], weights[order]
        places = np.searchsorted(keys, public)
        for edge, place in enumerate(places.tolist()):
            if place < len(keys) and keys[place] == public[edge]:
                codes[edge] = weights[place]
        return Summary(request, len(public), codes=codes)


def _wanted(condition: Condition) -> tuple[Any, ...]:
    return tuple(condition.value) if isinstance(condition.value, tuple | list) else (condition.value,)


def _same_text(column: Column, condition: Condition) -> NDArray[np.bool_]:
    """Which rows fulfil a condition on text; anything that is not text never does."""
    found = key_index(column, _wanted(condition)) >= 0
    return column.texts() & ~found if condition.op == "!=" else found


def _compared(values: NDArray[Any], condition: Condition) -> NDArray[np.bool_]:
    """Which rows fulfil a condition on numbers, compared as doubles as engines do; missing ones never do."""
    values = values.astype(np.float64)
    numbers = [float(value) for value in _wanted(condition)]
    if condition.op == "in":
        return np.isin(values, numbers) & ~np.isnan(values)
    return np.asarray(_COMPARE[condition.op](values, numbers[0])) & ~np.isnan(values)
