"""Columns in memory: what each holds by its type, and exact conversions to numpy.

Arrays, lists, and the columns of pandas, polars and pyarrow frames, each converted when it is first used. What a column
is follows from its declared type alone, never from its values; a list is a column of objects (`sordino.data.objects`).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.home import Home
from sordino.data.objects import gathered, identities, numbers, text_of
from sordino.data.schema import FLOATS, NUMBERS
from sordino.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")
"""Packages whose columns are read through narwhals."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Column:
    """One column; private.

    Attributes:
        kind: A word of `sordino.data.schema`, by the declared type.
        values: Numbers in their own type, texts, or objects.
        absent: Where a number is not there, when that cannot be written as NaN.
    """

    kind: str
    values: NDArray[Any]
    absent: NDArray[np.bool_] | None = None

    def __getitem__(self, rows: Any) -> Column:
        return Column(self.kind, self.values[rows], None if self.absent is None else self.absent[rows])

    def __len__(self) -> int:
        return len(self.values)

    def numeric(self, *, text: bool = True) -> NDArray[Any]:
        """Numbers, NaN where there is none; among objects, texts are numbers only where ``text`` says so."""
        if self.kind not in NUMBERS:
            return numbers(self.values.tolist(), text=text or self.kind == "text")
        if self.absent is None and self.values.dtype.itemsize <= 8:
            return self.values
        with np.errstate(all="ignore"):  # numpy would warn of a single value beyond the doubles
            values = self.values.astype(np.float64)
        return values if self.absent is None else np.where(self.absent, np.nan, values)

    def order(self, *, text: bool) -> NDArray[Any]:
        """What sorts rows by this column, rows without a number last; whole numbers are not rounded to doubles."""
        if self.absent is None or self.kind != "number":
            return self.numeric(text=text)
        _, place = np.unique(self.values, return_inverse=True)
        return np.where(self.absent, len(self), place)

    def identities(self) -> NDArray[np.int64]:
        """A whole number per different value, -1 where there is none."""
        if self.values.dtype.kind == "O":
            return identities(self.values.tolist())
        _, identity = np.unique(self.values, return_inverse=True)
        return identity if self.absent is None else np.where(self.absent, -1, identity)

    def texts(self) -> NDArray[np.bool_]:
        """Which rows hold a text."""
        if self.values.dtype.kind != "O":
            return np.full(len(self), self.kind == "text")
        return np.fromiter((text_of(value) is not None for value in self.values.tolist()), bool, len(self))


class Table(Mapping[str, Column]):
    """Named columns of one length, converted on first use.

    Args:
        kinds: What each column holds.
        load: Converts a column.
        rows: How many rows there are.
        ready: Refuses when nothing can be converted any more.
        expect: Is told which columns will be asked for their numbers, and may convert them together.
    """

    def __init__(
        self,
        kinds: dict[str, str],
        load: Callable[[str], Column],
        rows: int,
        *,
        ready: Callable[[], None] = lambda: None,
        expect: Callable[[list[str]], None] = lambda _: None,
    ) -> None:
        self.kinds, self.rows, self.ready, self.expect = kinds, rows, ready, expect
        self._load = load
        self._loaded: dict[str, Column] = {}
        self._read: dict[tuple[str, bool], NDArray[np.float64]] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.kinds)

    def __len__(self) -> int:
        return len(self.kinds)

    def numeric(self, name: str, rows: Any = None, *, text: bool) -> NDArray[Any]:
        """The numbers of some rows, of all by default; texts and objects are read once and kept."""
        column = self[name]
        if column.kind in NUMBERS:
            return (column if rows is None else column[rows]).numeric()
        if (name, text) not in self._read:
            self._read[name, text] = column.numeric(text=text)
        found = self._read[name, text]
        return found if rows is None else found[rows]


def table_of(data: Any) -> Table:
    """A table of a mapping of columns, or of a frame."""
    if isinstance(data, Table):
        return data
    if isinstance(data, Mapping):
        names = _names(list(data))
        columns = {name: column_of(column) for name, column in zip(names, data.values(), strict=True)}
        lengths = {column.values.shape for column in columns.values()}
        if len(lengths) > 1 or any(len(shape) != 1 for shape in lengths):
            raise DataError("memory", "columns must be one-dimensional and of one length")
        kinds = {name: column.kind for name, column in columns.items()}
        return Table(kinds, columns.__getitem__, lengths.pop()[0] if lengths else 0)
    import narwhals as nw

    names = _names(list(data.column_names if hasattr(data, "column_names") else data.columns))
    frame = nw.from_native(data, eager_only=True)
    series = dict(zip(names, frame.iter_columns(), strict=True))
    kinds = {name: kind_of_series(one) for name, one in series.items()}
    ready = Home("polars").ready if frame.implementation.is_polars() else (lambda: None)
    return Table(kinds, lambda name: _series(series[name], kinds[name]), len(frame), ready=ready)


def _names(given: list[Any]) -> list[str]:
    """The names of columns as texts, each once; names of several levels are none."""
    names = [str(name) for name in given]
    if any(isinstance(name, tuple) for name in given):
        raise DataError(
            "memory", "a column must have one name", got={"columns": names[:3]},
            why="These names have several levels, and a question names a column by a text.",
            hint='frame.columns = ["_".join(map(str, name)) for name in frame.columns]',
        )  # fmt: skip
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise DataError(
            "memory", "columns must have different names", got={"columns": twice[:3]},
            why="A question names its column, and this name stands for several.",
            hint="frame.columns = [...] gives each its own; frame.loc[:, ~frame.columns.duplicated()] keeps the first",
        )  # fmt: skip
    return names


def column_of(column: Any) -> Column:
    """A column of an array, a list, or a column of a frame."""
    package = type(column).__module__.partition(".")[0]
    if package in FRAMES:
        import narwhals as nw

        if package == "pandas" and not hasattr(column, "to_frame"):  # an array of pandas' own types
            column = sys.modules["pandas"].Series(column)
        elif package == "pandas" and not hasattr(column, "items"):
            column = column.to_series()
        elif package == "pyarrow" and hasattr(column, "buffers"):
            column = sys.modules["pyarrow"].chunked_array([column])
        series = nw.from_native(column, series_only=True)
        return _series(series, kind_of_series(series))
    typed = hasattr(column, "__array__") or isinstance(column, memoryview | array)
    texts = isinstance(column, str | bytes | bytearray)
    if isinstance(column, Sequence) and not typed and not texts:
        return Column("object", gathered(column))
    if not typed:
        raise DataError(
            "memory", "a column must be an array, a list or a column of a frame",
            got={"type": type(column).__name__}, hint='sd.open({"income": list(values)}, ...)',
        )  # fmt: skip
    values = np.asanyarray(column)
    kind = _word(values.dtype)
    if type(values) is not np.ndarray and isinstance(
        values, np.ma.MaskedArray
    ):  # np.ma is imported when it is named
        absent = np.ma.getmaskarray(values)
        if kind in NUMBERS:
            return Column(kind, values.data, absent)
        values = values.data.astype(object)  # a copy
        values[absent] = None
    values = np.asarray(values)
    if kind == "text" and values.dtype.kind == "T":  # its missing texts are objects
        values = gathered(values.tolist())
    return Column(kind, values)


def _word(dtype: np.dtype[Any]) -> str:
    """What an array holds, by its type: a word of `sordino.data.schema`."""
    kinds = {"f": FLOATS, "i": "number", "u": "number", "b": "number", "U": "text", "T": "text"}
    others = {"O": "object", "M": "dates", "m": "durations", "c": "complex numbers"}
    return (kinds | others).get(dtype.kind, "bytes")


def kind_of(dtype: Any) -> str:
    """What a column of a frame or an engine holds, by its declared type: the same words as `Column.kind`."""
    import narwhals as nw

    if dtype.is_numeric() or dtype == nw.Boolean:
        return "decimal" if dtype.is_decimal() else FLOATS if dtype.is_float() else "number"
    if dtype in {nw.String, nw.Categorical, nw.Enum} or isinstance(dtype, nw.Enum):
        return "text"
    if dtype.is_temporal():
        zoned = getattr(dtype, "time_zone", None) is not None
        return "durations" if dtype == nw.Duration else "times" if dtype == nw.Time or zoned else "dates"
    return "object" if dtype == nw.Object else "other things"


def kind_in_engine(dtype: Any) -> str:
    """What a column of an engine holds: objects have no meaning there and are refused by their word."""
    kind = kind_of(dtype)
    return "Python objects, which no engine computes with" if kind == "object" else kind


def kind_of_series(series: Any) -> str:
    """What a column of a frame holds, by the type that its own package declares.

    The first values of pandas' columns of objects decide what narwhals calls them, and categories are of any type: both
    are columns of objects here.
    """
    own: Any = series.to_native()
    declared = own.dtype if hasattr(own, "dtype") else own.type
    if str(declared) in {"object", "category"}:
        return "object"
    kept = getattr(getattr(declared, "pyarrow_dtype", declared), "value_type", None)
    if kept is not None and str(kept) not in {"string", "large_string", "string_view"}:
        return "object" if str(declared).startswith("dictionary") else "other things"
    return kind_of(series.dtype)


def _series(series: Any, kind: str) -> Column:
    """Convert exactly: integers keep their bits; decimals go through text, casts of theirs lose the last one."""
    import narwhals as nw

    if kind == "decimal":
        return Column(FLOATS, numbers(series.cast(nw.String).to_list(), text=True))
    if kind in {"text", "object"}:
        return Column(kind, gathered(series.to_list()))
    if kind == FLOATS:
        return Column(kind, series.cast(nw.Float64).fill_null(float("nan")).to_numpy())
    if kind == "dates":
        parts = [getattr(series.dt, part)() for part in ("year", "month", "day")]
        year, month, day = (one.cast(nw.Float64).fill_null(float("nan")).to_numpy() for one in parts)
        return Column(kind, day_numbers(year, month, day))
    if kind != "number":
        return Column(kind, np.empty(len(series), object))
    absent = series.is_null().to_numpy().astype(np.bool_)
    plain = series.fill_null(False if series.dtype == nw.Boolean else 0) if absent.any() else series
    values = plain.to_numpy()
    if series.dtype == nw.Boolean:
        values = values.astype(np.bool_)
    return Column(kind, values, absent if absent.any() else None)


def day_numbers(year: NDArray[Any], month: NDArray[Any], day: NDArray[Any]) -> NDArray[np.float64]:
    """Days since 1970-01-01 of dates in parts, NaN where a part is, and for dates that do not exist."""
    from sordino.data.derived import ArraySteps
    from sordino.data.steps import day_number

    there = ~np.isnan(year) & ~np.isnan(month) & ~np.isnan(day)
    year, month, day = (np.where(there, one, 0.0) for one in (year, month, day))
    term = day_number(ArraySteps(), year, month, day, there)
    return np.where(term.there, term.value, np.nan)
