"""Statistics of points that were never collected: plan, report on a device, estimate, map.

A query is named by its kind and fields: threshold at=100000 width=20000; disc centre=0,0 radius=1km width=200m;
kernel-density at=0,0 bandwidth=500m. Distances are metres (or the unit of the numbers); m, km, mi, ft are understood.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sordino.cli import render
from sordino.cli.options import json_option, number, plot_option
from sordino.errors import ParameterError
from sordino.privacy import Geo

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.geo.query import Query

_CHUNK = 1 << 16  # reports held in memory at a time


@click.group()
def command() -> None:
    """Statistics of points that were never collected, with a promise per distance.

    Each device answers a query about its own point with noise that is small where the point is far from the action.
    """


def query_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add what names a query."""
    return click.argument("words", nargs=-1, metavar="KIND [FIELD=VALUE]...")(function)


def price_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add what names a promise per distance."""
    for option in (
        click.option("--delta", default="0", metavar="D", help="An approximate promise, with Laplace noise."),
        click.option(
            "--per", required=True, metavar="DISTANCE", help="... for points this far apart: 200m, 1km."
        ),
        click.option("--epsilon", required=True, metavar="E", help="Loss of privacy ..."),
    ):
        function = option(function)
    return function


def _query(words: tuple[str, ...]) -> Query:
    from sordino.geo.files import query_from

    if not words or "=" in words[0]:
        raise ParameterError("geo", "name a kind of query first", hint="threshold at=100000 width=20000")
    pairs = [word.partition("=") for word in words[1:]]
    return query_from(words[0], {name: text for name, _, text in pairs})


def _price(epsilon: str, per: str) -> Geo:
    from sordino.geo.files import length

    return Geo(number("epsilon", epsilon), length(per))


def _promise(price: Geo, delta: Any = 0) -> str:
    import math

    factor = math.exp(float(price.epsilon))
    words = f"points {float(price.per):,.6g} apart are indistinguishable within a factor {factor:.3g}"
    rest = f", but for events of probability {float(delta):g}" if delta else ""
    return f"{words}, nearer ones more so{rest}"


def _save(figure: Any, path: str | None) -> None:
    if path is not None:
        from sordino.plots import save

        render.note(f"picture written to {save(figure(), path)}")


@command.command()
@query_options
@price_options
@click.option("--users", type=int, default=100_000, show_default=True, help="How many people will report.")
@click.option(
    "--assume", "kind", default="normal", show_default=True, help="normal, log-normal, uniform or city."
)
@click.option(
    "--around",
    metavar="X,Y",
    help="Centre of the assumed density (log-normal: of the logarithms); the query's own place by default.",
)
@click.option(
    "--spread",
    metavar="DISTANCE",
    help="Width of the assumed density; ten times --per by default (log-normal: of the logarithms, 0.8).",
)
@plot_option
@json_option
def plan(
    words: tuple[str, ...],
    epsilon: str,
    per: str,
    delta: str,
    users: int,
    kind: str,
    around: str | None,
    spread: str | None,
    plot: str | None,
    as_json: bool,
) -> None:
    """Expected error of every mechanism for an assumed density, before anything is collected."""
    from sordino.geo import figures
    from sordino.geo.files import length, numbers
    from sordino.geo.planning import assume
    from sordino.geo.planning import plan as expect
    from sordino.geo.reporting import mechanism_for

    query, price = _query(words), _price(epsilon, per)
    centre = query.anchor if around is None else numbers(around)
    width = 10 * float(price.per) if spread is None else length(spread)
    if kind == "log-normal":  # centre and spread of the logarithms; a natural width is a factor of about two
        if around is None:
            centre = tuple(math.log(max(abs(place), float(price.per))) for place in centre)
        width = 0.8 if spread is None else width
    points = assume(kind, query.dimension, centre=centre, spread=width)
    left_out = number("delta", delta)
    made = mechanism_for(query, price, delta=left_out)
    rows = expect(query, price, points, users=users)
    if as_json:
        render.as_json(
            {
                "query": query.to_dict(),
                "price": price.to_dict(),
                "mechanism": made.noise,
                "assumed": kind,
                "users": users,
                "expected": [
                    {
                        "mechanism": r.mechanism,
                        "noise": r.noise,
                        "bias": r.bias,
                        "error": r.error,
                        "promise": r.promise,
                    }
                    for r in rows
                ],
            }
        )
    else:
        render.block(
            [
                ("query", repr(query)),
                ("protects", _promise(price, left_out)),
                ("reports with", f"{made.noise} noise, values in steps of {float(made.grid.step):.3g}"),
                ("assumed", f"{kind} density, generated; no private point was read"),
            ]
        )
        render.table(
            ("mechanism", "noise", "bias", "error", "promise"),
            [(r.mechanism, r.noise, r.bias, r.error, r.promise) for r in rows],
            title=f"expected error of the mean answer, {users:,} people",
        )
    _save(lambda: figures.errors(rows, title=f"{query.name}, {users:,} people"), plot)


@command.command()
@click.argument("points", type=click.Path(dir_okay=False))
@query_options
@price_options
@click.option("--columns", required=True, metavar="X[,Y]", help="Columns of numbers; lon,lat with --centre.")
@click.option("--centre", metavar="LON,LAT", help="The columns are degrees; the map's public centre.")
@click.option("--noise", help="A noise family other than the default.")
@click.option("--devices", metavar="COLUMN", help="Names of the devices; random ones by default.")
@click.option("--round", "round_", type=int, default=0, help="Number of the collection round.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="A .jsonl or .parquet file.")
@json_option
def report(
    points: str,
    words: tuple[str, ...],
    epsilon: str,
    per: str,
    delta: str,
    columns: str,
    centre: str | None,
    noise: str | None,
    devices: str | None,
    round_: int,
    out: str,
    as_json: bool,
) -> None:
    """Turn points of a CSV or Parquet file into reports that may leave the device."""
    from sordino.geo import wire
    from sordino.geo.files import numbers, read_names, read_points
    from sordino.geo.projection import Projection
    from sordino.geo.reporting import mechanism_for, stream

    query, price = _query(words), _price(epsilon, per)
    left_out = number("delta", delta)
    made = mechanism_for(query, price, noise=noise, delta=left_out)
    at = read_points(points, columns.split(","))
    if centre is not None:
        at = Projection(*numbers(centre)).to_metres(at)
    names = None if devices is None else read_names(points, devices)
    with render.progress("reports", total=at.shape[0]) as advance:
        parts = stream(made, at, chunk=_CHUNK, progress=advance)
        written = wire.write(out, made, parts, devices=names, round_=round_)
    summary = {"written": written, "file": out, "mechanism": made.id, "price": price.to_dict()}
    if as_json:
        render.as_json(summary)
        return
    render.block(
        [
            ("query", repr(query)),
            ("protects", _promise(price, left_out)),
            ("costs", f"each device {price!r}"),
            ("written", f"{written:,} reports to {out}, mechanism {made.id}"),
        ]
    )


@command.command()
@click.argument("reports", type=click.Path(dir_okay=False))
@query_options
@click.option("--epsilon", metavar="E", help="The price the devices were asked to pay; checked if given.")
@click.option("--per", metavar="DISTANCE", help="With --epsilon.")
@click.option("--delta", default="0", metavar="D", help="With --epsilon.")
@click.option("--noise", help="With --epsilon: the noise family, if not the default.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the interval.")
@click.option("--out", type=click.Path(dir_okay=False), help="With many places: a CSV of all estimates.")
@json_option
def estimate(
    reports: str,
    words: tuple[str, ...],
    epsilon: str | None,
    per: str | None,
    delta: str,
    noise: str | None,
    confidence: float,
    out: str | None,
    as_json: bool,
) -> None:
    """Estimate the mean answer from reports, and count what was rejected.

    With a query and --epsilon, --per only reports of exactly that mechanism count. Without them the file's own head is
    believed.
    """
    from sordino.geo import wire
    from sordino.geo.estimation import Tally
    from sordino.geo.reporting import mechanism_for

    head, records = wire.read(reports)
    if words and epsilon is not None and per is not None:
        made = mechanism_for(_query(words), _price(epsilon, per), noise=noise, delta=number("delta", delta))
    elif head is not None and not words:
        made = wire.mechanism_from(head)
    else:
        raise ParameterError(
            "estimate",
            "name the query with --epsilon and --per, or give a file with a head",
            hint="threshold at=100000 width=20000 --epsilon 1 --per 12000",
        )
    collector, tally = wire.Collector(made), Tally(made.query)
    rejected: Counter[str] = Counter()
    accepted = 0
    while batch := list(islice(records, _CHUNK)):
        received = collector.receive(batch)
        rejected.update(received.rejected)
        accepted += len(received.reports)
        tally.add(received.reports)
    found = tally.estimate(confidence=confidence)
    if as_json:
        render.as_json({**found.to_dict(), "accepted": accepted, "rejected": dict(rejected)})
        return
    render.block(
        [
            ("query", repr(made.query)),
            ("accepted", accepted),
            ("rejected", ", ".join(f"{n:,} {why}" for why, n in rejected.items()) or "none"),
        ]
    )
    if getattr(made.query, "places", None) is None or len(made.query.at) == 1:  # type: ignore[attr-defined]
        render.table(
            ("estimate", "standard error", f"{confidence:.0%} from", "to"),
            [(found.value, found.standard_error, found.low, found.high)],
        )
        return
    _places(found, out)


def _places(found: Any, out: str | None) -> None:
    """Show the most crowded of many places, and write all of them if asked."""
    import csv

    import numpy as np

    places = found.query.places
    axes = ["x", "y", "z"][: places.shape[1]]
    header = [*axes, "estimate", "standard_error", "low", "high", "count"]
    rows = [
        (*place, *numbers)
        for place, *numbers in zip(
            places.tolist(),
            found.value,
            found.standard_error,
            found.low,
            found.high,
            found.count,
            strict=True,
        )
    ]
    top = np.argsort(-np.nan_to_num(found.value, nan=-np.inf))[:10]
    render.table(header, [tuple(map(float, rows[i])) for i in top], title="the ten largest of all places")
    if out is not None:
        with Path(out).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)
        render.note(f"all {len(rows):,} places written to {out}")


@command.command(name="map")
@price_options
@click.option("--users", type=int, default=200_000, show_default=True, help="People in the generated city.")
@click.option("--points", type=click.Path(dir_okay=False), help="Public points instead of a generated city.")
@click.option("--columns", default="lon,lat", show_default=True, help="With --points.")
@click.option("--centre", metavar="LON,LAT", help="With --points in degrees: the map's public centre.")
@click.option("--size", default="20km", show_default=True, help="Side of the map.")
@click.option("--cells", type=int, default=40, show_default=True, help="Places along each side.")
@click.option(
    "--bandwidth", metavar="DISTANCE", help="Of the kernel; twice the distance of places by default."
)
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="A .svg, .png or .pdf file.")
@json_option
def map_(
    epsilon: str,
    per: str,
    delta: str,
    users: int,
    points: str | None,
    columns: str,
    centre: str | None,
    size: str,
    cells: int,
    bandwidth: str | None,
    out: str,
    as_json: bool,
) -> None:
    """Draw the true density of public demo data beside the one estimated from reports.

    The true map is computed from the points, so use it on generated or public data only.
    """
    from sordino.geo.drawing import density_map
    from sordino.geo.files import length, numbers, read_points
    from sordino.geo.planning import assume
    from sordino.geo.projection import Projection
    from sordino.plots import save

    if number("delta", delta):
        raise ParameterError("map", "delta must be 0: a map is reported in blocks with pure noise")
    price, side = _price(epsilon, per), length(size)
    if points is None:
        at = assume("city", 2, spread=0.5 * side, count=users)
    else:
        at = read_points(points, columns.split(","))
        if centre is not None:
            at = Projection(*numbers(centre)).to_metres(at)
    width = 2 * side / cells if bandwidth is None else length(bandwidth)
    with render.progress("reports", total=at.shape[0]) as advance:
        figure, summary = density_map(at, price, side=side, cells=cells, bandwidth=width, progress=advance)
    save(figure, out)
    if as_json:
        render.as_json(summary)
        return
    render.block(
        [
            ("protects", _promise(price)),
            ("reports", f"{summary['people']:,}, each about one of {summary['blocks']} blocks of places"),
            ("error", f"{summary['error']:.3g} people per square km, root mean square over the map"),
            ("largest", f"{summary['largest']:.3g} people per square km in truth"),
            ("picture", out),
        ]
    )
