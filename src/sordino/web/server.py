"""The server under the app: one socket, no access log, and connections that do not wait for ever.

uvicorn waits without end for a request that never becomes whole. Here a connection has `WHOLE` seconds to send one, so
that many slow ones go away and leave the others served; a proxy in front does the same earlier.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from sordino.errors import ParameterError

WHOLE = 20.0
"""Seconds in which a request must have come whole."""
CONNECTIONS = 512


class Prompt(H11Protocol):
    """Closes a connection whose request does not become whole in time."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """The clock begins with the connection: one that sends nothing is as slow as any."""
        super().connection_made(transport)
        self._await()

    def data_received(self, data: bytes) -> None:
        """The clock of a request ends when it is whole."""
        self._await()
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._whole()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._whole()
        super().connection_lost(exc)

    def _await(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(WHOLE, self.transport.close)

    def _whole(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def configured(app: Any, **options: Any) -> uvicorn.Config:
    """The settings of the server: no access log, no server header, no websockets."""
    return uvicorn.Config(
        app, log_level="error", access_log=False, server_header=False, date_header=True, ws="none", http=Prompt,
        limit_concurrency=CONNECTIONS, timeout_keep_alive=5, h11_max_incomplete_event_size=65_536, **options,
    )  # fmt: skip


def serve(app: Any, listening: socket.socket, **options: Any) -> None:
    """Run until it is stopped."""
    uvicorn.Server(configured(app, **options)).run(sockets=[listening])


def listen(port: int | None, host: str = "127.0.0.1", *, first: int = 0) -> socket.socket:
    """A socket on this machine; the next free port from the first on, unless one was asked for."""
    for number in [port] if port is not None else [*range(first, first + 40), 0]:
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, number))
        except OSError:
            made.close()
            continue
        made.listen(CONNECTIONS)
        return made
    raise ParameterError("app", "the port is in use", got={"port": port}, hint="another --port")
