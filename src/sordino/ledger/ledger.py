"""`Ledger`: the one writer. It debits before anything is read, and keeps the answer beside its price.

Where rows are stored is in `sqlite` and `postgres`, what a price costs in `account`, what a chain must look like in
`replay`, what can be read in `reading`. Nothing here sees data.
"""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any, Self

from sordino.errors import Frozen, LedgerDamaged, LedgerError, ParameterError, SordinoError, TokenUsed
from sordino.ledger import account
from sordino.ledger.account import data_of, spent_by
from sordino.ledger.chain import FROZEN, OPEN, ChainRow, amount, canonical, written
from sordino.ledger.declared import refused
from sordino.ledger.entry import (
    Debit,
    Entry,
    Stamp,
    check_name,
    check_reason,
    check_token,
    entry_of,
    now,
    visible,
    who,
)
from sordino.ledger.export import FORMAT, VERSION
from sordino.ledger.rules import LedgerRules
from sordino.privacy import Approx, Guarantee, Neighbors, Unit
from sordino.privacy.neighbors import relations_by_name

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from sordino.ledger.store import Page
    from sordino.session.release import Event, Release


class Ledger(LedgerRules):
    """The ledger of one population's budget.

    Args:
        location: Path of a SQLite file, a ``postgresql://`` address, or None for a ledger in memory.
        user: Who asks, for the entries; the login name unless said otherwise.
        known: ``ROW:HASH`` of a row that was noted earlier: a ledger put back to an older copy is then refused. The
            last row that this client wrote is remembered in any case, unless ``SORDINO_STATE=off``.

    Example:
        >>> from sordino.privacy import Pure
        >>> ledger = Ledger.create(None, Pure(3), reason="an example")
        >>> ledger.remaining
        Pure(epsilon=3)
    """

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
        user: str | None = None,
    ) -> Self:
        """Begin a ledger.

        Args:
            location: Path, ``postgresql://`` address, or None for a ledger in memory.
            budget: The ceiling of everything that will ever be released about these people.
            reason: What the ledger is for, in words.
            neighbors: Which datasets the promise compares.
            unit: Whom it protects.
            counting: ``"sums"`` adds amounts of the budget's own kind; ``"concentrated"`` keeps an approximate
                budget by counting rho up to the largest total that is within it.
            user: Who begins it; the login name unless said otherwise.
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
        ledger = cls(location, user=user)
        body = {
            "format": FORMAT,
            "version": VERSION,
            "id": secrets.token_hex(16),
            "reason": reason,
            "neighbors": neighbors.value,
            "unit": (unit or Unit()).to_dict(),
            "stated": stated.to_dict(),
            "who": who(user),
        }
        spent, ceiling = written(account.nothing(budget)), written(budget)
        try:
            ledger._store.create(
                ChainRow.after(None, "open", "", body, spent=spent, ceiling=ceiling, at=now())
            )
        except BaseException:
            ledger.close()
            raise
        return ledger

    @classmethod
    def exists(cls, location: str | os.PathLike[str]) -> bool:
        """Whether there is a ledger at a place."""
        ledger = cls(location)
        try:
            return ledger._store.exists()
        finally:
            ledger.close()

    def cost(self, event: Event) -> Guarantee:
        """What a question would cost in the terms of the budget; spends nothing."""
        return self._cost(event, self.opening, self.budget)

    def spend(
        self,
        event: Event,
        token: str | None = None,
        *,
        purpose: str | None = None,
        stamp: Stamp | None = None,
    ) -> Entry:
        """Debit the price of a question, or raise `BudgetExceeded`.

        A token that has paid for the same question already pays nothing: the entry comes back, with its answer when
        there is one. A token that has paid for another question, or about other data, is refused.
        """
        (entry,) = self.spend_all([(event, token)], purpose=purpose, stamp=stamp)
        return entry

    def spend_all(
        self,
        asked: Sequence[tuple[Event, str | None]],
        *,
        purpose: str | None = None,
        stamp: Stamp | None = None,
    ) -> list[Entry]:
        """Debit several questions in one transaction: all or none."""
        debits = [Debit(event, token, purpose, stamp or Stamp()) for event, token in asked]
        return [entry for entry in self._debit(debits, each=False) if isinstance(entry, Entry)]

    def spend_each(self, debits: Sequence[Debit]) -> list[Entry | SordinoError]:
        """Debit the questions of several people in one transaction: each is paid, or has its refusal in its place."""
        return self._debit(debits, each=True)

    def _debit(self, debits: Sequence[Debit], *, each: bool) -> list[Entry | SordinoError]:
        outcomes: list[Entry | SordinoError] = []
        with self._store.write() as page:
            last, opening = self._tail.checked(page)
            for debit in debits:
                try:
                    entry, last = self._spend(page, last, opening, debit)
                except SordinoError as refusal:  # nothing of it was written
                    if not each or isinstance(refusal, LedgerDamaged):
                        raise
                    outcomes.append(refusal)
                else:
                    outcomes.append(entry)
        self._tail.saw(last)
        return outcomes

    def _spend(
        self,
        page: Page,
        last: ChainRow,
        opening: Mapping[str, Any],
        debit: Debit,
    ) -> tuple[Entry, ChainRow]:
        event, token, stamp = debit.event, debit.token, debit.stamp
        check_name("release", purpose=debit.purpose)
        check_token(token)
        told = stamp.written(who(self._user if stamp.user is None else stamp.user, debit.purpose))
        described = event.to_dict()
        if token is not None and (paid := page.find("spend", token)) is not None:
            _check_same(self.name, token, self._tail.sound(paid).content["event"], described)
            entry = entry_of(paid, self._tail.answer(page, token))
            if entry.release is None:
                _check_open(self.name, page, last)
            return entry, last
        _check_open(self.name, page, last)
        spent, ceiling = amount(last.spent), amount(last.ceiling)
        cost = self._cost(event, opening, ceiling)
        rules = self._tail.rules(page)
        if broken := rules.broken(described, cost, told):
            raise refused(self.name, broken, cost)
        totals = {}
        for share in rules.over(told["user"], data_of(described)):
            before = spent_by(page, share)
            share.check(self.name, before, cost)
            totals[share.subject.key] = (before + cost).to_dict()
        total = spent + cost
        if not total.within(ceiling):
            raise account.short(self.name, cost, account.left(ceiling, spent), ceiling)
        body = {"event": described, "cost": cost.to_dict(), "who": dict(told)}
        if totals:
            body["totals"] = totals
        row = ChainRow.after(
            last,
            "spend",
            token or secrets.token_hex(16),
            body,
            spent=written(total),
            ceiling=last.ceiling,
            at=now(),
        )
        page.append(row)
        return entry_of(row, None), row

    def record(self, entry: Entry, release: Release) -> Mapping[str, Any]:
        """Keep an answer beside its price and give back what is kept: the first answer, if there was one before.

        It is kept under the time of its debit: how long a release took may depend on the data.
        """
        (kept,) = self.record_each([(entry, release)])
        return kept

    def record_each(self, answers: Sequence[tuple[Entry, Release]]) -> list[Mapping[str, Any]]:
        """Keep several answers in one transaction; the first answer of each, if there was one before."""
        stored: list[Mapping[str, Any]] = []
        with self._store.write() as page:
            last, _ = self._tail.checked(page, spending=False)
            for entry, release in answers:
                known, last = self._record(page, last, entry, release)
                stored.append(known.content["release"])
        self._tail.saw(last, spending=False)
        return stored

    def _record(
        self, page: Page, last: ChainRow, entry: Entry, release: Release
    ) -> tuple[ChainRow, ChainRow]:
        """The row that keeps an answer, and the last row."""
        paid = page.find("spend", entry.token)
        if paid is None or paid.paid != entry.number:
            raise LedgerError(
                f"ledger {self.name}",
                "the answer was not paid for in this ledger",
                got={"entry": entry.number},
            )
        if (known := self._tail.answer(page, entry.token)) is not None:
            return known, last
        row = ChainRow.after(
            last,
            "record",
            entry.token,
            {"release": release.kept()},
            spent=last.spent,
            ceiling=last.ceiling,
            at=self._tail.sound(paid).at,
            state=last.standing,
        )
        page.append(row)
        return row, row

    def _cost(self, event: Event, opening: Mapping[str, Any], ceiling: Guarantee) -> Guarantee:
        """Convert a price to the ledger's relation and kind."""
        if event.unit.column != opening["unit"]["column"]:
            raise LedgerError(
                f"ledger {self.name}",
                "the question protects others than the ledger",
                got={"asked": event.unit.column, "ledger": opening["unit"]["column"]},
                why="Prices about different units do not add up.",
                hint="open the data with the unit of the ledger, or begin another: "
                "sordino ledger create other.ledger "
                + (f"--unit {event.unit.column} " if event.unit.column else "")
                + '--epsilon 3 --reason "what it is for"',
            )
        price = account.person_price(event.guarantee, event.neighbors, Neighbors(opening["neighbors"]))
        return account.counted(price, ceiling)


def _check_open(name: str, page: Page, last: ChainRow) -> None:
    """Refuse a spend from a ledger that is frozen or closed, with the reason that was given."""
    if last.standing == OPEN:
        return
    told = [row for row in page.changes() if row.kind in ("freeze", "close")][-1:]
    reason = visible(str(told[0].content.get("reason", ""))) if told else ""
    raise Frozen(
        f"ledger {name}",
        f"is {last.standing}" + (f": {reason}" if reason else ""),
        why="Nothing was read and nothing was spent.",
        hint=f"sordino ledger unfreeze {name} --reason 'why'" if last.standing == FROZEN
        else "begin another ledger; what was spent here is spent all the same",
    )  # fmt: skip


def _check_same(name: str, token: str, kept: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Refuse a token that has paid for another question, or for the same one about other data."""
    kept, asked = dict(relations_by_name(kept)), dict(asked)  # old records write relations as Python does
    data, other = kept.pop("data", None) or {}, asked.pop("data", None) or {}
    why = "A token stands for one question about one dataset, so that asking again costs nothing."
    if json.loads(canonical(kept)) != json.loads(canonical(asked)):  # 0 and 0.0 are one number
        raise TokenUsed(
            f"ledger {name}", "this token has paid for another question", got={"token": token}, why=why,
            hint="use a new token, or none",
        )  # fmt: skip
    # Every fact that was known must be the same; events of the first format do not name their data.
    if any(other.get(fact) != value for fact, value in data.items()):
        named, now = data.get("name"), other.get("name")
        same = named == now
        raise TokenUsed(
            f"ledger {name}",
            "this token has paid for the same question about other data",
            got={"token": token, "data": named} | ({} if same else {"now": now}),
            why=why
            + (" The name is the same, its address or its columns and types are not." if same else ""),
            hint="use a new token, or none",
        )
