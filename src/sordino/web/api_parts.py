"""What all of the JSON interface shares: errors as documents, bodies, the dataset of an address."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from sordino.errors import ParameterError, spell
from sordino.web.view import AGAIN, office, person, status_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from sordino.web.dataset import Dataset

V1 = "/api/v1"
PROBLEM = "application/problem+json"


def problem_of(problem: Any) -> Response:
    """An error as a document."""
    status = status_of(problem)
    said = {
        "type": "about:blank", "title": problem.rule, "status": status, "code": type(problem).__name__,
        "subject": problem.subject, "rule": problem.rule, "why": problem.why, "hint": problem.hint,
        "got": {str(name): spell(value) for name, value in problem.got.items()},
    }  # fmt: skip
    return JSONResponse(said, status, {"retry-after": AGAIN} if status == 429 else None, media_type=PROBLEM)


async def body(request: Request) -> Any:
    """What was sent, as JSON."""
    try:
        found = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ParameterError("api", "the body must be a JSON object")
    return found


def dataset_of(request: Request, scope: str) -> Dataset:
    """The dataset of an address, when role and token allow it."""
    name = request.path_params["name"]
    who = person(request)
    who.scope(scope, name)
    found = office(request).datasets().get(name)
    if found is None:
        raise HTTPException(404)
    return found
