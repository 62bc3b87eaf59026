"""Turn points into reports that may leave the device."""

from __future__ import annotations

from typing import Any

import click

from sordino.cli import render
from sordino.cli.geo_verbs.head import points_mechanism
from sordino.cli.geo_verbs.options import (
    price_of,
    price_options,
    promise,
    query_options,
    question,
    read_head,
    reference_from_options,
    reference_options,
)
from sordino.cli.options import json_option
from sordino.errors import ParameterError
from sordino.fields import number

_CHUNK = 1 << 16  # reports held in memory at a time


@click.command(name="report")
@click.argument("points", type=click.Path(dir_okay=False))
@query_options
@price_options
@reference_options
@click.option(
    "--head", "head_file", type=click.Path(dir_okay=False), help="A head in place of price and reference."
)
@click.option("--columns", required=True, metavar="X[,Y]", help="Columns of numbers; lon,lat with --centre.")
@click.option("--noise", help="For a question: a noise family other than the default.")
@click.option("--devices", metavar="COLUMN", help="Names of the devices; random ones by default.")
@click.option("--round", "round_", type=int, default=0, help="Number of the collection round.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="A .jsonl or .parquet file.")
@json_option
def command(
    points: str,
    words: tuple[str, ...],
    head_file: str | None,
    columns: str,
    noise: str | None,
    devices: str | None,
    round_: int,
    out: str,
    as_json: bool,
    **asked: Any,
) -> None:
    """Turn points of a CSV or Parquet file into reports that may leave the device.

    Without a question each report is the point itself, moved by noise: everything can be asked of it later. With a
    question (a kind and its fields) each report answers that question and no other.
    """
    from sordino.geo import wire
    from sordino.geo.files import read_names, read_points, refuse_degrees
    from sordino.geo.reference import Sphere
    from sordino.geo.reporting import mechanism_for, stream

    names = columns.split(",")
    sphere = reference_from_options(asked["centre"], asked["radius"])
    made: Any
    if head_file is not None:
        made = read_head(head_file)
        sphere = made.reference if isinstance(made.reference, Sphere) else None
    elif words:
        made = mechanism_for(
            question(words, sphere),
            price_of(asked["epsilon"], asked["per"]),
            noise=noise,
            delta=number("delta", asked["delta"]),
            reference=sphere,
        )
    else:
        made = points_mechanism(**asked)
    refuse_degrees(names, centre=sphere is not None)
    query = getattr(made, "query", None)
    if query is not None and query.dimension > 1 and sphere is None and not asked["plane"]:
        raise ParameterError(
            "report",
            "say what the columns are",
            got={"columns": tuple(names)},
            why="Degrees and metres are never guessed.",
            hint="--centre=-73.97,40.74 for degrees, --plane for metres on a map",
        )
    at = read_points(points, names)
    if sphere is not None:
        at = sphere.to_metres(at)
    listed = None if devices is None else read_names(points, devices)
    with render.progress("reports", total=at.shape[0]) as advance:
        parts = (
            made.stream(metres=at, chunk=_CHUNK, progress=advance)
            if query is None
            else stream(made, at, chunk=_CHUNK, progress=advance)
        )
        written = wire.write(out, made, parts, devices=listed, round_=round_)
    if as_json:
        render.as_json({"written": written, "file": out, "mechanism": made.id, "price": made.price.to_dict()})
        return
    render.block(
        [
            ("reports", "the point itself, moved by noise" if query is None else repr(query)),
            ("protects", promise(made.price, getattr(made, "delta", 0))),
            ("costs", f"each device {made.price!r}"),
            ("written", f"{written:,} reports to {out}, mechanism {made.id}"),
        ]
    )
