"""What `sordino run --plan` shows: every error to expect, and a split of the price by the errors."""

from __future__ import annotations

import json
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from sordino.cli import render

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sordino.planner.publication import Proposed
    from sordino.privacy import Guarantee, Neighbors, Unit
    from sordino.session.quote import Question
    from sordino.session.release_file import Job, ReleaseFile
    from sordino.statistics import Statistic

WORTH = 0.9  # a split is proposed where it makes the worst answer better by a tenth


def show(
    asked: ReleaseFile, questions: Sequence[tuple[Job, Question]], rows: int, unit: Unit, neighbors: Neighbors
) -> None:
    """Print the expected errors and, where it helps, better shares; no data are touched.

    Args:
        asked: The release file.
        questions: Its tables as they would be asked.
        rows: How many rows the data have, roughly.
        unit: The privacy unit.
        neighbors: Which datasets the promise compares.
    """
    from sordino.labels import statistics
    from sordino.planner.expected import expected
    from sordino.planner.publication import proposed_shares
    from sordino.planner.report import short

    singles = [
        (one, _asking(one, job, rows, unit, neighbors)) for job, _ in questions for one in job.statistics
    ]
    lines, called, errors = [], [], []
    with render.progress("planning", len(questions) + len(singles)) as advance:
        for job, question in questions:
            words = statistics(question.event)
            for name, option, share in zip(words, expected(question, rows), job.shares, strict=True):
                figures = ["-", "-"] if option is None else [short(option.rms), short(option.most)]
                bar = "-" if option is None or option.width is None else short(option.width)
                lines.append([job.name, name, job.groups, f"{float(100 * share):.3g} %", *figures, bar])
                called.append(name if len(asked.jobs) == 1 else f"{name} ({job.name})")
                errors.append(None if option is None else option.rms)
            advance(1)
        better = proposed_shares(singles, asked.price, rows, progress=advance)
    render.table(
        ["table", "statistic", "groups", "share", "rms", "9 in 10", "interval"], lines,
        title=f"{asked.title}, {asked.period}: {asked.price!r} in all, {rows:,} rows",
    )  # fmt: skip
    render.paragraph(
        "The root mean square of the error, what nine errors in ten stay below, and the width of the interval: of "
        "each group, on generated columns that suit the bounds, not on these data. Share is the part of the price."
    )
    _propose(asked, [one for one, _ in singles], called, errors, better)


def _asking(
    statistic: Statistic, job: Job, rows: int, unit: Unit, neighbors: Neighbors
) -> Callable[[Guarantee], Question]:
    """How a statistic by itself is asked at another price."""
    from sordino.session.quote import prepare

    return lambda price: prepare(
        statistic, price, neighbors=neighbors, unit=unit, rows=rows, where=job.where, by=job.by, interval=job.interval
    )  # fmt: skip


def _propose(
    asked: ReleaseFile,
    statistics: list[Statistic],
    called: list[str],
    errors: list[float | None],
    better: list[Proposed | None],
) -> None:
    """The split by error beside the file's own."""
    from sordino.planner.report import short

    shares = [share for job in asked.jobs for share in job.shares]
    known = [
        (statistic, words, share, now, one)
        for statistic, words, share, now, one in zip(statistics, called, shares, errors, better, strict=True)
        if one is not None and now
    ]
    if len(known) < max(2, len(called)):
        return
    before = max(now / one.sampling for _, _, _, now, one in known)
    after = max(one.rms / one.sampling for _, _, _, _, one in known)
    click.echo()
    if after > WORTH * before:
        render.paragraph(f"The shares suit the errors: the largest is {before:.2g} times its sampling error.")
        return
    rows = [
        [words, *(f"{float(100 * part):.3g} %" for part in (share, one.share)),
         *map(short, (now, one.rms, one.sampling))]
        for _, words, share, now, one in known
    ]  # fmt: skip
    render.table(
        ["statistic", "share", "better", "rms", "then", "sampling"], rows, title="A split by the errors"
    )
    render.paragraph(
        f"With the shares called better the largest error is {after:.2g} times its sampling error (or one per cent of "
        f"what does not vary between samples) instead of {before:.2g} times. As weights in the file:"
    )
    for statistic, _, _, _, one in known:
        click.echo(f"    {{ {_toml(statistic)}, weight = {float(1000 * one.share):.0f} }},")


def _toml(statistic: Statistic) -> str:
    """A statistic as a release file has it, without its bounds, which stand in a table of their own."""
    told = [f'statistic = "{statistic.name}"']
    for field in fields(statistic):  # type: ignore[arg-type]
        value = getattr(statistic, field.name)
        if field.init and field.name not in ("low", "high", "neighbors") and value != field.default:
            plain = [_number(one) for one in value] if isinstance(value, tuple) else _number(value)
            told.append(f"{field.name} = {json.dumps(plain)}")
    return ", ".join(told)


def _number(value: Any) -> Any:
    """A number as TOML has it, whole where it is whole."""
    if isinstance(value, Fraction | float):
        return int(value) if value == int(value) else float(value)
    return value
