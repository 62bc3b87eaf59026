"""Expected errors before anything is collected, and which mechanism wins."""

from __future__ import annotations

import math
from typing import Any

import click

from sordino.cli import render
from sordino.cli.geo_verbs.options import (
    price_of,
    price_options,
    promise,
    query_options,
    question,
    save_figure,
)
from sordino.cli.options import json_option, plot_option
from sordino.errors import ParameterError
from sordino.fields import number


@click.command(name="plan")
@query_options
@price_options
@click.option("--users", type=int, default=100_000, show_default=True, help="How many people will report.")
@click.option(
    "--size", default="20km", show_default=True, help="For a map: side of the ground they stand on."
)
@click.option("--bandwidth", metavar="DISTANCE", help="For a map: of the kernel; several by default.")
@click.option(
    "--error", default="0.1", show_default=True, help="For a map: the relative error that is wanted."
)
@click.option(
    "--assume",
    "kind",
    default=None,
    metavar="DENSITY",
    help="normal (a question), city (a map), log-normal or uniform.",
)
@click.option(
    "--around",
    metavar="X,Y",
    help="Centre of the assumed density (log-normal: of the logarithms); the question's own place by default.",
)
@click.option(
    "--spread",
    metavar="DISTANCE",
    help="Width of the assumed density; ten times --per by default (log-normal: of the logarithms, 0.8).",
)
@plot_option
@json_option
def command(
    words: tuple[str, ...],
    epsilon: str | None,
    per: str | None,
    delta: str,
    users: int,
    size: str,
    bandwidth: str | None,
    error: str,
    kind: str | None,
    around: str | None,
    spread: str | None,
    plot: str | None,
    as_json: bool,
) -> None:
    """Expected error of every mechanism for an assumed density, before anything is collected.

    Without a question: what a map will show. With one: whether to ask it of the devices or of point reports.
    """
    if words:
        _question(words, epsilon, per, delta, users, kind, around, spread, plot, as_json)
        return
    if number("delta", delta):
        raise ParameterError("plan", "delta must be 0: a point report keeps a pure promise")
    _map(epsilon, per, users, size, bandwidth, error, kind, plot, as_json)


def _map(
    epsilon: str | None,
    per: str | None,
    users: int,
    size: str,
    bandwidth: str | None,
    error: str,
    kind: str | None,
    plot: str | None,
    as_json: bool,
) -> None:
    """What a map of so many people on so much ground will show."""
    from sordino.geo.files import length
    from sordino.geo.planning import assume
    from sordino.geo.point_planning import compare, plan_points, resolutions

    price, side = price_of(epsilon, per), length(size)
    unit = float(1 / price.rate)
    per_km2 = users / (side / 1000) ** 2
    wanted = float(number("error", error))
    smallest, square = plan_points(per_km2, price, relative=wanted)
    widths = [0.5 * unit, unit, 2 * unit, 4 * unit] if bandwidth is None else [length(bandwidth)]
    people = assume(kind or "city", 2, spread=0.5 * side, count=users)
    rows = resolutions(per_km2, unit)
    runs = {h: compare(people, price, side=side, bandwidth=h) for h in widths}
    if as_json:
        render.as_json(
            {
                "price": price.to_dict(),
                "users": users,
                "people_per_km2": per_km2,
                "smallest_bandwidth": smallest,
                "smallest_square": square,
                "formula": [
                    {"bandwidth": row.bandwidth, "error": row.error, "relative": row.relative} for row in rows
                ],
                "expected": [
                    {"bandwidth": h, "mechanism": row.method, "error": row.error, "reports": row.reports}
                    for h, found in runs.items()
                    for row in found
                ],
            }
        )
        return
    render.block(
        [
            ("protects", promise(price)),
            (
                "people",
                f"{users:,} on {side / 1000:g} x {side / 1000:g} km, {per_km2:,.4g} per square km on average",
            ),
            (
                "at that density",
                f"a {wanted:.0%} error needs a bandwidth of {smallest:,.3g} m, or a square region of {square:,.3g} m",
            ),
            ("assumed", f"{kind or 'city'} density, generated; no private point was read"),
        ]
    )
    render.table(
        ("bandwidth (m)", "error per km2", "relative", "people within a circle of one bandwidth for 10 %"),
        [(row.bandwidth, row.error, row.relative, row.needed) for row in rows],
        title="unbiased map at the average density, by the formula",
    )
    for h, found in runs.items():
        render.table(
            ("mechanism", "error per km2", "each device sends"),
            [(row.method, row.error, row.reports) for row in found],
            title=f"whole map of the generated city, bandwidth {h:,.4g} m",
        )
        one = next(row for row in found if row.reports == "one report")
        render.note(f"at {h:,.4g} m: {one.method} wins among what costs one price")
    if plot is not None:
        from sordino.geo.map_figures import map_errors

        save_figure(lambda: map_errors(runs, users=users), plot)


def _question(
    words: tuple[str, ...],
    epsilon: str | None,
    per: str | None,
    delta: str,
    users: int,
    kind: str | None,
    around: str | None,
    spread: str | None,
    plot: str | None,
    as_json: bool,
) -> None:
    """Every mechanism for one question, on an assumed density."""
    from sordino.geo import figures
    from sordino.geo.files import length, numbers
    from sordino.geo.planning import ONE_REPORT, assume
    from sordino.geo.planning import plan as expect
    from sordino.geo.reporting import mechanism_for

    query, price = question(words), price_of(epsilon, per)
    density = kind or "normal"
    centre: Any = query.anchor if around is None else numbers(around)
    width = 10 * float(price.per) if spread is None else length(spread)
    if (
        density == "log-normal"
    ):  # centre and spread of the logarithms; a natural width is a factor of about two
        if around is None:
            centre = tuple(math.log(max(abs(place), float(price.per))) for place in centre)
        width = 0.8 if spread is None else width
    points = assume(density, query.dimension, centre=centre, spread=width)
    left_out = number("delta", delta)
    made = mechanism_for(query, price, delta=left_out)
    rows = expect(query, price, points, users=users)
    verdict = _verdict(rows, ONE_REPORT)
    if as_json:
        render.as_json(
            {
                "query": query.to_dict(),
                "price": price.to_dict(),
                "mechanism": made.noise,
                "assumed": density,
                "users": users,
                "verdict": verdict,
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
                ("protects", promise(price, left_out)),
                ("reports with", f"{made.noise} noise, values in steps of {float(made.grid.step):.3g}"),
                ("assumed", f"{density} density, generated; no private point was read"),
            ]
        )
        render.table(
            ("mechanism", "noise", "bias", "error", "promise"),
            [(r.mechanism, r.noise, r.bias, r.error, r.promise) for r in rows],
            title=f"expected error of the mean answer, {users:,} people",
        )
        render.paragraph(verdict)
    save_figure(lambda: figures.errors(rows, title=f"{query.name}, {users:,} people"), plot)


def _verdict(rows: Any, one_report: str) -> str:
    """Which of the two wins, in words."""
    single = next((row for row in rows if row.mechanism == one_report), None)
    asked = next(row for row in rows if row.promise == "geo" and not row.mechanism.startswith("moved"))
    if single is None:
        return f"Ask the devices this question ({asked.mechanism}): it cannot be asked of point reports."
    if single.error <= asked.error:
        return (
            f"One report of the point wins: {asked.error / single.error:.2g} times less error than {asked.mechanism}, "
            "and it answers every other smooth question too."
        )
    times = single.error / asked.error
    return (
        f"Asked alone, {asked.mechanism} has {times:.2g} times less error than one report of the point. "
        f"From {max(2, math.ceil(times**2 - 1e-9))} questions on, among which people or price must be shared, "
        "the point report wins."
    )
