"""What the commands of `sordino geo` share: questions, promises, coordinate references, files of reports."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sordino.cli import render
from sordino.errors import DataError, ParameterError
from sordino.fields import number
from sordino.privacy import Geo

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Sequence

    from sordino.geo.head import AnyMechanism
    from sordino.geo.query import Query
    from sordino.geo.reference import Sphere


def query_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add what names a question."""
    return click.argument("words", nargs=-1, metavar="[KIND [FIELD=VALUE]...]")(function)


def price_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add what names a promise per distance."""
    for option in (
        click.option("--delta", default="0", metavar="D", help="An approximate promise, with Laplace noise."),
        click.option("--per", metavar="DISTANCE", help="... for points this far apart: 200m, 1km."),
        click.option(
            "--epsilon",
            metavar="E",
            help="Loss of privacy (epsilon) for two points as far apart as --per says.",
        ),
    ):
        function = option(function)
    return function


def reference_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add what says where the map lies; degrees and metres are never guessed."""
    for option in (
        click.option(
            "--unit", default="metre", show_default=True, help="With --between: the unit of the numbers."
        ),
        click.option(
            "--between",
            metavar="LOW,HIGH",
            help="Numbers that are distances already: their public range; on a plane X,Y;X,Y.",
        ),
        click.option("--plane", is_flag=True, help="The columns are metres on a map already."),
        click.option(
            "--radius",
            default="50km",
            show_default=True,
            help="With --centre: half the side of the region told apart.",
        ),
        click.option(
            "--centre", metavar="LON,LAT", help="The columns are degrees; the public centre of the map."
        ),
    ):
        function = option(function)
    return function


def reference_from_options(centre: str | None, radius: str) -> Sphere | None:
    """The reference on the ground that was named, if one was."""
    from sordino.geo.files import length, numbers
    from sordino.geo.reference import Reference

    if centre is None:
        return None
    at = numbers(centre.lower().replace("deg", ""))
    if len(at) != 2:
        raise ParameterError(
            "option",
            "--centre is a longitude and a latitude",
            got={"centre": centre},
            hint="--centre=-73.97,40.74",
        )
    return Reference.around(longitude=at[0], latitude=at[1], radius=length(radius))


def flat_from_options(between: str, unit: str) -> Any:
    """A line or plane of plain numbers with a public range."""
    from sordino.geo.files import numbers
    from sordino.geo.reference import Reference

    low, _, high = between.partition(";")
    if high:
        return Reference.flat(low=numbers(low), high=numbers(high), unit=unit)
    ends = numbers(between)
    if len(ends) != 2:
        raise ParameterError(
            "option",
            "--between is a low and a high end",
            got={"between": between},
            hint="--between 0,1000000",
        )
    return Reference.flat(low=ends[0], high=ends[1], unit=unit)


def question(words: Sequence[str], reference: Sphere | None = None, **defaults: str) -> Query:
    """Read a question from its words."""
    from sordino.geo.files import query_from

    if not words or "=" in words[0]:
        raise ParameterError("geo", "name a kind of question first", hint="threshold at=100000 width=20000")
    pairs = [word.partition("=") for word in words[1:]]
    return query_from(
        words[0], {name: text for name, _, text in pairs}, reference=reference, defaults=defaults
    )


def price_of(epsilon: str | None, per: str | None) -> Geo:
    """Read a promise per distance."""
    from sordino.geo.files import length

    if epsilon is None or per is None:
        raise ParameterError(
            "geo",
            "name the promise",
            why="There is no default price.",
            hint="--epsilon 1 --per 200m",
        )
    return Geo(number("epsilon", epsilon), length(per))


def promise(price: Geo, delta: Any = 0) -> str:
    """Say a promise in words."""
    factor = math.exp(float(price.epsilon))
    words = f"points {float(price.per):,.6g} apart are indistinguishable within a factor {factor:.3g}"
    rest = f", but for events of probability {float(delta):g}" if delta else ""
    return f"{words}, nearer ones more so{rest}"


def read_head(path: str) -> AnyMechanism:
    """The mechanism that a file of a head, or of reports, describes."""
    from sordino.geo.head import mechanism_from
    from sordino.geo.reading import read

    if Path(path).suffix == ".json":
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError("head", "the file holds no head", got={"path": path}) from error
        return mechanism_from(record.get("sordino", record) if isinstance(record, dict) else record)
    head, _ = read(path)
    if head is None:
        raise DataError(
            "head", "the file has no head", got={"path": path}, hint="sordino geo head --out head.json"
        )
    return mechanism_from(head)


def load(
    paths: Sequence[str], made: AnyMechanism | None = None, *, round_: int | None = None
) -> tuple[list[Any], Counter[str]]:
    """Accepted reports of files and stores, one entry per mechanism and of one round if asked; what was rejected."""
    from collections import Counter as Counts

    from sordino.geo.collector import Collector, collect, stored_reports
    from sordino.geo.head import mechanism_from
    from sordino.geo.reading import read

    collectors: dict[str, Collector] = {}
    found: dict[str, list[Any]] = {}
    rejected: Counter[str] = Counts()
    for path in paths:
        if _is_store(path):
            for part in stored_reports(path):
                found.setdefault(part.mechanism.id, []).append(part)
            continue
        head, batches = read(path)
        if made is None and head is None:
            raise ParameterError(
                "reports",
                "the file has no head, so its mechanism must be named",
                got={"path": path},
                hint="--head head.json",
            )
        here = mechanism_from(head) if made is None else made
        collector = collectors.setdefault(here.id, Collector(here))
        with render.progress("reading", total=100) as advance:
            told = 0

            def progress(done: int, total: int, advance: Any = advance) -> None:
                nonlocal told
                now = 100 * done // max(total, 1)
                advance(now - told)
                told = now

            parts, counts = collect(collector, batches, progress=progress)
        found.setdefault(here.id, []).extend(parts)
        rejected.update(counts)
    return [_of_round(together(parts), round_) for parts in found.values()], rejected


def _of_round(reports: Any, round_: int | None) -> Any:
    """Pick a round of point reports, or say that there are several."""
    import numpy as np

    rounds = getattr(reports, "rounds", None)
    if rounds is None:
        return reports
    if round_ is not None:
        return reports.of_round(round_)
    several = np.unique(rounds)
    if len(several) > 1:
        render.note(
            f"the reports are of {len(several)} rounds and each counts by itself; --round N picks one"
        )
    return reports


def _is_store(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def together(parts: Sequence[Any]) -> Any:
    """Reports of one mechanism in one piece."""
    import numpy as np

    from sordino.geo.points import PointReports
    from sordino.geo.reporting import Reports

    first = parts[0]
    if isinstance(first, PointReports):
        known = [part.rounds for part in parts if part.rounds is not None]
        rounds = np.concatenate(known) if len(known) == len(parts) else None
        return PointReports(first.mechanism, np.concatenate([part.at for part in parts]), rounds)
    blocks = None if first.block is None else np.concatenate([part.block for part in parts])
    return Reports(first.mechanism, np.concatenate([part.codes for part in parts]), blocks)


def counted(rejected: Counter[str]) -> str:
    """Rejections in words."""
    return ", ".join(f"{number:,} {why}" for why, number in rejected.items()) or "none"


def save_figure(figure: Callable[[], Any], path: str | None) -> None:
    """Save a picture if one was asked for, and say so."""
    if path is not None:
        from sordino.plots import save

        render.note(f"picture written to {save(figure(), path)}")
