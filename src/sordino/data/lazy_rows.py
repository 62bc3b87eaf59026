"""`LazyRows`: the rows of a table in an engine, and the expressions in which they are asked for.

Which rows count (missing ones dropped, units bounded, groups), what their codes and keys are, derived columns. The
questions themselves are in `sordino.data.lazy`.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw

from sordino.data import grouped
from sordino.data.bounding import hashed
from sordino.data.derived_frame import with_formulas
from sordino.data.expressions import code, float_number, fulfils, key, number, present
from sordino.data.home import Caller, Home
from sordino.data.keyed import KeyedRows
from sordino.data.passes import CODE, ROWS, collected
from sordino.data.schema import drops, formula_of, key_places
from sordino.data.streamed import StreamedCodes
from sordino.data.table import kind_in_engine
from sordino.errors import DataError, Unsupported
from sordino.privacy import Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from sordino.data.counted_groups import CountedGroups
    from sordino.data.cut_groups import CutGroups
    from sordino.data.sorted_groups import SortedGroups
    from sordino.lattice import RowLattice
    from sordino.reading.requests import Combinations, Condition, Request
    from sordino.reading.split import Split

    Batches = Callable[[], Iterable[NDArray[Any]]]
    KeyedBatches = Callable[[], Iterable[list[Any]]]
    Frame = nw.LazyFrame[Any]

ROW = "sordino_row"
"""The row number that file readers add."""

_COUNTED = 1 << 16
"""Up to so many codes of all groups together an engine counts rows itself; a public number."""

_LISTED = 100
"""Public keys that are sent to the engine as a list; longer lists are matched here."""

_KEY, _ONE, _PLACE, _HASH, _RUN = (f"sordino_{word}" for word in ("key", "one", "place", "hash", "run"))


class LazyRows:
    """The rows of a table in an engine; `sordino.data.lazy.Lazy` says what the arguments are."""

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
            self._opened = self._frame
            self._schema = dict(self._frame.collect_schema())
            self._shape = self._columns()
        self._declared = dict(kinds or {})
        self._kinds = {
            column: self._declared.get(column) or kind_in_engine(dtype)
            for column, dtype in self._schema.items()
            if column != ROW
        }
        self._derived: dict[str, str] = {}
        self._split: nw.Expr | None = None
        self._counted: int | None = None
        self.batches: Callable[[str], Batches | None] | None = None
        self.keyed_batches: Callable[[Mapping[str, bool], list[str]], KeyedBatches | None] | None = None

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
        if self._home.ours or not self._opened.implementation.is_duckdb():
            return {}
        return dict(self._opened.head(0).collect(backend="pyarrow").schema)

    def snapshot(self) -> AbstractContextManager[None]:
        """Within it this thread alone reads, and one state of the table in engines that can promise it."""
        return self._home()

    def _fulfils(self, condition: Condition, *, text: bool) -> nw.Expr:
        """Whether a row fulfils a condition; groups of a derived column are compared by their places."""
        column, several = condition.column, isinstance(condition.value, tuple | list)
        values: Any = condition.value if several else (condition.value,)
        places = key_places(self._name, self._kinds, column, tuple(values)) if text else values
        if places != values:
            text, condition = False, replace(condition, value=places if several else places[0])
        self._no_text(column, number=not text)
        return fulfils(condition, self._at(column), self._schema[column], text=text)

    def _deriving(self, names: Iterable[str]) -> Self:
        """This source with the derived columns among some names in its frame; engines compute what is read of them."""
        wanted = {name: formula_of(self._kinds, name) for name in names}
        found = {name: formula for name, formula in wanted.items() if formula is not None}
        if all(name in self._derived for name in found):
            return self
        source = copy.copy(self)
        source._derived = {name: f"sordino_derived{place}" for place, name in enumerate(found)}
        with self.snapshot():
            source._frame = with_formulas(
                self._frame, self._schema, {source._derived[name]: formula for name, formula in found.items()}
            )
        source._schema = self._schema | {
            name: nw.Float64() if formula.labels is None else nw.Int64() for name, formula in found.items()
        }
        return source

    def _at(self, name: str) -> str:
        """What a column is called in the frame."""
        return self._derived.get(name, name)

    def _no_text(self, column: str, *, number: bool) -> None:
        """Refuse to read text as numbers in an engine elsewhere."""
        if number and not self._nearby and self._kinds.get(column) == "text":
            raise DataError(
                self._name, "text is not read as numbers in this engine", got={"column": column},
                why="It raises where a number is too large, after the debit.",
                hint="convert the column in a view, or compare it with texts",
            )  # fmt: skip

    def _copy(self, frame: Frame) -> Self:
        return type(self)(
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

    def _narrow(self, split: Split) -> Self:
        """The rows of one group."""
        source = copy.copy(self)
        source._split = self._among(split)
        return source

    def _unchanged(self) -> None:
        if self._guard is not None:
            self._guard()

    def _count(self, frame: Frame) -> int:
        return int(collected(frame.select(nw.len().alias(ROWS)))[ROWS][0])

    def _codes(self, column: str, grid: RowLattice) -> StreamedCodes | Frame:
        """The codes of a column: in a stream where all rows of a file count, otherwise by the engine."""
        if self.batches is not None and self._split is None and self.unit.column is None:
            batches = self.batches(column)
            if batches is not None:
                return StreamedCodes.of(batches, grid)
        frame = self._counting((column,) if grid.drops else ())
        return frame.select(self._code(column, grid).alias(CODE))

    def _batched(self, split: Split, asked: Sequence[tuple[str, RowLattice]]) -> KeyedRows | None:
        """The rows of a file in which all of them count, with their groups and codes; None where an engine computes."""
        numbers = [column for column, _ in asked]
        derived = any(formula_of(self._kinds, name) is not None for name in (*split.columns, *numbers))
        if self.keyed_batches is None or self._split is not None or self.unit.column is not None or derived:
            return None
        pairs = zip(split.columns, split.levels, strict=True)
        batches = self.keyed_batches({name: isinstance(level[0], str) for name, level in pairs}, numbers)
        if batches is None:
            return None
        return KeyedRows.of_batches(batches(), split, [grid for _, grid in asked])

    def _code(self, column: str, grid: RowLattice) -> nw.Expr:
        missing = grid.low if grid.drops else float(grid.missing or 0)
        server, dtype = self._frame.implementation.is_ibis(), self._schema[column]
        if server and dtype.is_float():
            return code(float_number(self._at(column), missing), grid, once=True)
        return code(number(self._at(column), dtype, missing), grid, once=server)

    def _counting(self, dropping: tuple[str, ...]) -> Frame:
        """The rows that count: missing ones dropped, units bounded, split."""
        frame = self._frame
        for name in dropping:
            frame = frame.filter(present(self._at(name), self._schema[name]))
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

    def _keyed(self, split: Split, column: str, grid: RowLattice, request: Request) -> Frame:
        """Keys and codes of the rows that count in some groups."""
        frame = self._counting(drops(request)).filter(self._among(split))
        return frame.select(*self._keys(split), self._code(column, grid).alias(CODE))

    def _counted_elsewhere(self, part: Combinations) -> None:
        """Refuse what an engine elsewhere cannot count without handing out rows."""
        if (
            part.levels is None
            and self.unit.column is not None
            and (part.most < self.unit.max_rows or part.without)
        ):
            raise Unsupported(
                self._name, "counts the keys of a person in one pass, and all of them",
                got={"max_keys": part.most, "max_rows": self.unit.max_rows},
                why="Which keys of a person count is decided by a hash that this engine has not. Nothing was spent.",
                hint=f"sd.discover(max_keys={self.unit.max_rows}, passes=1), or open a Parquet file of the columns",
            )  # fmt: skip

    def _scanned(
        self, split: Split, wanted: Mapping[tuple[str, RowLattice], tuple[int, ...] | None]
    ) -> list[SortedGroups | CountedGroups | CutGroups]:
        """Keys and codes of some columns, fetched in one scan, or in one for each column that drops rows of units."""
        asked = list(wanted)
        if self.unit.column is not None and len(asked) > 1:
            return [found for one in asked for found in self._scanned(split, {one: wanted[one]})]
        cuts, top = wanted[asked[0]], asked[0][1].last
        counting = len(asked) == 1 and cuts is not None and (not top or cuts)
        short = len(asked) == 1 and top * len(split) <= _COUNTED
        rows = self._batched(split, asked)
        if rows is not None:
            with self.snapshot():
                self._unchanged()
                read = [rows.cuts(cuts or ())] if counting else [rows.counted()] if short else rows.ordered()
                self._unchanged()
            return [*read]
        source = self._deriving([*split.columns, *(column for column, _ in asked)])
        dropping = tuple(dict.fromkeys(column for column, grid in asked if grid.drops))
        codes = []
        for place, (column, grid) in enumerate(asked):
            code_of = source._code(column, grid).cast(nw.Int64)
            if grid.drops and len(asked) > 1:  # marked here, left out by whoever sorts
                there = present(source._at(column), source._schema[column])
                code_of = nw.when(there).then(code_of).otherwise(nw.lit(-1).cast(nw.Int64))
            codes.append(code_of.alias(f"{CODE}{place}"))
        with self.snapshot():
            self._unchanged()
            frame = source._counting(dropping if len(asked) == 1 else ())
            frame = frame.filter(source._among(split, _LISTED)).select(*source._keys(split), *codes)
            found: list[SortedGroups | CountedGroups | CutGroups]
            if counting:
                found = [grouped.cut_codes(frame, split, cuts or (), top)]
            elif short:
                frame = frame.group_by(*grouped.key_names(split), f"{CODE}0").agg(nw.len().alias(ROWS))
                found = [grouped.counted_codes(frame, split, top)]
            else:
                found = [*grouped.coded_rows(frame, split, [grid.last for _, grid in asked]).ordered()]
            self._unchanged()
        return found

    def _matches(self, by: str, keys: tuple[str | int, ...]) -> nw.Expr:
        """Whether a row has one of the keys."""
        text = isinstance(keys[0], str)
        if text and self._kinds[by] != "text":
            return nw.col(by).is_null() & ~nw.col(by).is_null()  # no number is a text
        value, there = key(self._at(by), self._schema[by], text=text)
        if not text and self._schema[by].is_integer():
            low, high = min(keys), max(keys)
            if (
                len(keys) > 2 and int(high) - int(low) == len(keys) - 1
            ):  # no gap: engines are slow on long lists
                return there & (value >= low) & (value <= high)
        wanted = list(keys) if text or self._schema[by].is_integer() else [float(one) for one in keys]
        return there & value.is_in(wanted)

    def _among(self, split: Split, most: int | None = None) -> nw.Expr:
        """Whether a row has a key of every column; lists of more than so many keys are matched elsewhere."""
        found: Any = None
        for name, level in zip(split.columns, split.levels, strict=True):
            if most is None or len(level) <= most:
                one = self._matches(name, level)
            else:
                _, one = key(self._at(name), self._schema[name], text=isinstance(level[0], str))
            found = one if found is None else found & one
        return found

    def _keys(self, split: Split) -> list[nw.Expr]:
        """The key columns, under the names of `grouped.key_names`."""
        names = grouped.key_names(split)
        return [
            key(self._at(name), self._schema[name], text=isinstance(level[0], str))[0].alias(alias)
            for name, level, alias in zip(split.columns, split.levels, names, strict=True)
        ]
