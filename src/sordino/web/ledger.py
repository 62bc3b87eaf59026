"""Ledger: gauge, history, shares, reasons, verification, receipts, exports; and the page of one answer."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from sordino import fields
from sordino.errors import ParameterError, SordinoError
from sordino.explain import asked, odds, sections, whom
from sordino.ledger import account
from sordino.session.blocks import blocks
from sordino.session.release import Event, Release
from sordino.web import charts, downloads, forms
from sordino.web.view import amount, office, page, person, see
from sordino.web.view import typed as read_form

if TYPE_CHECKING:
    from starlette.requests import Request

    from sordino.ledger import Entry, Ledger
    from sordino.web.office import Office
    from sordino.web.person import Person

SHOWN = 50
CHANGES = ("raise", "lower", "freeze", "unfreeze")


def index(request: Request) -> Response:
    """All ledgers; the only one at once."""
    found = office(request).ledgers()
    if len(found) == 1:
        return see(f"/ledger/{next(iter(found))}")
    listed = [
        {
            "slug": slug,
            "ledger": ledger,
            "gauge": charts.gauge(amount(ledger.budget), amount(ledger.spent), title=slug),
        }
        for slug, ledger in found.items()
    ]
    return page(request, "ledgers.html", listed=listed)


def named_ledger(request: Request) -> tuple[str, Ledger]:
    """The ledger of an address."""
    slug = request.path_params["slug"]
    found = office(request).ledgers().get(slug)
    if found is None:
        raise HTTPException(404)
    return slug, found


def published(house: Office, slug: str) -> dict[int, str]:
    """The releases of a ledger that everybody here may see, and who published each."""
    rows = house.desk.run("SELECT number, by_whom FROM published WHERE ledger = ?", slug).fetchall()
    return {int(number): str(who) for number, who in rows}


def visible(house: Office, who: Person, slug: str, entries: Iterable[Entry]) -> list[Entry]:
    """The entries that somebody may see: all of them, their own, and those that were published."""
    if who.may("read-all"):
        return list(entries)
    told = published(house, slug)
    return [
        entry
        for entry in entries
        if entry.number in told or (who.may("ask") and entry.who.get("user") == who.name)
    ]


def show(request: Request, problem: SordinoError | None = None) -> Response:
    """One ledger."""
    slug, ledger = named_ledger(request)
    who = person(request)
    total = ledger.releases
    before = request.query_params.get("before", "")
    upto = min(int(before), total + 1) if before.isdigit() else total + 1
    first = max(upto - 1 - SHOWN, 0)
    entries = [
        {"entry": entry, "asked": asked(Event.from_dict(entry.event)),
         "data": (entry.event.get("data") or {}).get("name", "-")}
        for entry in visible(
            office(request), who, slug, itertools.islice(ledger.entries(after=first), upto - 1 - first)
        )
    ][::-1]  # fmt: skip
    known = request.query_params.get("known", "").strip()
    verdict = None
    if who.may("audit") and ("verify" in request.query_params or known):
        try:
            verdict = ledger.verify(known=known or None)
        except SordinoError as error:
            problem = error
    return page(
        request,
        "ledger.html",
        status=200 if problem is None else 422,
        slug=slug,
        ledger=ledger,
        whom=whom(ledger.unit, ledger.neighbors),
        gauge=charts.gauge(amount(ledger.budget), amount(ledger.spent), title="The budget"),
        budget=ledger.budget,
        spent=ledger.spent,
        left=ledger.remaining,
        state=ledger.state,
        reason=ledger.opening["reason"],
        odds=odds(ledger.budget),
        entries=entries,
        shown=published(office(request), slug),
        total=total,
        older=first + 1 if first else None,
        changes=ledger.changes if who.may("read-all") else (),
        shares=[(share, spent, None if share.ceiling is None else account.left(share.ceiling, spent))
                for share, spent in ledger.shares] if who.may("read-all") else (),
        declared=ledger.datasets,
        verdict=verdict,
        known=known,
        problem=problem,
        kinds=[name for name in forms.PRICES if hasattr(ledger.budget, name)],
    )  # fmt: skip


async def change(request: Request) -> Response:
    """Raise, lower, freeze or unfreeze: one's own ledger. An organisation's ceiling is raised by two (Requests)."""
    typed = await read_form(request)
    return await run_in_threadpool(_change, request, typed)


def _change(request: Request, typed: dict[str, str]) -> Response:
    slug, ledger = named_ledger(request)
    house, who = office(request), person(request)
    kind, reason = typed.get("kind", ""), typed.get("reason", "").strip()
    if kind not in CHANGES:
        raise ParameterError("ledger", "is no change of a ledger", got={"kind": kind})
    who.must("freeze" if kind in ("freeze", "unfreeze") else "limit")
    try:
        if kind in ("raise", "lower"):
            budget = fields.guarantee({name: typed.get(name, "").strip() or None for name in forms.PRICES})
            if kind == "raise":
                if house.shared:
                    raise ParameterError(
                        "ledger", "a ceiling is raised by two", hint="propose it under Requests"
                    )
                ledger.raise_to(budget, reason=reason, user=who.name)
            else:
                ledger.lower_to(budget, reason=reason)
        elif kind == "freeze":
            ledger.freeze(reason=reason, user=who.name)
        else:
            ledger.unfreeze(reason=reason, user=who.name)
    except SordinoError as problem:
        return show(request, problem)
    house.desk.note(who.name, who.via, who.address, kind, slug, "done")
    return see(f"/ledger/{slug}")


def export(request: Request) -> Response:
    """The whole ledger as a file."""
    slug, ledger = named_ledger(request)
    person(request).must("audit")
    table = request.path_params["kind"] == "csv"
    written = io.StringIO()
    ledger.export_to(written, table=table)
    kind = "text/csv" if table else "application/json"
    return downloads.file(written.getvalue(), f"{slug}.ledger.{'csv' if table else 'json'}", kind)


def _entry(request: Request) -> tuple[str, Ledger, Entry]:
    slug, ledger = named_ledger(request)
    number = request.path_params["number"]
    if number < 1 or number > ledger.releases:
        raise HTTPException(404)
    entry = ledger.entry(number)
    if not visible(office(request), person(request), slug, [entry]):
        raise HTTPException(404)
    return slug, ledger, entry


def answer(request: Request) -> Response:
    """One answer: tables, a picture, the promise in words, a receipt, downloads."""
    slug, ledger, entry = _entry(request)
    event = Event.from_dict(entry.event)
    context: dict[str, Any] = {
        "slug": slug, "ledger": ledger, "entry": entry, "asked": asked(event),
        "whom": whom(event.unit, event.neighbors), "odds": odds(event.guarantee),
        "receipt": ledger.receipt(entry.number), "release": None,
        "left": ledger.remaining, "budget": ledger.budget,
        "shown_by": published(office(request), slug).get(entry.number),
        "gauge": charts.gauge(amount(ledger.budget), amount(ledger.spent), title="The budget"),
    }  # fmt: skip
    if entry.release is not None:
        made = Release.from_dict(entry.release)
        context |= {
            "release": made,
            "tables": blocks(made, 96),
            "drawn": [drawing(made, width) for width in (640, 320)],
            "sections": sections(made),
            "python": downloads.script(made, office(request).about(ledger)),
        }
    return page(request, "answer.html", **context)


async def publish(request: Request) -> Response:
    """Show an answer to everybody who may come in, or take that back."""
    typed = await read_form(request)
    return await run_in_threadpool(_publish, request, typed)


def _publish(request: Request, typed: dict[str, str]) -> Response:
    slug, _, entry = _entry(request)
    house, who = office(request), person(request)
    who.must("publish")
    if entry.release is None:
        raise ParameterError("release", "only an answer can be published", got={"release": entry.number})
    back = typed.get("kind") == "hide"
    if back:
        house.desk.run("DELETE FROM published WHERE ledger = ? AND number = ?", slug, entry.number)
    else:
        house.desk.run(
            "INSERT INTO published VALUES (?, ?, ?) ON CONFLICT (ledger, number) DO NOTHING",
            slug, entry.number, who.name,
        )  # fmt: skip
    said = "taken back" if back else "published"
    house.desk.note(who.name, who.via, who.address, "publish", f"{slug} {entry.number}", said)
    return see(f"/ledger/{slug}/releases/{entry.number}")


def drawing(made: Release, width: int) -> Any:
    """The picture of an answer: bars for counts by cell, dots otherwise; nothing for a single bare number."""
    rows = [
        row for row in made.table if isinstance(row.value, int | float) and not isinstance(row.value, bool)
    ]
    if len(rows) < 2 and not any(row.level is not None for row in rows):
        return ""
    if len(rows) > 60:
        return ""
    title = f"Picture of {asked(made.event)}"

    def name(row: Any) -> str:
        words = [*map(str, row.group.values()), *([row.cell] if row.cell else [])]
        return " ".join(words) or row.label

    if all(row.cell is not None and row.level is None for row in rows) and not made.table.keys:
        return charts.bars([(name(row), float(row.value)) for row in rows], title=title, width=width)
    if len({row.label for row in rows}) > 1:
        return ""
    return charts.dots(
        [(name(row), float(row.value), row.low, row.high) for row in rows], title=title, width=width
    )


def download(request: Request) -> Response:
    """An answer as a file."""
    slug, ledger, entry = _entry(request)
    kind = request.path_params["kind"]
    if entry.release is None or kind not in downloads.KINDS:
        raise HTTPException(404)
    made = Release.from_dict(entry.release)
    text = downloads.KINDS[kind](made, office(request).about(ledger))
    return downloads.file(text, f"{slug}-{entry.number}.{kind}", downloads.MEDIA[kind])


def plain(request: Request) -> Response:
    """The head of a ledger, for whoever notes it elsewhere."""
    _, ledger = named_ledger(request)
    return PlainTextResponse(ledger.receipt(ledger.releases) + "\n")


ROUTES = [
    Route("/ledger", index),
    Route("/ledger/{slug}", show),
    Route("/ledger/{slug}/change", change, methods=["POST"]),
    Route("/ledger/{slug}/head", plain),
    Route("/ledger/{slug}/export.{kind:str}", export),
    Route("/ledger/{slug}/releases/{number:int}", answer),
    Route("/ledger/{slug}/releases/{number:int}/publish", publish, methods=["POST"]),
    Route("/ledger/{slug}/releases/{number:int}.{kind:str}", download),
]
