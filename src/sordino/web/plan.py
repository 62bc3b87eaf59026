"""Plan: what error a price buys, live and without data. The first page, and the fragment that is polled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.routing import Route

from sordino import fields
from sordino.errors import ParameterError, SordinoError
from sordino.explain import odds
from sordino.planner import SHAPES
from sordino.web import charts, forms
from sordino.web.question import Inquiry
from sordino.web.view import amount, office, page, person

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

START = {
    "statistic": "median", "column": "income", "low": "0", "high": "500000", "rows": "20000", "epsilon": "0.5",
    "shape": "",
}  # fmt: skip
"""The README's example."""
NOT_ASKED = ("rows", "groups", "shape", "sample", "part", "refresh", "focus")
"""What a plan assumes, and a question does not."""
MOST_ROWS = 10_000_000
FIRST = 2.5
"""Seconds that a page waits for the first figure."""


def read(typed: dict[str, str]) -> tuple[Inquiry, dict[str, Any]]:
    """The question of a plan and what is assumed."""
    asked = Inquiry(
        statistic=forms.statistic(typed),
        price=forms.price(typed),
        interval=forms.coverage(typed),
    )
    return asked, assumed(typed)


def assumed(typed: Mapping[str, str]) -> dict[str, Any]:
    """What a plan assumes: rows, groups, the relation, a shape or public numbers."""
    options: dict[str, Any] = {}
    if typed.get("rows", "").strip():
        options["rows"] = forms.whole("rows", typed["rows"], most=MOST_ROWS)
    if typed.get("groups", "").strip():
        options["groups"] = forms.whole("groups", typed["groups"], most=10_000)
    if typed.get("neighbors") == "add-remove-one":
        options["neighbors"] = "add-remove-one"
    if sample := typed.get("sample", "").strip():
        options["assume"] = _sample(sample)
    elif typed.get("shape", ""):
        options["assume"] = typed["shape"]
    return options


def _sample(text: str) -> list[float]:
    """A public sample that was pasted: numbers, one per line or with commas between."""
    words = text.replace(",", " ").replace(";", " ").split()
    if len(words) > 100_000:
        raise ParameterError(
            "plan", "a pasted sample has at most 100,000 numbers", got={"sample": len(words)}
        )
    return [fields.real("sample", word) for word in words]


def key_of(asked: Inquiry, options: dict[str, Any]) -> str:
    """The name of a plan."""
    return hashlib.sha256(json.dumps([asked.to_dict(), options], sort_keys=True).encode()).hexdigest()


def started(
    request: Request, asked: Inquiry, options: dict[str, Any], *, wait: float = FIRST, stage: str = "quick"
) -> dict[str, Any]:
    """What is known of a plan; the first figure is waited for."""
    key = key_of(asked, options)
    worker = request.app.state.worker
    worker.ask(key, f"{person(request).name} plan", "plan", asked.to_dict(), options)
    found: dict[str, Any] = worker.wait(key, stage, wait)
    return found


def show(request: Request) -> Response:
    """The page, or its result alone."""
    typed = {**START, **dict(request.query_params)}
    if "statistic" not in request.query_params and request.query_params:
        typed = {**START, **typed}
    problem: SordinoError | None = None
    found: dict[str, Any] = {}
    asked: Inquiry | None = None
    options: dict[str, Any] = {}
    try:
        asked, options = read(typed)
        if not request.query_params.get("refresh"):
            found = started(request, asked, options)
            problem = found.get("error")
    except SordinoError as error:
        problem = error
    if "refresh" in request.query_params and not set(request.query_params) - {"refresh", "statistic"}:
        problem = None
    asks = {name: value for name, value in typed.items() if value and name not in NOT_ASKED}
    context = {**_result(asked, found), "problem": problem, "typed": typed, "typed_query": urlencode(asks)}
    if not request.query_params:
        context["query"] = urlencode(typed)
    if request.query_params.get("part") == "result":
        return page(request, "plan_result.html", **context)
    return page(
        request,
        "plan.html",
        statistics=forms.statistics(),
        inputs=forms.inputs(typed["statistic"], typed, problem),
        shapes=[name for name, kind in SHAPES.items() if kind.of == "column"],
        datasets=office(request).datasets(),
        **context,
    )


def _result(asked: Inquiry | None, found: dict[str, Any]) -> dict[str, Any]:
    """What the page draws of what is known."""
    known = found.get("full") or found.get("quick")
    best = None if known is None else next(option for option in known["options"] if option["default"])
    drawn: dict[str, Any] = {"wide": "", "narrow": ""}
    if asked is not None and known is not None and best is not None and "curves" in found:
        unit = "rho" if hasattr(asked.price, "rho") else "epsilon"
        for name, width in (("wide", 640), ("narrow", 320)):
            drawn[name] = charts.curves(
                found["curves"], at=amount(asked.price), chosen=best["name"], natural=known["sampling_error"],
                unit=unit, width=width,
            )  # fmt: skip
    share = None
    low, high = (getattr(asked.statistic, name, None) if asked else None for name in ("low", "high"))
    if best is not None and isinstance(low, int | float) and isinstance(high, int | float) and high > low:
        share = 100 * best["quantile_90"] / (high - low)
    return {
        "asked": asked,
        "known": known,
        "best": best,
        "share": share,
        "whole": "full" in found,
        "done": "end" in found or "error" in found or "bug" in found,
        "bug": found.get("bug"),
        "progress": found.get("progress", (0, 1)),
        "curves": found.get("curves", {}),
        "drawn": drawn,
        "odds": odds(asked.price) if asked is not None else "",
    }


ROUTES = [Route("/plan", show)]
