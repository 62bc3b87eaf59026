"""Tables in PostgreSQL: computed in the server through ibis; no row leaves it.

The address is read here, one release reads one snapshot, and a connection that was lost, or that belongs to the process
from which this one was forked, is replaced before anything is spent; what is asked is in `sordino.data.lazy`.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sordino.address import server, written
from sordino.data.home import Home
from sordino.data.lazy import Lazy
from sordino.errors import DataError, MissingExtra

if TYPE_CHECKING:
    from sordino.privacy import Unit


def open_postgres(
    address: str, *, unit: Unit | None = None, row: str | None = None, numbers: tuple[str, ...] = ()
) -> Lazy:
    """Open a table or view by its address: ``postgresql://user@host/database?table=people``, or ``schema.people``.

    Args:
        address: A libpq address with the name of the table beside its other options.
        unit: Whom to protect.
        row: Column that identifies and orders the rows of a unit.
        numbers: Has no use here: text is not a number in a server that raises where a number is too large.
    """
    place, table = split_address(address)
    try:
        import ibis
        import psycopg
        from ibis.common.exceptions import IbisError, TableNotFound
    except ImportError as error:
        raise MissingExtra.named("open", str(error.name), "postgres") from None
    schema, _, name = table.rpartition(".")
    refusal = DataError(
        "open", "the table must be there and readable", got={"table": table},
        hint='"postgresql://user@host/database?table=people"',
    )  # fmt: skip
    try:
        given = {"connect_timeout": "10", **psycopg.conninfo.conninfo_to_dict(place)}
        backend = ibis.postgres.connect(database=given.pop("dbname", None), **given)
    except (psycopg.Error, IbisError):
        raise refusal from None
    server_home = Server(backend)
    try:
        found = backend.table(name, database=schema or None)
        server_home.watch([part for part in (schema, name) if part], found.columns)
    except (psycopg.Error, IbisError, TableNotFound):
        server_home.close()
        raise refusal from None
    return Lazy(found, unit=unit, row=row, numbers=numbers, name="PostgreSQL", nearby=False, home=server_home)


class Server(Home):
    """A connection that is kept as long as any source on it lives; makes its snapshots, and is replaced when lost."""

    def __init__(self, backend: Any) -> None:
        super().__init__("PostgreSQL")
        self._backend = backend
        self._within = False
        self._inherited: list[
            Any
        ] = []  # connections of a parent, kept alive: to end them would end the parent's
        self._probe: Any = "SELECT 1"
        self._shape: list[tuple[str, int]] = []
        self.close = weakref.finalize(self, _disconnect, backend, os.getpid())

    def watch(self, table: Sequence[str], columns: Sequence[str]) -> None:
        """Let `ready` also find out whether a table is still there with its columns; no row is read for it."""
        from psycopg.sql import SQL, Identifier

        names = SQL(", ").join(map(Identifier, columns))
        self._probe = SQL("SELECT {} FROM {} LIMIT 0").format(names, Identifier(*table))
        self._shape = self._described()

    def _described(self) -> list[tuple[str, int]]:
        """The names and types of the table's columns."""
        found = self._backend.con.execute(self._probe).description or ()
        return [(column.name, column.type_code) for column in found]

    def ready(self) -> None:
        """Connect again where that is needed; refuse when the server or the table is gone."""
        import psycopg

        with self._lock:
            if self._within:
                return
            try:
                if os.getpid() != self._process or not self._alive():
                    self._connect()
                same = self._described() == self._shape
            except psycopg.Error:
                same = False
        if not same:
            raise DataError(
                self.name, "the server and the table must be there as they were opened",
                why="Nothing was spent.", hint="try again when the server can be reached, or open the table again",
            )  # fmt: skip

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """One transaction that sees one state of the database and cannot write; the outermost counts."""
        with self._lock:
            if self._within:
                yield
                return
            if os.getpid() != self._process or self._backend.con.closed:
                self._connect()
            connection = self._backend.con
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                self._within = True
                try:
                    yield
                finally:
                    self._within = False

    @property
    def connection(self) -> Any:
        """The connection, inside of a snapshot."""
        return self._backend.con

    def compiled(self, query: Any) -> str:
        """The SQL of an expression."""
        return str(self._backend.compile(query))

    def forked(self) -> None:
        """In a new process: no transaction of the parent's is under way here."""
        super().forked()
        self._within = False

    def _alive(self) -> bool:
        """Whether the far end answers."""
        import psycopg

        try:
            self._backend.con.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    def _connect(self) -> None:
        """Take a new connection; leave a parent's alone, end one's own."""
        if os.getpid() == self._process:
            self._backend.con.close()
        else:
            self._inherited.append(self._backend.con)
        self.close.detach()
        self._backend.reconnect()
        self._process = os.getpid()
        self.close = weakref.finalize(self, _disconnect, self._backend, self._process)


def _disconnect(backend: Any, process: int) -> None:
    """End a connection in the process that made it."""
    if os.getpid() == process:
        backend.disconnect()


def split_address(address: str) -> tuple[str, str]:
    """The address of the server, and the name of the table.

    Example:
        >>> split_address("postgresql://me@host/db?table=people&connect_timeout=5")
        ('postgresql://me@host/db?connect_timeout=5', 'people')
    """
    parts, options = server("open", address)
    table = options.pop("table", "")
    if not table:
        raise DataError(
            "open", "the address must name a table",
            hint='"postgresql://user@host/database?table=people"',
        )  # fmt: skip
    return written(parts, options), table
