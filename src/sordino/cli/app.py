"""Open the page of one person: plan, describe data, release, look at the ledger, in a browser on this machine."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import click

from sordino.errors import MissingExtra

PORT = 8765


@click.command(name="app", epilog="Example: sordino app data/")
@click.argument("folder", type=click.Path(file_okay=False, exists=True), default=".")
@click.option("--port", type=int, default=None, help=f"By default {PORT}, or the next one that is free.")
@click.option("--no-browser", is_flag=True, help="Print the link and open no browser.")
def command(folder: str, port: int | None, no_browser: bool) -> None:
    """Open the page on the data and ledgers in FOLDER, for one person and on this machine alone.

    The link works once and only here; Enter prints another one.
    """
    try:
        from sordino.web import application
        from sordino.web.entrance import Link
        from sordino.web.office import Office, own_desk
        from sordino.web.server import listen, serve
    except ImportError as error:
        raise MissingExtra.named("app", str(error.name), "web") from None
    listening = listen(port, first=PORT)
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
    serve(app, listening)


def _more_links(link: Any) -> None:
    for _ in sys.stdin:
        click.echo(f"sordino is at {link()}")
