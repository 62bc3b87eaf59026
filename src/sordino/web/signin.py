"""The entrances of an organisation: a password, or a proxy that has signed people in; tokens for programs."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route

from sordino.errors import SordinoError
from sordino.web.accounts import Accounts
from sordino.web.view import page, see, typed

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from sordino.web.office import Office
    from sordino.web.person import Person


class SignIn:
    """Names and passwords.

    Args:
        office: Where the desk is.
        secure: Whether it is reached by TLS; the cookie is then for TLS alone.
    """

    def __init__(self, office: Office, *, secure: bool) -> None:
        self.office, self.accounts = office, Accounts(office.desk)
        self.secure = secure
        self.cookie = "__Host-sordino" if secure else "sordino-serve"

    def routes(self) -> list[Route]:
        """Signing in and out, and invitations."""
        return [
            Route("/sign-in", self._form),
            Route("/sign-in", self._sign_in, methods=["POST"]),
            Route("/sign-out", self._sign_out, methods=["POST"]),
            Route("/invite/{key}", self._invited),
            Route("/invite/{key}", self._accept, methods=["POST"]),
        ]

    def who(self, request: Request) -> Person | None:
        """By a token for programs, by a session for browsers; a token opens the API alone."""
        address = request.client.host if request.client else ""
        if request.url.path.startswith("/api/"):
            kind, _, secret = request.headers.get("authorization", "").partition(" ")
            return self.accounts.by_token(secret, address) if kind.lower() == "bearer" else None
        secret = request.cookies.get(self.cookie, "")
        name = self.office.desk.who(secret) if secret else None
        return None if name is None else self.accounts.person(name, session=secret, address=address)

    def closed(self, request: Request) -> Response:
        """Programs are told, people are shown where."""
        if request.url.path.startswith("/api/"):
            said = {
                "code": "Unauthorized",
                "rule": "a token is needed",
                "hint": "set SORDINO_TOKEN",
                "status": 401,
            }
            return JSONResponse(
                said, 401, {"www-authenticate": "Bearer"}, media_type="application/problem+json"
            )
        return see("/sign-in")

    def _form(self, request: Request) -> Response:
        return page(request, "signin.html", problem="", name="")

    async def _sign_in(self, request: Request) -> Response:
        given = await typed(request)
        address = request.client.host if request.client else ""
        name = given.get("name", "")
        secret = await run_in_threadpool(self.accounts.sign_in, name, given.get("password", ""), address)
        self.office.desk.note(
            name[:100] if secret else "", "page", address, "sign-in", "", "in" if secret else "refused"
        )
        if secret is None:
            words = "That name and password do not fit, or there were too many tries: wait a minute."
            return page(request, "signin.html", status=401, problem=words, name=name)
        return self._came_in(secret)

    def _came_in(self, secret: str) -> Response:
        answer: Any = see("/plan")
        answer.set_cookie(self.cookie, secret, httponly=True, samesite="strict", secure=self.secure, path="/")
        return answer

    def _sign_out(self, request: Request) -> Response:
        self.office.desk.end(request.cookies.get(self.cookie, ""))
        answer: Any = see("/sign-in")
        answer.delete_cookie(self.cookie, path="/", secure=self.secure, httponly=True, samesite="strict")
        return answer

    def _invited(self, request: Request) -> Response:
        name = self.office.desk.key(request.path_params["key"], "invite")
        return page(request, "invited.html", status=200 if name else 403, name=name, problem=None)

    async def _accept(self, request: Request) -> Response:
        given = await typed(request)
        key = request.path_params["key"]
        name = self.office.desk.key(key, "invite")
        if name is None:
            return page(request, "invited.html", status=403, name=None, problem=None)
        try:
            await run_in_threadpool(self.accounts.set_password, name, given.get("password", ""))
        except SordinoError as problem:
            return page(request, "invited.html", status=422, name=name, problem=problem)
        if self.office.desk.exchange(key, "invite") is None:
            return page(request, "invited.html", status=403, name=None, problem=None)
        return self._came_in(self.office.desk.begin(name))


class Proxy(SignIn):
    """A proxy in front has signed people in; its word is taken only from its address and with the shared secret.

    Args:
        office: Where the desk is.
        address: From where the proxy comes.
        secret: What only the proxy knows.
        secure: Whether it is reached by TLS.
    """

    def __init__(self, office: Office, *, address: str, secret: str, secure: bool) -> None:
        super().__init__(office, secure=secure)
        self.address, self.secret = address, secret

    def who(self, request: Request) -> Person | None:
        """By what the proxy says, or by a token."""
        if request.url.path.startswith("/api/"):
            return super().who(request)
        peer = request.client.host if request.client else ""
        said = request.headers.get("x-sordino-proxy", "")
        name = request.headers.get("remote-user", "")
        if peer != self.address or not hmac.compare_digest(said.encode(), self.secret.encode()) or not name:
            return None
        # A seal needs something that only this person's requests have: the proxy's word for them.
        return self.accounts.person(name, session=self.office.sealed(f"proxy {name}"), address=peer)

    def closed(self, request: Request) -> Response:
        """Nobody signs in here."""
        if request.url.path.startswith("/api/"):
            return super().closed(request)
        return page(request, "closed.html", status=401)
