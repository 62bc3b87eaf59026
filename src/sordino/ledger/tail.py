"""The end of a ledger, checked at every write at a constant cost: what `verify` would refuse there is refused here.

Rows that were written since this object last looked are replayed, at most `TAIL` of them; the row it saw last, the one
this client remembers and the one it was told must still be there under their hashes. A row's hash binds its running
total and all rows before it, so whoever releases regularly has every row checked once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sordino.errors import LedgerDamaged
from sordino.ledger import remembered
from sordino.ledger.replay import TotalReplay, at_the_end
from sordino.ledger.store import damaged
from sordino.privacy import Neighbors

if TYPE_CHECKING:
    from sordino.ledger.chain import ChainRow
    from sordino.ledger.store import Page, Store

Seen = tuple[int, str] | None
"""Number and hash of a row."""

WRITING: Seen = (0, "")
"""Stands for what is seen inside a transaction that is alone with the ledger."""

TAIL = 16
"""Rows that are replayed at most: a new client looks at the last eight releases or so."""


class Tail:
    """What is known of the end of a ledger.

    Args:
        store: Where the ledger is.
        noted: Number and hash of a row that was noted elsewhere.
    """

    def __init__(self, store: Store, noted: tuple[int, str] | None = None) -> None:
        self._store = store
        self.noted = noted
        self.seen: Seen = None
        self._identity: str | None = None
        self._opening: Mapping[str, Any] | None = (
            None  # rows never change, and a hash seen later binds the first
        )

    def checked(
        self, page: Page, seen: Seen = WRITING, *, spending: bool = True
    ) -> tuple[ChainRow, Mapping[str, Any]]:
        """The last row and the opening, or a refusal.

        Args:
            page: The ledger inside a transaction.
            seen: What was seen before a view was taken; left out inside a transaction that is alone with the ledger.
            spending: Whether the ledger is changed; a record only adds the answer to what was paid.
        """
        writing = seen is WRITING
        if writing:
            seen = self.seen
        head = page.head()
        if self._opening is None:
            first = self.sound(page.at(1))
            self._opening, self._identity = first.content, self.identity(first)
        since = TAIL if seen is None or head is None else min(TAIL, max(0, head[0] - seen[0]))
        rows = page.tail(since + 1)
        last = self.sound(rows[-1] if rows else None)
        for fault in at_the_end(last, head):
            raise damaged(self._store.name, fault)
        known = {seen, self.noted}
        if writing and spending and self._store.lasting and self._identity is not None:
            known.add(remembered.recall(self._identity))
        self._check_known(page, known, {row.number: row for row in rows}, last)
        self._replay(page, rows, Neighbors(self._opening["neighbors"]))
        self.seen = (last.number, last.hash)
        return last, self._opening

    def saw(self, last: ChainRow, *, spending: bool = True) -> None:
        """Note the last row after it was committed."""
        self.seen = (last.number, last.hash)
        if spending and self._store.lasting and self._identity is not None:
            remembered.remember(self._identity, last.number, last.hash)

    def sound(self, row: ChainRow | None) -> ChainRow:
        """A row that has not been touched."""
        if row is None:
            raise damaged(self._store.name, "rows are missing")
        if not row.sealed:
            raise damaged(self._store.name, f"row {row.number} was changed")
        return row

    def identity(self, first: ChainRow) -> str:
        """What a ledger is known by, wherever it lies; those of the first format have no name of their own."""
        named = first.content.get("id")
        return f"ledger {named}" if named else f"{first.hash} {self._store.name}"

    def _check_known(
        self, page: Page, known: set[tuple[int, str] | None], near: Mapping[int, ChainRow], last: ChainRow
    ) -> None:
        """Refuse a ledger in which a row that was seen is missing or another."""
        for noted in known:
            if noted is None:
                continue
            number, seal = noted
            row = near.get(number) or page.at(number)
            if row is None or row.hash != seal:
                raise self._older(number, last)

    def _replay(self, page: Page, rows: list[ChainRow], relation: Neighbors) -> None:
        """Refuse what does not follow from the row before it."""
        whole = rows[0].number == 1
        replay = TotalReplay() if whole else TotalReplay(relation, self.sound(rows[0]))
        fresh = rows if whole else rows[1:]
        for fault in replay.faults(fresh):
            raise damaged(self._store.name, fault)
        for row in () if whole else fresh:
            if row.kind == "record" and page.find("spend", row.token) is None:
                raise damaged(self._store.name, f"row {row.number}: it records what was not paid for")

    def _older(self, number: int, last: ChainRow) -> LedgerDamaged:
        file = remembered.place(self._identity) if self._identity else None
        return LedgerDamaged(
            f"ledger {self._store.name}",
            f"the ledger is not the one that was seen: row {number} is "
            + ("missing" if number > last.number else "another"),
            why="It was put back to an older copy, or written anew. What was released since is spent all the same.",
            hint="put the newest copy back; to go on from this one nevertheless, delete what was remembered"
            + ("" if file is None else f": rm '{file}'"),
        )
