"""Where data come from. Each file owns one kind of source; what they answer is set by `sordino.reading.requests`.

`open_source` turns whatever a person has into a source. Nothing here is imported before it is needed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sordino.address import check_path, is_server
from sordino.errors import DataError
from sordino.reading.requests import Source

if TYPE_CHECKING:
    from sordino.privacy import Unit

ENGINES = ("duckdb", "ibis", "pyspark")
"""Packages whose tables are asked where they are; so are polars' lazy frames."""

FAR = ("ibis", "pyspark")
"""Engines that may run elsewhere: no rows are fetched from them."""

_HINT = 'sd.open("people.parquet", ...) or sd.open({"income": values}, ...)'


def open_source(
    data: Any,
    *,
    unit: Unit | None = None,
    row: str | None = None,
    numbers: tuple[str, ...] = (),
    decimal: str = ".",
    quoted_line_breaks: bool = False,
) -> Source:
    """Turn data into a source.

    Args:
        data: A mapping of columns; an array (its column is ``"x"``); a frame of pandas, polars or pyarrow; the path
            of a CSV or Parquet file, or a glob; ``"postgresql://user@host/database?table=people"``; a polars
            LazyFrame; a DuckDB relation; an ibis table; a Spark DataFrame; or a source.
        unit: Whom to protect: of each value of its column at most ``max_rows`` rows are used.
        row: Column of numbers, different for the rows of a unit, that orders them. Without one the order of the table
            does; engines have none, so they need it when there is a unit.
        numbers: Columns whose texts are to be read as numbers; without it a column of text is refused as numbers, and a
            text in a list is none.
        decimal: What separates the decimals of numbers in a CSV file: ``"."`` or ``","``.
        quoted_line_breaks: Whether quoted fields of a CSV file hold line breaks.

    Raises:
        DataError: This is nothing that can be read.

    Example:
        >>> open_source({"age": [31, 45, 28, 60]})
        <Memory source with columns age>
    """
    from sordino.data.memory import Memory
    from sordino.data.table import FRAMES

    if isinstance(data, str | os.PathLike) and not is_server(data):
        from sordino.data.files import open_files

        check_path("open", data, hint='sd.open("people.csv", ...)')
        return open_files(
            data,
            unit=unit,
            row=row,
            numbers=tuple(numbers),
            decimal=decimal,
            quoted_line_breaks=quoted_line_breaks,
        )
    if decimal != "." or quoted_line_breaks:
        raise DataError(
            "open", "decimal and quoted_line_breaks are for CSV files", hint="leave them out",
            got={"decimal": decimal, "quoted_line_breaks": quoted_line_breaks},
        )  # fmt: skip
    if isinstance(data, Source) and not isinstance(data, Mapping):
        other = unit is not None and unit.column is not None and getattr(data, "unit", None) != unit
        if other or row is not None or numbers:
            raise DataError("open", "a source has its own unit, row identifier and numbers; leave them out")
        return data
    numbers = tuple(numbers)
    if isinstance(data, Mapping):
        return Memory(data, unit=unit, row=row, numbers=numbers)
    if isinstance(data, list | tuple) or (hasattr(data, "__array__") and getattr(data, "ndim", 0) == 1):
        return Memory({"x": data}, unit=unit, row=row, numbers=numbers)
    if isinstance(data, str):
        from sordino.data.postgres import open_postgres

        return open_postgres(data, unit=unit, row=row, numbers=numbers)
    package = type(data).__module__.partition(".")[0].lstrip("_")
    if package in ENGINES or type(data).__name__ == "LazyFrame":
        from sordino.data.lazy import Lazy

        nearby = package not in FAR
        if package == "pyspark":
            from sordino.data.spark import quieten

            quieten(data)
        return Lazy(data, unit=unit, row=row, numbers=numbers, name=package, nearby=nearby)
    if package in FRAMES:
        frame = hasattr(data, "columns") or hasattr(data, "column_names")
        return Memory(data if frame else {"x": data}, unit=unit, row=row, numbers=numbers)
    raise DataError(
        "open", "data must be columns, a frame or a source", got={"type": type(data).__name__}, hint=_HINT
    )
