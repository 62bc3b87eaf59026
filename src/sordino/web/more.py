"""More: explain a release that was sent, audit a promise, what a map or a tally gives away, words that are used."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from sordino import catalogue, fields
from sordino.errors import ParameterError, SordinoError
from sordino.explain import asked, odds, sections, whom
from sordino.session.blocks import blocks
from sordino.session.release import Release
from sordino.web import forms, maps
from sordino.web.ledger import drawing
from sordino.web.places import Places, decoded
from sordino.web.view import page, person, sent

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

WAIT = 2.0
GEO = {"epsilon": "1", "per": "200", "users": "50000", "side": "20", "error": "10"}


def explain(request: Request) -> Response:
    """Where a release is pasted."""
    return page(request, "explain.html", text="", release=None, problem=None)


async def explained(request: Request) -> Response:
    """A release that was pasted, in words; it is not kept."""
    typed, file = await sent(request)
    text = typed.get("text", "") if file is None else file.decode("utf-8", "replace")
    try:
        made = _release(text)
        context: dict[str, Any] = {
            "release": made, "asked": asked(made.event), "whom": whom(made.event.unit, made.event.neighbors),
            "odds": odds(made.guarantee), "tables": blocks(made, 96), "sections": sections(made),
            "drawn": [drawing(made, width) for width in (640, 320)],
        }  # fmt: skip
    except SordinoError as problem:
        return page(request, "explain.html", status=422, text=text[:20_000], release=None, problem=problem)
    return page(request, "explain.html", text="", problem=None, **context)


def _release(text: str) -> Release:
    try:
        made = Release.from_json(text)
        _ = made.table, made.explain()
    except SordinoError:
        raise
    except Exception:  # noqa: BLE001  whatever a stranger wrote into the file
        raise ParameterError(
            "release", "the document is not a release", hint="sordino release ... --json writes one"
        ) from None
    return made


def found(
    request: Request, task: str, *arguments: Any, stage: str = "full", wait: float = WAIT
) -> dict[str, Any]:
    """What the worker knows of a task."""
    key = hashlib.sha256(json.dumps([task, arguments], sort_keys=True, default=str).encode()).hexdigest()
    worker = request.app.state.worker
    worker.ask(key, f"{person(request).name} {task}", task, *arguments)
    known: dict[str, Any] = worker.wait(key, stage, wait)
    return known


def _show(request: Request, name: str, typed: dict[str, str], task: Any, **context: Any) -> Response:
    """A page whose result comes from the worker."""
    known: dict[str, Any] = {}
    problem: SordinoError | None = None
    if request.query_params:
        try:
            known = task()
            problem = known.get("error")
        except SordinoError as error:
            problem = error
    part = request.query_params.get("part") == "result"
    return page(
        request,
        f"{name}_result.html" if part else f"{name}.html",
        typed=typed,
        problem=problem,
        known=known,
        full=known.get("full"),
        quick=known.get("quick"),
        progress=known.get("progress", (0, 1)),
        done=problem is not None or not request.query_params or bool({"end", "error", "bug"} & set(known)),
        bug=known.get("bug"),
        **context,
    )


def audit(request: Request) -> Response:
    """Claimed against forced: runs of a release, or the proof of a noise family."""
    typed = {"statistic": "median", "epsilon": "1", "runs": "2000", "kind": "runs", "family": "student-t",
             "smoothing": "0.1", **dict(request.query_params)}  # fmt: skip

    def task() -> dict[str, Any]:
        promise = forms.price(typed).to_dict()
        if typed["kind"] == "proof":
            Fraction(fields.number("smoothing", typed["smoothing"]))
            catalogue.noise_family(typed["family"])
            return found(request, "certificate", typed["family"], promise, typed["smoothing"])
        runs = forms.whole("runs", typed["runs"], least=100, most=20_000)
        catalogue.statistic(typed["statistic"])
        return found(request, "audit", typed["statistic"], promise, runs)

    return _show(
        request,
        "audit",
        typed,
        task,
        statistics=forms.statistics(),
        families=list(catalogue.noise_families()),
    )


def geo(request: Request) -> Response:
    """People who move their own points: what each gives away, and what a map of them still shows."""
    typed = GEO | dict(request.query_params)

    def task() -> dict[str, Any]:
        epsilon, per = (float(fields.real(name, typed[name])) for name in ("epsilon", "per"))
        side, wanted = 1000 * fields.real("side", typed["side"]), fields.real("error", typed["error"]) / 100
        users = forms.whole("users", typed["users"], most=10**9)
        if not (epsilon > 0 and per > 0 and 100 <= side <= 10**7 and 0 < wanted <= 1):
            raise ParameterError("map", "numbers must be positive, and the side between 0.1 and 10,000 km")
        known = found(request, "places", epsilon, per, users, side, wanted, stage="quick")
        known["drawn"] = maps.promise(epsilon, per)
        if "full" in known:
            known["maps"] = [
                maps.heat(known["full"][name], title=title, side=side, ring=per)
                for name, title in (("truth", "Generated people"), ("best", "Map from their reports"))
            ]
        return known

    return _show(request, "geo", typed, task)


async def own_map(request: Request) -> Response:
    """A map of somebody's own GeoJSON; it is drawn and not kept."""
    typed, file = await sent(request)
    text, radius = typed.get("text", ""), typed.get("radius", "")
    context: dict[str, Any] = {}
    try:
        text = text if file is None else decoded(file)
        metres = float(fields.real("radius", radius))
        if not 1 <= metres <= 1_000_000:
            raise ParameterError(
                "map", "radius must be from 1 m to 1,000 km", got={"radius": radius}, hint="200"
            )
        places = await run_in_threadpool(Places.from_geojson, text)
        drawn = await run_in_threadpool(
            lambda: [maps.own(places, metres, width=width) for width in (640, 320)]
        )
        context = {"places": places, "drawn": drawn}
    except SordinoError as problem:
        context = {"wrong": problem}
    # A text that is short stands in the field again, for another radius; a part of a long one would be no GeoJSON.
    return page(
        request, "geo.html", status=422 if "wrong" in context else 200, typed=GEO | {"radius": radius}, known={},
        done=True, text=text if len(text) <= 100_000 else "", **context,
    )  # fmt: skip


def smoothed(request: Request) -> Response:
    """What publishing a random part of records gives away."""
    typed = {"counts": "yes 5200\nno 4700\nblank 100", "published": "95%", "epsilon": "1",
             **dict(request.query_params)}  # fmt: skip

    def task() -> dict[str, Any]:
        counts = _counts(typed["counts"])
        known = found(
            request, "tally", counts, typed["published"], float(fields.real("epsilon", typed["epsilon"]))
        )
        if "full" in known:
            full = known["full"]
            known["drawn"] = [
                maps.leak(full["curve"], full["worst10"], full["epsilon"], width=width)
                for width in (640, 320)
            ]
        return known

    return _show(request, "smoothed", typed, task, table=None)


def _counts(text: str) -> dict[str, int]:
    """Categories with their counts, one per line."""
    counts: dict[str, int] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, number = line.replace(";", " ").replace(":", " ").rpartition(" ")
        counts[name.strip() or f"category {len(counts) + 1}"] = forms.whole(
            "counts", number, least=0, most=10**10
        )
    if len(counts) < 2 or len(counts) > 1000:
        raise ParameterError(
            "tally", "has one line per category, at least two", got={"counts": f"{len(counts)} lines"},
            hint="yes 5200",
        )  # fmt: skip
    return counts


async def precincts(request: Request) -> Response:
    """Which precincts of a table are too small to publish; the table is not kept."""
    typed, file = await sent(request)
    text = typed.get("text", "") if file is None else file.decode("utf-8", "replace")
    typed = {"epsilon": "1", "held_back": "0.2%", **typed}
    problem: SordinoError | None = None
    known: dict[str, Any] = {}
    try:
        options = {name: typed[name] for name in ("office", "suppressed") if typed.get(name)}
        epsilon = float(fields.real("epsilon", typed["epsilon"]))
        known = await run_in_threadpool(
            lambda: found(request, "precincts", text, options, epsilon, typed["held_back"], wait=30.0)
        )
        problem = known.get("error")
    except SordinoError as error:
        problem = error
    return page(
        request, "precincts.html", status=200 if problem is None else 422, typed=typed, problem=problem,
        full=known.get("full"), text=text[:5_000_000],
    )  # fmt: skip


def glossary(request: Request) -> Response:
    """The words of these pages."""
    return page(request, "glossary.html")


def verifier(request: Request) -> Response:
    """The page that checks an exported ledger in the reader's own browser."""
    return page(request, "verifier.html")


ROUTES = [
    Route("/explain", explain),
    Route("/explain", explained, methods=["POST"]),
    Route("/audit", audit),
    Route("/geo", geo),
    Route("/geo", own_map, methods=["POST"]),
    Route("/smoothed", smoothed),
    Route("/smoothed", precincts, methods=["POST"]),
    Route("/glossary", glossary),
    Route("/verifier", verifier),
]
