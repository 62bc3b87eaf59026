"""Engines: one implementation over narwhals' lazy frames for polars, DuckDB, PostgreSQL (through ibis) and Spark.

Which rows count, and what is asked of the engine; the group-bys are in `sordino.data.passes`, the expressions in
`sordino.data.expressions`. No sort, no quantile function, and no row leaves an engine that runs elsewhere.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sordino.data import far_blocks, grouped, two_scans
from sordino.data.combinations import cell_counts, key_weights
from sordino.data.engine_groups import FarGroups, NearGroups
from sordino.data.expressions import key, number
from sordino.data.kernel import key_index
from sordino.data.lazy_rows import ROW, LazyRows
from sordino.data.memory import Memory
from sordino.data.passes import ROWS, collected, integers, summarise_frame
from sordino.data.schema import (
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
from sordino.data.table import column_of
from sordino.errors import DataError, Unsupported
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

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sordino.data.memory_groups import MemoryGroups
    from sordino.data.schema import Part
    from sordino.reading.requests import Ask

    Frame = nw.LazyFrame[Any]

SPARK = "pyspark"
"""Clusters count and sum in two scans what others sort."""

_KEY, _RUN = (f"sordino_{word}" for word in ("key", "run"))


class Lazy(LazyRows):
    """A table in an engine.

    Args:
        frame: A polars LazyFrame, a DuckDB relation, an ibis table, a Spark DataFrame.
        unit: Whom to protect.
        row: Column that identifies and orders the rows of a unit; engines keep no order of their own.
        numbers: Text columns to be read as numbers.
        name: What messages call the source.
        nearby: Whether the engine runs in this process, so that a column of codes may be fetched from it.
        guard: Called before and after reading; raises when the data have changed.
        kinds: What columns hold by a declaration that the engine does not see.
        home: Where the engine runs, and who uses it; the caller's engines share one.

    Example:
        >>> import polars
        >>> from sordino.statistics.median import Median
        >>> median = Median("x", low=0, high=10, step=1)
        >>> source = Lazy(polars.LazyFrame({"x": [3, 1, 7]}))
        >>> median.read(*source.summary(median.request(depth=1))).open().value
        3
    """

    def check(self, *requests: Ask) -> None:
        """Refuse what the schema cannot answer, before anything is spent."""
        self._check(requests, keys=True)
        asked = parts(requests)
        derived = any(formula_of(self._kinds, name) is not None for part in asked for name in _named(part))
        if not self._nearby and (derived or any(isinstance(part, Blocks) for part in asked)):
            far_blocks.probe(self._frame)

    def _check(self, requests: tuple[Ask, ...], *, keys: bool = False) -> None:
        row = None if self._row == ROW else self._row
        check_requests(
            self._name, self._kinds, requests, unit=self.unit, row=row, numbers=self._numbers, keys=keys
        )
        if self.unit.column is not None and self._row is None:
            raise DataError(
                self._name, "a column that identifies rows must be named", got={"unit": self.unit.column},
                why="The table has no order, and which rows of a person are used must not change while reading.",
                hint='sd.open(..., row="row_id")',
            )  # fmt: skip
        for part in parts(requests):
            if isinstance(part, Cells) and not any(isinstance(one, str) for one in part.keys):
                self._no_text(part.column, number=bool(part.keys))
            if isinstance(part, Blocks) and not self._nearby:
                far_blocks.check(self._name, self._frame, self._home, part, row=self._row)
            if isinstance(part, Columns | Links) and not self._nearby:
                raise Unsupported(
                    self._name, "cannot hand out whole columns", got={"columns": needed(part)},
                    why="This statistic needs every row in memory, and this engine is elsewhere. Nothing was spent.",
                    hint="write the columns to a Parquet file and open that",
                )  # fmt: skip
            if isinstance(part, Combinations) and not self._nearby:
                self._counted_elsewhere(part)
            if isinstance(part, Request) and part.squares and part.width > 2**32:
                raise Unsupported(
                    self._name, "sums of squares need at most 32 bits", got={"column": part.column},
                    why="Engines sum in 64 bits.", hint="bits=31",
                )  # fmt: skip

    def summary(self, *requests: Ask) -> tuple[Summary, ...]:
        """Answer all requests: two or three scans per column and grid, whatever the number of windows."""
        self._check(requests)
        source = self._deriving(name for part in parts(requests) for name in _named(part))
        with self.snapshot():
            self._unchanged()
            shared: dict[Request, Summary] = {}
            for (column, grid), together in by_column(requests).items():
                summarise: Any = two_scans.summarise if self._name == SPARK else summarise_frame
                shared |= summarise(source._codes(column, grid), together, self._name)
            answers = tuple(source._answer(request, shared) for request in requests)
            self._unchanged()
        return answers

    def summaries(
        self, by: str | tuple[str, ...], keys: tuple[Any, ...], *requests: Ask
    ) -> Iterator[tuple[Summary, ...]]:
        """Answer per public key, in the order of the keys; units are bounded over all keys together.

        Numbers are asked for many keys at once; whatever else a request needs, key by key.
        """
        self._check(requests)
        for some in Split.plain(by, keys).chunks(self.together):
            yield from self.conversation(some.by, some.keys).first(*requests)

    @property
    def together(self) -> int:
        """How many groups are read at a time; public."""
        if self._name == SPARK:
            return two_scans.TOGETHER
        return grouped.NEAR if self._nearby else grouped.FAR

    def conversation(self, by: str | tuple[str, ...], keys: tuple[Any, ...]) -> NearGroups | FarGroups:
        """Groups, in the order of the keys, with all that mechanisms ask again about them.

        Args:
            by: The key columns.
            keys: At most `together` keys.
        """
        split = Split.plain(by, keys)
        self._check(tuple(Cells(name, ()) for name in split.columns))
        pairs = zip(split.columns, split.levels, strict=True)
        coded = replace(split, levels=tuple(key_places(self._name, self._kinds, *one) for one in pairs))
        if not self._nearby:
            return FarGroups(
                coded, ask=self._asked, count=self._counted_cells, alone=self._alone, check=self._check,
                each=self._sums_of_each if self._name == SPARK else None,
            )  # fmt: skip
        return NearGroups(
            len(coded),
            scan=functools.partial(self._scanned, coded),
            fetch=functools.partial(self._fetched, split),
            check=self._check,
        )

    def where(self, *conditions: Condition) -> Lazy:
        """The rows that fulfil all conditions; missing values fulfil none."""
        with self.snapshot():
            asked = [
                (one, check_condition(self._name, self._kinds, one, self._numbers) == "text")
                for one in conditions
            ]
            source = self._deriving(condition.column for condition in conditions)
            frame = source._frame
            for condition, text in asked:
                frame = frame.filter(source._fulfils(condition, text=text))
            return self._copy(frame if source is self else frame.select(*self._schema))

    def counts(self, column: str, keys: tuple[str | int, ...]) -> tuple[int, ...]:
        """How often each public key occurs."""
        (summary,) = self.summary(Cells(column, keys))
        return summary.counts

    def _fetched(self, split: Split, requests: tuple[Ask, ...]) -> MemoryGroups:
        """The columns of some requests, fetched in one scan, as a table in memory."""
        named = [*split.columns, *(name for part in parts(requests) for name in _named(part))]
        formulas = {name: formula_of(self._kinds, name) for name in named}
        columns = [
            column for name, one in formulas.items() for column in ((name,) if one is None else one.columns)
        ]
        columns += [name for name in (self.unit.column, self._row) if name is not None]
        with self.snapshot():
            self._unchanged()
            fetched = self._frame.select(*dict.fromkeys(columns)).collect(backend="pyarrow").to_native()
            self._unchanged()
        inner = Memory(fetched, unit=self.unit, row=self._row, numbers=self._numbers, name=self._name)
        return inner.conversation(split.by, split.keys)

    def _asked(self, split: Split, requests: tuple[Request, ...]) -> Iterator[tuple[Summary, ...]]:
        """Answer requests about numbers for some groups, in an engine elsewhere: two queries per column and grid."""
        found: dict[Request, list[Summary]] = {}
        source = self._deriving([*split.columns, *(request.column for request in requests)])
        with self.snapshot():
            for (column, grid), together in by_column(requests).items():
                if self._name == SPARK or grouped.numbered(together):
                    frame = source._keyed(split, column, grid, together[0])
                    how = two_scans.summaries if self._name == SPARK else grouped.summaries
                    answers = list(how(frame, split, together, self._name))
                else:  # ranks that doubles do not hold: group by group
                    answers = [source._narrow(one).summary(*together) for one in split.chunks(1)]
                found |= zip(together, map(list, zip(*answers, strict=True)), strict=True)
        return zip(*(found[request] for request in requests), strict=True)

    def _sums_of_each(self, split: Split, requests: tuple[Request, ...]) -> list[Summary]:
        """Sums of each group between codes of its own, on a cluster: one scan."""
        ((column, grid),) = by_column(requests)
        source = self._deriving([*split.columns, column])
        with self.snapshot():
            return two_scans.sums_of_each(source._keyed(split, column, grid, requests[0]), split, requests)

    def _counted_cells(self, split: Split, request: Cells) -> Iterator[Summary]:
        """Counts of public categories in some groups, and rows of each group, in an engine elsewhere."""
        with self.snapshot():
            source = self._deriving([*split.columns, *([request.column] if request.keys else [])])
            frame = source._counting(()).filter(source._among(split))
            rows = grouped.counted(frame.select(*source._keys(split)), split)
            counts = {}
            if request.keys:
                wanted = key_places(self._name, self._kinds, request.column, request.keys)
                inner = Split((*split.columns, request.column), (*split.levels, wanted))
                frame = frame.filter(source._matches(request.column, wanted)).select(*source._keys(inner))
                counts = grouped.counted(frame, inner)
        for one in split.combinations:
            each = [counts.get((*one, key), 0) for key in wanted] if request.keys else []
            yield Summary(request, rows.get(one, 0), counts=tuple(each))

    def _alone(self, split: Split, request: Ask) -> Summary:
        """Any request about one group."""
        return self._deriving(split.columns)._narrow(split).summary(request)[0]

    def _answer(self, request: Ask, shared: Mapping[Request, Summary]) -> Summary:
        if isinstance(request, Request):
            return shared[request]
        if isinstance(request, Bundle):
            answers = tuple(self._answer(part, shared) for part in request.parts)
            return Summary(request, self._count(self._counting(())), parts=answers)
        if isinstance(request, Cells):
            return self._cells(request)
        if isinstance(request, Blocks):
            return self._plain(request)
        if isinstance(request, Combinations):
            return self._combinations(request)
        names = dict.fromkeys(needed(request))
        gathered = self._counting(drops(request)).select(
            *(number(self._at(name), self._schema[name], float("nan")).alias(name) for name in names)
        )
        (summary,) = Memory(collected(gathered)).summary(request)
        return summary

    def _combinations(self, request: Combinations) -> Summary:
        """Group by the columns of keys; whose keys they are is counted here, or by an engine elsewhere."""
        frame = self._counting(request.present)
        names, unit = [self._at(name) for name in request.columns], self.unit.column
        rows = self._count(frame)
        labels = labels_of(self._kinds, request.columns)
        if request.levels is None and unit is not None and self._nearby:
            chosen = frame.select(*dict.fromkeys([*names, unit])).unique().collect(backend="pyarrow")
            columns = [column_of(chosen[name].to_native()) for name in names]
            units = column_of(chosen[unit].to_native())
            keys, amounts = key_weights(columns, request, units, labels=labels)
            return Summary(request, rows, codes=amounts, keys=keys)
        if request.levels is None and unit is not None:
            pairs = frame.select(*dict.fromkeys([*names, unit])).unique()
            for name in names:
                pairs = pairs.filter(~nw.col(name).is_null())
            pairs = pairs.with_columns(nw.len().over(unit).cast(nw.Int64).alias(_RUN))
            grouped_by = pairs.group_by([*names, _RUN])
        else:
            grouped_by = frame.select(*names).group_by(names)
        table = grouped_by.agg(nw.len().alias(ROWS)).collect(backend="pyarrow").to_native()
        counts = integers(table[ROWS].to_numpy())
        columns = [column_of(table[name]) for name in names]
        if request.levels is not None:
            placed = in_places(self._name, self._kinds, request)
            return Summary(request, rows, codes=np.stack(cell_counts(columns, placed, counts)))
        many = integers(table[_RUN].to_numpy()) if unit is not None else np.ones(len(counts), np.int64)
        weights = counts * np.array([0, *request.weights], np.int64)[many]
        keys, amounts = key_weights(columns, request, rows=weights, labels=labels)
        return Summary(request, rows, codes=amounts, keys=keys)

    def _plain(self, request: Blocks) -> Summary:
        """Fetch the columns; which rows of a person are used was decided in the engine."""
        unit = self.unit.column
        frame = self._counting(())
        if request.whole and unit is not None:
            frame = self._frame if self._split is None else self._frame.filter(self._split)
        names = dict.fromkeys((*request.columns, *(() if unit is None else (unit,))))
        numeric = [name for name in request.columns if self._kinds.get(name) not in {"text", "object"}]
        chosen = [
            number(self._at(name), self._schema[name], float("nan")).alias(name)
            if name in numeric and name != unit
            else nw.col(name)
            for name in names
        ]
        if not self._nearby or far_blocks.large(frame, len(names), lambda: self._count(frame)):
            holds = {name: name in numeric for name in request.columns}
            rows = far_blocks.rows(
                frame, chosen, holds, home=self._home, unit=unit, row=self._row, guard=self.ready
            )
            return Summary(request, 0, table=rows)  # how many there are is not asked
        fetched = frame.select(*chosen).collect(backend="pyarrow").to_native()
        inner = Memory(fetched, unit=self.unit, numbers=self._numbers)
        (summary,) = inner.summary(Blocks(request.columns))
        return summary

    def _cells(self, request: Cells) -> Summary:
        """Group by the key among the public ones."""
        frame = self._counting(())
        rows = self._count(frame)
        if not request.keys:
            return Summary(request, rows)
        wanted = key_places(self._name, self._kinds, request.column, request.keys)
        value, _ = key(
            self._at(request.column), self._schema[request.column], text=isinstance(wanted[0], str)
        )
        listed = frame.filter(self._matches(request.column, wanted)).select(value.alias(_KEY))
        found = collected(listed.group_by(_KEY).agg(nw.len().alias(ROWS)))
        places = key_index(column_of(found[_KEY]), wanted)
        counts = [0] * len(request.keys)
        for place, many in zip(places.tolist(), found[ROWS].tolist(), strict=True):
            if place >= 0:
                counts[place] += int(many)  # 0.0 and -0.0, which engines group apart, have one place
        return Summary(request, rows, counts=tuple(counts))


def _named(part: Part) -> list[str]:
    """The columns that a request names."""
    if isinstance(part, Cells):
        return [part.column]
    if isinstance(part, Combinations):
        return [*part.columns, *part.present]
    return list(part.columns) if isinstance(part, Blocks) else needed(part)
