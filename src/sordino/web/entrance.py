"""Who comes in: the middleware that finds out, and the entrance of one person by a link that works once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from starlette.requests import Request
from starlette.routing import Route

from sordino.web.person import Person, alone
from sordino.web.view import page, see

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from sordino.web.office import Office

OPEN = ("/static/", "/open/", "/sign-in", "/invite/")
LINK = 24 * 3600
"""Seconds that a link of the terminal waits to be used."""


class Door(Protocol):
    """A way in."""

    def routes(self) -> list[Route]:
        """Pages that need nobody to be in."""

    def who(self, request: Request) -> Person | None:
        """Who sends a request."""

    def closed(self, request: Request) -> Response:
        """What a stranger sees."""


class Entrance:
    """Finds out who sends a request; strangers get no further."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app, self.door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on with the person, or refuse."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        scope["person"] = self.door.who(request)
        if scope["person"] is None and not scope["path"].startswith(OPEN):
            await self.door.closed(request)(scope, receive, send)
            return
        await self.app(scope, receive, send)


class Link:
    """The entrance of one person: a link in the terminal, exchanged once for a cookie."""

    def __init__(self, office: Office, *, cookie: str) -> None:
        self.office, self.cookie = office, cookie

    def link(self) -> str:
        """The path of a new link."""
        return f"/open/{self.office.desk.make_key(self.office.owner, 'link', LINK)}"

    def routes(self) -> list[Route]:
        """The link."""
        return [Route("/open/{key}", self._open)]

    def who(self, request: Request) -> Person | None:
        """Whoever has the cookie."""
        secret = request.cookies.get(self.cookie, "")
        name = self.office.desk.who(secret, idle=12 * 3600) if secret else None
        return None if name is None else alone(name, secret)

    def closed(self, request: Request) -> Response:
        """How to come in."""
        return page(request, "closed.html", status=403)

    def _open(self, request: Request) -> Response:
        name = self.office.desk.exchange(request.path_params["key"], "link")
        if name is None:
            return self.closed(request)
        answer: Any = see("/plan")
        answer.set_cookie(
            self.cookie, self.office.desk.begin(name), httponly=True, samesite="strict", path="/"
        )
        return answer
