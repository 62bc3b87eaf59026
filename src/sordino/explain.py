"""A release in words, for readers who are not specialists: what was published, promised, assumed and changed.

Words only: what is promised is decided elsewhere, and no number here is computed from data.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from sordino import catalogue
from sordino.errors import spell
from sordino.labels import parts, shown, statistics
from sordino.made import answering, for_the_worst_case, how_it_was_made
from sordino.privacy import Geo, Guarantee, Neighbors, Unit
from sordino.reading.split import Split

if TYPE_CHECKING:
    from sordino.session.release import Event, Interval, Release

WIDEST = 100  # prose is not set wider, however wide the terminal


def asked(event: Event) -> str:
    """What was asked, in a few words: ``median income by region``."""
    what = ", ".join(statistics(event))
    return f"{what} by {Split.from_record(event.by).name}" if event.by else what


def whom(unit: Unit, neighbors: Neighbors) -> str:
    """Whom the promise protects."""
    if neighbors is Neighbors.EDGE:
        return "one edge of the graph"
    if neighbors is Neighbors.NODE:
        return "one vertex of the graph, with all of its edges"
    if neighbors is Neighbors.METRIC:
        return "one point, in proportion to how far it moves"
    if unit.column is None:
        who = "one row (one row is taken to be one person)"
    else:
        rows = "1 row" if unit.max_rows == 1 else f"{unit.max_rows} rows"
        who = f"one {unit.column} (at most {rows} each)"
    return f"{who}, {neighbors.value}"


def amounts(guarantee: Guarantee) -> str:
    """An amount of privacy in a few words.

    Example:
        >>> from sordino.privacy import Approx
        >>> amounts(Approx(0.5, 1e-6))
        'epsilon 0.5, delta 1e-06'
    """
    return ", ".join(f"{each.name} {spell(getattr(guarantee, each.name))}" for each in fields(guarantee))


def odds(guarantee: Guarantee) -> str:
    """What the promise means for someone who guesses: from even odds to what at most."""
    if guarantee.guessing is None:
        return ""
    epsilon, delta = float(guarantee.guessing[0]), guarantee.guessing[1]
    sure = 1 / (1 + math.exp(-epsilon)) if epsilon < 700 else 1.0
    percent = min(math.ceil(1000 * sure) / 10, 99.9 if epsilon < 700 else 100)
    text = (
        "Someone who finds it as likely as not that a given person's data are what they suspect, and then sees this "
        f"release, may become at most {percent:g} % sure of it because of that person's data."
    )
    if delta > 0:
        text += f" With a probability of at most {spell(delta)} this can fail."
    return text


NAMED = 6
"""So many groups or statistics at most are named before what their error bars cover."""


def explanation(release: Release, width: int = 92) -> str:
    """The text of `Release.explain`."""
    wide = min(max(width, 40), WIDEST)
    lines = ["What was published"]
    lines += ["  " + line if line else "" for line in _answers(release, wide - 2).splitlines()]
    for title, paragraphs in sections(release):
        lines += ["", title] if title else []
        for paragraph in paragraphs:
            if paragraph:
                lines += textwrap.wrap(paragraph, wide, initial_indent="  ", subsequent_indent="  ")
    return "\n".join(lines).rstrip()


def sections(release: Release) -> list[tuple[str, list[str]]]:
    """Titles and paragraphs of an explanation, without the answers; the first goes on after them."""
    event = release.event
    return [
        ("", about_the_answers(release)),
        ("How it was made", how_it_was_made(release)),
        ("What one person's data can change", [_change(event), odds(event.guarantee)]),
        ("What this rests on", list(release.assumptions) or ["Nothing beyond the promise itself."]),
        ("What is not protected", not_protected(event)),
        ("Where it stands in the ledger", _ledger(release)),
    ]


def _answers(release: Release, width: int) -> str:
    """The answers: one line each where there are few, tables otherwise. Nothing is left out."""
    table = release.table
    if table.keys or any(row.cell is not None for row in table):
        return release.text(width)
    return "\n".join(f"{row.label}: {shown(row.value)}" for row in table)


def about_the_answers(release: Release) -> list[str]:
    """What a reader of the numbers must know: which rows, which intervals, why a count is negative."""
    event, table = release.event, release.table
    lines = []
    if event.where:
        conditions = ", ".join(f"{c['column']} {c['op']} {c['value']}" for c in event.where)
        lines.append(f"Only rows with {conditions} were asked about.")
    bars = list(release.interval) if isinstance(release.interval, tuple) else [release.interval]
    barred = [row for row in table if row.level is not None]
    own = [row for row in barred if row.statistic == "function"]
    lines += [
        f"{row.label}, {100 * (row.level or 0):g} % interval: {row.interval}"
        for row in barred
        if not table.keys and row.cell is None
    ]  # a table shows its own
    if own:
        often = 100 * (own[0].level or 0)
        lines.append(
            f"The value in the population from which the people were drawn lies in its interval in about {often:g} of "
            "100 such studies, if the function is close to unbiased and normal on blocks of this size. This interval "
            "was paid for."
        )
    else:
        whose = [", ".join(map(shown, row.group.values())) or row.label for row in barred]
        lines += intervals_in_words([bar for bar in bars if bar is not None], whose)
        lines += _counted([bar for bar in bars if bar is not None], [row.statistic for row in barred])
    if len(barred) < len(table):
        which = "The answers carry" if len(table) > 1 else "The answer carries"
        lines.append(
            f"{which} random noise, of the same law whatever the data; the planner shows its usual size."
            if all(map(_same_noise, parts(event.mechanism)))
            else f"{which} random noise. How much was used here is private and is not published; the planner shows the "
            "usual error on data that are not these."
        )
    if any(_counts(row.statistic) and _negative(row.value) for row in table):
        lines.append(
            "A negative count is noise, not an error: there are few such rows or none, and the noise went below zero. "
            "It is not raised to zero, because then sums and averages of published counts would be too high."
        )
    return lines


def _same_noise(described: Mapping[str, Any]) -> bool:
    """Whether a mechanism adds the same noise to all data: for a global bound, and nothing searched first."""
    inner = answering(described)
    if for_the_worst_case(inner):
        return True
    kind = catalogue.mechanisms().get(inner["kind"])
    return kind is not None and kind.fixed_noise and not kind.searches


def intervals_in_words(bars: Sequence[Interval], whose: Sequence[str] = ()) -> list[str]:
    """What error bars cover: one paragraph for all of a kind, with the largest of what differs between them.

    Args:
        bars: The error bars of a release.
        whose: What each belongs to; said where there are several paragraphs.
    """
    kinds: dict[tuple[Any, ...], list[Interval]] = {}
    named: dict[tuple[Any, ...], list[str]] = {}
    for bar, name in zip(bars, whose if len(whose) == len(bars) else [""] * len(bars), strict=True):
        kind = (
            bar.level,
            bar.covers,
            bar.simultaneous,
            bar.paid,
            bar.approximate,
            bar.cut is None,
            bar.beyond is None,
            bar.hidden is None,
        )
        kinds.setdefault(kind, []).append(bar)
        named.setdefault(kind, []).append(name)
    said = []
    for kind, alike in kinds.items():
        first = alike[0]
        known = [bar.added for bar in alike if bar.added is not None]
        worst = replace(first, added=max(known, default=None))
        if first.cut is not None:
            beyond = max((bar.beyond for bar in alike if bar.beyond is not None), default=None)
            pulled = [bar.hidden for bar in alike if bar.hidden is not None]
            most = (max(end for end, _ in pulled), max(end for _, end in pulled)) if pulled else None
            worst = replace(worst, beyond=beyond, hidden=most)
        names = list(dict.fromkeys(filter(None, named[kind])))
        listed = ", ".join(names[:NAMED]) + (
            f" and {len(names) - NAMED} others" if len(names) > NAMED else ""
        )
        told = f"{listed}: " if names and len(kinds) > 1 else ""
        said.append(told + covered(worst, several=len({bar.cut for bar in alike}) > 1))
    return list(dict.fromkeys(said))


def covered(bar: Interval, *, several: bool = False) -> str:
    """What an error bar covers, how surely, and what it does not cover.

    Args:
        bar: The interval.
        several: It stands for some whose values were cut to different intervals.
    """
    if bar.cut is not None:
        return clipped(bar, several=several)
    if bar.covers == "population":
        what = "the same number of the population from which the rows were drawn independently"
        over = "The chance is over the sample and the noise; a sample that was not drawn so is not covered."
        if bar.approximate:
            over = over.replace(";", ", and approximate: it rests on the central limit theorem;")
    else:
        what = "the same number of these rows without noise"
        over = (
            "The chance is over the noise alone: the interval is for these rows, not for the population they "
            "came from."
        )
    inside = "lie in all their intervals at once" if bar.simultaneous else "lies in its interval"
    said = f"In {100 * bar.level:g} of 100 such releases {what} {inside}. {over}"
    said += (
        " A part of the price went into the interval."
        if bar.paid
        else " The interval cost nothing beside the answer."
    )
    if bar.added is not None:
        said += f" {wider(bar.added)}"
    return said


def clipped(bar: Interval, *, several: bool = False) -> str:
    """What the bar of a number covers whose values were cut to a published interval."""
    assert bar.cut is not None
    low, high = map(shown, bar.cut)
    ends = "the published intervals" if several else f"{low} to {high}"
    whose = "of the population" if bar.covers == "population" else "of these rows without noise"
    inside = "lie in all their intervals at once" if bar.simultaneous else "lies in its interval"
    number = "numbers" if bar.simultaneous else "number"
    said = (
        f"In {100 * bar.level:g} of 100 such releases the same {number} {whose}, with values cut to {ends}, {inside}: "
        "a value outside is set to the nearer end. "
    )
    if bar.covers == "population":
        said += "The chance is over the sample and the noise, and approximate: it rests on the central limit theorem. "
        said += "A part of the price went into the interval."
    else:
        said += "The chance is over the noise alone. The interval cost nothing."
    if bar.added is not None:
        said += f" {wider(bar.added)}"
    if bar.beyond is None:
        return (
            f"{said} What is cut away is not in it. How many rows lie beyond, and what they hide, is not known: a "
            "count of them (with a filter) has a free interval, and with tight=True nothing is cut."
        )
    said += f" What is cut away is not in it: fewer than {bar.beyond:,} rows lie beyond (in 95 of 100 such releases)"
    if bar.hidden is None:
        return f"{said}."
    pulls = [
        f"{shown(float(f'{end:.3g}'))} {way}"
        for end, way in zip(bar.hidden, ("down", "up"), strict=True)
        if end
    ]
    return (
        f"{said}, and within the declared bounds they can pull the number by at most {' or '.join(pulls) or 0}. With "
        "tight=True nothing is cut, and the interval covers the number within the bounds."
    )


def _counted(bars: Sequence[Interval], statistics: Sequence[str]) -> list[str]:
    """What a count of the population is: its share of as many rows, or its members under a stated design."""
    meant = [bar for bar in bars if bar.covers == "population"]
    if not meant or not any(map(_counts, statistics)):
        return []
    inclusion = meant[0].inclusion
    if inclusion is None:
        return ["A count of the population is its share there times the number of rows of the table."]
    design = f"each of whom is in the data with a probability of {inclusion:g}, independently of the others"
    return [f"A count of the population is the number of its members, {design}."]


def wider(added: float) -> str:
    """What privacy adds to the width of an interval for the population.

    Example:
        >>> wider(0.031), wider(1.5)
        ('Privacy adds 3 % to the width.', 'With privacy it is 2.5 times as wide.')
    """
    if added < 0.01:
        return "Privacy adds less than 1 % to the width."
    return (
        f"Privacy adds {100 * added:.0f} % to the width."
        if added < 1
        else f"With privacy it is {1 + added:.2g} times as wide."
    )


def _counts(statistic: str) -> bool:
    words = ("count", "histogram", "categories", "edges", "triangles")
    return any(word in statistic for word in words)


def _negative(value: object) -> bool:
    return isinstance(value, int | float) and value < 0


def not_protected(event: Event) -> list[str]:
    """What the promise does not cover."""
    lines = [
        "Facts about the whole group that would be the same without any one person, such as a high median income.",
        "That the data exist, the question, its bounds and the price: they are public.",
    ]
    if event.neighbors is Neighbors.REPLACE_ONE:
        whose = "rows" if event.unit.column is None else "people"
        lines.append(f"How many {whose} the table holds: it is taken to be public.")
    if event.unit.column is None and event.neighbors in (Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE):
        lines.append("Someone with several rows: each row is protected as if it were a person of its own.")
    else:
        lines.append("Families and other groups: the promise weakens with each further person in them.")
    lines.append("Other releases about the same people, unless they are in the same ledger.")
    return lines


def _change(event: Event) -> str:
    who = whom(event.unit, event.neighbors)
    # What is public of a part of the rows is another matter.
    relation = event.neighbors.in_words(f"{'rows' if event.unit.column is None else 'people'} in the table")
    text = f"The privacy unit is {who}: {relation}. The promise: {event.guarantee.words}."
    if isinstance(event.guarantee, Geo):
        return text
    if event.contribution > 1:
        text += (
            f" One person's data can move {event.contribution} rows of the table; the noise is made for that."
        )
    return text


def _ledger(release: Release) -> list[str]:
    if release.ledger_id is None:
        return ["It is in no ledger: nobody adds up what was released about these people."]
    words = (
        f"Release {release.ledger_id}, paid on {release.at} with {release.guarantee!r}, drawn by version "
        f"{release.version}. Asking again with its token returns the same answer and costs nothing."
    )
    return [words]


__all__ = ["asked", "explanation", "parts", "sections", "shown", "statistics", "whom"]
