"""The OpenAPI document of the interface, made from its routes, from docstrings and from the schema of a release."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from sordino import __version__
from sordino.session.release import Release

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.routing import Route

INQUIRY = {
    "type": "object",
    "required": ["statistic", "price"],
    "additionalProperties": False,
    "properties": {
        "statistic": {
            "type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}},
            "description": "A statistic as `Statistic.to_dict` writes it.",
        },
        "price": {
            "type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}},
            "description": "A guarantee as `Guarantee.to_dict` writes it.",
        },
        "by": {
            "type": ["object", "null"], "required": ["column", "keys"],
            "properties": {"column": {"type": "string"}, "keys": {"type": "array"}},
        },
        "where": {"type": "array", "items": {"type": "string"}},
        "interval": {"type": ["object", "number", "null"]},
        "purpose": {"type": ["string", "null"]},
        "hints": {"type": "object"},
        "scale": {"enum": ["own", "shared"]},
    },
}  # fmt: skip
PROBLEM = {
    "type": "object",
    "required": ["code", "rule", "status"],
    "properties": {
        name: {"type": "string"} for name in ("type", "title", "code", "subject", "rule", "why", "hint")
    }
    | {"status": {"type": "integer"}, "got": {"type": "object"}},
}
REFUSALS = {
    "401": "no token, or one that has ended",
    "403": "the role or the token does not allow it",
    "409": "over the budget or a share, token used, refused",
    "422": "the question is wrong, or not allowed of this dataset",
    "423": "frozen or closed",
    "429": "too many; see Retry-After",
    "503": "paid and not answered: ask again with the same token",
}


def document(routes: Sequence[Route]) -> dict[str, Any]:
    """Describe the interface."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        for method in sorted((route.methods or set()) - {"HEAD"}):
            paths.setdefault(route.path, {})[method.lower()] = _operation(route, method)
    # Definitions inside the schema of a release stand beside it here.
    schema = json.loads(json.dumps(Release.schema()).replace("#/$defs/", "#/components/schemas/release-"))
    parts = {f"release-{name}": value for name, value in schema.pop("$defs", {}).items()}
    schema = {name: value for name, value in schema.items() if name not in ("$schema", "$id")}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Sordino", "version": __version__},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Inquiry": INQUIRY, "Problem": PROBLEM, "Release": schema, **parts},
        },
    }


def _operation(route: Route, method: str) -> dict[str, Any]:
    words = (route.endpoint.__doc__ or "").strip()
    released = "releases" in route.path
    answers: dict[str, Any] = {
        status: {"description": about, "content": {"application/problem+json": {"schema": _named("Problem")}}}
        for status, about in REFUSALS.items()
    }
    if released:
        answers["201"] = {
            "description": "the release",
            "content": {"application/json": {"schema": _named("Release")}},
        }
        answers["202"] = {"description": "waiting for an officer, or working"}
    else:
        answers["200"] = {"description": "done"}
    made: dict[str, Any] = {
        "summary": words.split("\n")[0],
        "operationId": f"{route.name}_{method.lower()}",
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in re.findall(r"{(\w+)}", route.path)
        ],
        "responses": dict(sorted(answers.items())),
    }
    if method in ("POST", "PUT"):
        kind = {"type": "object"} if "decision" in route.path else _named("Inquiry")
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": kind}}}
    return made


def _named(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
