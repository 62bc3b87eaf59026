"""Which engines can cut rows into blocks, and how each is asked to: PostgreSQL, Spark, and DuckDB for many rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from sordino.errors import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.data.home import Home
    from sordino.reading.requests import Blocks
    from sordino.running.far_rows import FarRows

    Frame = nw.LazyFrame[Any]


LARGE = 1 << 25
"""Values above which DuckDB cuts blocks; below, they are fetched at once and cut here, in memory for a while."""


def large(frame: Frame, columns: int, rows: Callable[[], int]) -> bool:
    """Whether an engine in this process cuts blocks itself; who is dealt with whom has the same law either way."""
    kind: Any = frame.implementation
    return bool(kind.is_duckdb()) and columns * rows() > LARGE


def _spark(frame: Frame) -> bool:
    kind: Any = frame.implementation
    return bool(kind.is_spark_like())


def check(name: str, frame: Frame, home: Home, request: Blocks, *, row: str | None) -> None:
    """Refuse what an engine elsewhere cannot cut into blocks."""
    if not _spark(frame) and not hasattr(home, "compiled"):
        raise Unsupported(
            name, "cannot cut rows into blocks", got={"columns": list(request.columns)},
            why="Only PostgreSQL and Spark can, among engines elsewhere. Nothing was spent.",
            hint="write the columns to a Parquet file and open that",
        )  # fmt: skip
    if _spark(frame) and row is None:
        raise Unsupported(
            name, "a column that identifies rows must be named",
            why="Spark runs a lost task again, and would deal a row without a name twice. Nothing was spent.",
            hint='sd.open(..., row="row_id")',
        )  # fmt: skip


def probe(frame: Frame) -> None:
    """See that the far end can run blocks, on no row of the table; before anything is spent."""
    if _spark(frame):
        from sordino.data.spark_blocks import probe as executors

        executors(frame.to_native())


def rows(
    frame: Frame,
    chosen: list[nw.Expr],
    columns: dict[str, bool],
    *,
    home: Home,
    unit: str | None,
    row: str | None,
    guard: Callable[[], None],
) -> FarRows:
    """Rows that stay where they are until a block is cut; rows of nobody are left out.

    Args:
        frame: The rows that count.
        chosen: What is selected of them: columns, and the unit.
        columns: Which columns a block has, and whether each holds numbers.
        home: Where the engine runs.
        unit: The column that names people.
        row: The column that names rows.
        guard: Called before and after files are read; raises when they have changed.
    """
    if unit is not None:
        frame = frame.filter(~nw.col(unit).is_null())
    named = row is None or row in columns or row == unit
    native = frame.select(*chosen, *([] if named else [nw.col(str(row))])).to_native()
    if _spark(frame):
        from sordino.data.spark_blocks import SparkRows

        assert row is not None
        return SparkRows(native, columns, unit, row)
    kind: Any = frame.implementation
    if kind.is_duckdb():
        from sordino.data.engine_blocks import EngineRows

        return EngineRows(home, native, columns, unit, row, len(native), guard)
    from sordino.data.server_blocks import ServerRows

    return ServerRows(home, native, columns, unit, row)  # type: ignore[arg-type]
