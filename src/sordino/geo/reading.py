"""Files of reports, read in columns: a million lines in seconds, and not one bad line that could stop the rest.

A block of lines goes to Arrow's reader under the exact schema. If anything in it does not fit, that block alone is read
line by line. What comes out is either a table of the schema's columns or a list of records with None for
what is no JSON.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.errors import DataError
from sordino.geo.head import POINT, REPORT
from sordino.geo.wire import pyarrow, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = 1 << 24  # bytes
_ROWS = 1 << 17


@dataclass(frozen=True, slots=True)
class Batch:
    """Some records of a file.

    Attributes:
        first: Number of the first line (or row), counted from one.
        table: Columns that fit the schema, or None.
        records: Otherwise the records one by one, None where a line is no JSON.
        lines: The raw lines, for quarantine; empty for Parquet.
        done: Bytes (or rows) read so far.
        total: Bytes (or rows) in all.
    """

    first: int
    table: Any
    records: list[Any] | None
    lines: list[bytes]
    done: int
    total: int

    def __len__(self) -> int:
        return len(self.records) if self.records is not None else int(self.table.num_rows)


def read(path: str | Path) -> tuple[dict[str, Any] | None, Iterator[Batch]]:
    """Read the head of a file, if it has one, and its records in batches."""
    path = Path(path)
    if not path.is_file():
        raise DataError("reports", "the file does not exist", got={"path": str(path)})
    return _read_parquet(path) if path.suffix == ".parquet" else _read_lines(path)


def _read_lines(path: Path) -> tuple[dict[str, Any] | None, Iterator[Batch]]:
    with path.open("rb") as file:
        first = file.readline()
    record = _parse(first)
    head = None
    if isinstance(record, dict) and set(record) == {"sordino"} and isinstance(record["sordino"], dict):
        head = record["sordino"]
    return head, _line_batches(path, skip=len(first) if head is not None else 0, wire_format=_format(head))


def _format(head: dict[str, Any] | None) -> str:
    return REPORT if head is not None and head.get("format") == REPORT else POINT


def _line_batches(path: Path, *, skip: int, wire_format: str) -> Iterator[Batch]:
    total = path.stat().st_size
    number, rest = (2 if skip else 1), b""
    with path.open("rb") as file:
        file.seek(skip)
        while True:
            block = file.read(_BLOCK)
            end = not block or file.tell() >= total
            rest += block
            cut = len(rest) if end else rest.rfind(b"\n") + 1
            whole, rest = rest[:cut], rest[cut:]
            if whole:
                lines = whole.split(b"\n")
                if not lines[-1]:
                    lines.pop()
                yield _batch(whole, lines, number, wire_format, file.tell(), total)
                number += len(lines)
            if end:
                return


def _batch(whole: bytes, lines: list[bytes], number: int, wire_format: str, done: int, total: int) -> Batch:
    """A table if every line fits the schema, records otherwise."""
    try:
        from pyarrow import ArrowException
        from pyarrow import json as arrow
    except ImportError:
        return Batch(number, None, [_parse(line) for line in lines], lines, done, total)
    try:
        table = arrow.read_json(
            io.BytesIO(whole),
            read_options=arrow.ReadOptions(use_threads=False, block_size=len(whole) + 1024),
            parse_options=arrow.ParseOptions(
                explicit_schema=schema_of(wire_format), unexpected_field_behavior="error"
            ),
        )
        if table.num_rows == len(lines):
            return Batch(number, table, None, lines, done, total)
    except (ArrowException, UnicodeDecodeError):
        pass
    return Batch(number, None, [_parse(line) for line in lines], lines, done, total)


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _read_parquet(path: Path) -> tuple[dict[str, Any] | None, Iterator[Batch]]:
    pa = pyarrow()
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
    except (pa.ArrowException, OSError):
        raise DataError("reports", "the file is not Parquet", got={"path": str(path)}) from None
    metadata = (file.schema_arrow.metadata or {}).get(b"sordino")
    head = _parse(metadata) if metadata else None
    head = head if isinstance(head, dict) else None
    wanted = schema_of(_format(head))

    def batches() -> Iterator[Batch]:
        total, done = file.metadata.num_rows, 0
        fits = file.schema_arrow.remove_metadata().equals(wanted) or _castable(file.schema_arrow, wanted)
        for part in file.iter_batches(batch_size=_ROWS):
            first = done + 1
            done += part.num_rows
            table = pa.Table.from_batches([part])
            if fits:
                yield Batch(first, table.select(wanted.names).cast(wanted), None, [], done, total)
            else:
                yield Batch(first, None, table.to_pylist(), [], done, total)

    return head, batches()


def _castable(found: Any, wanted: Any) -> bool:
    """Whether columns have the same names and only narrower integers or other strings."""
    pa = pyarrow()
    if set(found.names) != set(wanted.names):
        return False
    for field in wanted:
        kind = found.field(field.name).type
        if kind.equals(field.type):
            continue
        integer = pa.types.is_signed_integer(kind) and pa.types.is_integer(field.type)
        text = pa.types.is_large_string(kind) and pa.types.is_string(field.type)
        listed = (
            (pa.types.is_list(kind) or pa.types.is_large_list(kind))
            and pa.types.is_list(field.type)
            and pa.types.is_signed_integer(kind.value_type)
        )
        if not (integer or text or listed):
            return False
    return True
