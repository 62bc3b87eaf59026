"""`columns`: what a dataset calls its columns and what they hold, by its schema alone. No row is read or counted."""

from __future__ import annotations

import os
from typing import Any

from sordino.address import check_path, is_server
from sordino.reading.room import inside, unreadable

TEXT = "text or numbers"
"""What a CSV file says of a column: nothing but its name."""


def columns(data: str | os.PathLike[str]) -> dict[str, str]:
    r"""Name the columns of a dataset and what they hold.

    Args:
        data: The path of a CSV or Parquet file, or the address of a table. Of a CSV file only the first line is read.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
        >>> _ = file.write_text("age,region\n31,north\n")
        >>> columns(file)
        {'age': 'text or numbers', 'region': 'text or numbers'}
    """
    from sordino.data import open_source
    from sordino.data.files import CSV, matching
    from sordino.data.text_file import named

    if not is_server(data):
        check_path("open", data, hint='sd.columns("people.csv")')
        files = matching(data)
        if all(one.endswith(CSV) for one in files):
            return dict.fromkeys(named(files)[1], TEXT)

    def work() -> dict[str, str]:
        source: Any = open_source(data)
        return {str(name): str(kind) for name, kind in source.kinds.items()}

    return inside(work, otherwise=unreadable)
