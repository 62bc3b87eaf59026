"""People: who is let in, their roles, tokens and shares; and the log of who asked what from where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from sordino import fields
from sordino.errors import ParameterError, SordinoError
from sordino.ledger import account
from sordino.web.accounts import SCOPES, Accounts
from sordino.web.forms import PRICES, whole
from sordino.web.person import ROLES
from sordino.web.view import office, page, person, see
from sordino.web.view import typed as read_form

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from sordino.ledger import Ledger


def show(
    request: Request, *, secret: str = "", invite: str = "", problem: SordinoError | None = None
) -> Response:
    """Everybody, for owners and officers; one's own tokens for everybody."""
    house, who = office(request), person(request)
    accounts = Accounts(house.desk)
    shares = [
        {"slug": slug, "share": share, "spent": spent,
         "left": None if share.ceiling is None else account.left(share.ceiling, spent)}
        for slug, ledger in house.ledgers().items() for share, spent in ledger.shares
    ] if who.may("limit") else []  # fmt: skip
    return page(
        request,
        "people.html",
        status=200 if problem is None else 422,
        people=accounts.everybody() if who.may("audit") else [],
        tokens=accounts.tokens(None if who.may("revoke") else who.name),
        datasets=list(house.datasets()),
        ledgers=list(house.ledgers()),
        shares=shares,
        roles=ROLES,
        scopes=SCOPES,
        secret=secret,
        invite=invite,
        problem=problem,
        log=house.desk.lines() if who.may("audit") else [],
        log_holds=house.desk.log_holds() if who.may("audit") else True,
    )


async def change(request: Request) -> Response:
    """One change: a person, a token, a share."""
    form = await request.form(max_files=0, max_fields=200)
    several = {name: tuple(str(one) for one in form.getlist(name)) for name in form}
    typed = await read_form(request)
    return await run_in_threadpool(_change, request, typed, several)


def _change(request: Request, typed: dict[str, str], several: dict[str, tuple[str, ...]]) -> Response:
    house, who = office(request), person(request)
    accounts = Accounts(house.desk)
    kind, subject = typed.get("kind", ""), ""
    secret = invite = ""
    try:
        if kind == "invite":
            who.must("people")
            subject = typed.get("name", "").strip()
            invite = f"/invite/{accounts.add(subject, several.get('roles', ()))}"
        elif kind == "stop":
            who.must("people")
            subject = typed.get("name", "")
            accounts.stop(subject)
        elif kind == "token":
            subject = typed.get("name", "").strip()
            days = whole("days", typed.get("days", "30"), most=90)
            most = {name: typed.get(f"most_{name}", "").strip() or None for name in PRICES}
            secret = accounts.make_token(
                who.name, subject, several.get("scopes", ()), datasets=several.get("datasets", ()), days=days,
                cost_max=fields.guarantee(dict(most)) if any(most.values()) else None,
            )  # fmt: skip
        elif kind == "revoke":
            mine = {one["hash"] for one in accounts.tokens(who.name)}
            if typed.get("token", "") not in mine:
                who.must("revoke")
            accounts.revoke(typed.get("token", ""))
        elif kind in ("limit", "freeze", "thaw"):
            who.must("limit")
            subject = _limit(request, kind, typed)
        else:
            raise ParameterError("people", "there is no such change", got={"kind": kind})
    except SordinoError as problem:
        return show(request, problem=problem)
    house.desk.note(who.name, who.via, who.address, kind, subject, "done")
    if secret or invite:
        return show(request, secret=secret, invite=invite)  # shown once, so it is no page to come back to
    return see("/people")


def _limit(request: Request, kind: str, typed: dict[str, str]) -> str:
    """Give a share, freeze or thaw it."""
    house, who = office(request), person(request)
    ledger = house.ledgers().get(typed.get("ledger", ""))
    if ledger is None:
        raise ParameterError("people", "there is no such ledger", got={"ledger": typed.get("ledger", "")})
    ceiling: Any = None
    if kind == "limit":
        ceiling = fields.guarantee({name: typed.get(name, "").strip() or None for name in PRICES})
    asker, data = typed.get("who_asks", "") or None, typed.get("data", "") or None
    share(ledger, kind, ceiling, asker, data, typed.get("reason", ""), who.name)
    return " ".join(filter(None, (asker, data)))


def share(
    ledger: Ledger, kind: str, ceiling: Any, asker: str | None, data: str | None, reason: str, user: str
) -> None:
    """Give a share, freeze or thaw it, in the ledger."""
    ledger.limit(ceiling, reason=reason, who_asks=asker, data=data, frozen=kind == "freeze", user=user)


ROUTES = [Route("/people", show), Route("/people", change, methods=["POST"])]
