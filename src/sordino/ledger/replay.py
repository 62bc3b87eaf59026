"""What may follow what: every row checked against the row before it, and the whole chain by doing so from the start.

`verify` replays all rows. `Tail` is the end of a ledger, checked at every write at a constant cost: rows written since
it last looked are replayed, at most `TAIL` of them; the row it saw last, the one this client remembers and the one it
was told must still be there under their hashes. A row's hash binds its running total and all rows before it, so whoever
releases regularly has every row checked once (docs/explanation/ledger.md).
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sordino.errors import LedgerDamaged, SordinoError
from sordino.ledger import account, remembered
from sordino.ledger.account import PaidTally, Rules, Share, data_of
from sordino.ledger.chain import CLOSED, FIRST, FROZEN, OPEN, ChainRow, amount, canonical, written
from sordino.ledger.store import damaged
from sordino.privacy import BoundedRange, Guarantee, Neighbors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sordino.ledger.store import Page, Store


MOVES = {
    "spend": {OPEN: OPEN},
    "record": {OPEN: OPEN, FROZEN: FROZEN, CLOSED: CLOSED},
    "raise": {OPEN: OPEN, FROZEN: FROZEN},
    "lower": {OPEN: OPEN, FROZEN: FROZEN},
    "freeze": {OPEN: FROZEN},
    "unfreeze": {FROZEN: OPEN},
    "close": {OPEN: CLOSED, FROZEN: CLOSED},
    "limit": {OPEN: OPEN, FROZEN: FROZEN},
    "dataset": {OPEN: OPEN, FROZEN: FROZEN},
}
"""Which rows a ledger takes in each state, and the state that follows."""


@functools.lru_cache(maxsize=64)
def _nothing(ceiling: str) -> Guarantee:
    """The amount spent before anything was spent, under a ceiling that most rows share."""
    return account.nothing(amount(ceiling))


class TotalReplay:
    """Recomputes totals from the events, so that a wrong total is found even under a right hash.

    Args:
        relation: The neighbours of the ledger, when replaying does not begin at the first row.
        last: The row before the first that is replayed.
    """

    def __init__(self, relation: Neighbors | None = None, last: ChainRow | None = None) -> None:
        self.last = last
        self._relation = relation
        self._begun = last is not None
        self._total: tuple[str, Guarantee | None] = ("", None)
        self._cost = ""
        self._body: tuple[ChainRow | None, Any] = (None, None)
        self._paid: set[int] = set()
        self._open: set[int] = set()
        self._rules, self._tally = Rules(), PaidTally()

    def faults(self, rows: Iterable[ChainRow]) -> Iterator[str]:
        """Everything that is wrong with a chain of rows, in words; nothing means that it holds."""
        broken = False
        for row in rows:
            last = self.last
            problem = ""
            expected = 1 if last is None else last.number + 1
            if row.number != expected:
                problem = f"row {expected} is missing (the next is {row.number})"
            elif row.before != (FIRST if last is None else last.hash):
                problem = f"row {row.number} does not follow the row before it"
            if problem:
                yield problem
            broken = broken or bool(problem)
            if not row.sealed:
                yield f"row {row.number} was changed: its hash does not fit"
                broken = True
            elif not broken and (problem := self._problem(row)):  # what follows a fault only repeats it
                yield f"row {row.number}: {problem}"
                broken = True
            self.last = row

    def _problem(self, row: ChainRow) -> str:
        try:
            return self._step(row) or self._token(row) or self._rule(row)
        except (SordinoError, ValueError, KeyError, TypeError, ArithmeticError, AttributeError):
            return "it cannot be read"

    def _content(self, row: ChainRow) -> Any:
        """The body of a row, read once."""
        if self._body[0] is not row:
            self._body = row, row.content
        return self._body[1]

    def _step(self, row: ChainRow) -> str:
        """What is wrong with a row as the one after the last."""
        last = self.last
        if row.kind == "open":
            self._relation = Neighbors(row.content["neighbors"])
            if isinstance(amount(row.ceiling), BoundedRange):
                return "its budget is a bounded range, and those do not add up"
            empty = row.spent == written(account.nothing(amount(row.ceiling))) and row.standing == OPEN
            return (
                "" if last is None and empty and row.paid == 0 else "the ledger was opened twice or not empty"
            )
        if last is None or self._relation is None:
            return "it comes before the ledger was opened"
        if row.kind not in MOVES:
            return "it is of no known kind"
        if MOVES[row.kind].get(last.standing) != row.standing or (
            row.state is None and last.state is not None
        ):
            return f"a ledger that is {last.standing} takes no such row"
        if row.paid != last.paid + (row.kind == "spend"):
            return "its count of releases does not fit the rows before it"
        spent = last.spent
        if row.kind == "spend":
            body = self._content(row)
            cost = price_of(body["event"], self._relation, last.ceiling)
            self._cost = written(cost)
            if canonical(body["cost"]) != self._cost:
                return "its cost does not fit what was asked"
            spent = self._add(last.spent, cost)
        if row.spent != spent:
            return "its running total does not fit the rows before it"
        return self._ceiling(last, row)

    def _add(self, spent: str, cost: Guarantee) -> str:
        """The next total; the last one is kept, as reading it from its text takes longer than adding."""
        text, total = self._total
        total = (total if text == spent and total is not None else amount(spent)) + cost
        text = canonical(total.to_dict())
        self._total = text, total
        return text

    def _ceiling(self, last: ChainRow, row: ChainRow) -> str:
        if (row.spent, row.ceiling) == (last.spent, last.ceiling):
            return ""
        text, total = self._total
        spent = total if text == row.spent and total is not None else amount(row.spent)
        if row.kind in ("raise", "lower"):
            low, high = (last.ceiling, row.ceiling) if row.kind == "raise" else (row.ceiling, last.ceiling)
            if type(amount(low)) is not type(amount(high)) or not amount(low).within(amount(high)):
                return f"it does not {row.kind} the ceiling"
        elif row.ceiling != last.ceiling:
            return "its ceiling does not fit the rows before it"
        fits = spent.within(amount(row.ceiling))
        return "" if fits else "more was spent than the ceiling allows"

    def _rule(self, row: ChainRow) -> str:
        """What is wrong with shares and declared datasets; only known when replaying begins at the first row."""
        if self._begun or row.kind not in ("spend", "limit", "dataset", "raise"):
            return ""
        if row.kind == "raise":
            body = row.content
            alone = body.get("proposed_by") in (None, body.get("who", {}).get("user"))
            return "one person alone raised the ceiling" if self._rules.datasets and alone else ""
        nothing = _nothing(row.ceiling)
        if row.kind == "spend":
            return self._spend(self._content(row), nothing)
        if row.kind == "limit":
            share = Share.of(row)
            if self._tally.of(share.subject, nothing) != share.spent:
                return "what it states as spent does not fit the rows before it"
        self._rules = self._rules.after([row])
        return ""

    def _spend(self, body: Mapping[str, Any], nothing: Guarantee) -> str:
        told = body.get("who", {})
        user, data = str(told.get("user", "")), data_of(body["event"])
        # The step before this one has found the cost to be that.
        if broken := self._rules.broken(body["event"], amount(self._cost), told):
            return broken
        self._tally.add(user, data, self._cost)
        over = self._rules.over(user, data)
        totals = {share.subject.key: self._tally.of(share.subject, nothing) for share in over}
        stated = body.get("totals", {})
        if (stated != {} or totals) and canonical(stated) != canonical(
            {key: each.to_dict() for key, each in totals.items()}
        ):
            return "its totals of shares do not fit the rows before it"
        for share in over:
            if share.frozen:
                return f"{share.subject.words} were frozen"
            if share.ceiling is not None and not totals[share.subject.key].within(share.ceiling):
                return f"more was spent than the share of {share.subject.words} allows"
        return ""

    def _token(self, row: ChainRow) -> str:
        """What is wrong with a token; the tables see to it when replaying does not begin at the first row."""
        if self._begun or row.kind not in ("spend", "record"):
            return ""
        token = hash(row.token)
        if row.kind == "spend":
            if token in self._paid:
                return "its token was paid twice"
            self._paid.add(token)
            self._open.add(token)
            return ""
        if token not in self._open:
            return "it records what was not paid for, or twice"
        self._open.remove(token)
        return ""


def at_the_end(last: ChainRow | None, head: tuple[int, str] | None) -> list[str]:
    """What is wrong with the mark of the last row."""
    if last is None:
        return ["the ledger has no rows"]
    if head is None:
        return ["the mark of the last row is missing"]
    if head != (last.number, last.hash):
        return [f"rows are missing at the end: the ledger was at row {head[0]}, the last is {last.number}"]
    return []


def verify_export(document: Mapping[str, Any]) -> list[str]:
    """Check an exported ledger without its database: what is wrong, in words."""

    def rows() -> Iterator[ChainRow]:
        for row in document["rows"]:
            texts = {name: canonical(row[name]) for name in ("body", "spent", "ceiling")}
            yield ChainRow(**{**row, **texts})

    replay = TotalReplay()
    found = list(replay.faults(rows()))
    last = replay.last
    return found + at_the_end(last, None if last is None else (last.number, last.hash))


def price_of(event: Mapping[str, Any], relation: Neighbors, ceiling: str) -> Guarantee:
    """What an event costs in the terms of a ceiling."""
    return _price(canonical(event["guarantee"]), event["neighbors"], relation, ceiling)


@functools.lru_cache(1024)
def _price(guarantee: str, neighbors: str, relation: Neighbors, ceiling: str) -> Guarantee:
    price = Guarantee.from_dict(json.loads(guarantee))
    return account.counted(account.person_price(price, Neighbors(neighbors), relation), amount(ceiling))


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
        self._rules = Rules()
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

    def answer(self, page: Page, token: str) -> ChainRow | None:
        """The answer that is kept for a token, when there is one."""
        row = page.find("record", token)
        return None if row is None else self.sound(row)

    def rules(self, page: Page) -> Rules:
        """Shares and declared datasets; rows that were read before are not read again."""
        self._rules = self._rules.after(map(self.sound, page.rules(self._rules.upto)))
        return self._rules

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
