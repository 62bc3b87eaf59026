"""What ``make demo`` runs: the public command line, each command shown before its output."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path

import click

from sordino.cli import program

COMMANDS = (
    "sordino show noise",
    "sordino noise polyplace --epsilon 1 --smoothing 0.1 --plot {folder}/polyplace.svg",
    "sordino noise arsinh-normal --rho 0.5 --smoothing 0.1",
    "sordino noise --figure --plot {folder}/figure1.svg",
)


def run() -> None:
    """Run the commands one after the other."""
    folder = Path(tempfile.mkdtemp(prefix="sordino-demo-"))
    for line in COMMANDS:
        text = line.format(folder=folder)
        click.echo(click.style(f"\n$ {text}", fg="cyan"))
        program.main(args=shlex.split(text)[1:], standalone_mode=False)
    click.echo(f"\nThe pictures are in {folder}.")


if __name__ == "__main__":
    run()
