"""The JSON interface to a ledger: what was spent and asked, verification, and what officers and owners decide."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sordino.privacy import Guarantee
from sordino.session.report import report as reported
from sordino.web import people, requests
from sordino.web.api_parts import V1, body, dataset_of
from sordino.web.ledger import visible
from sordino.web.view import office, person

if TYPE_CHECKING:
    from starlette.requests import Request

    from sordino.ledger import Ledger
    from sordino.web.dataset import Dataset


def _ledger(request: Request, scope: str) -> tuple[Dataset, Ledger]:
    made = dataset_of(request, scope)
    return made, office(request).ledger_of(made)


def ledger(request: Request) -> Response:
    """The budget that pays for a dataset."""
    _, ledger = _ledger(request, "history")
    amounts = {"budget": ledger.budget, "spent": ledger.spent, "left": ledger.remaining}
    told = {name: amount.to_dict() for name, amount in amounts.items()}
    return JSONResponse(told | {"state": ledger.state, "releases": ledger.releases})


def entries(request: Request) -> Response:
    """What was asked: all of it, one's own, or what was published, as the role allows."""
    _, ledger = _ledger(request, "history")
    who, slug = person(request), office(request).slug(ledger)
    after = request.query_params.get("after", "0")
    listed = ledger.entries(after=int(after) if after.isdigit() else 0)
    found = [entry.to_dict() for entry in visible(office(request), who, slug, listed)]
    return JSONResponse({"entries": found[:500]})


def verify(request: Request) -> Response:
    """Check the whole ledger."""
    made, ledger = _ledger(request, "verify")
    person(request).must("audit")
    report = ledger.verify(known=request.query_params.get("known") or None).to_dict()
    return JSONResponse(report | {"ledger": made.name})


def export(request: Request) -> Response:
    """The whole ledger."""
    _, ledger = _ledger(request, "verify")
    person(request).must("audit")
    written = io.StringIO()
    ledger.export_to(written)
    return Response(written.getvalue(), media_type="application/json")


async def decision(request: Request) -> Response:
    """Approve or refuse a request."""
    given = await body(request)
    person(request).scope("decide")
    state = await requests.decided(
        request,
        person(request),
        request.path_params["token"],
        str(given.get("decision", "")),
        str(given.get("reason", "")),
    )
    return JSONResponse({"state": state})


async def report(request: Request) -> Response:
    """The report of a ledger: one page, without a script."""
    given = await body(request)
    _, ledger = _ledger(request, "history")
    person(request).must("read-all")
    title, releases = given.get("title"), given.get("releases")
    page = await run_in_threadpool(lambda: reported(ledger, title=title, releases=releases))
    return JSONResponse({"html": page})


async def limit(request: Request) -> Response:
    """Give a share of the ceiling: to a person, to a dataset, or to a person's questions about one."""
    given = await body(request)
    return await run_in_threadpool(_share, request, given, "limit")


async def freeze(request: Request) -> Response:
    """Freeze or thaw a share; without a person and a dataset the whole ledger."""
    given = await body(request)
    return await run_in_threadpool(_share, request, given, "freeze" if given.get("frozen", True) else "thaw")


def _share(request: Request, given: dict[str, Any], kind: str) -> Response:
    who, house = person(request), office(request)
    _, ledger = _ledger(request, "decide")
    who.must("limit" if kind == "limit" else "freeze")
    ceiling = Guarantee.from_dict(given.get("ceiling") or {}) if kind == "limit" else None
    asker, data, reason = (str(given.get(name) or "") for name in ("person", "data", "reason"))
    if kind != "limit" and not asker and not data:
        (ledger.freeze if kind == "freeze" else ledger.unfreeze)(reason=reason, user=who.name)
    else:
        people.share(ledger, kind, ceiling, asker or None, data or None, reason, who.name)
    house.desk.note(who.name, who.via, who.address, kind, " ".join(filter(None, (asker, data))), "done")
    return JSONResponse({"state": ledger.state})


async def raised(request: Request) -> Response:
    """Propose a higher ceiling; an officer raises it."""
    given = await body(request)
    return await run_in_threadpool(_raised, request, given)


def _raised(request: Request, given: dict[str, Any]) -> Response:
    _, ledger = _ledger(request, "decide")
    budget = Guarantee.from_dict(given.get("budget") or {})
    token = requests.proposed(request, budget, str(given.get("reason") or ""), office(request).slug(ledger))
    return JSONResponse({"state": "waiting", "request": token}, 202)


def waiting(request: Request) -> Response:
    """The requests that one may see; an officer sees all of them."""
    person(request).scope("decide")
    house, who = office(request), person(request)
    told = ("token", "person", "kind", "state", "reason", "decided_by", "words", "data", "purpose")
    listed = [{name: one.get(name) for name in told} for one in requests.listed(house, who)]
    return JSONResponse({"requests": listed})


BASE = f"{V1}/datasets/{{name}}"
ROUTES = [
    Route(f"{BASE}/ledger", ledger),
    Route(f"{BASE}/ledger/entries", entries),
    Route(f"{BASE}/ledger/verify", verify),
    Route(f"{BASE}/ledger/export", export),
    Route(f"{BASE}/report", report, methods=["POST"]),
    Route(f"{BASE}/limits", limit, methods=["POST"]),
    Route(f"{BASE}/freezes", freeze, methods=["POST"]),
    Route(f"{BASE}/raises", raised, methods=["POST"]),
    Route(f"{V1}/requests", waiting),
    Route(f"{V1}/requests/{{token}}/decision", decision, methods=["POST"]),
]
