"""The ledger in one SQLite file: rollback journal, full synchronisation, one writer at a time, in the order they come.

When `write` returns, every row is in the file itself: there is no log that a copy could leave behind. Each process and
thread has its own connection; a fork never shares one. Nothing is counted here.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.errors import LedgerError, SordinoError
from sordino.ledger import sqlite_file
from sordino.ledger.address import file_name
from sordino.ledger.migrations import MIGRATIONS
from sordino.ledger.sqlite_file import SHAPE, SQLitePage, expected_tables, migrate
from sordino.ledger.store import absent, damaged, later, taken
from sordino.ledger.turn import turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.ledger.chain import ChainRow
    from sordino.ledger.store import Page

PATIENCE = 60.0  # seconds to wait for another writer


class SQLiteStore:
    """A ledger in a file, or in memory for notebooks and tests (``path=None``)."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self.name = "in memory" if self.path is None else file_name(self.path)
        self.lasting = self.path is not None
        self._text = "" if self.path is None else str(self.path)
        self._mine = threading.local()
        self._opened_here: list[tuple[int, Any]] = []
        self._memory: sqlite3.Connection | None = None
        self._lock = threading.RLock()
        self._process = os.getpid()

    def exists(self) -> bool:
        """Whether the file is there; an empty file counts, so that a lost ledger is never begun anew."""
        if self.path is None:
            return self._memory is not None
        with self._translated():
            return os.path.lexists(self.path)

    def create(self, first: ChainRow) -> None:
        """Build the ledger beside its place and link it in: it is there whole or not at all."""
        if self.exists():
            raise taken(self.name)
        if self.path is None:
            with self._translated():
                self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
                sqlite_file.build(self._memory, first)
            return
        try:
            with self._translated():
                sqlite_file.create(self.path, first)
        except FileExistsError:
            raise taken(self.name) from None

    @contextlib.contextmanager
    def read(self) -> Iterator[Page]:
        """A consistent view."""
        with self._alone(), self._translated():
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                yield SQLitePage(connection, self._version(connection))
                self._check_place(links=False)
            finally:
                connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def write(self) -> Iterator[Page]:
        """One immediate transaction: nobody else writes between its first read and its commit."""
        with self._alone(), self._translated():
            connection = self._connection()
            self._begin(connection)
            try:
                self._check_place()
                self._check_tables(connection)
                yield SQLitePage(connection)
                self._check_place()
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def damage(self) -> list[str]:
        """Run SQLite's own checks, and compare the tables and triggers with what they should be."""
        with self._alone(), self._translated():
            connection = self._connection()
            found = [text for (text,) in connection.execute("PRAGMA integrity_check(20)") if text != "ok"]
            try:
                self._mine.tables = None
                self._check_place()
                self._check_tables(connection)
            except LedgerError as problem:
                what = problem.rule
                found.append(what.removeprefix("the ledger is damaged: "))
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

    def _alone(self) -> contextlib.AbstractContextManager[Any]:
        """Threads share the one connection of a ledger in memory."""
        return self._lock if self.path is None else contextlib.nullcontext()

    def _connection(self) -> sqlite3.Connection:
        """This process's and thread's own connection."""
        if self.path is None:
            if self._process != os.getpid():
                raise LedgerError(
                    "ledger in memory",
                    "cannot be shared between processes",
                    why="Each process would spend its own copy of the budget.",
                    hint="keep the ledger in a file: ledger='people.ledger'",
                )
            if self._memory is None:
                raise absent(self.name)
            return self._memory
        mine = self._mine
        kept: sqlite3.Connection | None = getattr(mine, "connection", None)
        if kept is not None and mine.process == os.getpid():
            self._check_place(links=False)
            return kept
        mine.file, mine.tables = list(self._identity()[:2]), None
        try:
            fresh = self._opened("rw")
        except sqlite3.OperationalError:
            fresh = self._opened(
                "ro"
            )  # never immutable: a journal that must be rolled back first is an error
        mine.connection, mine.process = fresh, os.getpid()
        self._opened_here.append((os.getpid(), fresh))
        self._check_place(links=False)
        return fresh

    def _opened(self, mode: str) -> sqlite3.Connection:
        assert self.path is not None
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(
            uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            self._version(connection)
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("SELECT number FROM head").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _identity(self) -> tuple[int, int, int]:
        """Which file stands at the path, and how many names it has."""
        try:
            found = os.stat(self._text)  # noqa: PTH116  three times in each write
        except FileNotFoundError:
            raise absent(self.name) from None
        return found.st_dev, found.st_ino, found.st_nlink

    def _check_place(self, *, links: bool = True) -> None:
        """Refuse when the path no longer leads to the file that is open, or when that has a second name."""
        if self.path is None:
            return
        why = "Nothing was spent: what is written here might not be seen by the next who opens the ledger."
        try:
            *file, names = self._identity()
            same = file == self._mine.file
        except LedgerError:
            same, names = False, 0
        if not same:
            raise LedgerError(
                f"ledger {self.name}", "the file was moved, replaced or deleted while it was open", why=why,
                hint="put it back in its place, then open it again",
            )  # fmt: skip
        if links and names != 1 and (names := sqlite_file.names(self.path)) != 1:
            raise LedgerError(
                f"ledger {self.name}", f"the file has {names} names (hard links)", why=why,
                hint=f"keep one: find / -xdev -samefile '{self.name}'",
            )  # fmt: skip

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Begin to write, in one's turn, with a rollback journal and the newest tables."""
        for _ in range(3):
            with contextlib.nullcontext() if self.path is None else turn(self.path):
                connection.execute("BEGIN IMMEDIATE")
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if (mode == "persist" or self.path is None) and version == len(MIGRATIONS):
                return
            connection.execute("ROLLBACK")
            self._bring_up_to_date(connection)
        raise sqlite3.OperationalError("database is locked")  # somebody switches the log on again and again

    def _check_tables(self, connection: sqlite3.Connection) -> None:
        """Refuse tables or triggers that are not those of a ledger."""
        (changed,) = connection.execute("PRAGMA schema_version").fetchone()  # counts every change of them
        if self.path is not None and changed == getattr(self._mine, "tables", None):
            return
        found = connection.execute(SHAPE).fetchall()
        if found != expected_tables(self._version(connection)):
            raise damaged(self.name, "its tables or triggers are not those of a ledger")
        self._mine.tables = changed

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        """Leave the write-ahead log of the first format for good, and bring the tables to the newest version."""
        version = self._version(
            connection
        )  # also makes SQLite look at the file: another may have switched its log on
        if self.path is not None:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            if mode != "persist":
                self._use_journal(connection)
        if version < len(MIGRATIONS):
            self._check_place()
            migrate(connection)

    def _use_journal(self, connection: sqlite3.Connection) -> None:
        """Keep a rollback journal; to leave a write-ahead log one must be alone with the file for a moment."""
        assert self.path is not None
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(sqlite3.OperationalError):
                (mode,) = connection.execute("PRAGMA journal_mode=PERSIST").fetchone()
                if mode == "persist":
                    return
            if time.monotonic() > deadline:
                raise LedgerError(
                    f"ledger {self.name}", "another program holds the ledger open in its old format",
                    why="It is brought up to date once, and nobody may use it meanwhile.",
                    hint="end the programs of older versions that have it open, then try again with the same token",
                )  # fmt: skip
            if not os.access(self.path, os.W_OK) or not os.access(self.path.parent, os.W_OK):
                raise sqlite3.OperationalError("attempt to write a readonly database")
            time.sleep(0.05)

    def _version(self, connection: sqlite3.Connection) -> int:
        """Read the version of the tables, or say what is wrong with it."""
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        kind = connection.execute("PRAGMA application_id").fetchone()[0]
        if kind != sqlite_file.APPLICATION or version < 1:
            raise damaged(self.name, "the file is not a ledger of this program")
        if version > len(MIGRATIONS):
            raise later(self.name, version, len(MIGRATIONS))
        return version

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """Say in the project's words what went wrong with the file."""
        try:
            yield
        except UnicodeDecodeError as problem:
            raise damaged(self.name, "it holds bytes that are not text") from problem
        except (sqlite3.Error, OSError, ValueError) as problem:
            if isinstance(problem, FileExistsError | SordinoError):
                raise
            raise self._in_words(problem) from problem

    def _in_words(self, problem: Exception) -> LedgerError:
        text, subject = str(problem), f"ledger {self.name}"
        why = "Nothing is released unless its price is safely in the ledger."
        if "readonly" in text or "read-only" in text or isinstance(problem, PermissionError):
            return LedgerError(
                subject, "the ledger cannot be written", why=why,
                hint="give this user write access to the file and its folder",
            )  # fmt: skip
        if "locked" in text or "busy" in text:
            return LedgerError(
                subject, "another writer holds the ledger", why=why, hint="try again with the same token"
            )
        full = "full" in text or "I/O" in text or getattr(problem, "errno", None) in sqlite_file.FULL
        if full:
            return LedgerError(
                subject, "the disk is full or failing", why=why,
                hint="make room, then try again with the same token",
            )  # fmt: skip
        if "unable to open" in text or isinstance(problem, OSError | ValueError):
            return LedgerError(
                subject, "the ledger cannot be opened or written", why=why,
                hint="check the path and its rights; a ledger of the first format must be written to once",
            )  # fmt: skip
        return damaged(self.name, text)
