"""Engines: one implementation over narwhals' lazy frames for polars, DuckDB, PostgreSQL (through ibis) and Spark.

Which rows count, and what is asked of the engine; the group-bys are in `sordino.data.passes`, the expressions in
`sordino.data.expressions`. No sort, no quantile function, and no row leaves an engine that runs elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import narwhals as nw

from sordino.data import far_blocks, grouped
from sordino.data.bounding import hashed
from sordino.data.expressions import code, fulfils, key, number, present
from sordino.data.home import Caller, Home
from sordino.data.kernel import groups_in_order, key_index, summarise_groups
from sordino.data.memory import Memory
from sordino.data.passes import CODE, ROWS, collected, summarise_frame
from sordino.data.schema import by_column, check_condition, check_requests, drops, needed, parts
from sordino.data.table import column_of, kind_in_engine
from sordino.errors import DataError, Unsupported
from sordino.privacy import Unit
from sordino.reading.requests import Blocks, Bundle, Cells, Columns, Condition, Links, Request, Summary

if TYPE_CHECKING:
    from sordino.reading.requests import Ask
    from sordino.reading.row_lattice import RowLattice

    Frame = nw.LazyFrame[Any]

ROW = "sordino_row"
"""The row number that file readers add."""

_LISTED = 100
"""Public keys that are sent to the engine as a list; longer lists are matched here."""

_KEY, _ONE, _PLACE, _HASH, _RUN = (f"sordino_{word}" for word in ("key", "one", "place", "hash", "run"))


class Lazy:
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

    def __init__(
        self,
        frame: Any,
        *,
        unit: Unit | None = None,
        row: str | None = None,
        numbers: tuple[str, ...] = (),
        name: str = "table",
        nearby: bool = True,
        guard: Callable[[], None] | None = None,
        kinds: Mapping[str, str] | None = None,
        home: Home | None = None,
    ) -> None:
        self._home = home or Caller(name)
        self.assumptions: tuple[str, ...] = ()
        self.unit, self._row = unit or Unit(), row
        self._numbers = numbers if nearby else ()  # servers raise where a text is too large a number
        self._name, self._nearby, self._guard = name, nearby, guard
        with self._home():
            self._frame: Frame = nw.from_native(frame).lazy()
            self._schema = dict(self._frame.collect_schema())
            self._shape = self._columns()
        self._declared = dict(kinds or {})
        self._kinds = {
            column: self._declared.get(column) or kind_in_engine(dtype)
            for column, dtype in self._schema.items()
            if column != ROW
        }
        self._split: nw.Expr | None = None
        self._counted: int | None = None

    def __repr__(self) -> str:
        return f"<{self._name} with columns {', '.join(self._kinds)}>"

    @property
    def kinds(self) -> Mapping[str, str]:
        """What each column holds, by its declared type."""
        return self._kinds

    @property
    def rows(self) -> int:
        """The number of rows, before missing ones are dropped and units bounded; counted once."""
        if self._counted is None:
            with self.snapshot():
                self._counted = self._count(self._frame)
        return self._counted

    def ready(self) -> None:
        """Refuse when no answer can come: in another process, from a lost server, from files that have changed."""
        self._home.ready()
        self._unchanged()
        try:
            with self.snapshot():
                there = self._columns() == self._shape
        except Exception:  # noqa: BLE001  engines raise what they like
            there = False
        if not there:
            raise DataError(
                self._name, "the table must be there as it was opened",
                why="Its connection is closed, or it was dropped or altered; nothing was spent.",
                hint="open it again",
            )  # fmt: skip

    def _columns(self) -> dict[str, Any]:
        """What a query would find now, from an engine that plans it without reading a row."""
        if not self._frame.implementation.is_duckdb():
            return {}
        return dict(self._frame.head(0).collect(backend="pyarrow").schema)

    def check(self, *requests: Ask) -> None:
        """Refuse what the schema cannot answer, before anything is spent."""
        self._check(requests, keys=True)
        if not self._nearby and any(isinstance(part, Blocks) for part in parts(requests)):
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
            if isinstance(part, Request) and part.squares and part.grid.last > 2**32:
                raise Unsupported(
                    self._name, "sums of squares need at most 32 bits", got={"column": part.column},
                    why="Engines sum in 64 bits.", hint="bits=31",
                )  # fmt: skip

    def summary(self, *requests: Ask) -> tuple[Summary, ...]:
        """Answer all requests: two or three scans per column and grid, whatever the number of windows."""
        self._check(requests)
        with self.snapshot():
            self._unchanged()
            shared: dict[Request, Summary] = {}
            for (column, grid), together in by_column(requests).items():
                codes = self._counting(drops(together[0])).select(self._code(column, grid).alias(CODE))
                shared |= summarise_frame(codes, together, self._name)
            answers = tuple(self._answer(request, shared) for request in requests)
            self._unchanged()
        return answers

    def snapshot(self) -> AbstractContextManager[None]:
        """Within it this thread alone reads, and one state of the table in engines that can promise it."""
        return self._home()

    def summaries(
        self, by: str, keys: tuple[str | int, ...], *requests: Ask
    ) -> Iterator[tuple[Summary, ...]]:
        """Answer per public key, in the order of the keys; units are bounded over all keys together.

        Numbers are asked for many keys at once; whatever else a request needs, key by key.
        """
        self._check((Cells(by, ()), *requests))
        plain = tuple(request for request in requests if isinstance(request, Request))
        if len(plain) == len(requests) and (self._nearby or grouped.numbered(plain)):
            for some in grouped.chunks(keys, grouped.NEAR if self._nearby else grouped.FAR):
                yield from self._grouped(by, some, plain)
            return
        for one in keys:
            narrow = self._copy(self._frame)
            narrow._split = self._matches(by, (one,))
            yield narrow.summary(*requests)

    def where(self, *conditions: Condition) -> Lazy:
        """The rows that fulfil all conditions; missing values fulfil none."""
        frame = self._frame
        with self.snapshot():
            for condition in conditions:
                text = check_condition(self._name, self._kinds, condition) == "text"
                self._no_text(condition.column, number=not text)
                frame = frame.filter(fulfils(condition, self._schema[condition.column], text=text))
            return self._copy(frame)

    def counts(self, column: str, keys: tuple[str | int, ...]) -> tuple[int, ...]:
        """How often each public key occurs."""
        (summary,) = self.summary(Cells(column, keys))
        return summary.counts

    def _no_text(self, column: str, *, number: bool) -> None:
        """Refuse to read text as numbers in an engine elsewhere."""
        if number and not self._nearby and self._kinds[column] == "text":
            raise DataError(
                self._name, "text is not read as numbers in this engine", got={"column": column},
                why="It raises where a number is too large, after the debit.",
                hint="convert the column in a view, or compare it with texts",
            )  # fmt: skip

    def _copy(self, frame: Frame) -> Lazy:
        return Lazy(
            frame,
            unit=self.unit,
            row=self._row,
            numbers=self._numbers,
            name=self._name,
            nearby=self._nearby,
            guard=self._guard,
            kinds=self._declared,
            home=self._home,
        )

    def _unchanged(self) -> None:
        if self._guard is not None:
            self._guard()

    def _count(self, frame: Frame) -> int:
        return int(collected(frame.select(nw.len().alias(ROWS)))[ROWS][0])

    def _code(self, column: str, grid: RowLattice) -> nw.Expr:
        missing = grid.low if grid.drops else float(grid.missing or 0)
        return code(number(column, self._schema[column], missing), grid)

    def _counting(self, dropping: tuple[str, ...]) -> Frame:
        """The rows that count: missing ones dropped, units bounded, split."""
        frame = self._frame
        for name in dropping:
            frame = frame.filter(present(name, self._schema[name]))
        if self.unit.column is not None:
            frame = self._bounded(frame, self.unit.column)
        return frame if self._split is None else frame.filter(self._split)

    def _bounded(self, frame: Frame, unit: str) -> Frame:
        """At most so many rows of each unit, by the rule of `sordino.data.bounding`."""
        there = ~nw.col(unit).is_null()
        count = nw.col(_ONE).cum_sum()  # cum_count forgets the order in some engines
        assert self._row is not None
        return (
            frame.filter(there)
            .with_columns(nw.lit(1).cast(nw.Int64).alias(_ONE))
            .with_columns(count.over(unit, order_by=self._row).cast(nw.Int64).alias(_PLACE))
            .with_columns(hashed(nw.col(_PLACE)).alias(_HASH))
            .with_columns(count.over(unit, order_by=[_HASH, _PLACE]).cast(nw.Int64).alias(_RUN))
            .filter(nw.col(_RUN) <= self.unit.max_rows)
        )

    def _matches(self, by: str, keys: tuple[str | int, ...]) -> nw.Expr:
        """Whether a row has one of the keys."""
        text = isinstance(keys[0], str)
        if text and self._kinds[by] != "text":
            return nw.col(by).is_null() & ~nw.col(by).is_null()  # no number is a text
        value, there = key(by, self._schema[by], text=text)
        if not text and self._schema[by].is_integer():
            low, high = min(keys), max(keys)
            if (
                len(keys) > 2 and int(high) - int(low) == len(keys) - 1
            ):  # no gap: engines are slow on long lists
                return there & (value >= low) & (value <= high)
        wanted = list(keys) if text or self._schema[by].is_integer() else [float(one) for one in keys]
        return there & value.is_in(wanted)

    def _grouped(
        self, by: str, keys: tuple[str | int, ...], requests: tuple[Request, ...]
    ) -> Iterator[tuple[Summary, ...]]:
        """Answer some keys at once: here from their rows, or in an engine elsewhere."""
        value, there = key(by, self._schema[by], text=isinstance(keys[0], str))
        answers: list[tuple[tuple[Request, ...], Iterator[tuple[Summary, ...]]]] = []
        with self.snapshot():
            self._unchanged()
            for (column, grid), together in by_column(requests).items():
                frame = self._counting(drops(together[0]))
                listed = len(keys) <= _LISTED or not self._nearby
                frame = frame.filter(self._matches(by, keys) if listed else there)
                codes = self._code(column, grid)
                if self._nearby:
                    frame = frame.select(value.alias(grouped.KEY), codes.cast(nw.Int64).alias(CODE))
                    groups = summarise_groups(*grouped.sorted_codes(frame, keys, grid.last), together)
                else:
                    frame = frame.select(value.alias(grouped.KEY), codes.alias(CODE))
                    groups = iter(list(grouped.summaries(frame, keys, together, self._name)))
                answers.append((together, groups))
            self._unchanged()
        yield from groups_in_order(requests, answers)

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
        names = dict.fromkeys(needed(request))
        gathered = self._counting(drops(request)).select(
            *(number(name, self._schema[name], float("nan")).alias(name) for name in names)
        )
        (summary,) = Memory(collected(gathered)).summary(request)
        return summary

    def _plain(self, request: Blocks) -> Summary:
        """Fetch the columns; which rows of a person are used was decided in the engine."""
        unit = self.unit.column
        frame = self._counting(())
        if request.whole and unit is not None:
            frame = self._frame if self._split is None else self._frame.filter(self._split)
        names = dict.fromkeys((*request.columns, *(() if unit is None else (unit,))))
        numeric = [name for name in request.columns if self._kinds[name] not in {"text", "object"}]
        chosen = [
            number(name, self._schema[name], float("nan")).alias(name)
            if name in numeric and name != unit
            else nw.col(name)
            for name in names
        ]
        if not self._nearby:
            holds = {name: name in numeric for name in request.columns}
            rows = far_blocks.rows(frame, chosen, holds, home=self._home, unit=unit, row=self._row)
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
        value, _ = key(request.column, self._schema[request.column], text=isinstance(request.keys[0], str))
        listed = frame.filter(self._matches(request.column, request.keys)).select(value.alias(_KEY))
        found = collected(listed.group_by(_KEY).agg(nw.len().alias(ROWS)))
        places = key_index(column_of(found[_KEY]), request.keys)
        counts = [0] * len(request.keys)
        for place, many in zip(places.tolist(), found[ROWS].tolist(), strict=True):
            if place >= 0:
                counts[place] += int(many)  # 0.0 and -0.0, which engines group apart, have one place
        return Summary(request, rows, counts=tuple(counts))
