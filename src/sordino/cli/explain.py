"""Explain a release to a reader who is no specialist: what was promised, assumed and not protected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sordino.cli import render
from sordino.cli.options import json_option
from sordino.errors import LedgerError, ParameterError

if TYPE_CHECKING:
    from sordino.session.release import Release


@click.command(
    name="explain",
    epilog="Example: sordino explain release.json, or: sordino explain 17 --ledger people.ledger",
)
@click.argument("release", metavar="FILE|NUMBER")
@click.option("--ledger", "location", metavar="LEDGER", help="The book in which NUMBER stands.")
@json_option
def command(release: str, location: str | None, as_json: bool) -> None:
    """Say in plain words what a release promises. RELEASE is a JSON file, or its number in a book."""
    found = _from_book(int(release), location) if release.isdigit() and location else _from_file(release)
    if as_json:
        render.as_json({"release": found.to_dict(), "explanation": found.explain()})
        return
    click.echo(found.explain())


def _from_book(number: int, location: str) -> Release:
    from sordino.ledger import Ledger
    from sordino.session.release import Release

    with Ledger(location) as book:
        entry = book.entry(number)
    if entry.release is None:
        raise LedgerError(
            f"ledger {location}",
            "this release was paid for and has no answer yet",
            got={"number": number},
            hint="ask again with its token: it costs nothing",
        )
    return Release.from_dict(entry.release)


def _from_file(name: str) -> Release:
    from sordino.session.release import Release

    path = Path(name)
    if not path.is_file():
        raise ParameterError(
            "explain",
            "there is no such file",
            got={"file": name},
            hint=f"sordino explain {name if name.isdigit() else 1} --ledger people.ledger",
        )
    return Release.from_json(path.read_text(encoding="utf-8"))
