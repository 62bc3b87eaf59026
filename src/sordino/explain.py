"""A release in words, for readers who are no specialists: `explain`, the notebook's HTML, one-line descriptions.

Words only: what is promised is decided elsewhere, and no number here is computed from data.
"""

from __future__ import annotations

import math
import textwrap
from html import escape
from typing import TYPE_CHECKING, Any

from sordino.errors import spell
from sordino.privacy import Geo, Guarantee, Neighbors, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sordino.session.release import Event, Interval, Release

NOT_SHOWN = ("kind", "column", "neighbors", "bits", "parts", "windows")


def asked(event: Event) -> str:
    """What was asked, in a few words: ``median income by region``."""
    what = ", ".join(statistics(event))
    return f"{what} by {event.by['column']}" if event.by else what


def statistics(event: Event) -> list[str]:
    """Each statistic that was asked, in a few words: ``median income``."""
    return [_statistic(part) for part in parts(event.statistic)]


def parts(statistic: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The statistics of a batch, or the one."""
    return list(statistic["parts"]) if statistic.get("kind") == "batch" else [statistic]


def shown(value: Any) -> str:
    """A released value for people."""
    if isinstance(value, tuple | list):
        inner = ", ".join(shown(item) for item in value[:6])
        return f"({inner}, ... {len(value)} in all)" if len(value) > 6 else f"({inner})"
    if value is None:
        return "no answer"
    if isinstance(value, str | bool):
        return str(value)
    number = float(value)
    if not math.isfinite(number):
        return "infinite" if number > 0 else "-infinite"
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.7g}" if 1e-4 <= abs(number) < 1e15 else f"{number:.6e}"


def whom(unit: Unit, neighbors: Neighbors) -> str:
    """Whom the promise protects."""
    if neighbors is Neighbors.EDGE:
        return "one edge of the graph"
    if neighbors is Neighbors.METRIC:
        return "one point, in proportion to how far it moves"
    if unit.column is None:
        who = "one row (one row is taken to be one person)"
    else:
        rows = "1 row" if unit.max_rows == 1 else f"{unit.max_rows} rows"
        who = f"one {unit.column} (at most {rows} each)"
    return f"{who}, {neighbors.value}"


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


def explanation(release: Release) -> str:
    """The text of `Release.explain`."""
    event = release.event
    sections = [
        ("What was published", published(release)),
        ("What one person's data can change", [_change(event), odds(event.guarantee)]),
        ("What this rests on", list(release.assumptions) or ["Nothing beyond the promise itself."]),
        ("What is not protected", not_protected(event)),
        ("Where it stands in the book", _book(release)),
    ]
    lines: list[str] = []
    for title, paragraphs in sections:
        lines.append(title)
        for paragraph in paragraphs:
            if paragraph:
                lines += textwrap.wrap(paragraph, 92, initial_indent="  ", subsequent_indent="  ")
        lines.append("")
    return "\n".join(lines).rstrip()


def published(release: Release) -> list[str]:
    """What was published, with its error bar when one was bought."""
    event = release.event
    lines = []
    bars = list(release.interval) if isinstance(release.interval, tuple) else [release.interval]
    if event.by is not None and isinstance(release.value, tuple):
        lines.append(f"{asked(event)}:")
        each = len(statistics(event))
        lines += [
            f"{key}: {shown(value)}{_between(bars[place * each : (place + 1) * each])}"
            for place, (key, value) in enumerate(list(release.groups.items())[:20])
        ]
        if len(release.value) > 20:
            lines.append(f"... and {len(release.value) - 20} more groups.")
    else:
        names = statistics(event)
        values = release.value if len(names) > 1 and isinstance(release.value, tuple) else (release.value,)
        ends = [_between([bar]) for bar in (bars if len(bars) == len(names) else [None] * len(names))]
        lines += [
            f"{name}: {shown(value)}{end}" for name, value, end in zip(names, values, ends, strict=True)
        ]
    if event.where:
        conditions = ", ".join(f"{c['column']} {c['op']} {c['value']}" for c in event.where)
        lines.append(f"Only rows with {conditions} were asked about.")
    lines += dict.fromkeys(covered(bar) for bar in bars if bar is not None)
    if all(bar is None for bar in bars):
        lines.append(
            "The answer carries random noise. How much was used for this answer is private and is not published; the "
            "planner shows the usual error on data that are not these."
        )
    return lines


def covered(bar: Interval) -> str:
    """What an error bar covers, how surely, and what it does not cover."""
    if bar.covers == "population":
        what = "the same number of the population from which the rows were drawn independently"
        over = "The chance is over the sample and the noise; a sample that was not drawn so is not covered."
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
        else " The interval cost nothing: the noise is public."
    )
    if bar.added is not None:
        said += f" {wider(bar.added)}"
    return said


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


def _between(bars: list[Interval | None]) -> str:
    """The ends of the bars of one line; nothing where there are none."""
    known = [f"{shown(bar.low)} to {shown(bar.high)}" if bar is not None else "no interval" for bar in bars]
    return f", interval {'; '.join(known)}" if any(bar is not None for bar in bars) else ""


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
    lines.append("Other releases about the same people, unless they are in the same book.")
    return lines


def page(release: Release) -> str:
    """The notebook's HTML."""
    rows = [
        ("asked", asked(release.event)),
        ("protects", whom(release.event.unit, release.event.neighbors)),
        ("promise", repr(release.guarantee)),
        ("release", "not in a book" if release.ledger_id is None else str(release.ledger_id)),
    ]
    bar = release.interval
    if bar is not None and not isinstance(bar, tuple):
        rows.insert(
            1,
            (
                "interval",
                f"{shown(bar.low)} to {shown(bar.high)}, {100 * bar.level:g} times in 100, for the {bar.covers}",
            ),
        )
    cells = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in rows
    )
    if release.event.by is not None and isinstance(release.value, tuple):
        bars = list(release.interval) if isinstance(release.interval, tuple) else []
        each = len(statistics(release.event))
        ends = [
            _between(bars[place : place + each]).removeprefix(", interval ")
            for place in range(0, len(bars), each)
        ] or [""] * len(release.value)
        listed = "".join(
            f'<tr><th scope="row" style="text-align:left">{escape(str(key))}</th><td>{escape(shown(value))}</td>'
            f"{f'<td>{escape(end)}</td>' if end else ''}</tr>"
            for (key, value), end in list(zip(release.groups.items(), ends, strict=True))[:50]
        )
        body = f"<table><caption>{escape(asked(release.event))}</caption>{listed}</table>"
    else:
        body = f"<p><strong>{escape(shown(release.value))}</strong></p>"
    words = escape(release.explain())
    return (
        f"<div>{body}<table>{cells}</table><details><summary>What does this promise?</summary>"
        f"<pre>{words}</pre></details></div>"
    )


def _statistic(statistic: Mapping[str, Any]) -> str:
    name = str(statistic.get("kind", "statistic"))
    column = statistic.get("column") or " ".join(
        str(statistic[key]) for key in ("left", "right") if statistic.get(key)
    )
    return f"{name} {column}".strip()


def _change(event: Event) -> str:
    who = whom(event.unit, event.neighbors)
    text = f"Protected is {who}: {event.neighbors.words}. The promise: {event.guarantee.words}."
    if isinstance(event.guarantee, Geo):
        return text
    if event.rows_moved > 1:
        text += (
            f" One person's data can move {event.rows_moved} rows of the table; the noise is made for that."
        )
    return text


def _book(release: Release) -> list[str]:
    if release.ledger_id is None:
        return ["It is in no book: nobody adds up what was released about these people."]
    words = (
        f"Release {release.ledger_id}, paid on {release.at} with {release.guarantee!r}, drawn by version "
        f"{release.version}. Asking again with its token returns the same answer and costs nothing."
    )
    return [words]
