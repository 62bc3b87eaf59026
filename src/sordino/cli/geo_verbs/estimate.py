"""Answer a question from reports, with an error taken from the reports themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sordino.cli import render
from sordino.cli.geo_verbs.options import (
    counted,
    load,
    price_of,
    query_options,
    question,
    read_head,
    reference_from_options,
)
from sordino.cli.options import json_option
from sordino.errors import ParameterError
from sordino.fields import number


@click.command(name="estimate")
@click.argument("reports", type=click.Path(dir_okay=False))
@query_options
@click.option(
    "--head", "head_file", type=click.Path(dir_okay=False), help="The mechanism the devices were given."
)
@click.option("--epsilon", metavar="E", help="For answers to a question: the price; checked if given.")
@click.option(
    "--per", metavar="DISTANCE", help="With --epsilon: the distance that epsilon is for, such as 200m."
)
@click.option(
    "--delta", default="0", metavar="D", help="With --epsilon: the delta of an approximate promise."
)
@click.option("--noise", help="With --epsilon: the noise family, if not the default.")
@click.option("--centre", metavar="LON,LAT", help="With --epsilon: the centre the devices were given.")
@click.option(
    "--radius",
    default="50km",
    show_default=True,
    help="With --centre: half the side of the region that was told apart.",
)
@click.option("--regions", type=click.Path(dir_okay=False), help="GeoJSON: people in each of its polygons.")
@click.option(
    "--edge-width", metavar="DISTANCE", help="For point reports: over what length edges are softened."
)
@click.option("--round", "round_", type=int, help="Only the reports of this collection round.")
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    help="Probability with which the interval covers.",
)
@click.option("--out", type=click.Path(dir_okay=False), help="With many places or regions: a CSV of all.")
@json_option
def command(
    reports: str,
    words: tuple[str, ...],
    head_file: str | None,
    epsilon: str | None,
    per: str | None,
    delta: str,
    noise: str | None,
    centre: str | None,
    radius: str,
    regions: str | None,
    edge_width: str | None,
    round_: int | None,
    confidence: float,
    out: str | None,
    as_json: bool,
) -> None:
    """Estimate from reports, and count what was rejected.

    Point reports take any question: disc, box, geofence, kernel-density, threshold, range, mean, or --regions. Reports
    that answer one question need no words; with the question, --epsilon and --per only reports of exactly that
    mechanism count.
    """
    from sordino.geo.points import PointReports, Points
    from sordino.geo.reporting import mechanism_for

    given: Any = None if head_file is None else read_head(head_file)
    if given is None and words and epsilon is not None and per is not None:
        sphere = reference_from_options(centre, radius)
        given = mechanism_for(
            question(words, sphere),
            price_of(epsilon, per),
            noise=noise,
            delta=number("delta", delta),
            reference=sphere,
        )
    groups, rejected = load([reports], given, round_=round_)
    if any(isinstance(group, PointReports) for group in groups) or isinstance(given, Points):
        _points([group for group in groups if isinstance(group, PointReports)], rejected, words, regions, edge_width,
                confidence, out, as_json)  # fmt: skip
        return
    if len(groups) != 1:
        raise ParameterError("estimate", "the store holds several mechanisms", hint="--head names one")
    _answers(groups[0], rejected, confidence, out, as_json)


def _points(
    groups: list[Any],
    rejected: Any,
    words: tuple[str, ...],
    regions: str | None,
    edge_width: str | None,
    confidence: float,
    out: str | None,
    as_json: bool,
) -> None:
    """Answer from moved points."""
    from sordino.geo.answers import answer
    from sordino.geo.files import length, outlines
    from sordino.geo.questions import moments
    from sordino.geo.reference import Sphere
    from sordino.geo.region import Geofence

    reference = groups[0].mechanism.reference
    sphere = reference if isinstance(reference, Sphere) else None
    accepted = sum(len(group) for group in groups)
    if words == ("mean",):
        _mean(moments(groups[0], confidence=confidence), sphere, rejected, as_json)
        return
    width = None if edge_width is None else length(edge_width)
    names: list[str] = []
    asked: Any
    if regions is not None:
        listed = outlines(regions, sphere)
        names = [name for name, _ in listed]
        asked = [Geofence(outline=shape, width=1e-6) for _, shape in listed]
        width = 0.7 * max(group.mechanism.unit_loss for group in groups) if width is None else width
    else:
        asked = question(words, sphere, width="0.001m")
        band = any(word.startswith("width=") for word in words)
        if hasattr(asked, "width") and not band and width is None:
            width = 0.7 * max(group.mechanism.unit_loss for group in groups)
    found = answer(groups, asked, edge_width=width, confidence=confidence)
    if as_json:
        named = {"regions": names} if names else {}
        render.as_json({**found.to_dict(), **named, "accepted": accepted, "rejected": dict(rejected)})
        return
    pairs = [
        ("question", f"{len(names)} regions" if names else repr(asked)),
        ("accepted", f"{accepted:,} reports of points"),
        ("rejected", counted(rejected)),
    ]
    if found.edge_width:
        pairs.append(
            ("edges", f"softened over {found.edge_width:,.4g} {getattr(reference, 'unit', 'metre')}s")
        )
    render.block(pairs)
    header = ("people", "standard error", f"{confidence:.0%} from", "to", "share")
    if names or hasattr(found.value, "shape"):
        rows = list(zip(found.value, found.standard_error, found.low, found.high, found.share, strict=True))
        named_rows: list[Any] = [
            (name, *map(float, row)) for name, row in zip(names or map(str, asked.at), rows, strict=True)
        ]
        shown = sorted(named_rows, key=lambda row: -row[1])[:20]
        title = "the largest twenty" if len(named_rows) > 20 else ""
        render.table(("region" if names else "place", *header), shown, title=title)
        _csv(out, ("name", "people", "standard_error", "low", "high", "share"), named_rows)
        return
    render.table(header, [(found.value, found.standard_error, found.low, found.high, found.share)])


def _mean(found: Any, sphere: Any, rejected: Any, as_json: bool) -> None:
    place = sphere.to_degrees(found.mean)[0] if sphere is not None else found.mean
    if as_json:
        render.as_json(
            {
                "mean": found.mean.tolist(),
                "standard_error": found.mean_error.tolist(),
                "place": place.tolist(),
                "covariance": found.covariance.tolist(),
                "people": found.people,
            }
        )
        return
    render.block([("accepted", f"{found.people:,} reports of points"), ("rejected", counted(rejected))])
    render.table(
        ("axis", "mean", "standard error", "from", "to", "standard deviation of people"),
        [
            (
                "xyz"[i],
                *(float(v[i]) for v in (found.mean, found.mean_error, found.mean_low, found.mean_high)),
                float(max(found.covariance[i][i], 0.0) ** 0.5),
            )
            for i in range(len(found.mean))
        ],
    )
    if sphere is not None:
        render.note(f"the mean is at longitude {place[0]:.5f}, latitude {place[1]:.5f}")


def _answers(group: Any, rejected: Any, confidence: float, out: str | None, as_json: bool) -> None:
    """The mean answer to the question that the devices answered."""
    from sordino.geo.estimation import ReportTally

    made = group.mechanism
    tally = ReportTally(made.query)
    tally.add(group)
    found = tally.estimate(confidence=confidence)
    if as_json:
        render.as_json({**found.to_dict(), "accepted": len(group), "rejected": dict(rejected)})
        return
    render.block([("query", repr(made.query)), ("accepted", len(group)), ("rejected", counted(rejected))])
    if getattr(made.query, "places", None) is None or len(made.query.at) == 1:
        render.table(
            ("estimate", "standard error", f"{confidence:.0%} from", "to"),
            [(found.value, found.standard_error, found.low, found.high)],
        )
        return
    _places(found, out)


def _places(found: Any, out: str | None) -> None:
    """Show the most crowded of many places, and write all of them if asked."""
    import numpy as np

    places = found.query.places
    header = [*["x", "y", "z"][: places.shape[1]], "estimate", "standard_error", "low", "high", "count"]
    columns = (found.value, found.standard_error, found.low, found.high, found.count)
    rows = [(*place, *numbers) for place, *numbers in zip(places.tolist(), *columns, strict=True)]
    top = np.argsort(-np.nan_to_num(found.value, nan=-np.inf))[:10]
    render.table(header, [tuple(map(float, rows[i])) for i in top], title="the ten largest of all places")
    _csv(out, header, rows)


def _csv(out: str | None, header: Any, rows: Any) -> None:
    import csv

    if out is None:
        return
    with Path(out).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    render.note(f"all {len(rows):,} rows written to {out}")
