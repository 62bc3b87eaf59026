"""What the ledger gives out: a paid question with its answer, a change of the ledger itself, the report of a check.

Plain records; where they are kept is in `sqlite` and `postgres`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sordino.ledger.chain import amount
from sordino.privacy import Guarantee

if TYPE_CHECKING:
    from sordino.ledger.chain import ChainRow


@dataclass(frozen=True, slots=True)
class Entry:
    """A paid question, and its answer once there is one.

    Attributes:
        number: The id of the release: 1 for the first that was paid.
        token: Names the question: asked again with it, the stored answer comes back and costs nothing.
        event: What was asked.
        cost: What it cost in the terms of the budget.
        at: When it was paid; its answer is recorded under the same time, so that nobody sees how long it took.
        release: The stored answer as JSON; None while there is none.
        who: User, host, program, version and the stated purpose; empty in entries of the first format.
    """

    number: int
    token: str
    event: Mapping[str, Any]
    cost: Guarantee
    at: str
    release: Mapping[str, Any] | None = field(default=None)
    who: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "number": self.number,
            "token": self.token,
            "at": self.at,
            "who": dict(self.who),
            "cost": self.cost.to_dict(),
            "event": dict(self.event),
            "release": None if self.release is None else dict(self.release),
        }


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the ledger itself.

    Attributes:
        kind: ``open``, ``raise``, ``lower``, ``freeze``, ``unfreeze`` or ``close``.
        at: When.
        reason: Why, in the words that were given.
        ceiling: The ceiling from then on.
        who: User, host, program and version; empty in rows of the first format.
    """

    kind: str
    at: str
    reason: str
    ceiling: Guarantee
    who: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "kind": self.kind,
            "at": self.at,
            "reason": self.reason,
            "ceiling": self.ceiling.to_dict(),
            "who": dict(self.who),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """What verification found.

    Attributes:
        name: Where the ledger is.
        rows: Number of rows.
        head: Hash of the last row; note it elsewhere to notice a ledger that was put back to an earlier state.
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


def entry_of(paid: ChainRow, answer: ChainRow | None) -> Entry:
    """Read a paid row and the row of its answer."""
    body = paid.content
    release = None if answer is None else answer.content["release"]
    cost = Guarantee.from_dict(body["cost"])
    return Entry(paid.paid, paid.token, body["event"], cost, paid.at, release, body.get("who", {}))


def change_of(row: ChainRow) -> Change:
    """Read a row that changed the ledger."""
    body = row.content
    return Change(row.kind, row.at, body["reason"], amount(row.ceiling), body.get("who", {}))
