"""What a ledger gives out: a paid question, a change of the ledger itself, the report of a check; and who asked.

Plain records. Names and reasons have a length limit, and whatever a terminal would act on is shown escaped.
"""

from __future__ import annotations

import functools
import os
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sordino import __version__
from sordino.errors import ParameterError
from sordino.ledger.chain import amount
from sordino.privacy import Guarantee

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sordino.ledger.chain import ChainRow
    from sordino.session.release import Event


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


NAME, REASON = 200, 1000
"""The longest name (of a user, a purpose, data) and the longest reason, in characters."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who asks, for whom it is counted, and who approved it.

    Attributes:
        user: Who asks; the user of the ledger's own client where it is None.
        approved_by: Who approved the question, where somebody had to.
        via: What it came through: the name of a token, never the token.
    """

    user: str | None = None
    approved_by: str | None = None
    via: str | None = None

    def __post_init__(self) -> None:
        check_name("release", user=self.user, approved_by=self.approved_by, via=self.via)

    def written(self, told: dict[str, str]) -> dict[str, str]:
        """Who asks, as the ledger keeps it."""
        extra = {"approved_by": self.approved_by, "via": self.via}
        return told | {name: text for name, text in extra.items() if text is not None}


@dataclass(frozen=True, slots=True)
class Debit:
    """A question on its way into a ledger.

    Attributes:
        event: What is asked, and its price.
        token: Names the question: a token pays once.
        purpose: What it is for.
        stamp: Who asks.
    """

    event: Event
    token: str | None = None
    purpose: str | None = None
    stamp: Stamp = field(default_factory=Stamp)


def who(user: str | None = None, purpose: str | None = None) -> dict[str, str]:
    """Say who asks, and what for when it is stated.

    Example:
        >>> told = who("alice", "annual report")
        >>> told["user"], told["program"], told["purpose"]
        ('alice', 'sordino', 'annual report')
    """
    found = {
        "user": login() if user is None else user,
        "host": _short(platform.node() or "unknown"),
        "program": "sordino",
        "version": __version__,
    }
    return found if purpose is None else {**found, "purpose": purpose}


@functools.cache
def login() -> str:
    """The login name of this process's owner, by the system's own list; the environment alone can say anything."""
    try:
        import pwd

        return _short(pwd.getpwuid(os.getuid()).pw_name)
    except (ImportError, KeyError):
        pass
    try:
        import getpass

        return _short(getpass.getuser())
    except (OSError, KeyError, ImportError):
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"


def check_name(subject: str, limit: int = NAME, **given: Any) -> None:
    """Refuse a name that is empty, too long or no text.

    Example:
        >>> check_name("open", user="alice")
    """
    for name, text in given.items():
        if text is None:
            continue
        if not isinstance(text, str) or not text.strip() or len(text) > limit or not storable(text):
            raise ParameterError(
                subject,
                f"{name} must be a text of 1 to {limit} characters",
                got={name: text},
                why="It stays in the ledger, as it is.",
            )


def check_reason(reason: Any) -> None:
    """Refuse a change of the ledger without a reason, or with one that nobody would read."""
    if not isinstance(reason, str) or not reason.strip():
        raise ParameterError(
            "ledger",
            "a reason must be given",
            why="It stays in the ledger.",
            hint='reason="2026 income tables"',
        )
    check_name("ledger", REASON, reason=reason)


def check_token(token: Any) -> None:
    """Refuse a token that is not a short text."""
    fine = isinstance(token, str) and token.strip() and len(token) <= NAME and storable(token)
    if token is not None and not fine:
        raise ParameterError(
            "ledger",
            "a token is a text of 1 to 200 characters",
            got={"token": token},
            hint='token="tables-2026-1"',
        )


def storable(text: str) -> bool:
    """Whether every database can keep a text: no NUL, no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def visible(text: str) -> str:
    r"""Show a text with everything escaped that a terminal would act on: control characters, reversed writing.

    Example:
        >>> visible("tables\x1b[2J")
        'tables\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text
    )


def _short(text: str) -> str:
    return text[:NAME]


def now() -> str:
    """The time of a row."""
    return datetime.now(UTC).isoformat(timespec="seconds")
