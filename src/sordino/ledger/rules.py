"""What is decided about a ledger: its ceiling, its state, its datasets, and the shares of its budget.

Each decision is a row with a reason and who took it; a spend comes either before it or after it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sordino.errors import LedgerError, ParameterError
from sordino.ledger import account
from sordino.ledger.account import Share, Sharer, spent_by, total_so_far
from sordino.ledger.chain import CLOSED, ChainRow, amount, written
from sordino.ledger.entry import check_name, check_reason, now, who
from sordino.ledger.reading import LedgerReader
from sordino.ledger.replay import MOVES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sordino.ledger.declared import Declared
    from sordino.ledger.store import Page
    from sordino.privacy import Guarantee


class LedgerRules(LedgerReader):
    """Everything that is decided about a ledger, beside its spends."""

    def raise_to(
        self, budget: Guarantee, *, reason: str, proposed_by: str | None = None, user: str | None = None
    ) -> Guarantee:
        """Raise the ceiling, with a reason that stays in the ledger.

        Args:
            budget: The new ceiling.
            reason: Why.
            proposed_by: Who proposed it: somebody else, where the ledger declares datasets.
            user: Who raises it; the user of this client unless said otherwise.
        """
        account.check_budget(budget)
        check_name("ledger", proposed_by=proposed_by, user=user)
        self._change("raise", reason, budget, more={} if proposed_by is None else {"proposed_by": proposed_by},
                     user=user)  # fmt: skip
        return budget

    def lower_to(self, budget: Guarantee, *, reason: str) -> Guarantee:
        """Lower the ceiling, not below what is spent, with a reason that stays in the ledger."""
        account.check_budget(budget)
        self._change("lower", reason, budget)
        return budget

    def freeze(self, *, reason: str, user: str | None = None) -> None:
        """Refuse every spend until `unfreeze`; answers that are stored still come back by their tokens."""
        self._change("freeze", reason, user=user)

    def unfreeze(self, *, reason: str, user: str | None = None) -> None:
        """Take spends again."""
        self._change("unfreeze", reason, user=user)

    def seal(self, *, reason: str, user: str | None = None) -> None:
        """Close the ledger for good: nothing will ever be spent from it again."""
        self._change("close", reason, user=user)

    def declare(self, dataset: Declared, *, reason: str, user: str | None = None) -> None:
        """Hold every spend about a dataset to its rules; from then on no other than declared data are paid for."""
        self._change("dataset", reason, more={"dataset": dataset.to_dict()}, user=user)

    def limit(
        self,
        ceiling: Guarantee | None,
        *,
        reason: str,
        who_asks: str | None = None,
        data: str | None = None,
        frozen: bool = False,
        user: str | None = None,
    ) -> None:
        """Limit what one person may spend, what may be spent on one dataset, or both; checked in every debit.

        Args:
            ceiling: The share, in the terms of the budget and not below what was spent; None keeps what was said.
            reason: Why; it stays in the ledger.
            who_asks: Whose questions are limited.
            data: Questions about which dataset.
            frozen: Refuse them all for now.
            user: Who decides it; the user of this client unless said otherwise.
        """
        subject = Sharer(who_asks, data)
        if ceiling is not None:
            account.check_budget(ceiling)

        def stated(page: Page, last: ChainRow) -> dict[str, Any]:
            nothing = account.nothing(amount(last.ceiling))
            known = self._tail.rules(page).shares.get(subject.key)
            spent = total_so_far(page, subject, nothing) if known is None else spent_by(page, known)
            kept = ceiling or (None if known is None else known.ceiling)
            if kept is not None and not (type(kept) is type(nothing) and spent.within(kept)):
                raise ParameterError(
                    f"ledger {self.name}", "a share is in the terms of the budget, and not below what is spent",
                    got={"share": kept, "spent": spent}, why="What was released cannot be taken back.",
                    hint="freeze it instead",
                )  # fmt: skip
            return {
                "subject": {name: text for name, text in (("user", who_asks), ("data", data)) if text},
                "ceiling": None if kept is None else kept.to_dict(),
                "frozen": frozen,
                "spent": spent.to_dict(),
            }

        self._change("limit", reason, more=stated, user=user)

    @property
    def shares(self) -> tuple[tuple[Share, Guarantee], ...]:
        """The limits as they stand, each with what was spent under it."""
        with self._store.read() as page:
            rules = self._tail.rules(page)
            return tuple((share, spent_by(page, share)) for share in rules.shares.values())

    @property
    def datasets(self) -> tuple[Declared, ...]:
        """The datasets that were declared."""
        with self._store.read() as page:
            return tuple(self._tail.rules(page).datasets.values())

    def _change(
        self,
        kind: str,
        reason: str,
        budget: Guarantee | None = None,
        *,
        more: Mapping[str, Any] | Callable[[Page, ChainRow], Mapping[str, Any]] | None = None,
        user: str | None = None,
    ) -> None:
        check_reason(reason)
        check_name("ledger", user=user)
        told = who(self._user if user is None else user)
        with self._store.write() as page:
            last, _ = self._tail.checked(page)
            said = more(page, last) if callable(more) else more
            if kind == "raise" and self._tail.rules(page).datasets:
                self._two(told["user"], None if said is None else said.get("proposed_by"))
            row = changed(self.name, last, kind, reason=reason, who=told, at=now(), budget=budget, more=said)
            page.append(row)
        self._tail.saw(row)

    def _two(self, raises: str, proposed: str | None) -> None:
        """Refuse a raise by one person alone."""
        if proposed is None or proposed == raises:
            raise LedgerError(
                f"ledger {self.name}", "its ceiling is raised by two: one proposes, another one raises",
                got={"proposed_by": proposed, "raised_by": raises},
                why="It declares datasets, so that several people answer for it.",
                hint="let somebody else propose it",
            )  # fmt: skip


def changed(
    name: str,
    last: ChainRow,
    kind: str,
    *,
    reason: str,
    who: Mapping[str, str],
    at: str,
    budget: Guarantee | None,
    more: Mapping[str, Any] | None = None,
) -> ChainRow:
    """The row of a change, or a refusal."""
    state = MOVES[kind].get(last.standing)
    if state is None:
        raise LedgerError(
            f"ledger {name}", f"is {last.standing}: it cannot be {_done(kind)}",
            why="A closed ledger stays closed." if last.standing == CLOSED else "",
            hint="" if last.standing == CLOSED else f"sordino ledger show {name}",
        )  # fmt: skip
    body: dict[str, Any] = {"reason": reason, "who": dict(who), **(more or {})}
    ceiling = last.ceiling
    if budget is not None:
        _check_ceiling(name, kind, budget, last)
        body["from"] = amount(last.ceiling).to_dict()
        ceiling = written(budget)
    token = secrets.token_hex(16)
    return ChainRow.after(last, kind, token, body, spent=last.spent, ceiling=ceiling, at=at, state=state)


def _check_ceiling(name: str, kind: str, budget: Guarantee, last: ChainRow) -> None:
    now, spent = amount(last.ceiling), amount(last.spent)
    comparable = type(budget) is type(now) and budget != now
    if kind == "raise" and not (comparable and now.within(budget)):
        raise ParameterError(
            f"ledger {name}",
            "a ceiling can only be raised, in its own terms",
            got={"budget": budget, "now": now},
            hint=f"to lower it: sordino ledger lower {name} ... --reason 'why'",
        )
    if kind == "lower" and not (comparable and budget.within(now) and spent.within(budget)):
        raise ParameterError(
            f"ledger {name}",
            "a ceiling is lowered in its own terms, and not below what is spent",
            got={"budget": budget, "now": now, "spent": spent},
            why="What was released cannot be taken back.",
            hint=f"to stop all releases: sordino ledger freeze {name} --reason 'why'",
        )


def _done(kind: str) -> str:
    return {
        "freeze": "frozen", "unfreeze": "unfrozen", "close": "closed", "limit": "limited", "dataset": "added to",
    }.get(kind, kind.removesuffix("e") + "ed")  # fmt: skip
