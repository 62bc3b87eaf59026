"""Draw a map from point reports: lon/lat, people per square km, both maps with their meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sordino import plots
from sordino.cli import render
from sordino.cli.geo_verbs.options import counted, load, price_of, promise, reference_from_options
from sordino.cli.options import json_option
from sordino.errors import DataError, ParameterError


@click.command(name="map")
@click.argument("reports", nargs=-1, type=click.Path(dir_okay=False))
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False), help=".html, .png, .svg, .geojson or .csv"
)
@click.option("--bandwidth", metavar="DISTANCE", help="Of the kernel; the distance of loss one by default.")
@click.option(
    "--around", metavar="PLACE", help="Middle of the map: 0,0 or -73.97deg,40.74deg; from reports by default."
)
@click.option("--size", metavar="DISTANCE", help="Side of the map; from the reports by default.")
@click.option(
    "--cells",
    type=int,
    default=200,
    show_default=True,
    help="How many places the map has along its longer side.",
)
@click.option("--joint", is_flag=True, help="Add intervals that hold at all places at once.")
@click.option("--hot", metavar="DENSITY", help="Count places that surely exceed this density per square km.")
@click.option("--round", "round_", type=int, help="Only the reports of this collection round.")
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    help="Probability with which each interval covers.",
)
@click.option(
    "--epsilon", metavar="E", help="Without reports: demonstrate on a generated city at this price ..."
)
@click.option("--per", metavar="DISTANCE", help="... for points this far apart.")
@click.option("--users", type=int, default=200_000, show_default=True, help="People in the generated city.")
@click.option(
    "--points", type=click.Path(dir_okay=False), help="Public points in place of the generated city."
)
@click.option(
    "--columns",
    default="lon,lat",
    show_default=True,
    help="With --points: the columns that hold the two coordinates.",
)
@click.option("--centre", metavar="LON,LAT", help="With --points in degrees: the map's public centre.")
@click.option("--blocks", is_flag=True, help="In the demonstration: the map by blocks of places too.")
@json_option
def command(
    reports: tuple[str, ...],
    out: str,
    bandwidth: str | None,
    around: str | None,
    size: str | None,
    cells: int,
    joint: bool,
    hot: str | None,
    round_: int | None,
    confidence: float,
    epsilon: str | None,
    per: str | None,
    users: int,
    points: str | None,
    columns: str,
    centre: str | None,
    blocks: bool,
    as_json: bool,
) -> None:
    """Draw the density of people from files or stores of point reports.

    Several files may have different prices, but one coordinate reference. Without REPORTS a generated city (or public
    points) is reported and drawn beside the truth.
    """
    from sordino.geo.map_files import ENDINGS

    if Path(out).suffix not in ENDINGS:
        raise ParameterError(
            "map", f"--out must end in {', '.join(ENDINGS)}", got={"out": out}, hint="--out map.html"
        )
    if Path(out).suffix in {".png", ".svg", ".pdf"}:
        plots.check(out)  # a missing matplotlib is found before the work
    if not reports:
        _demonstrate(
            out, bandwidth, size, cells, epsilon, per, users, points, columns, centre, blocks, as_json
        )
        return
    if epsilon is not None or per is not None or points is not None:
        raise ParameterError("map", "reports carry their own price; leave --epsilon, --per and --points out")
    groups, rejected = load(reports, round_=round_)
    _draw(groups, rejected, out, bandwidth, around, size, cells, joint, hot, confidence, as_json)


def _draw(
    groups: list[Any],
    rejected: Any,
    out: str,
    bandwidth: str | None,
    around: str | None,
    size: str | None,
    cells: int,
    joint: bool,
    hot: str | None,
    confidence: float,
    as_json: bool,
) -> None:
    from sordino.geo import map_files
    from sordino.geo.deconvolution import LEAST_RATIO
    from sordino.geo.files import length
    from sordino.geo.maps import groups_of, map_of, same_reference
    from sordino.geo.points import PointReports
    from sordino.geo.reference import Sphere

    if not all(isinstance(group, PointReports) for group in groups) or not any(
        len(group) for group in groups
    ):
        raise DataError(
            "map", "a map needs point reports", hint="sordino geo report POINTS --centre ... (no question)"
        )
    groups = [group for group in groups if len(group)]
    reference = same_reference(groups_of(groups))
    sphere = reference if isinstance(reference, Sphere) else None
    widest = max(group.mechanism.unit_loss for group in groups)
    h = widest if bandwidth is None else length(bandwidth)
    low, high = _corners(groups, sphere, around, size)
    longest = max(b - a for a, b in zip(low, high, strict=True))
    shape = tuple(max(2, round(cells * (b - a) / longest)) for a, b in zip(low, high, strict=True))
    asked: dict[str, Any] = {
        "bandwidth": h,
        "low": low,
        "high": high,
        "shape": shape,
        "confidence": confidence,
    }
    plain = map_of(groups, **asked) if h >= LEAST_RATIO * widest else None
    best = map_of(groups, best=True, **asked)
    scale = map_files.PER_KM2
    about = {
        "reports": f"{sum(len(group) for group in groups):,}",
        "promise": "; ".join(promise(group.mechanism.price) for group in groups),
        "bandwidth": f"{h:,.4g} m ({h / widest:.2g} times the distance of loss one)",
    }
    if plain is None:
        about["unbiased map"] = "left out: the bandwidth is below a quarter of the distance of loss one"
    else:
        about["typical error"] = (
            f"{scale * float((plain.variance.mean()) ** 0.5):,.3g} people per km² (unbiased map)"
        )
    table = map_files.columns(plain, best, joint=joint and plain is not None)
    _write(out, plain, best, table, about)
    summary: dict[str, Any] = {
        "people": best.people,
        "rejected": dict(rejected),
        "places": list(shape),
        "bandwidth": h,
        "largest": scale * float(best.density.max()),
        "typical_error": None if plain is None else scale * float(plain.variance.mean() ** 0.5),
        "at_the_border": _at_border(groups),
        "out": out,
    }
    if hot is not None and plain is not None:
        summary["hot_places"] = int(plain.hot(float(hot) / scale).sum())
    if as_json:
        render.as_json(summary)
        return
    pairs = [*about.items(), ("rejected", counted(rejected)), ("map", out)]
    if "hot_places" in summary:
        pairs.append(
            ("hot", f"{summary['hot_places']:,} places surely above {float(hot or 0):,g} people per km²")
        )
    render.block(pairs)
    if plain is not None:
        render.note(f"the unbiased map: {plain.meaning.partition(': ')[2]}")
    render.note(f"the smallest-error map: {best.meaning.partition(': ')[2]}")
    if h < widest:
        render.note(
            "below the distance of loss one the unbiased map is mostly noise: look at the smallest-error map"
        )
    if summary["at_the_border"] > 0.2:
        render.note(
            f"{summary['at_the_border']:.0%} of the reports lie at the border of the region: "
            "were longitude and latitude swapped, or is the centre wrong?"
        )


def _corners(groups: list[Any], sphere: Any, around: str | None, size: str | None) -> tuple[Any, Any]:
    """The middle and size that were asked for, or what holds nearly all reports."""
    import numpy as np

    from sordino.geo.files import length, place

    metres = np.concatenate([group.metres for group in groups])
    made = groups[0].mechanism
    if made.dimension != 2:
        raise DataError("map", "a map needs two coordinates", got={"dimension": made.dimension})
    bottom, top = (float(made.step) * np.array(edge) for edge in (made.low, made.high))
    low, high = (np.clip(np.quantile(metres, q, axis=0), bottom, top) for q in (0.01, 0.99))
    middle = 0.5 * (low + high) if around is None else np.array(place(around, sphere))
    half = (
        0.5 * np.maximum(high - low, 4 * made.unit_loss) if size is None else np.full(2, 0.5 * length(size))
    )
    return tuple((middle - half).tolist()), tuple((middle + half).tolist())


def _at_border(groups: list[Any]) -> float:
    """The share of reports within two U of the border of the box or beyond it."""
    import numpy as np

    near = total = 0
    for group in groups:
        made = group.mechanism
        room = 2 * 65536
        at = group.at
        near += int(((at < np.array(made.low) + room) | (at > np.array(made.high) - room)).any(axis=1).sum())
        total += len(group)
    return near / max(total, 1)


def _write(out: str, plain: Any, best: Any, table: Any, about: dict[str, str]) -> None:
    from sordino.geo import map_files
    from sordino.geo.map_figures import density_figure
    from sordino.geo.map_page import write_page

    ending = Path(out).suffix
    if ending == ".csv":
        map_files.write_csv(out, table)
    elif ending == ".geojson":
        map_files.write_geojson(out, best, table, about)
    elif ending == ".html":
        write_page(out, plain, best, about)
    else:
        from sordino.plots import save

        save(density_figure(plain, best), out)


def _demonstrate(
    out: str,
    bandwidth: str | None,
    size: str | None,
    cells: int,
    epsilon: str | None,
    per: str | None,
    users: int,
    points: str | None,
    columns: str,
    centre: str | None,
    blocks: bool,
    as_json: bool,
) -> None:
    """Draw the true density of public demo data beside the ones estimated from reports."""
    from sordino.geo.drawing import density_map
    from sordino.geo.files import length, read_points, refuse_degrees
    from sordino.geo.planning import assume
    from sordino.plots import save

    price, side = price_of(epsilon, per), length(size or "20km")
    if Path(out).suffix not in {".png", ".svg", ".pdf"}:
        raise ParameterError("map", "the demonstration is a picture", got={"out": out}, hint="--out map.png")
    if points is None:
        at = assume("city", 2, spread=0.5 * side, count=users)
    else:
        names = columns.split(",")
        sphere = reference_from_options(centre, f"{min(0.75 * side, 200_000)}m")
        refuse_degrees(names, centre=sphere is not None)
        at = read_points(points, names)
        at = at if sphere is None else sphere.to_metres(at)
    width = float(1 / price.rate) if bandwidth is None else length(bandwidth)
    with render.progress("reports", total=at.shape[0]) as advance:
        figure, summary = density_map(
            at, price, side=side, cells=cells, bandwidth=width, blocks=blocks, progress=advance
        )
    save(figure, out)
    if as_json:
        render.as_json(summary)
        return
    render.block(
        [
            ("protects", promise(price)),
            ("reports", f"{summary['people']:,}, one for each person, which serve every map"),
            *(
                (f"error, {name}", f"{error:.3g} people per square km")
                for name, error in summary["errors"].items()
            ),
            ("largest", f"{summary['largest']:.3g} people per square km in truth"),
            ("picture", out),
        ]
    )
