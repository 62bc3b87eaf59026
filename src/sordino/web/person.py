"""`Person`: who is at the page or behind a token, and what each role may do. One table, for pages and API alike."""

from __future__ import annotations

from dataclasses import dataclass

from sordino.errors import SordinoError

ROLES = ("owner", "curator", "officer", "analyst", "viewer")

MAY = {
    "plan": ROLES,
    "people": ("owner",),
    "revoke": ("owner", "officer"),
    "declare": ("curator",),
    "approve-dataset": ("officer",),
    "ask": ("curator", "analyst"),
    "decide": ("officer",),
    "propose-raise": ("owner",),
    "raise": ("officer",),
    "limit": ("officer",),
    "freeze": ("officer",),
    "publish": ("curator", "officer"),
    "read-all": ("owner", "curator", "officer"),
    "audit": ("owner", "officer"),
}
"""What each role may do; a person may have several."""


class Forbidden(SordinoError):
    """Somebody may not do this."""


class TooMany(SordinoError):
    """Somebody asks faster than is allowed, or too many ask at once."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who was let in.

    Attributes:
        name: As it stands in the ledger.
        roles: What they are.
        via: The name of the token, or how they came in.
        scopes: What a token may do; None for a browser.
        datasets: What a token may ask; empty for all.
        token: What the desk calls the token; empty for a browser.
        session: The secret of the session, for seals; never shown.
        address: Where they come from, for the log.
    """

    name: str
    roles: frozenset[str]
    via: str = "page"
    scopes: frozenset[str] | None = None
    datasets: frozenset[str] = frozenset()
    token: str = ""
    session: str = ""
    address: str = ""

    def may(self, what: str) -> bool:
        """Whether one of their roles allows it."""
        return bool(self.roles & set(MAY[what]))

    def must(self, what: str) -> None:
        """Refuse what their roles do not allow."""
        if not self.may(what):
            raise Forbidden(
                "page", "you may not do this", got={"role": ", ".join(sorted(self.roles)) or "none"},
                why=f"It takes one of these roles: {', '.join(MAY[what])}.", hint="ask an owner for the role",
            )  # fmt: skip

    def scope(self, name: str, dataset: str | None = None) -> None:
        """Refuse what their token does not allow."""
        if self.scopes is not None and name not in self.scopes:
            raise Forbidden(
                "token", "this token may not do this", got={"needs": name}, hint="make another token"
            )
        if dataset is not None and self.datasets and dataset not in self.datasets:
            raise Forbidden("token", "this token is for other datasets", got={"dataset": dataset})


def alone(name: str, session: str = "") -> Person:
    """The one person of `sordino app`, who may do everything."""
    return Person(name, frozenset(ROLES), session=session)
