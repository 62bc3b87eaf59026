"""The JSON interface, ``/api/v1``: the same questions for programs. Errors are documents with rule, why and hint."""

from __future__ import annotations

import asyncio
import json
import re
import time
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sordino.errors import (
    LedgerError,
    NotApproved,
    ParameterError,
    SordinoError,
    TokenUsed,
    Unanswered,
)
from sordino.explain import asked as in_words
from sordino.explain import whom
from sordino.ledger import account
from sordino.ledger.entry import Stamp
from sordino.session.release import Release
from sordino.web import api_ledger, releasing, requests
from sordino.web import plan as plans
from sordino.web.api_parts import V1, body, dataset_of
from sordino.web.openapi import document
from sordino.web.question import Inquiry
from sordino.web.view import office, person

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from sordino.web.dataset import Dataset

ENDED = ("refused", "expired", "withdrawn")
TOKEN = re.compile(r"[A-Za-z0-9._:-]{8,120}")
PATIENCE = 10.0
"""Seconds that a release is waited for before the caller is told to look again."""


def datasets(request: Request) -> Response:
    """Everything that may be asked about."""
    who = person(request)
    found = [
        one.public()
        for one in office(request).datasets().values()
        if not who.datasets or one.name in who.datasets
    ]
    return JSONResponse({"datasets": found})


def dataset(request: Request) -> Response:
    """One dataset: its public description, the budget, what is left."""
    made = dataset_of(request, "quote")
    house = office(request)
    ledger, session = house.ledger_of(made), house.session(made)
    known = {
        "rows": session.rows,
        "budget": ledger.budget.to_dict(),
        "left": ledger.remaining.to_dict(),
        "state": ledger.state,
    }
    return JSONResponse(made.public() | known | {"protects": whom(made.unit, ledger.neighbors)})


async def quote(request: Request) -> Response:
    """What a question would ask, promise and cost; spends nothing."""
    made = dataset_of(request, "quote")
    inquiry = Inquiry.from_dict(await body(request))
    return await run_in_threadpool(_quote, request, made, inquiry)


def _quote(request: Request, made: Dataset, inquiry: Inquiry) -> Response:
    person(request).must("ask")
    releasing.allow(request, "quote")
    house = office(request)
    ledger = house.ledger_of(made)
    _, question = inquiry.of(house.session(made))
    cost, left = ledger.cost(question.event), ledger.remaining
    return JSONResponse({
        "event": question.event.to_dict(), "asks": in_words(question.event), "cost": cost.to_dict(),
        "left": left.to_dict(), "fits": cost.within(left), "approval": made.declared.needs_approval(cost),
        "leaves": account.left(left, cost).to_dict(), "assumptions": list(question.assumptions),
    })  # fmt: skip


async def release(request: Request) -> Response:
    """Ask under a token of the caller's: the first time pays, every other time finds what was paid."""
    made = dataset_of(request, "release")
    inquiry = Inquiry.from_dict(await body(request))
    kept = await run_in_threadpool(_draft, request, made, inquiry)
    if kept["answer"] is not None:
        return JSONResponse(kept["answer"], 201)
    if kept["wait"]:
        return JSONResponse({"state": "waiting", "for": "an officer"}, 202)
    stamp = Stamp(kept["person"], via=person(request).via)
    job = request.app.state.lanes.submit(
        kept["ledger_token"],
        made.name,
        made.answer_after,
        releasing.LaneTask(
            office(request), kept, made, inquiry, stamp, person(request).address, person(request).token
        ),
        owner=kept["person"],
    )
    deadline = time.monotonic() + PATIENCE
    for _ in range(16):
        if job.ready or time.monotonic() + job.next_tick() > deadline:
            break
        await asyncio.sleep(job.next_tick() + 0.005)
    if not job.ready:
        return JSONResponse({"state": "working"}, 202)
    problem = job.future.exception()
    if isinstance(problem, NotApproved):
        await run_in_threadpool(
            requests.file, office(request), kept["token"], kept["person"], "release", made.name
        )
        return JSONResponse({"state": "waiting", "for": "an officer"}, 202)
    if problem is not None:
        raise problem
    return await run_in_threadpool(_answer, request, made, kept)


def _draft(request: Request, made: Dataset, inquiry: Inquiry) -> dict[str, Any]:
    """Keep the question under its token; the same token with another question is refused."""
    house, who = office(request), person(request)
    who.must("ask")
    token = request.path_params["token"]
    if not TOKEN.fullmatch(token):
        raise ParameterError(
            "token", "has 8 to 120 letters, digits and signs . _ : -", got={"token": token[:120]}
        )
    key = house.sealed(f"api {who.name} {made.name} {token}")
    house.desk.draft(key, who.name, made.name, inquiry.to_dict())
    kept = house.desk.drafted(key)
    assert kept is not None
    same = json.loads(json.dumps(inquiry.to_dict())) | {"purpose": None}
    if kept["asked"] | {"purpose": None} != same:
        raise TokenUsed(
            "release",
            "this token has paid for another question",
            got={"token": token},
            hint="use a new token",
        )
    name = releasing.ledger_token(house, kept)
    paid = house.ledger_of(made).paid(name)
    job = request.app.state.lanes.job(name)
    due = job is None or job.ready
    kept |= {
        "ledger_token": name,
        "answer": paid.release if paid is not None and due else None,
        "wait": False,
    }
    if kept["answer"] is None and (asked := requests.kept(house, key)) is not None:
        if asked["state"] in ENDED:
            raise not_granted(asked)
        kept["wait"] = asked["state"] == "waiting"
    if kept["answer"] is None and paid is None and not kept["wait"]:
        releasing.free(request)
    return kept


def not_granted(asked: dict[str, Any]) -> SordinoError:
    """A request that an officer refused, or that nobody decided."""
    return LedgerError(
        "release", f"the request was {asked['state']}" + (f": {asked['reason']}" if asked["reason"] else ""),
        why="Nothing was read and nothing was spent.", hint="ask another question, with a new token",
    )  # fmt: skip


def _answer(request: Request, made: Dataset, kept: dict[str, Any]) -> Response:
    paid = office(request).ledger_of(made).paid(kept["ledger_token"])
    if paid is None or paid.release is None:
        raise Unanswered(
            "release", "the answer could not be drawn", hint="ask again with the same token: it costs nothing"
        )
    return JSONResponse(_whole(paid.release), 201)


def _whole(kept: Mapping[str, Any]) -> dict[str, Any]:
    """A stored answer with its labels, which a ledger does not keep for many numbers."""
    return dict(kept) if "table" in kept else Release.from_dict(kept).to_dict()


def look(request: Request) -> Response:
    """What became of a question, by its token."""
    made = dataset_of(request, "release")
    house, who = office(request), person(request)
    key = house.sealed(f"api {who.name} {made.name} {request.path_params['token']}")
    kept = house.desk.drafted(key)
    if kept is None:
        raise HTTPException(404)
    name = releasing.ledger_token(house, kept)
    job = request.app.state.lanes.job(name)
    if job is not None and not job.ready:
        return JSONResponse({"state": "working"}, 202)
    paid = house.ledger_of(made).paid(name)
    if paid is not None and paid.release is not None:
        return JSONResponse(_whole(paid.release), 201)
    asked = requests.kept(house, key)
    if asked is not None and asked["state"] in ENDED:
        raise not_granted(asked)
    return JSONResponse({"state": "waiting" if asked is not None else kept["state"]}, 202)


async def plan(request: Request) -> Response:
    """The error to expect, worked out on generated data: 202 with the first figure until the whole table is known."""
    person(request).scope("plan")
    given = await body(request)
    assumed = dict(given.pop("assume", None) or {}) if isinstance(given, dict) else {}
    asked = Inquiry.from_dict(given)
    options = plans.assumed({str(name): str(value) for name, value in assumed.items()})
    found = await run_in_threadpool(
        lambda: plans.started(request, asked, options, wait=PATIENCE, stage="full")
    )
    if "error" in found:
        raise found["error"]
    if "full" in found:
        return JSONResponse({"state": "done", **_plain(found["full"])})
    return JSONResponse({"state": "working", **_plain(found.get("quick") or {})}, 202)


def _plain(figures: dict[str, Any]) -> dict[str, Any]:
    """Figures as JSON: no numbers that it does not have."""
    found: dict[str, Any] = json.loads(json.dumps(figures, default=str), parse_constant=lambda _: None)
    return found


def openapi(request: Request) -> Response:  # noqa: ARG001
    """This interface, described."""
    return JSONResponse(document(ROUTES))


ROUTES = [
    Route(f"{V1}/openapi.json", openapi),
    Route(f"{V1}/datasets", datasets),
    Route(f"{V1}/datasets/{{name}}", dataset),
    Route(f"{V1}/datasets/{{name}}/quote", quote, methods=["POST"]),
    Route(f"{V1}/datasets/{{name}}/releases/{{token}}", release, methods=["PUT"]),
    Route(f"{V1}/datasets/{{name}}/releases/{{token}}", look, methods=["GET"]),
    Route(f"{V1}/plan", plan, methods=["POST"]),
    *api_ledger.ROUTES,
]
