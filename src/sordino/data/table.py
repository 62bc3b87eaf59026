"""Columns in memory: what each holds by its type, and exact conversions to numpy.

Arrays, and the columns of pandas, polars and pyarrow frames, each converted when it is first used. What a column is
follows from its declared type alone, never from its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.home import Home
from sordino.data.numbers import numbers
from sordino.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")
"""Packages whose columns are read through narwhals."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Column:
    """One column; private.

    Attributes:
        kind: ``"number"``, ``"text"``, ``"object"``, or what else it holds, as a word for messages.
        values: Numbers in their own type, or objects.
        absent: Where a row has no value, when that cannot be written as NaN or None.
    """

    kind: str
    values: NDArray[Any]
    absent: NDArray[np.bool_] | None = None

    def __getitem__(self, rows: Any) -> Column:
        return Column(self.kind, self.values[rows], None if self.absent is None else self.absent[rows])

    def __len__(self) -> int:
        return len(self.values)

    def numeric(self) -> NDArray[Any]:
        """Numbers, NaN where there is none; texts and objects by the grammar of `sordino.data.numbers`."""
        if self.kind != "number":
            return numbers(self.values.tolist())
        if self.absent is None:
            return self.values
        return np.where(self.absent, np.nan, self.values.astype(np.float64))

    def missing(self) -> NDArray[np.bool_]:
        """Where there is no value (for identifiers and keys)."""
        if self.absent is not None:
            return self.absent
        if self.values.dtype.kind == "f":
            return np.isnan(self.values)
        if self.values.dtype.kind == "O":
            return np.fromiter((_nothing(value) for value in self.values.tolist()), np.bool_, len(self))
        return np.zeros(len(self), np.bool_)

    def identities(self) -> NDArray[np.int64]:
        """A whole number per different value, -1 where there is none."""
        missing = self.missing()
        if self.values.dtype.kind == "O":
            places: dict[Any, int] = {}
            pairs = zip(self.values.tolist(), missing.tolist(), strict=True)
            found = (-1 if gone else places.setdefault(value, len(places)) for value, gone in pairs)
            return np.fromiter(found, np.int64, len(self))
        _, identity = np.unique(self.values, return_inverse=True)
        return np.where(missing, -1, identity.astype(np.int64))


def _nothing(value: Any) -> bool:
    """None, NaN, pandas' NA, and what has no identity."""
    try:
        hash(value)
        return value is None or bool(value != value)  # noqa: PLR0124  NaN alone does
    except Exception:  # noqa: BLE001  objects compare as they like; none of them may raise here
        return True


class Table(Mapping[str, Column]):
    """Named columns of one length, converted on first use."""

    def __init__(
        self, kinds: dict[str, str], load: Callable[[str], Column], rows: int, *, home: Home | None = None
    ) -> None:
        self.kinds, self.rows, self._home = kinds, rows, home
        self._load = load
        self._loaded: dict[str, Column] = {}

    def ready(self) -> None:
        """Refuse to convert columns of a frame whose threads are in another process."""
        if self._home is not None:
            self._home.ready()

    def __getitem__(self, name: str) -> Column:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.kinds)

    def __len__(self) -> int:
        return len(self.kinds)


def table_of(data: Any) -> Table:
    """A table of a mapping of columns, or of a frame."""
    if isinstance(data, Table):
        return data
    if isinstance(data, Mapping):
        columns = {str(name): column_of(column) for name, column in data.items()}
        lengths = {column.values.shape for column in columns.values()}
        if len(lengths) > 1 or any(len(shape) != 1 for shape in lengths):
            raise DataError("memory", "columns must be one-dimensional and of one length")
        kinds = {name: column.kind for name, column in columns.items()}
        return Table(kinds, columns.__getitem__, lengths.pop()[0] if lengths else 0)
    import narwhals as nw

    frame = nw.from_native(data, eager_only=True)
    if len(set(frame.columns)) != len(frame.columns):
        raise DataError("memory", "columns must have different names")
    kinds = {name: kind_of(dtype) for name, dtype in frame.schema.items()}
    home = Home("polars") if frame.implementation.is_polars() else None
    return Table(kinds, lambda name: _series(frame[name], kinds[name]), len(frame), home=home)


def column_of(column: Any) -> Column:
    """A column of an array, a list, or a column of a frame."""
    if type(column).__module__.partition(".")[0] in FRAMES:
        import narwhals as nw

        series = nw.from_native(column, series_only=True)
        return _series(series, kind_of(series.dtype))
    if isinstance(column, np.ma.MaskedArray):
        return Column(_words(column.data.dtype), column.data, np.ma.getmaskarray(column))
    values = np.asarray(column)
    return Column(_words(values.dtype), values)


def _words(dtype: np.dtype[Any]) -> str:
    kinds = {"f": "number", "i": "number", "u": "number", "b": "number", "U": "text", "T": "text"}
    others = {"O": "object", "M": "dates", "m": "durations", "c": "complex numbers"}
    return (kinds | others).get(dtype.kind, "bytes")


def kind_of(dtype: Any) -> str:
    """What a column of a frame or an engine holds, by its declared type: the same words as `Column.kind`."""
    import narwhals as nw

    if dtype.is_numeric() or dtype == nw.Boolean:
        return "decimal" if dtype.is_decimal() else "number"
    if dtype in {nw.String, nw.Categorical, nw.Enum} or isinstance(dtype, nw.Enum):
        return "text"
    if dtype.is_temporal():
        return "durations" if dtype == nw.Duration else "dates"
    return "object" if dtype == nw.Object else "other things"


def _series(series: Any, kind: str) -> Column:
    """Convert exactly: integers keep their bits; decimals go through text, casts of theirs lose the last one."""
    import narwhals as nw

    if kind == "decimal":
        return Column("number", numbers(series.cast(nw.String).to_list()))
    if kind != "number":
        values = np.empty(len(series), object)
        if kind in {"text", "object"}:
            values[:] = series.to_list()
        return Column(kind, values)
    if series.dtype.is_float():
        return Column("number", series.cast(nw.Float64).fill_null(float("nan")).to_numpy())
    absent = series.is_null().to_numpy().astype(np.bool_)
    if not absent.any():
        plain = series.to_numpy()
        return Column("number", plain.astype(np.bool_) if series.dtype == nw.Boolean else plain)
    filled = series.fill_null(False if series.dtype == nw.Boolean else 0).to_numpy()
    return Column("number", filled.astype(np.bool_) if series.dtype == nw.Boolean else filled, absent)
