"""What may follow what: every row checked against the row before it, and the whole chain by doing so from the start.

`verify` replays all rows; a release replays those that were written since it last looked (docs/explanation/ledger.md).
"""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from sordino.errors import SordinoError
from sordino.ledger import account
from sordino.ledger.chain import CLOSED, FIRST, FROZEN, OPEN, ChainRow, amount, canonical, written
from sordino.ledger.share import PaidTally, Rules, Share, data_of
from sordino.privacy import BoundedRange, Guarantee, Neighbors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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
            body = row.content
            cost = price_of(body["event"], self._relation, last.ceiling)
            if canonical(body["cost"]) != written(cost):
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
            return self._spend(row.content, nothing)
        if row.kind == "limit":
            share = Share.of(row)
            if self._tally.of(share.subject, nothing) != share.spent:
                return "what it states as spent does not fit the rows before it"
        self._rules = self._rules.after([row])
        return ""

    def _spend(self, body: Mapping[str, Any], nothing: Guarantee) -> str:
        told = body.get("who", {})
        user, data = str(told.get("user", "")), data_of(body["event"])
        text = canonical(body["cost"])
        if broken := self._rules.broken(body["event"], amount(text), told):
            return broken
        self._tally.add(user, data, text)
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
