"""Files of reports, read in batches: a million lines in seconds, and not one bad line that could stop the rest.

Lines are parsed by the standard library alone: they come from anybody, and Arrow's JSON reader can be crashed by what
it reads (in version 26 a line `null` before a record is enough). Parquet files are read in columns; take them from a
gateway that you run.
"""

from __future__ import annotations

import gc
import json
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.errors import DataError
from sordino.geo.head import POINT, REPORT
from sordino.geo.wire import pyarrow, schema_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BLOCK = 1 << 24  # bytes
_ROWS = 1 << 17
_SCAN: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """Some records of a file.

    Attributes:
        first: Number of the first line (or row), counted from one.
        table: Columns that fit the schema, of a Parquet file, or None.
        records: Otherwise the records, None where a line is no JSON.
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


def read(path: str | Path) -> tuple[dict[str, Any] | None, Iterator[RecordBatch]]:
    """Read the head of a file, if it has one, and its records in batches."""
    path = Path(path)
    if not path.is_file():
        raise DataError("reports", "the file does not exist", got={"path": str(path)})
    return _read_parquet(path) if path.suffix == ".parquet" else _read_lines(path)


def _read_lines(path: Path) -> tuple[dict[str, Any] | None, Iterator[RecordBatch]]:
    with path.open("rb") as file:
        first = file.readline()
    record = _parse(first)
    head = None
    if isinstance(record, dict) and set(record) == {"sordino"} and isinstance(record["sordino"], dict):
        head = record["sordino"]
    return head, _line_batches(path, skip=len(first) if head is not None else 0)


def _format(head: dict[str, Any] | None) -> str:
    return REPORT if head is not None and head.get("format") == REPORT else POINT


def _line_batches(path: Path, *, skip: int) -> Iterator[RecordBatch]:
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
                yield RecordBatch(number, None, _records(whole, lines), lines, file.tell(), total)
                number += len(lines)
            if end:
                return


@contextmanager
def no_cycles() -> Iterator[None]:
    """Work on records, which hold no cycles, without looking for any: that would be most of the time."""
    waiting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if waiting:
            gc.enable()


def _records(whole: bytes, lines: list[bytes]) -> list[Any]:
    """All lines at once by the scanner inside `json.loads`, or one by one if any of them is out of the ordinary."""
    with no_cycles():
        try:
            texts = whole.decode().split("\n")[: len(lines)]
            scanned = [_SCAN(text, 0) for text in texts]
            if all(end == len(text) for (_, end), text in zip(scanned, texts, strict=True)):
                return [record for record, _ in scanned]
        except (ValueError, RecursionError, StopIteration):
            pass
    return [_parse(line) for line in lines]


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _read_parquet(path: Path) -> tuple[dict[str, Any] | None, Iterator[RecordBatch]]:
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

    def batches() -> Iterator[RecordBatch]:
        total, done = file.metadata.num_rows, 0
        fits = file.schema_arrow.remove_metadata().equals(wanted) or _castable(file.schema_arrow, wanted)
        for part in file.iter_batches(batch_size=_ROWS):
            first = done + 1
            done += part.num_rows
            table = pa.Table.from_batches([part])
            if fits:
                yield RecordBatch(first, table.select(wanted.names).cast(wanted), None, [], done, total)
            else:
                yield RecordBatch(first, None, table.to_pylist(), [], done, total)

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
