"""What the book gives out: a paid question with its answer, and the report of a verification. Plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sordino.privacy import Guarantee

if TYPE_CHECKING:
    from sordino.ledger.chain import Row


@dataclass(frozen=True, slots=True)
class Entry:
    """A paid question, and its answer once there is one.

    Attributes:
        number: The id of the release: 1 for the first that was paid.
        token: Names the question: asked again with it, the stored answer comes back and costs nothing.
        event: What was asked.
        cost: What it cost in the terms of the budget.
        at: When it was paid.
        release: The stored answer as JSON; None while there is none.
    """

    number: int
    token: str
    event: Mapping[str, Any]
    cost: Guarantee
    at: str
    release: Mapping[str, Any] | None = field(default=None)

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "number": self.number,
            "token": self.token,
            "at": self.at,
            "cost": self.cost.to_dict(),
            "event": dict(self.event),
            "release": None if self.release is None else dict(self.release),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """What verification found.

    Attributes:
        name: Where the book is.
        rows: Number of rows.
        head: Hash of the last row; note it elsewhere to notice a book that was put back to an earlier state.
        faults: What is wrong, in words; empty when all holds.
    """

    name: str
    rows: int
    head: str
    faults: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "ledger": self.name,
            "rows": self.rows,
            "head": self.head,
            "holds": self.holds,
            "faults": list(self.faults),
        }


def entry_of(paid: Row, answer: Row | None) -> Entry:
    """Read a paid row and the row of its answer."""
    body = paid.content
    release = None if answer is None else answer.content["release"]
    return Entry(paid.paid, paid.token, body["event"], Guarantee.from_dict(body["cost"]), paid.at, release)
