"""Rows of the ledger, sealed by hash: each names the hash of the row before it. What follows what is in `replay`.

The running total, the ceiling and the state stand in every row: one row is enough to decide about the next spend.
"""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from sordino.ledger.migrations import DATA, STATES_SINCE, USER
from sordino.privacy import Guarantee

FIRST = "0" * 64
"""What the first row names as its predecessor."""

OPEN, FROZEN, CLOSED = "open", "frozen", "closed"
"""What a ledger does with a spend: pays it, refuses it for now, refuses it for good."""


def canonical(value: Any) -> str:
    """Write JSON in one way only, so that equal records have equal hashes.

    Example:
        >>> canonical({"b": 1, "a": [None, 0.5]})
        '{"a":[null,0.5],"b":1}'
    """
    if type(value) is dict and set(map(type, value)) == set(map(type, value.values())) == {
        str
    }:  # most are prices
        return "{" + ",".join([f"{quoted(name)}:{quoted(value[name])}" for name in sorted(value)]) + "}"
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, slots=True)
class ChainRow:
    """One line of the ledger, as it is stored; ``paid`` counts the releases up to here.

    Rows of the first format have no ``state``: their ledgers could be neither frozen nor closed.
    """

    number: int
    paid: int
    kind: str
    token: str
    body: str
    spent: str
    ceiling: str
    at: str
    before: str
    hash: str
    state: str | None = None

    @classmethod
    def after(
        cls,
        last: ChainRow | None,
        kind: str,
        token: str,
        body: Any,
        *,
        spent: str,
        ceiling: str,
        at: str,
        state: str = OPEN,
    ) -> ChainRow:
        """Seal the next row."""
        number, before, paid = (1, FIRST, 0) if last is None else (last.number + 1, last.hash, last.paid)
        paid += kind == "spend"
        text = canonical(body)
        sealed = digest(number, paid, kind, token, text, spent, ceiling, at, before, state)
        return cls(number, paid, kind, token, text, spent, ceiling, at, before, sealed, state)

    @property
    def content(self) -> Any:
        """The body, read."""
        return json.loads(self.body)

    @property
    def standing(self) -> str:
        """The state after this row."""
        return self.state or OPEN

    @property
    def sealed(self) -> bool:
        """Whether the hash fits the rest of the row."""
        parts = (
            self.number,
            self.paid,
            self.kind,
            self.token,
            self.body,
            self.spent,
            self.ceiling,
            self.at,
            self.before,
        )
        try:
            return digest(*parts, *(() if self.state is None else (self.state,))) == self.hash
        except TypeError:  # a damaged file can give bytes where there was text
            return False


def digest(*parts: Any) -> str:
    """Hash a row: SHA-256 of its columns as one JSON list, which no two different rows share."""
    return hashlib.sha256(_listed(parts).encode()).hexdigest()


def _listed(parts: tuple[Any, ...]) -> str:
    """`canonical` of a list: whole numbers and texts are all that a sound row has."""
    if set(map(type, parts)) == {int, str}:
        return "[" + ",".join([quoted(one) if type(one) is str else str(one) for one in parts]) + "]"
    return canonical(list(parts))


@functools.lru_cache(256)
def amount(text: str) -> Guarantee:
    """Read a total or a ceiling."""
    return Guarantee.from_dict(json.loads(text))


@functools.lru_cache(256)
def written(total: Guarantee) -> str:
    """Write a total or a ceiling."""
    return canonical(total.to_dict())


def read_known(text: str) -> tuple[int, str]:
    """Read ``ROW:HASH``, as `verify` prints it; raises ValueError.

    Example:
        >>> read_known("7:53c6")
        (7, '53c6')
    """
    number, _, noted = text.partition(":")
    if not (number.isascii() and number.isdigit() and len(number) < 16 and noted):
        raise ValueError("not ROW:HASH")
    return int(number), noted


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

    def rules(self, after: int) -> list[ChainRow]:
        """The rows after a number that declare datasets or limit shares, in order."""
        return self._all("WHERE kind IN ('limit', 'dataset') AND number > ? ORDER BY number", after)

    def last_spend(self, user: str | None, data: str | None) -> ChainRow | None:
        """The last spend of a user, about a dataset, or both."""
        condition, values = self._of(user, data)
        return self._one(f"{condition} ORDER BY number DESC LIMIT 1", *values)

    def spends_of(self, user: str | None, data: str | None) -> list[ChainRow]:
        """All spends of a user, about a dataset, or both, in order."""
        condition, values = self._of(user, data)
        return self._all(f"{condition} ORDER BY number", *values)

    def _of(self, user: str | None, data: str | None) -> tuple[str, list[str]]:
        asked = [(USER[self.dialect], user), (DATA[self.dialect], data)]
        given = [(column, value) for column, value in asked if value is not None]
        conditions = " AND ".join(f"{column} = ?" for column, _ in given)
        return f"WHERE kind = 'spend' AND {conditions}", [value for _, value in given]

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
