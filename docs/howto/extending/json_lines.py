"""JSON lines: a source of one's own, in one file.

Every line is one row, whatever it holds, and is read by itself: a line that is not an object has no values. The columns
are declared by the caller, never found in the data, because one person's line must not change what the others' mean.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.data.memory import Memory

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from sordino.privacy import Unit


class JsonLines(Memory):
    """A file of JSON lines; what `sd.open` takes as data.

    Args:
        path: The file.
        columns: The public names of its columns.
        unit: Whom to protect.
    """

    def __init__(
        self, path: str | os.PathLike[str], columns: Sequence[str], *, unit: Unit | None = None
    ) -> None:
        rows = [_object(line) for line in Path(path).read_bytes().split(b"\n") if line]
        table = {name: [row.get(name) for row in rows] for name in columns}
        super().__init__(table, unit=unit, name="JSON lines")

    @classmethod
    def of_columns(
        cls, columns: dict[str, list[Any]], folder: Path, *, unit: Unit | None = None
    ) -> JsonLines:
        """Write columns and open them: what `sordino check` builds its tables with."""
        rows = zip(*columns.values(), strict=True)
        lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
        path = folder / "rows.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        return cls(path, list(columns), unit=unit)


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:  # of this line alone: it is a row without values
        return {}
    return found if isinstance(found, dict) else {}
