"""Rows of the book, sealed by hash: each names the hash of the row before it. Verification, not storage.

The running total and the ceiling stand in every row, so that one row is enough to decide about the next spend.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino.errors import SordinoError
from sordino.ledger import account
from sordino.privacy import BoundedRange, Guarantee, Neighbors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FIRST = "0" * 64
"""What the first row names as its predecessor."""

KINDS = ("open", "spend", "record", "raise")


def canonical(value: Any) -> str:
    """Write JSON in one way only, so that equal records have equal hashes.

    Example:
        >>> canonical({"b": 1, "a": [None, 0.5]})
        '{"a":[null,0.5],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the book, as it is stored; ``paid`` counts the releases up to here."""

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

    @classmethod
    def after(
        cls, last: Row | None, kind: str, token: str, body: Any, *, spent: str, ceiling: str, at: str
    ) -> Row:
        """Seal the next row."""
        number, before, paid = (1, FIRST, 0) if last is None else (last.number + 1, last.hash, last.paid)
        paid += kind == "spend"
        text = canonical(body)
        sealed = digest(number, paid, kind, token, text, spent, ceiling, at, before)
        return cls(number, paid, kind, token, text, spent, ceiling, at, before, sealed)

    @property
    def content(self) -> Any:
        """The body, read."""
        return json.loads(self.body)

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
            return digest(*parts) == self.hash
        except TypeError:  # a damaged file can give bytes where there was text
            return False


def digest(*parts: Any) -> str:
    """Hash a row: SHA-256 of its columns as one JSON list, which no two different rows share."""
    return hashlib.sha256(canonical(list(parts)).encode()).hexdigest()


def amount(text: str) -> Guarantee:
    """Read a total or a ceiling."""
    return Guarantee.from_dict(json.loads(text))


def faults(rows: Iterable[Row], head: tuple[int, str] | None) -> list[str]:
    """Everything that is wrong with a chain of rows, in words; an empty list means that it holds."""
    found: list[str] = []
    last: Row | None = None
    book = _Replay()
    for row in rows:
        expected = 1 if last is None else last.number + 1
        if row.number != expected:
            found.append(f"row {expected} is missing (the next is {row.number})")
        elif row.before != (FIRST if last is None else last.hash):
            found.append(f"row {row.number} does not follow the row before it")
        if not row.sealed:
            found.append(f"row {row.number} was changed: its hash does not fit")
        elif not found and (problem := book.problem(row)):  # what follows a fault only repeats it
            found.append(f"row {row.number}: {problem}")
        last = row
    if last is None:
        found.append("the book has no rows")
    elif head is None:
        found.append("the mark of the last row is missing")
    elif head != (last.number, last.hash):
        found.append(f"rows are missing at the end: the book was at row {head[0]}, the last is {last.number}")
    return found


def verify_export(document: Mapping[str, Any]) -> list[str]:
    """Check an exported book without its database: what is wrong, in words."""

    def rows() -> Iterator[Row]:
        for row in document["rows"]:
            texts = {name: canonical(row[name]) for name in ("body", "spent", "ceiling")}
            yield Row(**{**row, **texts})

    checked = list(rows())
    return faults(checked, (checked[-1].number, checked[-1].hash) if checked else None)


class _Replay:
    """Recomputes totals from the events, so that a wrong total is found even under a right hash."""

    def __init__(self) -> None:
        self.spent: Guarantee | None = None
        self.ceiling: Guarantee | None = None
        self.neighbors = Neighbors.REPLACE_ONE
        self.paid: set[str] = set()
        self.recorded: set[str] = set()

    def problem(self, row: Row) -> str:
        try:
            return self._problem(row)
        except (SordinoError, ValueError, KeyError, TypeError, ArithmeticError):
            return "it cannot be read"

    def _problem(self, row: Row) -> str:
        body, spent, ceiling = row.content, amount(row.spent), amount(row.ceiling)
        if row.paid != len(self.paid) + (row.kind == "spend"):
            return "its count of releases does not fit the rows before it"
        if row.kind == "open":
            self.neighbors = Neighbors(body["neighbors"])
            if isinstance(ceiling, BoundedRange):
                return "its budget is a bounded range, and those do not add up"
            first = self.spent is None
            self.spent, self.ceiling = account.nothing(ceiling), ceiling
            return "" if first and spent == self.spent else "the book was opened twice or not empty"
        if self.spent is None or self.ceiling is None:
            return "it comes before the book was opened"
        if row.kind == "spend":
            event = body["event"]
            price = account.person_price(
                Guarantee.from_dict(event["guarantee"]), Neighbors(event["neighbors"]), self.neighbors
            )
            cost = account.counted(price, self.ceiling)
            if Guarantee.from_dict(body["cost"]) != cost:
                return "its cost does not fit what was asked"
            if row.token in self.paid:
                return "its token was paid twice"
            self.paid.add(row.token)
            self.spent += cost
        elif row.kind == "record":
            if row.token not in self.paid or row.token in self.recorded:
                return "it records what was not paid for, or twice"
            self.recorded.add(row.token)
        elif row.kind == "raise":
            if not self.ceiling.within(ceiling):
                return "it lowers the ceiling"
            self.ceiling = ceiling
        else:
            return "it is of no known kind"
        if spent != self.spent:
            return "its running total does not fit the rows before it"
        if ceiling != self.ceiling:
            return "its ceiling does not fit the rows before it"
        return "" if spent.within(ceiling) else "more was spent than the ceiling allows"
