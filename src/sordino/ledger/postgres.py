"""The ledger in a PostgreSQL database, for several machines that share one budget. Needs the extra ``postgres``.

One schema per ledger (``postgresql://host/db?ledger=people``); writers lock the mark of the last row and queue.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, Any

from sordino.errors import LedgerError, MissingExtra
from sordino.ledger.address import read_address
from sordino.ledger.chain import TablePage
from sordino.ledger.migrations import MIGRATIONS
from sordino.ledger.store import absent, damaged, later, taken

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from sordino.ledger.chain import ChainRow
    from sordino.ledger.store import Page

TRIGGERS = {"entries_keep", "entries_stay", "head_forward", "head_stays", "head_whole"}


class PostgresPage(TablePage):
    """The ledger inside one transaction."""

    dialect, mark = "postgres", "%s"


class PostgresStore:
    """A ledger in a schema of a database."""

    lasting = True

    def __init__(self, url: str) -> None:
        address = read_address(url)
        self.schema, self.name, self._where = address.schema, address.name, address.server
        self._mine = threading.local()
        self._opened_here: list[
            tuple[int, Any]
        ] = []  # a fork keeps its parent's alive, so as not to end them

    def exists(self) -> bool:
        """Whether the schema holds a ledger."""
        with self._translated():
            connection = self._connection()
            with connection.transaction():
                return self._there(connection)

    def create(self, first: ChainRow) -> None:
        """Make the schema, the tables and the first row in one transaction."""
        with self._translated(creating=True):
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

    @contextlib.contextmanager
    def read(self) -> Iterator[Page]:
        """A consistent view."""
        with self._translated():
            connection = self._connection()
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                yield PostgresPage(connection, self._ready(connection))

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
                if not self._guarded(connection):
                    raise damaged(self.name, "its tables or triggers are not those of a ledger")
                yield PostgresPage(connection)

    def damage(self) -> list[str]:
        """Check that the triggers that keep the ledger append-only are there and enabled."""
        with self._translated():
            connection = self._connection()
            with connection.transaction():
                self._ready(connection)
                guarded = self._guarded(connection)
        return [] if guarded else ["its tables or triggers are not those of a ledger"]

    def _guarded(self, connection: psycopg.Connection[Any]) -> bool:
        found = connection.execute(
            "SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            "JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = %s AND NOT tgisinternal AND tgenabled IN ('O', 'A')",
            (self.schema,),
        ).fetchall()
        return {name for (name,) in found} >= TRIGGERS

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
        from psycopg import errors

        refused = False
        try:
            self._migrate_as_owner(connection)
        except errors.InsufficientPrivilege:
            refused = True
        if refused:
            raise LedgerError(
                f"ledger {self.name}", "has an older format, which only its owner can bring up to date",
                why="Nothing was spent.", hint="let the owner of its tables write to it once, e.g. raise its ceiling",
            )  # fmt: skip

    def _migrate_as_owner(self, connection: psycopg.Connection[Any]) -> None:
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
    def _translated(self, *, creating: bool = False) -> Iterator[None]:
        """Say in the project's words what went wrong with the database.

        The driver's own words may repeat the address with its password: they are taken out of the chain of causes.
        """
        try:
            yield
        except Exception as problem:
            if type(problem).__module__.split(".")[0] != "psycopg":
                raise
            said = self._in_words(problem, creating=creating)
            problem.args, problem.__cause__, problem.__context__ = ("not shown",), None, None
            raise said from None

    def _grants(self, *, creating: bool) -> str:
        """What the owner of the database has to say so that this user may write."""
        connection = getattr(self._mine, "connection", None)
        user = f'"{connection.info.user}"' if connection is not None else "ANALYST"
        if creating:
            base = f'"{connection.info.dbname}"' if connection is not None else "DATABASE"
            return f"GRANT CREATE ON DATABASE {base} TO {user};"
        tables = (("SELECT, INSERT", "entries"), ("SELECT, UPDATE", "head"), ("SELECT", "version"))
        lines = [f'GRANT {verbs} ON "{self.schema}".{table} TO {user};' for verbs, table in tables]
        return " ".join([f'GRANT USAGE ON SCHEMA "{self.schema}" TO {user};', *lines])

    def _in_words(self, problem: Exception, *, creating: bool) -> LedgerError:
        from psycopg import errors

        subject, why = f"ledger {self.name}", "Nothing is released unless its price is safely in the ledger."
        again = "try again with the same token: what was paid is not paid twice"
        if creating and isinstance(problem, errors.UniqueViolation | errors.DuplicateTable):
            return taken(self.name)
        if isinstance(problem, errors.InsufficientPrivilege):
            return LedgerError(
                subject, "the ledger cannot be written", why=why, hint=self._grants(creating=creating)
            )
        if isinstance(problem, errors.ReadOnlySqlTransaction):
            return LedgerError(
                subject,
                "the ledger cannot be written",
                why=why,
                hint="the server takes no writes: is it a replica?",
            )
        if isinstance(problem, errors.DiskFull):
            return LedgerError(subject, "the disk is full", why=why, hint="make room, then " + again)
        if isinstance(problem, errors.OperationalError):
            return LedgerError(subject, "the database cannot be reached", why=why, hint=again)
        if isinstance(problem, errors.UndefinedTable | errors.UndefinedColumn | errors.DataError):
            return damaged(self.name, "its tables are not those of a ledger")
        return LedgerError(subject, f"the database refused ({type(problem).__name__})", why=why, hint=again)
