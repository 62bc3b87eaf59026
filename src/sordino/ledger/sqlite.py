"""The book in one SQLite file: write-ahead log, full synchronisation, one writer at a time.

Each process and thread has its own connection; a fork never shares one. Nothing is counted here.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.errors import LedgerError
from sordino.ledger.migrations import MIGRATIONS
from sordino.ledger.page import TablePage
from sordino.ledger.store import absent, damaged, later, taken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.ledger.chain import Row
    from sordino.ledger.store import Page

APPLICATION = 0x536F7264  # "Sord", in the file's header
PATIENCE = 60.0  # seconds to wait for another writer


class SQLitePage(TablePage):
    """The book inside one transaction."""

    dialect, mark = "sqlite", "?"


class SQLiteStore:
    """A book in a file, or in memory for notebooks and tests (``path=None``)."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self.name = "in memory" if self.path is None else str(self.path)
        self._mine = threading.local()
        self._opened_here: list[tuple[int, Any]] = []
        self._memory: sqlite3.Connection | None = None
        self._lock = threading.RLock()
        self._process = os.getpid()

    def exists(self) -> bool:
        """Whether the file is there; an empty file counts, so that a lost book is never begun anew."""
        return self._memory is not None if self.path is None else self.path.exists()

    def create(self, first: Row) -> None:
        """Build the book beside its place and link it in: it is there whole or not at all."""
        if self.exists():
            raise taken(self.name)
        if self.path is None:
            with self._translated():
                self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
                _build(self._memory, first)
            return
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}.{secrets.token_hex(4)}.new")
        try:
            with self._translated():
                connection = sqlite3.connect(beside, isolation_level=None)
                try:
                    connection.execute("PRAGMA journal_mode=WAL")
                    connection.execute("PRAGMA synchronous=FULL")
                    _build(connection, first)
                finally:
                    connection.close()  # the last connection folds the log into the file
                self._take_place(beside)
                folder = os.open(self.path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
        except FileExistsError:
            raise taken(self.name) from None
        finally:
            for end in ("", "-wal", "-shm"):
                with contextlib.suppress(OSError):
                    beside.with_name(beside.name + end).unlink()

    def _take_place(self, beside: Path) -> None:
        """Give the finished file its name, unless there is one of that name."""
        assert self.path is not None
        try:
            os.link(beside, self.path)
        except FileExistsError:
            raise
        except OSError:  # a file system without links: reserve the name, then take it
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
            beside.replace(self.path)

    @contextlib.contextmanager
    def read(self) -> Iterator[Page]:
        """A consistent view."""
        with self._lock if self.path is None else contextlib.nullcontext(), self._translated():
            connection = self._connection(writing=False)
            connection.execute("BEGIN")
            try:
                yield SQLitePage(connection)
            finally:
                connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def write(self) -> Iterator[Page]:
        """One immediate transaction: nobody else writes between its first read and its commit."""
        with self._lock if self.path is None else contextlib.nullcontext(), self._translated():
            connection = self._connection(writing=True)
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield SQLitePage(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def damage(self) -> list[str]:
        """Run SQLite's own checks, and compare the tables and triggers with what they should be."""
        with self._translated():
            connection = self._connection(writing=False)
            found = [text for (text,) in connection.execute("PRAGMA integrity_check(20)") if text != "ok"]
            shape = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
            if connection.execute(shape).fetchall() != _expected(shape):
                found.append("its tables or triggers are not those of a book")
            return found

    def close(self) -> None:
        """Close the connections of this process, of all its threads; a parent's are left alone."""
        for process, connection in self._opened_here:
            if process == os.getpid():
                connection.close()
        self._opened_here = [pair for pair in self._opened_here if pair[0] != os.getpid()]
        self._mine = threading.local()
        if self._memory is not None and self._process == os.getpid():
            self._memory.close()

    def _connection(self, *, writing: bool) -> sqlite3.Connection:
        """This process's and thread's own connection."""
        if self.path is None:
            if self._process != os.getpid():
                raise LedgerError(
                    "ledger in memory",
                    "cannot be shared between processes",
                    why="Each process would spend its own copy of the budget.",
                    hint="keep the book in a file: ledger='people.ledger'",
                )
            if self._memory is None:
                raise absent(self.name)
            return self._memory
        mine = self._mine
        kept: sqlite3.Connection | None = getattr(mine, "connection", None)
        if kept is not None and mine.process == os.getpid() and (mine.writable or not writing):
            return kept
        if not self.path.exists():
            raise absent(self.name)
        mine.writable = True
        try:
            fresh = self._opened("rw")
        except sqlite3.OperationalError:
            if writing:
                raise
            mine.writable = False
            fresh = self._opened("ro&immutable=1")  # a book on a medium that cannot be written
        mine.connection, mine.process = fresh, os.getpid()
        self._opened_here.append((os.getpid(), fresh))
        return fresh

    def _opened(self, mode: str) -> sqlite3.Connection:
        assert self.path is not None
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(
            uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            version = self._version(connection)
            connection.execute("PRAGMA synchronous=FULL")
            if version < len(MIGRATIONS) and not mode.startswith("ro"):
                _migrate(connection)
            connection.execute("SELECT number FROM head").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _version(self, connection: sqlite3.Connection) -> int:
        """Read the version of the tables, or say what is wrong with it."""
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        kind = connection.execute("PRAGMA application_id").fetchone()[0]
        if kind != APPLICATION or version < 1:
            raise damaged(self.name, "the file is not a book of this program")
        if version > len(MIGRATIONS):
            raise later(self.name, version, len(MIGRATIONS))
        return version

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """Say in the project's words what went wrong with the file."""
        try:
            yield
        except UnicodeDecodeError as problem:
            raise damaged(self.name, "it holds bytes that are no text") from problem
        except (sqlite3.Error, OSError) as problem:
            if isinstance(problem, FileExistsError):
                raise
            raise self._in_words(problem) from problem

    def _in_words(self, problem: Exception) -> LedgerError:
        text, subject = str(problem), f"ledger {self.name}"
        why = "Nothing is released unless its price is safely in the book."
        if "readonly" in text or "read-only" in text or isinstance(problem, PermissionError):
            return LedgerError(
                subject, "the book cannot be written", why=why,
                hint="give this user write access to the file and its folder",
            )  # fmt: skip
        if "locked" in text or "busy" in text:
            return LedgerError(
                subject, "another writer holds the book", why=why, hint="try again with the same token"
            )
        if "full" in text or "I/O" in text or isinstance(problem, OSError):
            return LedgerError(
                subject, "the disk is full or failing", why=why,
                hint="make room, then try again with the same token",
            )  # fmt: skip
        if "unable to open" in text:
            return LedgerError(
                subject, "the book cannot be opened or written", why=why, hint="check the path and its rights"
            )
        return damaged(self.name, text)


def _build(connection: sqlite3.Connection, first: Row) -> None:
    """Make the tables and write the first row."""
    connection.execute(f"PRAGMA application_id={APPLICATION}")
    _migrate(connection)
    connection.execute("BEGIN IMMEDIATE")
    SQLitePage(connection).append(first)
    connection.execute("COMMIT")


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables to the newest version, one transaction per step."""
    while True:
        connection.execute("BEGIN IMMEDIATE")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version >= len(MIGRATIONS):
            connection.execute("ROLLBACK")
            return
        MIGRATIONS[version](SQLitePage(connection))
        connection.execute(f"PRAGMA user_version={version + 1}")
        connection.execute("COMMIT")


def _expected(shape: str) -> list[Any]:
    """The tables and triggers of a new book."""
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    try:
        _migrate(fresh)
        return fresh.execute(shape).fetchall()
    finally:
        fresh.close()
