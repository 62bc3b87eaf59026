"""What the book gives out and is told: a paid question with its answer, the report of a verification, tokens, reasons.

Plain records; where they are kept is in `sqlite` and `postgres`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sordino.errors import ParameterError
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


def check_reason(reason: str) -> None:
    """Refuse a change of the book without a reason."""
    if not isinstance(reason, str) or not reason.strip():
        raise ParameterError(
            "ledger",
            "a reason must be given",
            why="It stays in the book.",
            hint='reason="2026 income tables"',
        )


def check_token(token: str | None) -> None:
    """Refuse a token that is no short text."""
    if token is not None and (not isinstance(token, str) or not token.strip() or len(token) > 200):
        raise ParameterError(
            "ledger",
            "a token is a text of 1 to 200 characters",
            got={"token": token},
            hint='token="tables-2026-1"',
        )
