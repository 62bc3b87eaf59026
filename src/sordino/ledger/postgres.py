"""The book in a PostgreSQL database, for several machines that share one budget. Needs the extra ``postgres``.

One schema per book (``postgresql://host/db?ledger=people``); a writer locks the mark of the last row, so spends queue.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from typing import TYPE_CHECKING, Any

from sordino.address import server, shown, written
from sordino.errors import LedgerError, MissingExtra, ParameterError
from sordino.ledger.chain import Row
from sordino.ledger.migrations import MIGRATIONS
from sordino.ledger.page import SELECT, TablePage
from sordino.ledger.store import absent, damaged, later, taken

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from sordino.ledger.store import Page


class PostgresPage(TablePage):
    """The book inside one transaction."""

    dialect, mark = "postgres", "%s"

    def rows(self) -> Iterator[Row]:
        """All rows in order, fetched as they are asked for."""
        with self._connection.cursor(name="rows") as cursor:
            cursor.execute(f"{SELECT} ORDER BY number")
            for found in cursor:
                yield Row(*found)


class PostgresStore:
    """A book in a schema of a database."""

    def __init__(self, url: str) -> None:
        parts, options = server("ledger", url)
        self.schema = options.pop("ledger", "sordino")
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,50}", self.schema):
            raise ParameterError(
                "ledger",
                "the name of a book in PostgreSQL has small letters, digits and underscores",
                got={"ledger": self.schema},
                hint="postgresql://host/db?ledger=people",
            )
        self._where = written(parts, options)
        # A message must not carry the password; what it shows can be pasted.
        self.name = shown(parts, {**options, "ledger": self.schema})
        self._mine = threading.local()
        self._opened_here: list[
            tuple[int, Any]
        ] = []  # a fork keeps its parent's alive, so as not to end them

    def exists(self) -> bool:
        """Whether the schema holds a book."""
        with self._translated():
            connection = self._connection()
            with connection.transaction():
                return self._there(connection)

    def create(self, first: Row) -> None:
        """Make the schema, the tables and the first row in one transaction."""
        from psycopg import errors

        try:
            with self._translated():
                connection = self._connection()
                with connection.transaction():
                    if self._there(connection):
                        raise taken(self.name)
                    connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{self.schema}"')
                    page = PostgresPage(connection)
                    for number, step in enumerate(MIGRATIONS, start=1):
                        step(page)
                        connection.execute("UPDATE version SET version = %s", (number,))
                    page.append(first)
        except LedgerError as problem:
            if isinstance(problem.__cause__, errors.UniqueViolation | errors.DuplicateTable):
                raise taken(self.name) from None
            raise

    @contextlib.contextmanager
    def read(self) -> Iterator[Page]:
        """A consistent view."""
        with self._translated():
            connection = self._connection()
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                self._ready(connection)
                yield PostgresPage(connection)

    @contextlib.contextmanager
    def write(self) -> Iterator[Page]:
        """A transaction that holds the mark of the last row until it commits, durably."""
        with self._translated():
            connection = self._connection()
            with connection.transaction():
                connection.execute("SET LOCAL synchronous_commit TO on")
                if self._ready(connection) < len(MIGRATIONS):
                    self._migrate(connection)
                connection.execute("SELECT number FROM head FOR UPDATE").fetchone()
                yield PostgresPage(connection)

    def damage(self) -> list[str]:
        """Check that the triggers that keep the book append-only are there and enabled."""
        with self._translated():
            connection = self._connection()
            with connection.transaction():
                self._ready(connection)
                found = connection.execute(
                    "SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
                    "JOIN pg_namespace n ON n.oid = c.relnamespace "
                    "WHERE n.nspname = %s AND NOT tgisinternal AND tgenabled IN ('O', 'A')",
                    (self.schema,),
                ).fetchall()
        kept = {"entries_keep", "entries_stay", "head_forward", "head_stays", "head_whole"}
        return (
            [] if kept <= {name for (name,) in found} else ["its tables or triggers are not those of a book"]
        )

    def close(self) -> None:
        """Close the connections of this process, of all its threads; a parent's are left alone."""
        for process, connection in self._opened_here:
            if process == os.getpid():
                connection.close()
        self._opened_here = [pair for pair in self._opened_here if pair[0] != os.getpid()]
        self._mine = threading.local()

    def _there(self, connection: psycopg.Connection[Any]) -> bool:
        found = connection.execute("SELECT to_regclass(%s)", (f'"{self.schema}".entries',)).fetchone()
        return found is not None and found[0] is not None

    def _ready(self, connection: psycopg.Connection[Any]) -> int:
        """Read the version, or say what is wrong with it."""
        if not self._there(connection):
            raise absent(self.name)
        found = connection.execute("SELECT version FROM version").fetchone()
        if found is None:
            raise damaged(self.name, "its version is missing")
        if found[0] > len(MIGRATIONS):
            raise later(self.name, found[0], len(MIGRATIONS))
        return int(found[0])

    def _migrate(self, connection: psycopg.Connection[Any]) -> None:
        """Bring the tables to the newest version inside the caller's transaction."""
        found = connection.execute("SELECT version FROM version FOR UPDATE").fetchone()
        assert found is not None
        for number in range(found[0], len(MIGRATIONS)):
            MIGRATIONS[number](PostgresPage(connection))
            connection.execute("UPDATE version SET version = %s", (number + 1,))

    def _connection(self) -> psycopg.Connection[Any]:
        """This process's and thread's own connection, opened again when it was lost."""
        mine = self._mine
        kept: psycopg.Connection[Any] | None = getattr(mine, "connection", None)
        if kept is not None and mine.process == os.getpid() and not kept.closed and not kept.broken:
            return kept
        try:
            import psycopg
        except ImportError:
            raise MissingExtra.named("ledger", "psycopg", "postgres") from None
        fresh = psycopg.connect(
            self._where, autocommit=True, connect_timeout=10, options=f"-c search_path={self.schema}"
        )
        mine.connection, mine.process = fresh, os.getpid()
        self._opened_here.append((os.getpid(), fresh))
        return fresh

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """Say in the project's words what went wrong with the database."""
        try:
            yield
        except Exception as problem:
            if type(problem).__module__.split(".")[0] != "psycopg":
                raise
            raise self._in_words(problem) from problem

    def _in_words(self, problem: Exception) -> LedgerError:
        from psycopg import errors

        subject, why = f"ledger {self.name}", "Nothing is released unless its price is safely in the book."
        again = "try again with the same token: what was paid is not paid twice"
        if isinstance(problem, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
            return LedgerError(
                subject, "the book cannot be written", why=why, hint="GRANT INSERT, SELECT, UPDATE"
            )
        if isinstance(problem, errors.DiskFull):
            return LedgerError(subject, "the disk is full", why=why, hint="make room, then " + again)
        if isinstance(problem, errors.OperationalError):
            return LedgerError(subject, "the database cannot be reached", why=why, hint=again)
        if isinstance(problem, errors.UndefinedTable | errors.UndefinedColumn | errors.DataError):
            return damaged(self.name, "its tables are not those of a book")
        return LedgerError(subject, f"the database refused ({type(problem).__name__})", why=why, hint=again)
