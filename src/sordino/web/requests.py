"""Requests: questions that wait for an officer, and ceilings that two people raise. Approval is the debit."""

from __future__ import annotations

import json
import secrets
import time
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.routing import Route

from sordino import fields
from sordino.errors import ParameterError, SordinoError
from sordino.explain import asked as in_words
from sordino.ledger.entry import Stamp
from sordino.privacy import Guarantee
from sordino.web import releasing
from sordino.web.forms import PRICES
from sordino.web.person import Forbidden
from sordino.web.question import Inquiry
from sordino.web.view import office, page, person, price, see
from sordino.web.view import typed as read_form

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from sordino.web.office import Office
    from sordino.web.person import Person

NAMES = ("token", "person", "kind", "subject", "made", "state", "reason", "decided_by")
EXPIRES = 14 * 86400


def kept(house: Office, token: str) -> dict[str, Any] | None:
    """A request by its token; one that nobody decided in 14 days has expired."""
    found = house.desk.run(f"SELECT {', '.join(NAMES)} FROM requests WHERE token = ?", token).fetchone()  # noqa: S608
    if found is None:
        return None
    return _aged(dict(zip(NAMES, found, strict=True)))


def file(house: Office, token: str, who: str, kind: str, subject: str, reason: str = "") -> None:
    """Put a request into the queue; one that was taken back or not decided in time waits again."""
    now = time.time()
    house.desk.run(
        "INSERT INTO requests VALUES (?, ?, ?, ?, ?, 'waiting', ?, '') ON CONFLICT (token) DO UPDATE "
        "SET state = 'waiting', made = excluded.made WHERE requests.state = 'withdrawn' "
        "OR (requests.state = 'waiting' AND requests.made < ?)",
        token, who, kind, subject, now, reason[:1000], now - EXPIRES,
    )  # fmt: skip
    house.desk.run("UPDATE drafts SET state = 'waiting' WHERE token = ?", token)


def show(request: Request, problem: SordinoError | None = None) -> Response:
    """The queue: everything for officers, one's own for everybody else."""
    house, who = office(request), person(request)
    return page(
        request, "requests.html", status=200 if problem is None else 422, listed=listed(house, who), problem=problem,
        ledgers=house.ledgers(),
    )  # fmt: skip


def listed(house: Office, who: Person) -> list[dict[str, Any]]:
    """The requests that somebody may see, the newest first."""
    rows = house.desk.run(f"SELECT {', '.join(NAMES)} FROM requests ORDER BY made DESC LIMIT 200").fetchall()  # noqa: S608
    found = []
    for row in rows:
        one = _aged(dict(zip(NAMES, row, strict=True)))
        if one["person"] == who.name or who.may("decide") or who.may("propose-raise"):
            found.append(one | _shown(house, one))
    return found


def _aged(one: dict[str, Any]) -> dict[str, Any]:
    if one["state"] == "waiting" and time.time() - one["made"] > EXPIRES:
        one["state"] = "expired"
    return one


def _shown(house: Office, one: dict[str, Any]) -> dict[str, Any]:
    """What an officer sees of a request: question, cost and what went before; no answer."""
    try:
        if one["kind"] == "raise":
            said = json.loads(one["subject"])
            return {
                "words": f"raise the ceiling of {said['ledger']} to {said['to']}",
                "cost": None,
                "before": 0,
            }
        draft = house.desk.drafted(one["token"])
        assert draft is not None
        dataset, inquiry = house.dataset(draft["dataset"]), Inquiry.from_dict(draft["asked"])
        event = inquiry.of(house.session(dataset))[1].event
        ledger = house.ledger_of(dataset)
        mine = sum(1 for entry in ledger.entries() if entry.who.get("user") == one["person"])
        return {"words": in_words(event), "cost": ledger.cost(event), "before": mine, "data": dataset.name,
                "purpose": inquiry.purpose, "left": ledger.remaining}  # fmt: skip
    except SordinoError as problem:
        return {"words": "cannot be asked any more", "cost": None, "before": 0, "broken": problem.rule}


async def wanted(request: Request) -> Response:
    """Ask for approval of a draft."""
    typed = await read_form(request)
    del typed
    return await run_in_threadpool(_wanted, request)


def _wanted(request: Request) -> Response:
    house, who = office(request), person(request)
    who.must("ask")
    draft = house.desk.drafted(request.path_params["token"])
    if draft is None or draft["person"] != who.name:
        raise HTTPException(404)
    file(house, draft["token"], who.name, "release", draft["dataset"])
    house.desk.note(who.name, who.via, who.address, "request", draft["dataset"], "waiting")
    return see(f"/ask/{draft['token']}")


async def decide(request: Request) -> Response:
    """An officer decides; an approval debits and draws at once."""
    typed = await read_form(request)
    try:
        await decided(
            request,
            person(request),
            request.path_params["token"],
            typed.get("decision", ""),
            typed.get("reason", ""),
        )
    except Forbidden:
        raise
    except SordinoError as problem:
        return await run_in_threadpool(show, request, problem)
    return see("/requests")


async def decided(request: Request, who: Person, token: str, decision: str, reason: str) -> str:
    """Approve or refuse a request; nobody decides their own."""
    house = office(request)
    one = await run_in_threadpool(kept, house, token)
    if one is None:
        raise HTTPException(404)
    if decision == "withdraw":
        return await run_in_threadpool(_withdrawn, house, who, one)
    who.must("decide")
    if one["person"] == who.name:
        raise Forbidden("requests", "nobody decides a request of their own", hint="ask another officer")
    if one["state"] != "waiting":
        raise ParameterError("requests", f"the request is {one['state']}", hint="look at the list again")
    if decision not in ("approve", "refuse") or (decision == "refuse" and not reason.strip()):
        raise ParameterError("requests", "is approved, or refused with a reason", got={"decision": decision})
    state = "approved" if decision == "approve" else "refused"
    if decision == "approve":
        if one["kind"] == "raise":
            await run_in_threadpool(_raise, house, who, one)
        else:
            draft = await run_in_threadpool(house.desk.drafted, token)
            assert draft is not None
            dataset, inquiry = house.dataset(draft["dataset"]), Inquiry.from_dict(draft["asked"])
            await releasing.begin(
                request, who, draft, dataset, inquiry, Stamp(one["person"], approved_by=who.name)
            )
    else:
        house.desk.mark(token, "refused")
    house.desk.run(
        "UPDATE requests SET state = ?, reason = ?, decided_by = ? WHERE token = ?",
        state, reason.strip()[:1000] or one["reason"], who.name, token,
    )  # fmt: skip
    house.desk.note(who.name, who.via, who.address, "decide", f"{one['person']} {one['kind']}", state)
    return state


def _withdrawn(house: Office, who: Person, one: dict[str, Any]) -> str:
    """Whoever asked may take a waiting request back."""
    if one["person"] != who.name:
        raise Forbidden("requests", "only whoever asked takes a request back")
    if one["state"] != "waiting":
        raise ParameterError("requests", f"the request is {one['state']}", hint="look at the list again")
    house.desk.run("UPDATE requests SET state = 'withdrawn' WHERE token = ?", one["token"])
    house.desk.mark(one["token"], "withdrawn")
    house.desk.note(who.name, who.via, who.address, "request", one["kind"], "withdrawn")
    return "withdrawn"


def _raise(house: Office, who: Person, one: dict[str, Any]) -> None:
    said = json.loads(one["subject"])
    ledger = house.ledgers().get(said["ledger"])
    if ledger is None:
        raise ParameterError("requests", "there is no such ledger", got={"ledger": said["ledger"]})
    ledger.raise_to(
        Guarantee.from_dict(said["budget"]), reason=one["reason"], proposed_by=one["person"], user=who.name
    )


async def propose(request: Request) -> Response:
    """An owner proposes a higher ceiling; an officer raises it."""
    typed = await read_form(request)
    try:
        budget = fields.guarantee({name: str(typed.get(name) or "").strip() or None for name in PRICES})
        await run_in_threadpool(proposed, request, budget, typed.get("reason", ""), typed.get("ledger", ""))
    except Forbidden:
        raise
    except SordinoError as problem:
        return await run_in_threadpool(show, request, problem)
    return see("/requests")


def proposed(request: Request, budget: Guarantee, reason: str, slug: str) -> str:
    """Put a raise into the queue."""
    house, who = office(request), person(request)
    who.must("propose-raise")
    if slug not in house.ledgers() or not reason.strip():
        raise ParameterError("requests", "a raise names a ledger and a reason", got={"ledger": slug})
    token = secrets.token_hex(16)
    said = {"ledger": slug, "budget": budget.to_dict(), "to": price(budget)}
    file(house, token, who.name, "raise", json.dumps(said), reason.strip())
    house.desk.note(who.name, who.via, who.address, "propose", slug, "waiting")
    return token


ROUTES = [
    Route("/requests", show),
    Route("/requests", propose, methods=["POST"]),
    Route("/requests/{token}", decide, methods=["POST"]),
    Route("/ask/{token}/request", wanted, methods=["POST"]),
]
