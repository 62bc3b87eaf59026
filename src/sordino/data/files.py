"""Files: CSV (also gzipped) and Parquet, one file or a glob, read by DuckDB in this process with bounded memory.

A CSV file is read as text and never sniffed: a reader that guesses types from its first rows fails on a later one,
after the debit. Records that are no CSV are left out. Files that change while they are open are noticed.
"""

from __future__ import annotations

import csv
import glob
import gzip
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.data.lazy import ROW, Lazy
from sordino.data.passes import changed
from sordino.errors import DataError, MissingExtra

if TYPE_CHECKING:
    from sordino.privacy import Unit

CSV, PARQUET = (".csv", ".csv.gz"), (".parquet", ".pq")


def open_files(
    path: str | os.PathLike[str],
    *,
    unit: Unit | None = None,
    row: str | None = None,
    numbers: tuple[str, ...] = (),
) -> Lazy:
    """Open a file, or all files of a glob as one table in the order of their names.

    Args:
        path: ``people.csv``, ``people.csv.gz``, ``people.parquet``, ``years/*.parquet``.
        unit: Whom to protect.
        row: Column that orders the rows of a unit; without one the order in the files does.
        numbers: Text columns of Parquet files to be read as numbers; in CSV files every column may be.
    """
    found = matching(path)
    kind = CSV if found[0].endswith(CSV) else PARQUET
    if not all(one.endswith(kind) for one in found):
        raise DataError(
            "open", "files must be CSV or Parquet, all of one kind", got={"path": str(path)},
            why="The ending says how a file is read: .csv, .csv.gz, .parquet.",
            hint='sd.open("people.parquet", ...)',
        )  # fmt: skip
    try:
        import duckdb
        import pyarrow as pa  # noqa: F401
    except ImportError as error:
        raise MissingExtra.named("open", str(error.name), "duckdb") from None
    stamps = _stamps(found)

    def guard() -> None:
        if _stamps(found) != stamps:
            raise changed("open")

    # What does not fit into memory is spilled; by default into the working directory.
    connection = duckdb.connect(config={"temp_directory": tempfile.gettempdir()})
    try:
        if kind is CSV:
            header = names(found)
            numbers = tuple(header)
            scan = _csv_scan(found, header)
        else:
            scan = f"read_parquet({_texts(found)})"
        ordered = unit is not None and unit.column is not None and row is None
        columns = f"*, row_number() over () as {ROW}" if ordered else "*"
        relation = connection.sql(f"select {columns} from {scan}")  # noqa: S608  names and paths are quoted
    except duckdb.Error:
        raise DataError(
            "open", "the file must be readable", got={"path": str(path)},
            why="It is damaged, or not of the kind that its ending says.",
        ) from None  # fmt: skip
    return Lazy(
        relation,
        unit=unit,
        row=ROW if ordered else row,
        numbers=numbers,
        name="CSV" if kind is CSV else "Parquet",
        guard=guard,
    )


def matching(path: str | os.PathLike[str]) -> list[str]:
    """The files of a path or a glob, by name; a path that exists is itself, whatever characters it holds."""
    text = os.fspath(path)
    found = [text] if Path(text).is_file() else sorted(one for one in glob.glob(text) if Path(one).is_file())  # noqa: PTH207
    if not found:
        raise DataError(
            "open", "the file must exist", got={"path": text},
            hint=f'a glob for a folder: "{text.rstrip("/")}/*.parquet"' if Path(text).is_dir() else "",
        )  # fmt: skip
    return found


def names(files: list[str]) -> list[str]:
    """The header of CSV files: the same in all, every name once; a name that is left empty becomes ``column0``, ..."""
    headers = []
    for one in files:
        opener: Any = gzip.open if one.endswith(".gz") else open
        try:
            with opener(one, "rt", encoding="utf-8-sig", errors="replace", newline="") as lines:
                first = next(csv.reader(lines), [])
        except (OSError, EOFError, csv.Error):
            first = []
        headers.append([name.strip() or f"column{place}" for place, name in enumerate(first)])
    header = headers[0]
    if any(other != header for other in headers):
        raise DataError("open", "CSV files that are read together must have the same header")
    unclear = any("\ufffd" in name for name in header)  # stands for bytes that are no UTF-8
    if not header or unclear or len({name.lower() for name in header}) != len(header):
        raise DataError(
            "open", "the first line of a CSV file must name its columns, each once", got={"path": files[0]},
            why="Fields are separated by commas and the text is UTF-8.",
            hint="income,age,region",
        )  # fmt: skip
    return header


def _csv_scan(files: list[str], header: list[str]) -> str:
    """Everything declared, nothing detected; one thread, so that quoted line breaks are read alike every time."""
    columns = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in header)
    return (
        f"read_csv({_texts(files)}, auto_detect=false, header=true, columns={{{columns}}}, delim=',', quote='\"', "
        "escape='\"', new_line='\\n', null_padding=true, ignore_errors=true, strict_mode=false, parallel=false)"
    )


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _texts(values: list[str]) -> str:
    return "[" + ", ".join(map(_text, values)) + "]"


def _stamps(files: list[str]) -> list[tuple[int, int, int]]:
    """What changes when a file is written: its node, its size, its time."""
    try:
        stats = [Path(one).stat() for one in files]
    except OSError:
        return []
    return [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]
