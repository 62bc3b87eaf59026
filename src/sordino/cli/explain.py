"""Explain a release to a reader who is not a specialist: what was promised, assumed and not protected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sordino.address import check_path, pasted
from sordino.cli import render
from sordino.cli.answers import (
    check_outputs,
    chosen,
    paged,
    print_answer,
    with_answer_options,
    write_files,
)
from sordino.errors import LedgerError, ParameterError

if TYPE_CHECKING:
    from sordino.session.release import Release

MALFORMED = (ValueError, KeyError, TypeError, AttributeError, IndexError)
"""What reading a record raises that is none."""


@click.command(
    name="explain",
    epilog="Example: sordino explain release.json, or: sordino explain 17 --ledger people.ledger",
)
@click.argument("release", metavar="FILE|NUMBER")
@click.option("--ledger", "location", metavar="LEDGER", help="The ledger in which NUMBER stands.")
@with_answer_options
def command(release: str, location: str | None, **options: Any) -> None:
    """Say in plain words what a release promises. RELEASE is a JSON file, or its number in a ledger.

    With --format csv or markdown it prints the answers alone; --csv and --plot write them into files.
    """
    check_outputs(options)
    numbered = release.isascii() and release.isdigit()
    found = _from_ledger(release, location) if numbered and location else _from_file(release)
    kind = chosen(options)
    if kind == "json":
        render.as_json({"release": found.to_dict(), "explanation": found.explain()})
        write_files(found, options)
    elif kind == "table":
        paged(found.explain(render.width()))
        write_files(found, options)
    else:
        print_answer(found, options)


def _from_ledger(text: str, location: str) -> Release:
    from sordino.ledger import Ledger
    from sordino.session.release import Release

    if len(text) > 15:
        raise ParameterError(
            "explain", "no ledger has so many releases", got={"number": text},
            hint=f"sordino ledger show {pasted(location)}",
        )  # fmt: skip
    number = int(text)
    with Ledger(location) as ledger:
        name, entry = ledger.name, ledger.entry(number)
    if entry.release is None:
        raise LedgerError(
            f"ledger {name}",
            "this release was paid for and has no answer yet",
            got={"number": number},
            hint="ask again with its token: it costs nothing",
        )
    return Release.from_dict(entry.release)


def _from_file(name: str) -> Release:
    from sordino.session.release import Release

    check_path("explain", name, hint="sordino explain release.json")
    path = Path(name)
    if not path.is_file():
        numbered = name.isascii() and name.isdigit() and len(name) <= 15
        raise ParameterError(
            "explain",
            "there is no such file",
            got={"file": name},
            hint=f"sordino explain {name if numbered else 1} --ledger people.ledger",
        )
    try:
        return Release.from_json(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, RecursionError, *MALFORMED):
        pass
    raise ParameterError(
        "explain",
        "the file is not a release",
        got={"file": name},
        why="It is what `sordino release ... --json` prints.",
        hint=f"sordino explain 1 --ledger {pasted(name)}, if it is a ledger",
    )
