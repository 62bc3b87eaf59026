"""Where data come from. Each file owns one kind of source; what they answer is set by `sordino.source`.

`open_source` turns whatever a person has into a source. Nothing here is imported before it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sordino.errors import DataError
from sordino.source import Source

if TYPE_CHECKING:
    from sordino.privacy import Unit

_HINT = 'sd.open("people.parquet", ...) or sd.open({"income": values}, ...)'


def open_source(
    data: Any, *, unit: Unit | None = None, row: str | None = None, numbers: tuple[str, ...] = ()
) -> Source:
    """Turn data into a source.

    Args:
        data: A mapping of columns, an array (its column is ``"x"``), a frame of pandas, polars or pyarrow, or a source.
        unit: Whom to protect: of each value of its column at most ``max_rows`` rows are used.
        row: Column that orders the rows of a unit; without one the order of the table does.
        numbers: Columns of text or objects that are to be read as numbers; without it they are refused as numbers.

    Raises:
        DataError: This is nothing that can be read.

    Example:
        >>> open_source({"age": [31, 45, 28, 60]})
        <Memory source with columns age>
    """
    from sordino.data.memory import Memory
    from sordino.data.table import FRAMES

    if isinstance(data, Source) and not isinstance(data, Mapping):
        if (unit is not None and unit.column is not None) or row is not None or numbers:
            raise DataError("open", "a source has its own unit, row identifier and numbers; leave them out")
        return data
    numbers = tuple(numbers)
    if isinstance(data, Mapping):
        return Memory(data, unit=unit, row=row, numbers=numbers)
    if isinstance(data, list | tuple) or (hasattr(data, "__array__") and getattr(data, "ndim", 0) == 1):
        return Memory({"x": data}, unit=unit, row=row, numbers=numbers)
    if type(data).__module__.partition(".")[0] in FRAMES:
        return Memory(data, unit=unit, row=row, numbers=numbers)
    raise DataError(
        "open", "data must be columns, a frame or a source", got={"type": type(data).__name__}, hint=_HINT
    )
