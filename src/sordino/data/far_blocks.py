"""Which engines elsewhere can cut rows into blocks, and how each is asked to: PostgreSQL and Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from sordino.errors import Unsupported

if TYPE_CHECKING:
    from sordino.data.home import Home
    from sordino.reading.requests import Blocks
    from sordino.running.far_rows import FarRows

    Frame = nw.LazyFrame[Any]


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
) -> FarRows:
    """Rows that stay where they are until a block is cut; rows of nobody are left out.

    Args:
        frame: The rows that count.
        chosen: What is selected of them: columns, and the unit.
        columns: Which columns a block has, and whether each holds numbers.
        home: Where the engine runs.
        unit: The column that names people.
        row: The column that names rows.
    """
    if unit is not None:
        frame = frame.filter(~nw.col(unit).is_null())
    named = row is None or row in columns or row == unit
    native = frame.select(*chosen, *([] if named else [nw.col(str(row))])).to_native()
    if _spark(frame):
        from sordino.data.spark_blocks import SparkRows

        assert row is not None
        return SparkRows(native, columns, unit, row)
    from sordino.data.server_blocks import ServerRows

    return ServerRows(home, native, columns, unit, row)  # type: ignore[arg-type]
