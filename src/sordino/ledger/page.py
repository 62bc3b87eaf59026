"""The ledger inside one transaction, in the SQL that both databases speak; they differ in how a value is marked.

Transactions, connections and errors are in `sqlite` and `postgres`. Nothing is counted here.
"""

from __future__ import annotations

from typing import Any

from sordino.ledger.chain import ChainRow
from sordino.ledger.migrations import STATES_SINCE

COLUMNS = ("number", "paid", "kind", "token", "body", "spent", "ceiling", "at", "before", "hash", "state")


class TablePage:
    """The rows and the mark of the last one, in two tables.

    Args:
        connection: An open connection within a transaction.
        version: The version of the tables.
    """

    dialect: str
    mark: str
    """What stands for a value in a statement."""

    def __init__(self, connection: Any, version: int = STATES_SINCE) -> None:
        self._connection = connection
        self._columns = COLUMNS if version >= STATES_SINCE else COLUMNS[:-1]

    def run(self, statement: str) -> None:
        """Run a statement of a migration."""
        self._connection.execute(statement)

    def tail(self, count: int) -> list[ChainRow]:
        """The newest rows, in order."""
        return self._all("ORDER BY number DESC LIMIT ?", count)[::-1]

    def find(self, kind: str, token: str) -> ChainRow | None:
        """The row of a kind with a token."""
        return self._one("WHERE kind = ? AND token = ?", kind, token)

    def at(self, number: int) -> ChainRow | None:
        """The row with a number."""
        return self._one("WHERE number = ?", number)

    def release(self, paid: int) -> ChainRow | None:
        """The spend with this number in the order of payment."""
        return self._one("WHERE kind = 'spend' AND paid = ?", paid)

    def rows(self, after: int, count: int) -> list[ChainRow]:
        """The rows after a number, in order."""
        return self._all("WHERE number > ? ORDER BY number LIMIT ?", after, count)

    def paid(self, after: int, count: int) -> list[tuple[ChainRow, ChainRow | None]]:
        """The spends after a row, in order, each with its record."""
        # Not by the index on kinds: every stretch would sort all spends.
        spends = self._all("WHERE number > ? AND kind || '' = 'spend' ORDER BY number LIMIT ?", after, count)
        return [(row, self.find("record", row.token)) for row in spends]

    def changes(self) -> list[ChainRow]:
        """The rows that were neither paid nor recorded: begun, raised, lowered, frozen, closed."""
        kinds = ("open", "raise", "lower", "freeze", "unfreeze", "close")
        return self._all(f"WHERE kind IN ({', '.join('?' for _ in kinds)}) ORDER BY number", *kinds)

    def head(self) -> tuple[int, str] | None:
        """The mark of the last row."""
        found = self._connection.execute("SELECT number, hash FROM head").fetchone()
        return None if found is None else (found[0], found[1])

    def append(self, row: ChainRow) -> None:
        """Write one row and move the mark."""
        marks = ", ".join("?" for _ in self._columns)
        self._run(
            f"INSERT INTO entries ({', '.join(self._columns)}) VALUES ({marks})",  # noqa: S608
            *(getattr(row, name) for name in self._columns),
        )
        if row.number == 1:
            self._run("INSERT INTO head VALUES (1, ?, ?)", row.number, row.hash)
        else:
            self._run("UPDATE head SET number = ?, hash = ?", row.number, row.hash)

    def _one(self, condition: str, *values: Any) -> ChainRow | None:
        found = self._select(condition, *values).fetchone()
        return None if found is None else ChainRow(*found)

    def _all(self, condition: str, *values: Any) -> list[ChainRow]:
        return [ChainRow(*found) for found in self._select(condition, *values).fetchall()]

    def _select(self, condition: str, *values: Any) -> Any:
        return self._run(f"SELECT {', '.join(self._columns)} FROM entries {condition}", *values)  # noqa: S608

    def _run(self, statement: str, *values: Any) -> Any:
        return self._connection.execute(statement.replace("?", self.mark), values)
