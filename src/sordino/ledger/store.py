"""What a database must do for the ledger: a few operations inside a transaction. No accounting here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from sordino.address import pasted
from sordino.errors import LedgerDamaged, LedgerError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from sordino.ledger.chain import ChainRow

STRETCH = 256
"""Rows that are read in one transaction: long readings are made of short ones, so that nobody waits for them."""


class Page(Protocol):
    """The ledger inside one transaction."""

    def tail(self, count: int) -> list[ChainRow]:
        """The newest rows, in order."""

    def find(self, kind: str, token: str) -> ChainRow | None:
        """The row of a kind with a token."""

    def at(self, number: int) -> ChainRow | None:
        """The row with a number."""

    def release(self, paid: int) -> ChainRow | None:
        """The spend with this number in the order of payment."""

    def rows(self, after: int, count: int) -> list[ChainRow]:
        """The rows after a number, in order."""

    def paid(self, after: int, count: int) -> list[tuple[ChainRow, ChainRow | None]]:
        """The spends after a row, in order, each with its record."""

    def changes(self) -> list[ChainRow]:
        """The rows that were neither paid nor recorded."""

    def head(self) -> tuple[int, str] | None:
        """Number and hash of the row that was written last."""

    def append(self, row: ChainRow) -> None:
        """Write one row and move the mark of the last one."""


class Store(Protocol):
    """A place where one ledger is kept."""

    name: str
    lasting: bool
    """Whether the ledger is there for the next process."""

    def exists(self) -> bool:
        """Whether a ledger is there."""

    def create(self, first: ChainRow) -> None:
        """Make the ledger with its first row, all or nothing; raises `LedgerError` when there is one."""

    def read(self) -> AbstractContextManager[Page]:
        """A consistent view."""

    def write(self) -> AbstractContextManager[Page]:
        """A transaction that is alone with the ledger until it commits."""

    def damage(self) -> list[str]:
        """Faults of the file or the tables themselves, in words."""

    def close(self) -> None:
        """Let go of connections."""


class Walk:
    """All rows in order, in short readings; afterwards the mark of the last row as it was at the end.

    Rows only grow and name each other, so that readings one after the other are as good as one.
    """

    def __init__(self, store: Store, until: int | None = None) -> None:
        self._store, self._until = store, until
        self.head: tuple[int, str] | None = None

    def __iter__(self) -> Iterator[ChainRow]:
        after = 0
        while True:
            with self._store.read() as page:
                rows, self.head = page.rows(after, STRETCH), page.head()
            for row in rows:
                if self._until is not None and row.number > self._until:
                    return
                yield row
            if len(rows) < STRETCH:
                return
            after = rows[-1].number


def taken(name: str) -> LedgerError:
    """A ledger is already there."""
    return LedgerError(
        f"ledger {name}",
        "there is a ledger already",
        why="A second ledger about the same people would forget what the first one has spent.",
        hint="open it without a budget, or raise its ceiling: "
        f"sordino ledger raise {pasted(name)} --epsilon 4 --reason 'why'",
    )


def absent(name: str) -> LedgerError:
    """No ledger is there."""
    return LedgerError(
        f"ledger {name}",
        "there is no ledger here",
        hint=f'sordino ledger create {pasted(name)} --epsilon 3 --reason "what it is for"',
    )


def damaged(name: str, what: str) -> LedgerDamaged:
    """The database itself cannot be read."""
    return LedgerDamaged(
        f"ledger {name}",
        f"the ledger is damaged: {what}",
        why="Nothing is released from a ledger that cannot be trusted.",
        hint="restore the newest backup; releases since then are spent all the same",
    )


def later(name: str, version: int, known: int) -> LedgerError:
    """The ledger was written by a later version of this library."""
    return LedgerError(
        f"ledger {name}",
        f"was written by a later version (its format is {version}, known are 1 to {known})",
        hint="pip install --upgrade sordino",
    )
