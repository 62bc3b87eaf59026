"""Data in memory: every request is answered in exact integers by the numpy kernel.

Arrays and frames come in as a `Table`; files and engines live elsewhere. The order is fixed: where, missing,
contribution bounding, split, summary. Nothing here raises for a value: what is not a number follows the grid's
policy.
"""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sordino.data.bounding import bounded
from sordino.data.combinations import cell_counts, key_weights
from sordino.data.conditions import compared, listed, same
from sordino.data.derived import derived_column
from sordino.data.kernel import BLOCK, coded, key_index, summarise_together
from sordino.data.memory_groups import MemoryGroups
from sordino.data.objects import text_of
from sordino.data.one_pass import summarise_column
from sordino.data.schema import (
    FLOATS,
    Unlisted,
    by_column,
    check_condition,
    check_requests,
    drops,
    formula_of,
    in_places,
    key_places,
    labels_of,
    needed,
    parts,
)
from sordino.data.table import Column, table_of
from sordino.privacy import Unit
from sordino.reading.requests import (
    Blocks,
    Bundle,
    Cells,
    Columns,
    Combinations,
    Condition,
    Links,
    Request,
    Summary,
)
from sordino.reading.split import Split
from sordino.running.block import Plain
from sordino.running.block import Rows as PlainRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from sordino.reading.requests import Ask

    Rows = NDArray[np.intp]


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
        self._derived: dict[str, Column] = {}
        self._kept: dict[tuple[str, ...], Rows | None] = {}

    def __repr__(self) -> str:
        if isinstance(self._table.kinds, Unlisted):
            return f"<{self._name} source with {len(self._table)} columns>"
        return f"<{self._name.capitalize()} source with columns {', '.join(self._table)}>"

    def ready(self) -> None:
        """Refuse to convert columns of files that have changed, or of an engine with threads in another process."""
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
        self._expect(requests)
        shared: dict[Request, Summary] = {}
        for (column, grid), together in by_column(requests).items():
            # Without units the kernel itself leaves missing rows out, and no list of rows is made.
            rows = None if self.unit.column is None else self._rows_of(drops(together[0]))
            values = self._numeric(column, rows)
            middle = any(window.at.den != 1 for request in together for window in request.windows)
            long = len(values) > BLOCK and not middle
            found = summarise_column(values, grid, together) if long else None
            shared |= found or summarise_together(coded(values, grid), together)
        return tuple(self._answer(request, shared, self._rows_of) for request in requests)

    def summaries(
        self, by: str | tuple[str, ...], keys: tuple[Any, ...], *requests: Ask
    ) -> Iterator[tuple[Summary, ...]]:
        """Answer per public key, in the order of the keys; units are bounded over all keys together."""
        self._check(requests)
        self._expect(requests)
        return self.conversation(by, keys).first(*requests)

    def _group(self, split: Split) -> Rows:
        """The group of each row, -1 where it is in none."""
        self._check(tuple(Cells(name, ()) for name in split.columns))
        pairs = zip(split.columns, split.levels, strict=True)
        return split.places([self._places(name, level, None) for name, level in pairs])

    def _places(self, name: str, keys: tuple[str | int, ...], rows: Rows | None) -> Rows:
        """The place of each row's key in a public list, -1 where it is not in it."""
        column = self._column(name)
        wanted = key_places(self._name, self._table.kinds, name, keys)
        return key_index(column if rows is None else column[rows], wanted)

    def conversation(self, by: str | tuple[str, ...], keys: tuple[Any, ...]) -> MemoryGroups:
        """Groups, in the order of the keys, for mechanisms whose next question depends on what was released."""
        return MemoryGroups(
            self._group(Split.plain(by, keys)),
            len(keys),
            rows_of=self._rows_of,
            numeric=self._numeric,
            answer=self._answer,
            check=self._check,
        )

    def where(self, *conditions: Condition) -> Self:
        """The rows that fulfil all conditions; missing values fulfil none. Nothing is looked at before it is read."""
        asked = [
            (one, check_condition(self._name, self._table.kinds, one, self._numbers)) for one in conditions
        ]
        chosen = copy.copy(self)
        chosen._filters = (*self._filters, *asked)
        chosen._passing, chosen._kept = None, {}
        return chosen

    def _expect(self, requests: tuple[Ask, ...]) -> None:
        """Say which columns of their own these requests will read as numbers."""
        self._table.expect(list(self._own(name for part in parts(requests) for name in needed(part))))

    def _own(self, names: Iterable[str]) -> Iterator[str]:
        """The columns of the table behind some names, derived ones among them."""
        for name in names:
            formula = None if name in self._table.kinds else formula_of(self._table.kinds, name)
            yield from (name,) if formula is None else formula.columns

    @property
    def _chosen(self) -> Rows | None:
        """The rows that `where` has left, found when they are first needed; None for all."""
        if self._filters and self._passing is None:
            keep = np.ones(self._table.rows, bool)
            for condition, kind in self._filters:
                column = self._whole(condition.column)
                if kind == "text":
                    wanted = key_places(self._name, self._table.kinds, condition.column, listed(condition))
                    keep &= same(column, condition.op, wanted)
                elif condition.column in self._table.kinds:
                    keep &= compared(self._table.numeric(condition.column, text=True), condition)
                else:
                    keep &= compared(column.numeric(), condition)
            self._passing = np.flatnonzero(keep)
        return self._passing

    def counts(self, column: str, keys: tuple[str | int, ...]) -> tuple[int, ...]:
        """How often each public key occurs."""
        (summary,) = self.summary(Cells(column, keys))
        return summary.counts

    def _column(self, name: str) -> Column:
        """A column of the rows that `where` has left."""
        column = self._whole(name)
        return column if self._chosen is None else column[self._chosen]

    def _whole(self, name: str) -> Column:
        """A column of all rows, its own or derived."""
        if name in self._table.kinds:
            return self._table[name]
        if name not in self._derived:
            formula = formula_of(self._table.kinds, name)
            assert formula is not None
            self._derived[name] = derived_column(
                formula,
                self._table.__getitem__,
                lambda one: self._table.numeric(one, text=one in self._numbers),
            )
        return self._derived[name]

    def _numeric(self, name: str, rows: Rows | None) -> NDArray[Any]:
        if self._chosen is not None:
            rows = self._chosen if rows is None else self._chosen[rows]
        if name not in self._table.kinds:
            column = self._whole(name)
            return (column if rows is None else column[rows]).numeric()
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
        if isinstance(request, Combinations):
            return self._combinations(request, rows)
        if isinstance(request, Cells):
            group = self._places(request.column, request.keys, rows)
            counts = np.bincount(group[group >= 0], minlength=len(request.keys))
            return Summary(request, self._count(rows), counts=tuple(counts.tolist()))
        if isinstance(request, Links):
            return self._links(request, rows)
        return self._aligned(request, rows)

    def _combinations(self, request: Combinations, rows: Rows | None) -> Summary:
        """Occupied cells of public levels, or the people of every combination that occurs."""
        names = request.columns if self.unit.column is None else (*request.columns, self.unit.column)
        columns = [self._column(name) if rows is None else self._column(name)[rows] for name in names]
        kinds, own = self._table.kinds, columns[: len(request.columns)]
        if request.levels is not None:
            cells = cell_counts(own, in_places(self._name, kinds, request))
            return Summary(request, self._count(rows), codes=np.stack(cells))
        units = None if self.unit.column is None else columns[-1]
        keys, weights = key_weights(own, request, units, labels=labels_of(kinds, request.columns))
        return Summary(request, self._count(rows), codes=weights, keys=keys)

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
        table = np.asarray(codes[0] if len(codes) == 1 else codes, np.int64).reshape(len(codes), -1)
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
