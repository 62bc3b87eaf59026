"""The card of a deployment for registries: what is published, whom it protects, at which price, by the ledger alone.

`SCHEMA` is what a card keeps to, so that a registry can check the file that it is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sordino import __version__
from sordino.explain import asked, whom
from sordino.session.release import Event

if TYPE_CHECKING:
    from sordino.ledger import Ledger

_TEXT = {"type": "string"}
_AMOUNT = {"type": "string", "pattern": r"^[0-9]+(/[0-9]+)?$"}
_AMOUNTS = dict.fromkeys(("epsilon", "delta", "rho", "omega", "per"), _AMOUNT)
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Card of a deployment",
    "type": "object",
    "additionalProperties": False,
    "required": [
        "product", "curator", "year", "flavor", "unit", "relation", "spent", "model", "accounting", "statistics",
        "releases", "implementation",
    ],
    "properties": {
        "product": {"type": "string", "minLength": 1},
        "curator": _TEXT,
        "year": {"type": "string", "pattern": "^[0-9]{4}$"},
        "flavor": _TEXT,
        "unit": {"type": "string", "minLength": 1},
        "relation": _TEXT,
        **_AMOUNTS,
        "spent": {"type": "object", "additionalProperties": False, "properties": _AMOUNTS},
        "model": {"const": "central"},
        "accounting": {"type": "string", "minLength": 1},
        "statistics": {"type": "array", "items": _TEXT, "uniqueItems": True},
        "releases": {"type": "integer", "minimum": 0},
        "implementation": {"type": "string", "pattern": "^sordino "},
    },
}  # fmt: skip
"""The JSON schema of a card."""


def card(ledger: Ledger, *, product: str | None = None, curator: str = "") -> dict[str, Any]:
    """The card of a registry of deployments, filled from the ledger; no person is named.

    Example:
        >>> import sordino as sd
        >>> people = sd.open({"age": [31, 45]}, budget=sd.Pure(3), reason="ages")
        >>> card(people.ledger)["flavor"], card(people.ledger)["epsilon"]
        ('pure', '3')
    """
    opening, budget = ledger.opening, ledger.budget
    entries = list(ledger.entries())
    asked_for = dict.fromkeys(asked(Event.from_dict(entry.event)) for entry in entries)
    return {
        "product": product or str(opening["reason"]),
        "curator": curator,
        "year": (entries[-1].at if entries else ledger.changes[0].at)[:4],
        "flavor": budget.kind,
        "unit": whom(ledger.unit, ledger.neighbors),
        "relation": ledger.neighbors.value,
        **{name: str(value) for name, value in budget.to_dict().items() if name != "kind"},
        "spent": {name: str(value) for name, value in ledger.spent.to_dict().items() if name != "kind"},
        "model": "central",
        "accounting": composition(ledger),
        "statistics": list(asked_for),
        "releases": len(entries),
        "implementation": f"sordino {__version__}",
    }


def composition(ledger: Ledger) -> str:
    """How prices of a ledger add up, in words."""
    kind = type(ledger.budget).__name__
    rule = "rho adds up" if kind == "Concentrated" else "amounts add up"
    stated = ledger.opening["stated"]
    within = (
        ""
        if stated["kind"] == ledger.budget.to_dict()["kind"]
        else f", within the stated {stated['kind']} budget"
    )
    return f"{rule} over all releases about the same people{within}; groups with different rows cost one price together"
