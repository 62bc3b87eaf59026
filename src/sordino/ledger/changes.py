"""Changes of a ledger itself: its ceiling raised or lowered, frozen and unfrozen, closed. Each is a row with a reason.

Decided inside the transaction that writes the row, so that a spend comes either before a change or after it.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from sordino.errors import LedgerError, ParameterError
from sordino.ledger.chain import CLOSED, FROZEN, OPEN, ChainRow, amount, written
from sordino.ledger.replay import MOVES
from sordino.ledger.who import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sordino.ledger.store import Page
    from sordino.privacy import Guarantee


def changed(
    name: str,
    last: ChainRow,
    kind: str,
    *,
    reason: str,
    who: Mapping[str, str],
    at: str,
    budget: Guarantee | None,
) -> ChainRow:
    """The row of a change, or a refusal."""
    state = MOVES[kind].get(last.standing)
    if state is None:
        raise LedgerError(
            f"ledger {name}", f"is {last.standing}: it cannot be {_done(kind)}",
            why="A closed ledger stays closed." if last.standing == CLOSED else "",
            hint="" if last.standing == CLOSED else f"sordino ledger show {name}",
        )  # fmt: skip
    body: dict[str, Any] = {"reason": reason, "who": dict(who)}
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


def check_open(name: str, page: Page, last: ChainRow) -> None:
    """Refuse a spend from a ledger that is frozen or closed, with the reason that was given."""
    if last.standing == OPEN:
        return
    told = [row for row in page.changes() if row.kind in ("freeze", "close")][-1:]
    reason = visible(str(told[0].content.get("reason", ""))) if told else ""
    raise LedgerError(
        f"ledger {name}",
        f"is {last.standing}" + (f": {reason}" if reason else ""),
        why="Nothing was read and nothing was spent.",
        hint=f"sordino ledger unfreeze {name} --reason 'why'" if last.standing == FROZEN
        else "begin another ledger; what was spent here is spent all the same",
    )  # fmt: skip


def _done(kind: str) -> str:
    return {"freeze": "frozen", "unfreeze": "unfrozen", "close": "closed"}.get(
        kind, kind.removesuffix("e") + "ed"
    )
