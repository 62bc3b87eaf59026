"""Say what is left of a budget, in one line. A verb of one's own, in one file."""

from __future__ import annotations

import click

from sordino.cli import render


@click.command(name="budget", epilog="Example: sordino budget people.ledger")
@click.argument("location", metavar="LEDGER")
def command(location: str) -> None:
    """Print what is left of the budget of a ledger."""
    from sordino.ledger import Ledger

    with Ledger(location) as ledger:
        render.block([("left", repr(ledger.remaining))])
