"""Open the page of one person: plan, describe data, release, look at the ledger, in a browser on this machine."""

from __future__ import annotations

import socket
import sys
import threading
from pathlib import Path
from typing import Any

import click

from sordino.errors import MissingExtra, ParameterError

PORT = 8765


@click.command(name="app", epilog="Example: sordino app data/")
@click.argument("folder", type=click.Path(file_okay=False, exists=True), default=".")
@click.option("--port", type=int, default=None, help=f"By default {PORT}, or the next one that is free.")
@click.option("--no-browser", is_flag=True, help="Print the link alone.")
def command(folder: str, port: int | None, no_browser: bool) -> None:
    """Open the page on the data and ledgers in FOLDER, for one person and on this machine alone.

    The link works once and only here; Enter prints another one.
    """
    try:
        import uvicorn

        from sordino.web import application
        from sordino.web.entrance import Link
        from sordino.web.office import Office, own_desk
    except ImportError as error:
        raise MissingExtra.named("app", str(error.name), "web") from None
    listening = listen(port)
    number = listening.getsockname()[1]
    host = f"127.0.0.1:{number}"
    office = Office(folder, own_desk(Path(folder)))
    door = Link(office, cookie=f"sordino-{number}")
    app = application(office, hosts=(host, f"localhost:{number}"), origins=(f"http://{host}", f"http://localhost:{number}"),
                      entry=door)  # fmt: skip

    def link() -> str:
        return f"http://{host}{door.link()}"

    first = link()
    click.echo(f"sordino is at {first}")
    click.echo("The link works once; press Enter for another one, Ctrl-C to end.", err=True)
    if not no_browser and sys.stdout.isatty():
        import webbrowser

        threading.Timer(0.5, webbrowser.open, (first,)).start()
    if sys.stdin is not None and sys.stdin.isatty():
        threading.Thread(target=_more_links, args=(link,), daemon=True).start()
    serve(uvicorn, app, listening)


def serve(uvicorn: Any, app: Any, listening: socket.socket, **options: Any) -> None:
    """Run until it is stopped; no access log, no server header, no websockets."""
    config = uvicorn.Config(
        app, log_level="error", access_log=False, server_header=False, date_header=True, ws="none",
        limit_concurrency=100, timeout_keep_alive=5, h11_max_incomplete_event_size=65_536, **options,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])


def listen(port: int | None, host: str = "127.0.0.1") -> socket.socket:
    """A socket on this machine; the next free port unless one was asked for."""
    for number in [port] if port is not None else [*range(PORT, PORT + 40), 0]:
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, number))
        except OSError:
            made.close()
            continue
        made.listen(128)
        return made
    raise ParameterError("app", "the port is in use", got={"port": port}, hint=f"--port {PORT + 100}")


def _more_links(link: Any) -> None:
    for _ in sys.stdin:
        click.echo(f"sordino is at {link()}")
