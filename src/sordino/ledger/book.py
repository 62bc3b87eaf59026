"""`Ledger`: the one writer of the book. It debits before anything is read, and keeps the answer beside its price.

Where rows are stored is in `sqlite` and `postgres`, what a price costs in `account`. Nothing here sees data.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from sordino.address import check_place, is_server, pasted
from sordino.errors import LedgerError, ParameterError
from sordino.ledger import account
from sordino.ledger.chain import Row, amount, canonical, faults
from sordino.ledger.entry import Entry, Report, check_reason, check_token, entry_of
from sordino.ledger.store import damaged
from sordino.privacy import Approx, Guarantee, Neighbors, Unit
from sordino.privacy.unit import relations_by_name

if TYPE_CHECKING:
    from sordino.ledger.store import Page, Store
    from sordino.session.release import Event, Release

FORMAT = "sordino-ledger"


class Ledger:
    """The book of one population's budget.

    Args:
        location: Path of a SQLite file, a ``postgresql://`` address, or None for a book in memory.

    Example:
        >>> from sordino.privacy import Pure
        >>> book = Ledger.create(None, Pure(3), reason="an example")
        >>> book.remaining
        Pure(epsilon=3)
    """

    def __init__(self, location: str | os.PathLike[str] | None) -> None:
        self._store = _store(location)

    @classmethod
    def create(
        cls,
        location: str | os.PathLike[str] | None,
        budget: Guarantee,
        *,
        reason: str,
        neighbors: Neighbors | str = Neighbors.REPLACE_ONE,
        unit: Unit | None = None,
        counting: str = "sums",
    ) -> Self:
        """Begin a book.

        Args:
            location: Path, ``postgresql://`` address, or None for a book in memory.
            budget: The ceiling of everything that will ever be released about these people.
            reason: What the book is for, in words.
            neighbors: Which datasets the promise compares.
            unit: Whom it protects.
            counting: ``"sums"`` adds amounts of the budget's own kind; ``"concentrated"`` keeps an approximate
                budget by counting rho up to the largest total that is within it.
        """
        account.check_budget(budget)
        check_reason(reason)
        neighbors, unit = Neighbors.of(neighbors), Unit.checked(unit)
        stated = budget
        if counting == "concentrated":
            if not isinstance(budget, Approx):
                raise ParameterError(
                    "ledger",
                    "counting='concentrated' is for an approximate budget",
                    got={"budget": budget},
                    hint="budget=Concentrated(rho) counts rho by itself",
                )
            budget = account.largest_rho(budget)
        elif counting != "sums":
            raise ParameterError(
                "ledger", "counting must be 'sums' or 'concentrated'", got={"counting": counting}
            )
        book = cls(location)
        body = {
            "format": FORMAT,
            "version": 1,
            "reason": reason,
            "neighbors": neighbors.value,
            "unit": (unit or Unit()).to_dict(),
            "stated": stated.to_dict(),
        }
        spent, ceiling = canonical(account.nothing(budget).to_dict()), canonical(budget.to_dict())
        try:
            book._store.create(Row.after(None, "open", "", body, spent=spent, ceiling=ceiling, at=_now()))
        except BaseException:
            book.close()
            raise
        return book

    @classmethod
    def exists(cls, location: str | os.PathLike[str]) -> bool:
        """Whether there is a book at a place."""
        book = cls(location)
        try:
            return book._store.exists()
        finally:
            book.close()

    @property
    def name(self) -> str:
        """Where the book is, without passwords."""
        return self._store.name

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
    def opening(self) -> Mapping[str, Any]:
        """What was written when the book was begun: reason, neighbours, unit, stated budget."""
        with self._store.read() as page:
            return dict(self._sound(page.first()).content)

    @property
    def neighbors(self) -> Neighbors:
        """Which datasets the promise compares."""
        return Neighbors(self.opening["neighbors"])

    @property
    def unit(self) -> Unit:
        """Whom the book protects."""
        return Unit(**self.opening["unit"])

    def cost(self, event: Event) -> Guarantee:
        """What a question would cost in the terms of the budget; spends nothing."""
        return self._cost(event, self.opening, self.budget)

    def spend(self, event: Event, token: str | None = None) -> Entry:
        """Debit the price of a question, or raise `BudgetExceeded`.

        A token that has paid for the same question already pays nothing: the entry comes back, with its answer when
        there is one. A token that has paid for another question is refused.
        """
        (entry,) = self.spend_all([(event, token)])
        return entry

    def spend_all(self, asked: Sequence[tuple[Event, str | None]]) -> list[Entry]:
        """Debit several questions in one transaction: all or none."""
        for _, token in asked:
            check_token(token)
        with self._store.write() as page:
            last, first = self._newest(page), self._sound(page.first())
            opening, entries = first.content, []
            for event, token in asked:
                entry, last = self._spend(page, last, opening, event, token)
                entries.append(entry)
            return entries

    def _spend(
        self, page: Page, last: Row, opening: Mapping[str, Any], event: Event, token: str | None
    ) -> tuple[Entry, Row]:
        described = event.to_dict()
        if token is not None and (paid := page.find("spend", token)) is not None:
            kept = relations_by_name(
                self._sound(paid).content["event"]
            )  # as records before version 3 wrote them
            if canonical(kept) != canonical(described):
                raise LedgerError(
                    f"ledger {self.name}",
                    "this token has paid for another question",
                    got={"token": token},
                    why="A token stands for one question, so that asking again costs nothing.",
                    hint="use a new token, or none",
                )
            return entry_of(paid, self._answer(page, token)), last
        spent, ceiling = amount(last.spent), amount(last.ceiling)
        cost = self._cost(event, opening, ceiling)
        total = spent + cost
        if not total.within(ceiling):
            raise account.short(self.name, cost, account.left(ceiling, spent), ceiling)
        row = Row.after(
            last,
            "spend",
            token or secrets.token_hex(16),
            {"event": described, "cost": cost.to_dict()},
            spent=canonical(total.to_dict()),
            ceiling=last.ceiling,
            at=_now(),
        )
        page.append(row)
        return entry_of(row, None), row

    def record(self, entry: Entry, release: Release) -> Mapping[str, Any]:
        """Keep an answer beside its price and give back what is kept: the first answer, if there was one before."""
        with self._store.write() as page:
            last, paid = self._newest(page), page.find("spend", entry.token)
            if paid is None or paid.paid != entry.number:
                raise LedgerError(
                    f"ledger {self.name}",
                    "the answer was not paid for in this book",
                    got={"entry": entry.number},
                )
            known = self._answer(page, entry.token)
            if known is None:
                known = Row.after(
                    last,
                    "record",
                    entry.token,
                    {"release": release.to_dict()},
                    spent=last.spent,
                    ceiling=last.ceiling,
                    at=_now(),
                )
                page.append(known)
        stored: Mapping[str, Any] = known.content["release"]
        return stored

    def raise_to(self, budget: Guarantee, *, reason: str) -> Guarantee:
        """Raise the ceiling, with a reason that stays in the book."""
        account.check_budget(budget)
        check_reason(reason)
        with self._store.write() as page:
            last = self._newest(page)
            ceiling = amount(last.ceiling)
            if type(budget) is not type(ceiling) or not ceiling.within(budget) or budget == ceiling:
                raise ParameterError(
                    f"ledger {self.name}",
                    "a ceiling can only be raised, in its own terms",
                    got={"budget": budget, "now": ceiling},
                    why="Lowering it would not take back what was promised before.",
                    hint="to spend less, ask for less",
                )
            row = Row.after(
                last,
                "raise",
                secrets.token_hex(16),
                {"reason": reason, "from": ceiling.to_dict()},
                spent=last.spent,
                ceiling=canonical(budget.to_dict()),
                at=_now(),
            )
            page.append(row)
        return budget

    @property
    def history(self) -> tuple[Entry, ...]:
        """Every paid question in order, with its answer."""
        with self._store.read() as page:
            rows = [self._sound(row) for row in page.rows()]
        answers = {row.token: row for row in rows if row.kind == "record"}
        return tuple(entry_of(row, answers.get(row.token)) for row in rows if row.kind == "spend")

    def entry(self, number: int) -> Entry:
        """The paid question with a number, as `explain` and `show` name it."""
        with self._store.read() as page:
            row = page.release(number)
            if row is None:
                raise LedgerError(
                    f"ledger {self.name}",
                    "there is no release of that number",
                    got={"number": number},
                    hint=f"sordino ledger show {pasted(self.name)}",
                )
            return entry_of(self._sound(row), self._answer(page, row.token))

    def paid(self, token: str) -> Entry | None:
        """The question that a token has paid for, when there is one."""
        with self._store.read() as page:
            row = page.find("spend", token)
            return None if row is None else entry_of(self._sound(row), self._answer(page, token))

    def verify(self, *, known: tuple[int, str] | None = None) -> Report:
        """Check the whole book: the file, the chain, the totals, the tokens.

        Args:
            known: Number and hash of a row that was noted earlier: also notices a book put back to an older state.
        """
        try:
            found = self._store.damage()
            with self._store.read() as page:
                rows, head = list(page.rows()), page.head()
        except LedgerError as problem:
            if "damaged" not in problem.rule:
                raise
            return Report(self.name, 0, "", (problem.rule,))
        found += faults(rows, head)
        if known is not None and not any((row.number, row.hash) == known for row in rows):
            found.append(f"row {known[0]} is not the one that was noted")
        return Report(self.name, len(rows), rows[-1].hash if rows else "", tuple(found))

    def export(self) -> dict[str, Any]:
        """The whole book as JSON: every row as it is stored, and the totals."""
        with self._store.read() as page:
            last, rows = self._newest(page), list(page.rows())
        return {
            "format": FORMAT,
            "version": 1,
            "budget": amount(last.ceiling).to_dict(),
            "spent": amount(last.spent).to_dict(),
            "rows": [
                {name: getattr(row, name) for name in ("number", "paid", "kind", "token", "at", "before", "hash")}
                | {"body": row.content, "spent": amount(row.spent).to_dict(), "ceiling": amount(row.ceiling).to_dict()}
                for row in rows
            ],
        }  # fmt: skip

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

    def _last(self) -> Row:
        with self._store.read() as page:
            return self._newest(page)

    def _newest(self, page: Page) -> Row:
        """The last row, if it is the one that was written last and has not been touched."""
        last = self._sound(page.last())
        if page.head() != (last.number, last.hash):
            raise damaged(self.name, "rows are missing at the end")
        return last

    def _answer(self, page: Page, token: str) -> Row | None:
        """The answer that is kept for a token, when there is one."""
        row = page.find("record", token)
        return None if row is None else self._sound(row)

    def _sound(self, row: Row | None) -> Row:
        """A row that has not been touched."""
        if row is None:
            raise damaged(self.name, "rows are missing")
        if not row.sealed:
            raise damaged(self.name, f"row {row.number} was changed")
        return row

    def _cost(self, event: Event, opening: Mapping[str, Any], ceiling: Guarantee) -> Guarantee:
        """Convert a price to the book's relation and kind."""
        if event.unit.column != opening["unit"]["column"]:
            raise LedgerError(
                f"ledger {self.name}",
                "the question protects others than the book",
                got={"asked": event.unit.column, "book": opening["unit"]["column"]},
                why="Prices about different units do not add up.",
                hint="open the data with the unit of the book, or begin another: sordino ledger create other.ledger "
                + (f"--unit {event.unit.column} " if event.unit.column else "")
                + '--epsilon 3 --reason "what it is for"',
            )
        price = account.person_price(event.guarantee, event.neighbors, Neighbors(opening["neighbors"]))
        return account.counted(price, ceiling)


def _store(location: str | os.PathLike[str] | None) -> Store:
    """Choose the database by the address."""
    check_place("ledger", location)
    if is_server(location):
        assert isinstance(location, str)
        from sordino.ledger.postgres import PostgresStore

        return PostgresStore(location)
    from sordino.ledger.sqlite import SQLiteStore

    return SQLiteStore(location)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
