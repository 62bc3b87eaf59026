"""Tables in PostgreSQL: computed in the server through ibis; no row leaves it.

The address is read here, and one release reads one snapshot; what is asked is in `sordino.data.lazy`.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sordino.address import server, written
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
        numbers: Has no use here: text is no number in a server that raises where a number is too large.
    """
    place, table = split_address(address)
    try:
        import ibis
        import psycopg
        from ibis.common.exceptions import IbisError, TableNotFound
    except ImportError as error:
        raise MissingExtra.named("open", str(error.name), "postgres") from None
    known = {"host", "port", "user", "password"}
    schema, _, name = table.rpartition(".")
    refusal = DataError(
        "open", "the table must be there and readable", got={"table": table},
        hint='"postgresql://user@host/database?table=people"',
    )  # fmt: skip
    try:
        given = psycopg.conninfo.conninfo_to_dict(place)
        backend = ibis.postgres.connect(
            database=given.get("dbname"), **{key: given[key] for key in known if key in given}
        )
    except (psycopg.Error, IbisError):
        raise refusal from None
    held = _Held(backend)
    try:
        found = backend.table(name, database=schema or None)
    except (psycopg.Error, IbisError, TableNotFound):
        held.close()
        raise refusal from None
    return Lazy(found, unit=unit, row=row, numbers=numbers, name="PostgreSQL", nearby=False, state=held)


class _Held:
    """Keeps a connection open as long as any source on it lives, then closes it; makes its snapshots."""

    def __init__(self, backend: Any) -> None:
        self._connection = backend.con
        self._within = False
        self.close = weakref.finalize(self, backend.disconnect)

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """One transaction that sees one state of the database and cannot write; the outermost counts."""
        if self._within:
            yield
            return
        with self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            self._within = True
            try:
                yield
            finally:
                self._within = False


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
