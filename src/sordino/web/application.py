"""`application`: routes, locks and life of the app. Each page is in a file of its own."""

from __future__ import annotations

import contextlib
import secrets
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sordino.errors import SordinoError
from sordino.web import ask, budget, data, entrance, ledger, more, plan, releasing, reports
from sordino.web.lanes import Lanes
from sordino.web.locks import Locks
from sordino.web.view import page, refused, see
from sordino.web.worker import PlanWorker

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from sordino.web.office import Office


THREADS = 8
"""Requests that are worked on at once, beside the lanes of releases."""


def application(
    office: Office,
    *,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    entry: Any = None,
    secure: bool = False,
    strict: bool = False,
) -> ASGIApp:
    """The app of an office.

    Args:
        office: Where data, ledgers and desk are.
        hosts: The exact values of ``Host`` that are ours.
        origins: The exact origins from which forms may come.
        entry: How people come in; by a link for one person unless given.
        secure: Whether it is reached by TLS.
        strict: Whether a lane is kept until its answers are handed out.
    """
    door = entry or entrance.Link(office, cookie=cookie_name(hosts))
    routes = [
        Route("/", _first),
        *door.routes(),
        *plan.ROUTES,
        *budget.ROUTES,
        *data.ROUTES,
        *ask.ROUTES,
        *ledger.ROUTES,
        *reports.ROUTES,
        *more.ROUTES,
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static"),
    ]
    if office.shared:
        from sordino.web import organisation

        routes += organisation.ROUTES

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        # Every thread has its own connections: a few are enough, and a database has no more than a hundred.
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        if office.shared:  # whoever asks first does not wait for what all need
            await anyio.to_thread.run_sync(office.warm)
        releasing.finish(app)
        threading.Thread(target=app.state.worker.warm, daemon=True).start()
        yield
        app.state.worker.close()
        app.state.lanes.close()
        office.close()

    app = Starlette(
        routes=routes,
        lifespan=life,
        exception_handlers={SordinoError: _refused, 404: _absent, 405: _absent},
        middleware=[Middleware(entrance.Entrance, door=door)],
    )
    lanes = Lanes(releasing.together, strict=strict)
    app.state.office, app.state.worker, app.state.lanes, app.state.door = (
        office,
        PlanWorker(polite=office.shared),
        lanes,
        door,
    )
    return Shield(Locks(Shield(app), hosts=hosts, origins=origins, strict_transport=secure))


def _first(request: Request) -> Response:  # noqa: ARG001
    return see("/plan")


def cookie_name(hosts: tuple[str, ...]) -> str:
    """Cookies are shared by all ports of a host, so that the port is part of the name."""
    return f"sordino-{hosts[0].rpartition(':')[2]}"


def _refused(request: Request, problem: Exception) -> Response:
    if request.url.path.startswith("/api/"):
        from sordino.web.api_parts import problem_of

        return problem_of(problem)
    return refused(request, problem)


def _absent(request: Request, problem: Exception) -> Response:
    status = getattr(problem, "status_code", 404)
    if request.url.path.startswith("/api/"):
        return PlainTextResponse("There is nothing here.\n", status)
    return page(request, "absent.html", status=status)


class Shield:
    """The last resort: a bug of ours becomes a page with an id. Its words may hold what was read and go nowhere."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; say nothing of what went wrong but its kind and where in our own files."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def noticed(message: Any) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, noticed)
        except Exception as problem:  # noqa: BLE001
            found = secrets.token_hex(4)
            print(f"sordino: bug {found}: {_where(problem)}", file=sys.stderr, flush=True)  # noqa: T201
            if not begun:
                answer = PlainTextResponse(f"This is a bug of ours. Its number is {found}.\n", 500)
                await answer(scope, receive, send)


def _where(problem: BaseException) -> str:
    """The kind of an error and the line of ours in which it happened."""
    import traceback

    home = Path(__file__).parent.parent
    ours = [
        f"{Path(frame.filename).relative_to(home)}:{frame.lineno}"
        for frame in traceback.extract_tb(problem.__traceback__)
        if Path(frame.filename).is_relative_to(home)
    ]
    return f"{type(problem).__name__} at {ours[-1] if ours else '?'}"
