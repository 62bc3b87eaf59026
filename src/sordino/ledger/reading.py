"""What a ledger tells: its ceiling, what is spent, its history, whether it holds, and the whole of it as a document.

Reading changes nothing: a ledger of an older format is read as it is. Long readings go row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TextIO

from sordino.address import check_place
from sordino.errors import LedgerDamaged, LedgerError, ParameterError
from sordino.ledger import account, export, remembered
from sordino.ledger.chain import ChainRow, amount, read_known
from sordino.ledger.entry import Change, Entry, Report, change_of, check_name, check_token, entry_of
from sordino.ledger.replay import Tail, TotalReplay, at_the_end
from sordino.ledger.store import STRETCH, Walk
from sordino.privacy import Guarantee, Neighbors, Unit

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from sordino.ledger.store import Store


class LedgerReader:
    """Everything that can be read of a ledger."""

    def __init__(
        self,
        location: str | os.PathLike[str] | None,
        *,
        user: str | None = None,
        known: str | None = None,
    ) -> None:
        check_name("ledger", user=user)
        self._user = user
        self._store = _store(location)
        self.name = self._store.name  # where the ledger is, without passwords
        self._tail = Tail(self._store, _noted(known))

    @property
    def budget(self) -> Guarantee:
        """The ceiling as it stands now."""
        return amount(self._last().ceiling)

    @property
    def spent(self) -> Guarantee:
        """The sum of everything paid, in the terms of the budget."""
        return amount(self._last().spent)

    @property
    def remaining(self) -> Guarantee:
        """What is left."""
        last = self._last()
        return account.left(amount(last.ceiling), amount(last.spent))

    @property
    def state(self) -> str:
        """``"open"``, ``"frozen"`` or ``"closed"``."""
        return self._last().standing

    @property
    def opening(self) -> Mapping[str, Any]:
        """What was written when the ledger was begun: reason, neighbours, unit, stated budget."""
        with self._store.read() as page:
            return dict(self._tail.sound(page.at(1)).content)

    @property
    def neighbors(self) -> Neighbors:
        """Which datasets the promise compares."""
        return Neighbors(self.opening["neighbors"])

    @property
    def unit(self) -> Unit:
        """Whom the ledger protects."""
        return Unit(**self.opening["unit"])

    @property
    def history(self) -> tuple[Entry, ...]:
        """Every paid question in order, with its answer."""
        return tuple(self.entries())

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The paid questions after a number, in order, one by one: a long history needs no memory."""
        row = 0
        if after > 0:
            with self._store.read() as page:
                begin = page.release(after)
            if begin is None:
                return
            row = begin.number
        while True:
            with self._store.read() as page:
                found = page.paid(row, STRETCH)
            for paid, answer in found:
                yield entry_of(self._tail.sound(paid), None if answer is None else self._tail.sound(answer))
            if len(found) < STRETCH:
                return
            row = found[-1][0].number

    @property
    def releases(self) -> int:
        """How many questions were paid."""
        return self._last().paid

    @property
    def changes(self) -> tuple[Change, ...]:
        """How the ledger was begun, raised, lowered, frozen and closed, with the reasons."""
        with self._store.read() as page:
            return tuple(change_of(self._tail.sound(row)) for row in page.changes())

    def entry(self, number: int) -> Entry:
        """The paid question with a number, as `explain` and `show` name it."""
        with self._store.read() as page:
            row = page.release(number)
            if row is None:
                raise LedgerError(
                    f"ledger {self.name}",
                    "there is no release of that number",
                    got={"number": number},
                    hint=f"sordino ledger show {self.name}",
                )
            return entry_of(self._tail.sound(row), self._tail.answer(page, row.token))

    def receipt(self, number: int) -> str:
        """``ROW:HASH`` of a paid question: whoever keeps it notices when the ledger is put back before it."""
        with self._store.read() as page:
            row = page.release(number)
        return "" if row is None else f"{row.number}:{self._tail.sound(row).hash}"

    def paid(self, token: str) -> Entry | None:
        """The question that a token has paid for, when there is one."""
        check_token(token)
        with self._store.read() as page:
            row = page.find("spend", token)
            return None if row is None else entry_of(self._tail.sound(row), self._tail.answer(page, token))

    def verify(self, *, known: tuple[int, str] | str | None = None) -> Report:
        """Check the whole ledger: the file, the chain, the totals, the tokens.

        Args:
            known: Number and hash of a row that was noted earlier, or ``"ROW:HASH"``: also notices a ledger put back
                to an older state. So does the last row that this client remembers.
        """
        replay, walk = TotalReplay(), Walk(self._store)
        noted = {_noted(known) if isinstance(known, str) else known}
        missing = set()
        found: list[str] = []
        try:
            found += self._store.damage()
            with self._store.read() as page:
                first = page.at(1)
            noted.add(self._tail.noted)
            if self._store.lasting and first is not None and first.sealed:
                noted.add(remembered.recall(self._tail.identity(first)))
            missing = {row for row in noted if row is not None}

            def passed() -> Iterator[ChainRow]:
                for row in walk:
                    missing.discard((row.number, row.hash))
                    yield row

            found += replay.faults(passed())
            found += at_the_end(replay.last, walk.head)
        except LedgerDamaged as problem:
            found.append(problem.rule.removeprefix("the ledger is damaged: "))
        found += [f"row {number} is not the one that was noted" for number, _ in sorted(missing)]
        last = replay.last
        return Report(
            self.name, 0 if last is None else last.number, "" if last is None else last.hash, tuple(found)
        )

    def export(self) -> dict[str, Any]:
        """The whole ledger as JSON: every row as it is stored, and the totals."""
        last = self._last()
        rows = [export.plain_row(row) for row in Walk(self._store, last.number)]
        return {**export.header(last), "rows": rows}

    def export_to(self, file: TextIO, *, table: bool = False) -> None:
        """Write the whole ledger row by row: JSON as `export` gives it, or CSV as a table for people."""
        last = self._last()
        rows = (self._tail.sound(row) for row in Walk(self._store, last.number))
        if table:
            export.write_csv(rows, file)
        else:
            export.write_json(rows, last, file)

    def close(self) -> None:
        """Let go of the file or the database."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_store"):  # a location that was refused leaves none
            self.close()

    def __repr__(self) -> str:
        return f"<Ledger {self.name}>"

    def _last(self) -> ChainRow:
        seen = self._tail.seen  # before the view is taken: another thread may write meanwhile
        with self._store.read() as page:
            return self._tail.checked(page, seen)[0]


def _noted(known: str | None) -> tuple[int, str] | None:
    """Read ``ROW:HASH``."""
    if known is None:
        return None
    try:
        return read_known(known)
    except (ValueError, AttributeError):
        raise ParameterError(
            "ledger", "a noted row is written as ROW:HASH", got={"known": known},
            hint="sordino ledger verify LEDGER prints it",
        ) from None  # fmt: skip


def _store(location: str | os.PathLike[str] | None) -> Store:
    """Choose the database by the address."""
    from sordino.ledger.address import is_address

    if not is_address(location):
        check_place("ledger", location)
    if is_address(location):
        from sordino.ledger.postgres import PostgresStore

        return PostgresStore(str(location))
    from sordino.ledger.sqlite import SQLiteStore

    return SQLiteStore(location)
