"""The file of a SQLite ledger: how it is made, what its tables look like, and by how many names it goes.

Files are created for their owner alone (0600), and SQLite gives a journal the rights of its file.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import secrets
import sqlite3
import time
from typing import TYPE_CHECKING, Any

from sordino.ledger.chain import TablePage
from sordino.ledger.migrations import MIGRATIONS

if TYPE_CHECKING:
    from pathlib import Path

    from sordino.ledger.chain import ChainRow

APPLICATION = 0x536F7264  # "Sord", in the file's header
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
OWNER = 0o600
SHAPE = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"


class SQLitePage(TablePage):
    """The ledger inside one transaction."""

    dialect, mark = "sqlite", "?"


def create(path: Path, first: ChainRow) -> None:
    """Build a ledger beside its place and give it its name; raises FileExistsError when there is one of that name."""
    beside = path.with_name(f"{_stem(path)}{os.getpid()}.{secrets.token_hex(4)}.new")
    try:
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER))
        connection = sqlite3.connect(beside, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous=FULL")
            build(connection, first)
        finally:
            connection.close()
        _take_place(beside, path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        for end in ("", "-journal"):
            with contextlib.suppress(OSError):
                beside.with_name(beside.name + end).unlink()


def _stem(path: Path) -> str:
    return f".{path.name}."


def _take_place(beside: Path, path: Path) -> None:
    """Give the finished file its name, unless there is one of that name."""
    try:
        os.link(beside, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: reserve the name, then take it
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER))
        beside.replace(path)


def names(path: Path) -> int:
    """How many names a file has; the one under which it was built a moment ago, or by a process that died, goes."""
    for _ in range(20):
        if (count := path.stat().st_nlink) <= 1:
            return count
        time.sleep(0.01)
        if count == 2 and (other := _left_over(path)) is not None:
            with contextlib.suppress(OSError):
                other.unlink()
    return path.stat().st_nlink


def _left_over(path: Path) -> Path | None:
    """The name under which a ledger was built, when its maker could not take it away."""
    for other in path.parent.glob("*.new"):
        if other.name.startswith(_stem(path)) and other.samefile(path):
            return other
    return None


def build(connection: sqlite3.Connection, first: ChainRow) -> None:
    """Make the tables and write the first row."""
    connection.execute(f"PRAGMA application_id={APPLICATION}")
    migrate(connection)
    connection.execute("BEGIN IMMEDIATE")
    SQLitePage(connection).append(first)
    connection.execute("COMMIT")


def migrate(connection: sqlite3.Connection, until: int | None = None) -> None:
    """Bring the tables to the newest version, one transaction per step."""
    newest = len(MIGRATIONS) if until is None else until
    while True:
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version >= newest:
                return
            MIGRATIONS[version](SQLitePage(connection))
            connection.execute(f"PRAGMA user_version={version + 1}")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


@functools.cache
def expected_tables(version: int) -> list[Any]:
    """The tables and triggers of a new ledger of a version."""
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(fresh, version)
        return fresh.execute(SHAPE).fetchall()
    finally:
        fresh.close()
