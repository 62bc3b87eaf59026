"""What Parquet files declare about their columns: the types that an engine would not see, and that all files agree.

Schemas are read here, and batches of floats for questions about whole columns of them. Durations are stored as whole
numbers beside a note of what they are, which an engine does not read; and where files of one table differ in a type,
an engine casts value by value and fails on the first that does not fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sordino.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

BATCH = 1 << 16
"""Rows that are read at a time."""


KEYED_BATCH = 1 << 15
"""The same of keys and numbers side by side, which one thread decodes and then finds in its cache."""


def declared(paths: list[str]) -> dict[str, str]:
    """The columns that are not what an engine takes them for, as words of `sordino.data.schema`.

    Raises:
        DataError: Files that are read together differ in the names or types of their columns.
    """
    import pyarrow as pa
    from pyarrow import parquet

    first: dict[str, pa.DataType] = {}
    for path in paths:
        try:
            schema = parquet.read_schema(path)
        except (OSError, pa.ArrowException):
            return {}  # no Parquet file: the engine refuses it
        types = {field.name: _stored(field.type) for field in schema}
        different = [name for name in first | types if first and str(first.get(name)) != str(types.get(name))]
        if different:
            raise DataError(
                "open", "Parquet files that are read together must have the same columns",
                got={"path": path, "columns": different[:3]},
                why="Names or types differ from those in the first file, and no value is cast to fit.",
                hint="open them one by one, or write the columns anew in one type",
            )  # fmt: skip
        first = first or types
    return {name: "durations" for name, kind in first.items() if pa.types.is_duration(kind)}


def batches_of(
    paths: list[str], schema: pa.Schema, column: str
) -> Callable[[], Iterator[NDArray[Any]]] | None:
    """The floats of a column, batch by batch, NaN where there is none; None for columns of another type."""
    import pyarrow as pa
    from pyarrow import parquet

    place = schema.get_field_index(column)
    if place < 0 or not (
        pa.types.is_float64(schema.types[place]) or pa.types.is_float32(schema.types[place])
    ):
        return None

    def batches() -> Iterator[NDArray[Any]]:
        for path in paths:
            # Without buffering ahead: it would hold the whole column before the first batch comes.
            with parquet.ParquetFile(path, pre_buffer=False) as file:
                for batch in file.iter_batches(BATCH, columns=[column]):
                    yield batch.column(0).to_numpy(zero_copy_only=False)

    return batches


def keyed_batches_of(
    paths: list[str], schema: pa.Schema, keys: Mapping[str, bool], numbers: list[str]
) -> Callable[[], Iterator[list[Any]]] | None:
    """Columns of keys and then of numbers, batch by batch; None where one is of a type that an engine casts.

    Args:
        paths: The files.
        schema: The columns that all of them have.
        keys: The columns of keys, and whether they are texts, which come as places in a dictionary, or whole numbers.
        numbers: The columns of floats or whole numbers.
    """
    import pyarrow as pa
    from pyarrow import parquet

    known = pa.types
    texts = [name for name, text in keys.items() if text]
    for place, name in enumerate([*keys, *numbers]):
        at = schema.get_field_index(name)
        if at < 0:
            return None
        kind = schema.types[at]
        if place < len(keys) and keys[name]:
            fine = known.is_string(kind) or known.is_large_string(kind)
        elif place < len(keys):  # 64 bits with a sign hold them
            fine = known.is_integer(kind) and not known.is_uint64(kind)
        else:
            fine = known.is_integer(kind) or known.is_float64(kind) or known.is_float32(kind)
        if not fine:
            return None

    def batches() -> Iterator[list[Any]]:
        columns = list(dict.fromkeys([*keys, *numbers]))
        for path in paths:
            with parquet.ParquetFile(path, pre_buffer=False, read_dictionary=texts) as file:
                for batch in file.iter_batches(KEYED_BATCH, columns=columns, use_threads=False):
                    yield [batch.column(name) for name in (*keys, *numbers)]

    return batches


def _stored(kind: pa.DataType) -> pa.DataType:
    """The type of the values, however they are packed."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _stored(kind.value_type)
    return pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind
