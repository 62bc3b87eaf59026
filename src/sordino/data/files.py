"""Files: CSV (also gzipped) and Parquet, one file or a glob, read by DuckDB in this process with bounded memory.

A CSV file is read once, as text and never sniffed: a reader that guesses types from its first rows fails on a later
one, after the debit. How its bytes become records is in `sordino.data.records`. Parquet files that change while they
are open are noticed.
"""

from __future__ import annotations

import csv
import difflib
import glob
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.data.lazy import ROW, Lazy
from sordino.data.passes import changed
from sordino.data.records import batches, blocks, header
from sordino.errors import DataError, MissingExtra

if TYPE_CHECKING:
    from sordino.privacy import Unit

CSV, PARQUET = (".csv", ".csv.gz", ".tsv", ".tsv.gz"), (".parquet", ".pq")
TABLE = "sordino_table"


def open_files(
    path: str | os.PathLike[str],
    *,
    unit: Unit | None = None,
    row: str | None = None,
    numbers: tuple[str, ...] = (),
    decimal: str = ".",
) -> Lazy:
    """Open a file, or all files of a glob as one table in the order of their names.

    Args:
        path: ``people.csv``, ``people.csv.gz``, ``people.parquet``, ``years/*.parquet``.
        unit: Whom to protect.
        row: Column that orders the rows of a unit; without one the order in the files does.
        numbers: Text columns of Parquet files to be read as numbers; in CSV files every column may be.
        decimal: What separates the decimals of numbers in CSV files: a point or a comma.
    """
    checks.one_of("open", (".", ","), decimal=decimal)
    found = matching(path)
    kind = CSV if found[0].endswith(CSV) else PARQUET
    if not all(one.endswith(kind) for one in found):
        raise DataError(
            "open", "files must be CSV or Parquet, all of one kind", got={"path": str(path)},
            why="The ending says how a file is read: .csv, .csv.gz, .tsv, .parquet.",
            hint="save a spreadsheet as CSV; a text file with a header can be renamed: mv data.txt data.csv",
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
    connection.execute(
        "set enable_progress_bar = false"
    )  # it would be drawn into the output of long commands
    bounded = unit is not None and unit.column is not None and row is None
    try:
        if kind is CSV:
            separator, names = named(found)
            numbers, guard_ = tuple(names), None
            _load(connection, batches(found, names, separator, row=ROW, decimal=decimal), names)
            guard()  # from here on the table is a copy that nobody writes to
            relation = connection.table(TABLE)
        else:
            guard_ = guard
            columns = f"*, row_number() over () as {ROW}" if bounded else "*"
            relation = connection.sql(f"select {columns} from read_parquet({_texts(found)})")  # noqa: S608  quoted
    except (duckdb.Error, OSError, EOFError):
        raise DataError(
            "open", "the file must be readable", got={"path": str(path)},
            why="It is damaged, or not of the kind that its ending says.",
        ) from None  # fmt: skip
    return Lazy(
        relation,
        unit=unit,
        row=ROW if bounded else row,
        numbers=numbers,
        name="CSV" if kind is CSV else "Parquet",
        declared={} if kind is CSV else _durations(found),
        guard=guard_,
    )


def matching(path: str | os.PathLike[str]) -> list[str]:
    """The files of a path or a glob, by name; a path that exists is itself, whatever characters it holds."""
    text = os.fspath(path)
    found = [text] if Path(text).is_file() else sorted(one for one in glob.glob(text) if Path(one).is_file())  # noqa: PTH207
    if not found:
        raise DataError(
            "open", "the file must exist", got={"path": text},
            hint=_instead(Path(text)),
        )  # fmt: skip
    return found


def _instead(path: Path) -> str:
    """What may have been meant by a path at which no file is."""
    if path.is_dir():
        return f'a glob for a folder: "{path}/*.parquet"'
    if re.match(r"\w+:/", str(path)):  # paths have no doubled slashes
        return "download it first; only files and postgresql:// addresses are read"
    beside = [one.name for one in path.parent.glob("*.*")] if path.parent.is_dir() else []
    near = difflib.get_close_matches(
        path.name, [name for name in beside if name.endswith(CSV + PARQUET)], n=1
    )
    return str(path.with_name(near[0])) if near else "a path that ends in .csv, .csv.gz, .tsv or .parquet"


def named(files: list[str]) -> tuple[str, list[str]]:
    """Separator and header of CSV files: the same in all; a name that is left empty becomes ``column0``, ..."""
    found = []
    for one in files:
        try:
            separator, first = header(one)
        except (OSError, EOFError, csv.Error):
            separator, first = ",", []
        found.append((separator, [name.strip() or f"column{place}" for place, name in enumerate(first)]))
    if any(other != found[0] for other in found):
        raise DataError(
            "open", "CSV files that are read together must have the same header", got={"path": files[0]},
            hint="open them one by one, or bring their columns into one order",
        )  # fmt: skip
    separator, names = found[0]
    why, hint = _refused(files[0], names)
    if why:
        raise DataError(
            "open", "the first line of a CSV file must name its columns, each once", got={"path": files[0]},
            why=why, hint=hint,
        )  # fmt: skip
    return separator, names


def _refused(path: str, names: list[str]) -> tuple[str, str]:
    """What is wrong with a header, and what to type; nothing of it is echoed, since it may be somebody's record."""
    top = next(blocks(path), b"")[:65536]
    encoding = "utf-16" if top[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in top else "latin1"
    if any("\ufffd" in name or "\0" in name for name in names):
        return "It is no UTF-8 text.", f"iconv -f {encoding} -t utf-8 {path} > utf8.csv"
    if b"\r" in top and b"\n" not in top:
        return "Its lines end with carriage returns alone.", f"tr '\\r' '\\n' < {path} > lines.csv"
    if any(not re.search(r"[^\W\d_]", name) and re.search(r"\d", name) for name in names):
        why = "A number or a date is no name: it looks as if the header were absent."
        return why, f"sed -i '1i income,age,region' {path} puts a header before the first line"
    if len({name.lower() for name in names}) != len(names) or ROW in names:
        return f"A name occurs twice, or is {ROW}.", "income,income_before,region"
    if not names or names == ["column0"]:
        return "The first line is empty.", f"sed -i '1c income,age,region' {path} writes it anew"
    return "", ""


def _load(connection: Any, records: Any, names: list[str]) -> None:
    """Read all records into a table of this connection, in their order."""
    import pyarrow as pa

    types = [(name, pa.string()) for name in names]
    reader = pa.RecordBatchReader.from_batches(pa.schema([*types, (ROW, pa.int64())]), records)
    connection.register("records", reader)
    connection.execute(f"create table {TABLE} as select * from records")  # noqa: S608
    connection.unregister("records")


def _durations(files: list[str]) -> dict[str, str]:
    """The columns that a writer called durations: the format has no such type, and an engine sees whole numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schemas = [pq.read_schema(one) for one in files]
    return {
        field.name: "durations" for schema in schemas for field in schema if pa.types.is_duration(field.type)
    }


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
