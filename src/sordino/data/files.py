"""Files: CSV (also gzipped) and Parquet, one file or a glob.

A CSV file is read once, as text and never sniffed: a reader that guesses types from its first rows fails on a later
one, after the debit. How its bytes become records is in `sordino.data.records`; they are kept in memory and written
nowhere. Parquet files are read by DuckDB in this process with bounded memory, columns of floats of which all rows
count in batches by pyarrow; if they change while they are open, it is noticed.
"""

from __future__ import annotations

import difflib
import glob
import os
import re
import shlex
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from sordino import checks
from sordino.data.confined import Confined, texts
from sordino.data.memory import Memory
from sordino.data.parquet import batches_of, declared
from sordino.data.records import header, records
from sordino.data.schema import Unlisted
from sordino.data.stretch import Stretch, read_stretch
from sordino.data.table import Table
from sordino.data.text_column import TextColumn
from sordino.errors import DataError, MissingExtra

if TYPE_CHECKING:
    from sordino.data.lazy import Lazy
    from sordino.privacy import Unit

CSV, PARQUET = (".csv", ".csv.gz", ".tsv", ".tsv.gz"), (".parquet", ".pq")


def open_files(
    path: str | os.PathLike[str],
    *,
    unit: Unit | None = None,
    row: str | None = None,
    numbers: tuple[str, ...] = (),
    decimal: str = ".",
    quoted_line_breaks: bool = False,
) -> Memory | Lazy:
    """Open a file, or all files of a glob as one table in the order of their names.

    Args:
        path: ``people.csv``, ``people.csv.gz``, ``people.parquet``, ``years/*.parquet``.
        unit: Whom to protect.
        row: Column that orders the rows of a unit; without one the order in the files does.
        numbers: Text columns of Parquet files to be read as numbers; in CSV files every column may be.
        decimal: What separates the decimals of numbers in CSV files: a point or a comma.
        quoted_line_breaks: Whether quoted fields of CSV files may hold line breaks.
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
    if kind is CSV:
        table = csv_table(found, decimal=decimal, quoted=quoted_line_breaks)
        assumptions = (QUOTES_ARE_CLOSED,) if quoted_line_breaks else ()
        return Memory(table, unit=unit, row=row, numbers=tuple(table), name="CSV", assumptions=assumptions)
    if quoted_line_breaks:
        raise DataError(
            "open", "quoted_line_breaks is for CSV files", got={"path": str(path)}, hint="leave it out"
        )
    return _parquet(found, path, unit, row, numbers)


QUOTES_ARE_CLOSED = (
    "Every record of the CSV file holds an even number of quotes, as programs that write such files see to: "
    "a quote that somebody left open would join the records of others."
)
"""What is assumed of files whose quoted fields hold line breaks: docs/proofs/csv_records.md."""


def csv_table(files: list[str], *, decimal: str = ".", quoted: bool = False) -> Table:
    """Read CSV files of one header into memory, as they are; columns are converted when they are asked for."""
    stamps = _stamps(files)
    separator, names = named(files)
    stretches: list[Stretch] = []
    try:
        for one in files:
            stretches += (
                read_stretch(some, width=len(names), separator=separator, quoted=quoted)
                for some in records(one, quoted=quoted)
            )
    except (OSError, EOFError, zlib.error):
        raise unreadable(files[0]) from None
    except MemoryError:
        raise DataError(
            "open", "a CSV file must fit into memory", got={"path": files[0]},
            why="It is kept there, and about as much again for where its fields are.",
            hint=f"duckdb -c \"copy (from read_csv('{files[0]}', all_varchar=true)) to 'people.parquet'\"",
        ) from None  # fmt: skip
    if _stamps(files) != stamps:
        from sordino.data.passes import changed  # with it comes narwhals, which text files do without

        raise changed("open")
    places = {name: place for place, name in enumerate(names)}
    kinds = Unlisted(dict.fromkeys(names, "text"))
    kinds.hint = (
        f"{'zcat' if files[0].endswith('.gz') else 'cat'} {shlex.quote(files[0])} | head -n 1 shows the names"
    )
    return Table(kinds, lambda name: TextColumn(stretches, places[name], decimal), sum(map(len, stretches)))


def _parquet(
    found: list[str],
    path: str | os.PathLike[str],
    unit: Unit | None,
    row: str | None,
    numbers: tuple[str, ...],
) -> Lazy:
    """Parquet files, asked where they are."""
    from sordino.data.lazy import Lazy
    from sordino.data.lazy_rows import ROW
    from sordino.data.passes import changed

    try:
        import pyarrow as pa  # noqa: F401

        engine = Confined("Parquet", found)
    except ImportError as error:
        raise MissingExtra.named("open", str(error.name), "duckdb") from None
    stamps = _stamps(found)

    def guard() -> None:
        if _stamps(found) != stamps:
            raise changed("open")

    bounded = unit is not None and unit.column is not None and row is None
    try:
        columns = f"*, row_number() over () as {ROW}" if bounded else "*"
        relation = engine.connection.sql(f"select {columns} from read_parquet({texts(found)})")  # noqa: S608  quoted
    except (engine.error, OSError):
        raise unreadable(path) from None
    source = Lazy(
        relation,
        unit=unit,
        row=ROW if bounded else row,
        numbers=numbers,
        name="Parquet",
        guard=guard,
        kinds=declared(found),
        home=engine,
    )
    source.batches = lambda column: batches_of(found, column)
    return source


def unreadable(path: str | os.PathLike[str]) -> DataError:
    """The error of a damaged file."""
    return DataError(
        "open", "the file must be readable", got={"path": str(path)},
        why="It is damaged, or not of the kind that its ending says.",
    )  # fmt: skip


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


def named(files: list[str]) -> tuple[bytes, list[str]]:
    """Separator and header of CSV files: the same in all; a name that is left empty becomes ``column0``, ..."""
    found = []
    for one in files:
        try:
            separator, first = header(one)
        except (OSError, EOFError, zlib.error):
            raise unreadable(one) from None
        found.append((separator, [name or f"column{place}" for place, name in enumerate(first)]))
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
    if any("\ufffd" in name or "\0" in name for name in names):
        encoding = "utf-16" if any("\0" in name for name in names) else "latin1"
        return "It is not UTF-8 text.", f"iconv -f {encoding} -t utf-8 {path} > utf8.csv"
    if any("\r" in name for name in names):
        return "Its lines end with carriage returns alone.", f"tr '\\r' '\\n' < {path} > lines.csv"
    if not names:
        return "A quote in it is not closed; the header is one line.", "income,age,region"
    if any(not re.search(r"[^\W\d_]", name) and re.search(r"\d", name) for name in names):
        why = "A number or a date is not a name: it looks as if the header were absent."
        return why, f"sed -i '1i income,age,region' {path} puts a header before the first line"
    if len({name.lower() for name in names}) != len(names):
        return "A name occurs twice.", "income,income_before,region"
    if names == ["column0"]:
        return "The first line is empty.", f"sed -i '1c income,age,region' {path} writes it anew"
    return "", ""


def _stamps(files: list[str]) -> list[tuple[int, int, int]]:
    """What changes when a file is written: its node, its size, its time."""
    try:
        stats = [Path(one).stat() for one in files]
    except OSError:
        return []
    return [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]
