"""What a database must do for the book: four small operations inside a transaction. No accounting here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from sordino.address import pasted
from sordino.errors import DamagedLedger, LedgerError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from sordino.ledger.chain import Row


class Page(Protocol):
    """The book inside one transaction."""

    def last(self) -> Row | None:
        """The newest row."""

    def find(self, kind: str, token: str) -> Row | None:
        """The row of a kind with a token."""

    def first(self) -> Row | None:
        """The row with which the book was begun."""

    def release(self, paid: int) -> Row | None:
        """The spend that was paid as the so-manieth."""

    def rows(self) -> Iterator[Row]:
        """All rows in order."""

    def head(self) -> tuple[int, str] | None:
        """Number and hash of the row that was written last."""

    def append(self, row: Row) -> None:
        """Write one row and move the mark of the last one."""


class Store(Protocol):
    """A place where one book is kept."""

    name: str

    def exists(self) -> bool:
        """Whether a book is there."""

    def create(self, first: Row) -> None:
        """Make the book with its first row, all or nothing; raises `LedgerError` when there is one."""

    def read(self) -> AbstractContextManager[Page]:
        """A consistent view."""

    def write(self) -> AbstractContextManager[Page]:
        """A transaction that is alone with the book until it commits."""

    def damage(self) -> list[str]:
        """Faults of the file or the tables themselves, in words."""

    def close(self) -> None:
        """Let go of connections."""


def taken(name: str) -> LedgerError:
    """A book is already there."""
    return LedgerError(
        f"ledger {name}",
        "there is a book already",
        why="A second book about the same people would forget what the first one has spent.",
        hint="open it without a budget, or raise its ceiling: "
        f"sordino ledger raise {pasted(name)} --epsilon 4 --reason 'why'",
    )


def absent(name: str) -> LedgerError:
    """No book is there."""
    return LedgerError(
        f"ledger {name}",
        "there is no book here",
        hint=f'sordino ledger create {pasted(name)} --epsilon 3 --reason "what it is for"',
    )


def damaged(name: str, what: str) -> DamagedLedger:
    """The database itself cannot be read."""
    return DamagedLedger(
        f"ledger {name}",
        f"the book is damaged: {what}",
        why="Nothing is released from a book that cannot be trusted.",
        hint="restore the newest backup; releases since then are spent all the same",
    )


def later(name: str, version: int, known: int) -> LedgerError:
    """The book was written by a later version of this library."""
    return LedgerError(
        f"ledger {name}",
        f"was written by a later version (its format is {version}, known are 1 to {known})",
        hint="pip install --upgrade sordino",
    )
