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

    from sordino.session.release import Event, Release

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
    if event.by is not None and isinstance(release.value, tuple):
        lines.append(f"{asked(event)}:")
        lines += [f"{key}: {shown(value)}" for key, value in list(release.groups.items())[:20]]
        if len(release.value) > 20:
            lines.append(f"... and {len(release.value) - 20} more groups.")
    else:
        names = statistics(event)
        values = release.value if len(names) > 1 and isinstance(release.value, tuple) else (release.value,)
        lines += [f"{name}: {shown(value)}" for name, value in zip(names, values, strict=True)]
    if event.where:
        conditions = ", ".join(f"{c['column']} {c['op']} {c['value']}" for c in event.where)
        lines.append(f"Only rows with {conditions} were asked about.")
    bars = release.interval if isinstance(release.interval, tuple) else (release.interval,)
    for bar in bars:
        if bar is not None and "blocks" in {part.get("kind") for part in parts(event.mechanism)}:
            lines.append(
                f"The value in the population from which the people were drawn lies between {shown(bar.low)} and "
                f"{shown(bar.high)} in about {100 * bar.level:g} of 100 such studies, if the function is close to "
                "unbiased and normal on blocks of this size. This interval was paid for."
            )
        elif bar is not None:
            lines.append(
                f"The same number without noise lies between {shown(bar.low)} and {shown(bar.high)} in "
                f"{100 * bar.level:g} of 100 such releases. This error bar was paid for."
            )
    if all(bar is None for bar in bars):
        lines.append(
            "The answer carries random noise. How much was used for this answer is private and is not published; the "
            "planner shows the usual error on data that are not these."
        )
    return lines


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
            1, ("interval", f"{shown(bar.low)} to {shown(bar.high)}, {100 * bar.level:g} times in 100")
        )
    cells = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in rows
    )
    if release.event.by is not None and isinstance(release.value, tuple):
        listed = "".join(
            f'<tr><th scope="row" style="text-align:left">{escape(str(key))}</th><td>{escape(shown(value))}</td></tr>'
            for key, value in list(release.groups.items())[:50]
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
    column = (
        statistic.get("column")
        or statistic.get("label")
        or " ".join(str(statistic[key]) for key in ("left", "right") if statistic.get(key))
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
