"""`Confined`: a DuckDB of our own that reads the files it was given and nothing else.

A declared dataset is asked by people who did not declare it. Whatever an expression came to say, the engine under it
opens no other file, no address, no extension, and nothing turns that off again. What does not fit into memory is
spilled into a folder that only this user can enter and that goes away with the source.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from typing import Any, ClassVar

from sordino.data.home import Home

LOCKS = (
    "set enable_progress_bar = false",  # it would be drawn into the output of long commands
    "set autoinstall_known_extensions = false",
    "set autoload_known_extensions = false",
    "set enable_external_access = false",
    "set lock_configuration = true",
)
"""In this order: files are allowed before access is ended, and nothing is set after the lock."""


class Confined(Home):
    """Where a DuckDB of our own runs.

    Args:
        name: What messages call the source.
        files: The files that it may read.

    Example:
        >>> engine = Confined("Parquet", [])
        >>> engine.connection.execute("from read_text('/etc/hostname')")
        Traceback (most recent call last):
        ...
        _duckdb.PermissionException: ...
    """

    ours: ClassVar[bool] = True

    def __init__(self, name: str, files: list[str]) -> None:
        super().__init__(name)
        import duckdb

        folder = tempfile.mkdtemp(prefix="sordino-")
        weakref.finalize(self, _remove, folder, os.getpid())
        # The statistics of a Parquet file leave NaN out, and DuckDB concludes from them that no row is NaN.
        settings: dict[str, Any] = {"temp_directory": folder, "disabled_optimizers": "statistics_propagation"}
        self.error: type[Exception] = duckdb.Error
        self.connection = duckdb.connect(config=settings)
        self.connection.execute(f"set allowed_paths = {texts(files)}")
        for lock in LOCKS:
            self.connection.execute(lock)


def texts(values: list[str]) -> str:
    """A list of texts as DuckDB reads it."""
    return "[" + ", ".join("'" + value.replace("'", "''") + "'" for value in values) + "]"


def _remove(folder: str, process: int) -> None:
    """Take the folder away, in the process that made it: a fork has the object and not the right."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
