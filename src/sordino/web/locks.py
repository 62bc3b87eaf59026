"""What keeps strangers out, before any route is looked up: exact hosts, our own origin, sizes, headers, sessions.

Every answer says that nothing may be kept, framed, guessed at or loaded from elsewhere. Logs get route names and ids.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from sordino.web.office import Office

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PAGE = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)
"""For reports: one file with its own style, without any script."""

HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With no-referrer Chromium sends "Origin: null" on our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
FORM, DOCUMENT = 64_000, 5_000_000
"""Bytes of a form, and of a document that is pasted or sent to be read."""
DOCUMENTS = ("/explain", "/geo", "/smoothed")
SAFE = ("GET", "HEAD")
FLYING = 128
"""Requests that are worked on at once; whoever comes then is told to come again."""


class Locks:
    """The outermost layer.

    Args:
        app: What is protected.
        hosts: The exact values of ``Host`` that are ours.
        origins: The exact origins from which forms may come.
        strict_transport: Whether to tell browsers to come by TLS only.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: tuple[str, ...],
        origins: tuple[str, ...],
        strict_transport: bool = False,
    ) -> None:
        self.app, self.hosts, self.origins = app, set(hosts), set(origins)
        self.flying = 0
        self.more = {"strict-transport-security": "max-age=31536000"} if strict_transport else {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with a bounded body and safe headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in (HEADERS | self.more).items():
                    if name not in out:
                        out[name] = value
                if "content-security-policy" not in out:
                    out["content-security-policy"] = POLICY
                if "server" in out:
                    del out["server"]
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return
        self.flying += 1
        try:
            await self.app(scope, _bounded(receive, _most(scope["path"])), guarded)
        finally:
            self.flying -= 1

    def _refusal(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        if headers.get("host", "") not in self.hosts:
            return PlainTextResponse("This host is not served here.\n", 421)
        if scope["method"] not in SAFE and not scope["path"].startswith("/api/"):
            # A browser says where a form comes from; without that it is no form of ours.
            if headers.get("origin", "") not in self.origins:
                return PlainTextResponse("The form came from elsewhere; nothing was done.\n", 403)
            if headers.get("sec-fetch-site", "same-origin") != "same-origin":
                return PlainTextResponse("The form came from elsewhere; nothing was done.\n", 403)
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > _most(scope["path"]):
            return PlainTextResponse("The request is too large.\n", 413)
        if self.flying >= FLYING:
            return PlainTextResponse("Too many at once; nothing was done.\n", 429, {"retry-after": "5"})
        return None


def _most(path: str) -> int:
    return DOCUMENT if path in DOCUMENTS else FORM


def _bounded(receive: Receive, most: int) -> Receive:
    """Stop reading a body that grows beyond its bound, whatever its header said."""
    read = 0

    async def counted() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            return {"type": "http.disconnect"}
        return message

    return counted


def seal(office: Office, session: str, token: str, event: Any) -> str:
    """Binds a button to the session, the token and the very question that was shown."""
    shown = hashlib.sha256(json.dumps(event, sort_keys=True).encode()).hexdigest()
    return hmac.new(office.key, f"{session} {token} {shown}".encode(), hashlib.sha256).hexdigest()


def fits(given: str, expected: str) -> bool:
    """Whether a seal is the expected one; takes as long either way."""
    return hmac.compare_digest(given.encode(), expected.encode())
