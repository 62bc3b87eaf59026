"""Reports: one file for the boss, the auditor or the public, made by the library and shown without any script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sordino.session.card import card
from sordino.session.report import AUDIENCES, report
from sordino.web import downloads
from sordino.web.ledger import named_ledger
from sordino.web.locks import PAGE
from sordino.web.view import office, page, person

if TYPE_CHECKING:
    from starlette.requests import Request


def show(request: Request) -> Response:
    """Which report of which ledger."""
    listed = [{"slug": slug, "ledger": ledger} for slug, ledger in office(request).ledgers().items()]
    return page(request, "reports.html", listed=listed, audiences=AUDIENCES)


def made(request: Request) -> Response:
    """One report, to be looked at or saved."""
    slug, ledger = named_ledger(request)
    audience = request.path_params["audience"]
    if audience not in AUDIENCES:
        raise HTTPException(404)
    person(request).must("read-all")
    title = request.query_params.get("title", "").strip()[:200] or None
    text = report(ledger, title=title, audience=audience, pictures=True)
    name = f"{slug}-{audience}.html"
    headers = {"content-security-policy": PAGE}
    if "save" in request.query_params:
        headers["content-disposition"] = f'attachment; filename="{name}"'
    return HTMLResponse(text, headers=headers)


def registered(request: Request) -> Response:
    """The card of the registry of deployments, as JSON."""
    import json

    slug, ledger = named_ledger(request)
    person(request).must("read-all")
    return downloads.file(json.dumps(card(ledger), indent=2), f"{slug}-card.json", "application/json")


ROUTES = [
    Route("/reports", show),
    Route("/reports/{slug}/card.json", registered),
    Route("/reports/{slug}/{audience}", made),
]
