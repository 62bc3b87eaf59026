"""Files: CSV (also gzipped) and Parquet, one file or a glob.

CSV files are read as text and never sniffed: a reader that guesses types from its first rows fails on a later one,
after the debit. How their bytes become records is in `sordino.data.records`, how columns are read from them in
`sordino.data.text_file`; nothing is written anywhere. Parquet files are read by DuckDB in this process with bounded
memory; columns of floats of which all rows count, and keys beside them, are read in batches by pyarrow. If files change
while they are open, it is noticed.
"""

from __future__ import annotations

import difflib
import functools
import glob
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from sordino import checks
from sordino.data.confined import Confined, texts
from sordino.data.long_text import LongText
from sordino.data.memory import Memory
from sordino.data.parquet import batches_of, declared, keyed_batches_of
from sordino.data.text_file import TextFile, stamps, unreadable
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
        file = TextFile(found, decimal=decimal, quoted=quoted_line_breaks)
        assumptions = (QUOTES_ARE_CLOSED,) if quoted_line_breaks else ()
        if file.long:
            return LongText(file, unit=unit, row=row, assumptions=assumptions)
        table = file.table()
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
        from pyarrow import parquet

        engine = Confined("Parquet", found)
    except ImportError as error:
        raise MissingExtra.named("open", str(error.name), "duckdb") from None
    before = stamps(found)

    def guard() -> None:
        if stamps(found) != before:
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
    schema = parquet.read_schema(found[0])
    source.batches = functools.partial(batches_of, found, schema)
    source.keyed_batches = functools.partial(keyed_batches_of, found, schema)
    return source


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
