"""Reproduce the figures of the five papers: list the experiments, run them, keep numbers and pictures."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import click

from sordino.cli import render
from sordino.cli.options import json_option
from sordino.errors import MissingExtra

PACKAGE = "reproductions"


def reproduction(module: str = "") -> Any:
    """Import a module of the papers' reproductions, which stay in the repository and are not part of the wheel."""
    try:
        return importlib.import_module(f"{PACKAGE}.{module}" if module else PACKAGE)
    except ModuleNotFoundError as error:
        if error.name != PACKAGE:
            raise
        raise MissingExtra(
            "paper",
            "needs the reproductions, which come with a checkout of the repository",
            why="They are experiments, not the product, and are left out of the installed package.",
            hint="pip install --editable .   (in a checkout)",
        ) from None


@click.group(
    name="paper", epilog="Example: sordino paper run hladik-2022-figure-1 --scale full --out figures"
)
def command() -> None:
    """Run the papers' experiments by this package's own functions."""


@command.command(name="list")
@json_option
def list_experiments(as_json: bool) -> None:
    """List the experiments."""
    found = list(reproduction().experiments().values())
    if as_json:
        render.as_json(
            [{"name": e.name, "paper": e.paper, "title": e.title, "claim": e.claim} for e in found]
        )
        return
    render.table(["name", "shows"], [[e.name, e.title] for e in found])


@command.command()
@click.argument("name")
@click.option(
    "--scale",
    type=click.Choice(["smoke", "full"]),
    default="smoke",
    help="smoke takes seconds; full makes the figures of the docs.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("papers"),
    show_default=True,
    help="Folder for pictures, CSV and records; made if missing.",
)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of public data files; generated stand-ins are always run.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many processes work at once.",
)
@json_option
def run(name: str, scale: str, out: Path, data: Path | None, jobs: int, as_json: bool) -> None:
    """Run NAME (an experiment, a paper such as bun-2019, or all) and write its files into a folder.

    An interrupted run goes on where it stopped.
    """
    chosen, keep = reproduction().chosen, reproduction("runner").run
    out.mkdir(parents=True, exist_ok=True)
    records = []
    for experiment in chosen(name):
        total = len(experiment.parts(scale, data))
        with render.progress(experiment.name, total) as advance:
            kept = keep(experiment, scale=scale, out=out, data=data, jobs=jobs, progress=advance)
        if as_json:
            records.append(
                {
                    "name": experiment.name,
                    "finding": kept.result.finding,
                    "seconds": kept.seconds,
                    "parts_resumed": kept.resumed,
                    "files": [str(path) for path in kept.files],
                }
            )
            continue
        render.block(
            [
                ("the paper says", experiment.claim),
                ("we find", kept.result.finding),
                ("files", ", ".join(path.name for path in kept.files)),
                ("time", f"{kept.seconds:.1f} s, {kept.resumed} of {total} parts were there"),
            ],
            title=f"{experiment.name}: {experiment.title}",
        )
    if as_json:
        render.as_json(records)
