"""Templates and what every page needs: navigation, words, numbers, errors in three lines. All text is escaped."""

from __future__ import annotations

import functools
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import jinja2
from starlette.responses import HTMLResponse, RedirectResponse

from sordino import __version__
from sordino.errors import (
    BudgetExceeded,
    Frozen,
    LedgerDamaged,
    LedgerError,
    NotApproved,
    SordinoError,
    Unanswered,
    spell,
)
from sordino.explain import odds
from sordino.labels import shown
from sordino.planner.report import short
from sordino.web import language
from sordino.web.person import Forbidden, TooMany

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from sordino.web.office import Office
    from sordino.web.person import Person

NAV = (("plan", "Plan"), ("data", "Data"), ("ask", "Ask"), ("ledger", "Ledger"), ("reports", "Reports"))
MORE = (
    ("explain", "Explain"),
    ("audit", "Audit"),
    ("geo", "Geo"),
    ("smoothed", "Smoothed"),
    ("glossary", "Glossary"),
)
AGAIN = "5"
"""Seconds after which somebody who was told 429 may ask again."""
SHARED = (("requests", "Requests"), ("people", "People"))


@functools.cache
def _templates(lang: str) -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.ChainableUndefined,
        extensions=["jinja2.ext.i18n"],
    )
    made.install_gettext_translations(language.translation(lang), newstyle=True)  # type: ignore[attr-defined]
    made.filters |= {
        "shown": shown, "short": short, "spell": spell, "price": price, "odds": odds, "when": when, "got": got,
        "capitalize_first": capitalised,
    }  # fmt: skip
    made.globals["zip"] = zip
    return made


def office(request: Request) -> Office:
    """The office that a request is about."""
    found: Office = request.app.state.office
    return found


def person(request: Request) -> Person:
    """Who asks."""
    found: Person = request.scope["person"]
    return found


def price(guarantee: Any) -> str:
    """An amount of privacy in a few words: ``0.5``, ``0.5 (delta 1e-06)``, ``rho 0.1``."""
    if hasattr(guarantee, "rho"):
        return f"rho {spell(guarantee.rho)}"
    delta = getattr(guarantee, "delta", 0)
    return f"{spell(guarantee.epsilon)}" + (f" (delta {spell(delta)})" if delta else "")


def amount(guarantee: Any) -> float:
    """The main number of an amount."""
    return float(guarantee.rho if hasattr(guarantee, "rho") else guarantee.epsilon)


def when(text: str) -> str:
    """A time as people read it."""
    return text[:16].replace("T", " ")


def capitalised(text: str) -> str:
    """A sentence begins with a capital letter; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def query(request: Request, *without: str) -> str:
    """The query of a page, without what only steers it."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in without]
    return urlencode(kept)


def page(
    request: Request, template: str, *, status: int = 200, headers: dict[str, str] | None = None, **given: Any
) -> HTMLResponse:
    """One page."""
    who = request.scope.get("person")
    lang = language.chosen(request.headers.get("accept-language", ""))
    links = [*NAV, *(SHARED if request.app.state.office.shared else ())]
    body = (
        _templates(lang)
        .get_template(template)
        .render(
            request=request,
            lang=lang,
            direction=language.direction(lang),
            person=who,
            shared=request.app.state.office.shared,
            links=links,
            more=MORE,
            here=request.url.path.split("/")[1],
            version=__version__,
            **{"query": query(request, "part", "refresh", "focus"), **given},
        )
    )
    return HTMLResponse(body, status, headers=headers)


def see(address: str) -> RedirectResponse:
    """After a form: look there."""
    return RedirectResponse(address, HTTPStatus.SEE_OTHER)


def status_of(problem: SordinoError) -> int:
    """What an error is to HTTP; none of them is a bug."""
    if isinstance(problem, Forbidden):
        return 403
    if isinstance(problem, TooMany):
        return 429
    if isinstance(problem, NotApproved):
        return 202
    if isinstance(problem, Frozen):
        return 423
    if isinstance(problem, LedgerDamaged | Unanswered):
        return 503
    if isinstance(problem, BudgetExceeded | LedgerError):
        return 409
    return 422


def refused(request: Request, problem: Exception) -> Response:
    """The page of an error: rule, why, hint."""
    assert isinstance(problem, SordinoError)
    status = status_of(problem)
    headers = {"retry-after": AGAIN} if status == 429 else None
    return page(request, "refused.html", status=status, headers=headers, problem=problem)


def got(problem: SordinoError) -> str:
    """What was given, in one line."""
    given = {
        str(name).lstrip("-"): spell(value) for name, value in problem.got.items() if value not in ("", None)
    }
    return ", ".join(f"{name} = {value}" for name, value in given.items())


async def typed(request: Request) -> dict[str, str]:
    """The fields of a form, plain texts only."""
    form = await request.form(max_files=1, max_fields=400, max_part_size=5_000_000)
    return {name: value for name, value in form.items() if isinstance(value, str)}


async def sent(request: Request) -> tuple[dict[str, str], bytes | None]:
    """The fields of a form, and the file that came with it; the file is closed, and gone, before anything is done."""
    async with request.form(max_files=1, max_fields=20, max_part_size=5_000_000) as form:
        given: Any = form.get("file")
        whole = await given.read() if given is not None and not isinstance(given, str) else b""
        return {name: value for name, value in form.items() if isinstance(value, str)}, whole or None
