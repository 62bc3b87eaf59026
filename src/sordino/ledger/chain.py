"""Rows of the ledger, sealed by hash: each names the hash of the row before it. What follows what is in `replay`.

The running total, the ceiling and the state stand in every row: one row is enough to decide about the next spend.
"""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from typing import Any

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
    return hashlib.sha256(canonical(list(parts)).encode()).hexdigest()


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
