"""Budget, the second tab of Plan: how one budget is best shared among several questions. No data, no ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from sordino import fields
from sordino.errors import ParameterError, SordinoError
from sordino.web import forms, more
from sordino.web.plan import MOST_ROWS
from sordino.web.view import page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

PLACES = ("1", "2", "3", "4")
PARTS = ("statistic", "column", "low", "high", "error")
START = {
    "statistic1": "median", "column1": "income", "low1": "0", "high1": "500000", "statistic2": "mean",
    "column2": "age", "low2": "0", "high2": "120", "rows": "20000", "epsilon": "1",
}  # fmt: skip


def asked(typed: dict[str, str]) -> list[tuple[Any, float | None]]:
    """The questions that were filled in, each with the error that is wanted of it."""
    found = []
    for place in PLACES:
        given = {part: typed.get(f"{part}{place}", "").strip() for part in PARTS}
        if not given["statistic"]:
            continue
        wanted = fields.real(f"error{place}", given["error"]) if given["error"] else None
        found.append((forms.statistic(given), wanted))
    if not found:
        raise ParameterError("budget", "at least one question must be filled in", hint="median income")
    return found


def show(request: Request) -> Response:
    """The page, or its result alone."""
    typed = {**({} if "epsilon" in request.query_params else START), **dict(request.query_params)}
    known: dict[str, Any] = {}
    problem: SordinoError | None = None
    try:
        questions = asked(typed)
        rows = forms.whole("rows", typed.get("rows", ""), most=MOST_ROWS)
        told = [[statistic.to_dict(), wanted] for statistic, wanted in questions]
        known = more.found(request, "budget", told, forms.price(typed).to_dict(), rows)
        problem = known.get("error")
    except SordinoError as error:
        problem = error
    part = request.query_params.get("part") == "result"
    return page(
        request,
        "budget_result.html" if part else "budget.html",
        typed=typed,
        problem=problem,
        full=known.get("full"),
        known=known,
        progress=known.get("progress", (0, 1)),
        done=problem is not None or bool({"end", "error", "bug"} & set(known)),
        bug=known.get("bug"),
        places=PLACES,
        statistics=[
            (title, [name for name in names if name in SIMPLE]) for title, names in forms.statistics()
        ],
    )


SIMPLE = (
    "median", "mean", "count", "sum", "variance", "standard-deviation", "second-moment", "minimum", "maximum",
)  # fmt: skip
"""Statistics that need a column and bounds and nothing else."""

ROUTES = [Route("/plan/budget", show)]
