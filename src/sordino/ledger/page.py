"""The book inside one transaction, in the SQL that both databases speak; they differ in how a value is marked.

Transactions, connections and errors are in `sqlite` and `postgres`. Nothing is counted here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sordino.ledger.chain import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS = ("number", "paid", "kind", "token", "body", "spent", "ceiling", "at", "before", "hash")
SELECT = f"SELECT {', '.join(COLUMNS)} FROM entries"  # noqa: S608


class TablePage:
    """The rows and the mark of the last one, in two tables.

    Args:
        connection: An open connection within a transaction.
    """

    dialect: str
    mark: str
    """What stands for a value in a statement."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def run(self, statement: str) -> None:
        """Run a statement of a migration."""
        self._connection.execute(statement)

    def last(self) -> Row | None:
        """The newest row."""
        return self._one("ORDER BY number DESC LIMIT 1")

    def find(self, kind: str, token: str) -> Row | None:
        """The row of a kind with a token."""
        return self._one("WHERE kind = ? AND token = ?", kind, token)

    def first(self) -> Row | None:
        """The row with which the book was begun."""
        return self._one("WHERE number = 1")

    def release(self, paid: int) -> Row | None:
        """The spend that was paid as the so-manieth."""
        return self._one("WHERE kind = 'spend' AND paid = ?", paid)

    def rows(self) -> Iterator[Row]:
        """All rows in order."""
        for found in self._connection.execute(f"{SELECT} ORDER BY number"):
            yield Row(*found)

    def head(self) -> tuple[int, str] | None:
        """The mark of the last row."""
        found = self._connection.execute("SELECT number, hash FROM head").fetchone()
        return None if found is None else (found[0], found[1])

    def append(self, row: Row) -> None:
        """Write one row and move the mark."""
        marks = ", ".join("?" for _ in COLUMNS)
        self._write(
            f"INSERT INTO entries ({', '.join(COLUMNS)}) VALUES ({marks})",  # noqa: S608
            *(getattr(row, name) for name in COLUMNS),
        )
        if row.number == 1:
            self._write("INSERT INTO head VALUES (1, ?, ?)", row.number, row.hash)
        else:
            self._write("UPDATE head SET number = ?, hash = ?", row.number, row.hash)

    def _one(self, condition: str, *values: Any) -> Row | None:
        found = self._write(f"{SELECT} {condition}", *values).fetchone()
        return None if found is None else Row(*found)

    def _write(self, statement: str, *values: Any) -> Any:
        return self._connection.execute(statement.replace("?", self.mark), values)
