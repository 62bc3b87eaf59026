"""Write the head that clients need: reference, price, lattice and the mechanism's name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from sordino.cli import render
from sordino.cli.geo_verbs.options import (
    flat_from_options,
    price_of,
    price_options,
    promise,
    reference_from_options,
    reference_options,
)
from sordino.errors import ParameterError


@click.command(name="head")
@price_options
@reference_options
@click.option("--rounds-from", metavar="TIME", help="When round 0 begins, as 2026-01-01T00:00:00Z.")
@click.option("--round-seconds", type=int, help="How long a round is.")
@click.option("--out", type=click.Path(dir_okay=False), help="A .json file; the screen by default.")
def command(out: str | None, **asked: Any) -> None:
    """Write the head of a mechanism for point reports: all that a client needs to know."""
    made = points_mechanism(**asked)
    head = made.head()
    if out is None:
        render.as_json(head)
        return
    Path(out).write_text(json.dumps(head, indent=2) + "\n", encoding="utf-8")
    render.block([("protects", promise(made.price)), ("mechanism", head["id"]), ("written", out)])


def points_mechanism(
    *,
    epsilon: str | None,
    per: str | None,
    delta: str,
    centre: str | None,
    radius: str,
    plane: bool,
    between: str | None,
    unit: str,
    rounds_from: str | None = None,
    round_seconds: int | None = None,
) -> Any:
    """The mechanism for point reports that the options name."""
    from sordino.fields import number
    from sordino.geo.points import Points

    if number("delta", delta):
        raise ParameterError("points", "delta must be 0: a point report keeps a pure promise")
    sphere = reference_from_options(centre, radius)
    if (sphere is None) == (between is None):
        raise ParameterError(
            "points",
            "name one coordinate reference",
            got={"plane": plane, "centre": centre, "between": between},
            why="Degrees and metres are never guessed.",
            hint="--centre=-73.97,40.74 --radius 50km, or --between 0,1000000 --unit dollar",
        )
    rounds: dict[str, Any] | None = None
    if rounds_from is not None or round_seconds is not None:
        if rounds_from is None or round_seconds is None or round_seconds < 1:
            raise ParameterError("points", "--rounds-from and --round-seconds come together")
        rounds = {"from": rounds_from, "seconds": round_seconds}
    reference = sphere if sphere is not None else flat_from_options(str(between), unit)
    return Points(reference, price_of(epsilon, per), rounds)
