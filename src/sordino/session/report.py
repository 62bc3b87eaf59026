"""`report`: one page about a ledger, for those who decide and for those who audit. It needs no network and no program.

Everything on it is in the ledger already: published answers, promises, prices, who and when. Nothing is read.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from sordino import __version__, checks
from sordino.errors import ParameterError
from sordino.explain import about_the_answers, amounts, asked, not_protected, odds, whom
from sordino.labels import name, parts, shown
from sordino.made import clamped, drawn_by
from sordino.privacy import Neighbors
from sordino.session.blocks import TableBlock, blocks
from sordino.session.card import card, composition
from sordino.session.figures import used
from sordino.session.page import drawing
from sordino.session.release import Event, Release

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.ledger import Entry, Ledger

CHANGES = {
    "open": "opened", "raise": "raised", "lower": "lowered", "freeze": "frozen", "unfreeze": "unfrozen",
    "close": "closed",
}  # fmt: skip


AUDIENCES = {
    "boss": "answers, one paragraph of promise, the budget",
    "auditor": "every row, price, proof, assumption and decision",
    "public": "answers and promise without people's names, with the card of the registry",
}
"""For whom a report is, and what it holds."""


def report(
    ledger: Ledger,
    *,
    title: str | None = None,
    releases: str | None = None,
    pictures: bool = True,
    audience: str = "auditor",
) -> str:
    """The page as HTML: self-contained, for screens and for paper.

    Args:
        ledger: What was released, and what it cost.
        title: The title of the report; the reason of the ledger by default.
        releases: Which releases are shown: ``"3-9"``, ``"1,4,7-"``; all otherwise. The account is always whole.
        pictures: Whether answers are drawn, where matplotlib is installed.
        audience: ``"boss"``, ``"auditor"`` or ``"public"``: one of `AUDIENCES`.

    Example:
        >>> import sordino as sd
        >>> people = sd.open({"age": [31, 45, 28, 60]}, budget=sd.Pure(3), reason="ages")
        >>> answer = people.release(sd.Count("age"), sd.Pure(1))
        >>> page = report(people.ledger, title="Ages in 2026")
        >>> "<h1>Ages in 2026</h1>" in page, "http" in page
        (True, False)
    """
    checks.one_of("report", tuple(AUDIENCES), hint="--for boss", audience=audience)
    every = list(ledger.entries())
    wanted = chosen(releases, len(every))
    entries = [entry for entry in every if entry.number in wanted]
    opening = ledger.opening
    head = title or str(opening["reason"])
    body = [
        _top(head, ledger, entries, every, audience),
        '<h2 id="answers">Results</h2>',
        *(_entry(entry, pictures=pictures) for entry in entries),
        "" if entries else "<p>Nothing has been released yet.</p>",
        _paragraph(ledger) if audience == "boss" else _promise(ledger, entries),
        _account(ledger, every) if audience == "auditor" else "",
        _card(ledger) if audience == "public" else "",
    ]
    style = files("sordino.session").joinpath("report.css").read_text(encoding="utf-8")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(head)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="generator" content="sordino {escape(__version__)}"><style>{style}</style></head>'
        f"<body>{''.join(body)}</body></html>\n"
    )


def chosen(text: str | None, count: int) -> set[int]:
    """Read which releases are meant.

    Example:
        >>> sorted(chosen("1,3-4", 5)), sorted(chosen("4-", 5)), sorted(chosen(None, 2))
        ([1, 3, 4], [4, 5], [1, 2])
    """
    if text is None:
        return set(range(1, count + 1))
    found: set[int] = set()
    for part in text.replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        if not (first or last) or not all(end.isdecimal() and len(end) < 10 for end in (first, last) if end):
            raise ParameterError(
                "report",
                "releases are numbers and ranges of numbers",
                got={"releases": text},
                hint="--releases 3-9",
            )
        low = int(first or 1)
        found |= (
            set(range(low, min(int(last), count) + 1))
            if last
            else set(range(low, (count if dash else low) + 1))
        )
    wrong = [number for number in found if not 1 <= number <= count]
    if wrong or not found:
        raise ParameterError(
            "report", "there is no release of that number", got={"releases": text, "last": count},
            hint=f"--releases 1-{count}" if count else "leave --releases out",
        )  # fmt: skip
    return found


def _top(
    title: str, ledger: Ledger, entries: Sequence[Entry], every: Sequence[Entry], audience: str = "auditor"
) -> str:
    """Title, what this is about, and the budget."""
    last = {"auditor": '<a href="#account">Account</a>', "public": '<a href="#card">Card</a>'}.get(
        audience, ""
    )
    links = f'<nav><a href="#answers">Results</a><a href="#promise">Guarantee</a>{last}</nav>'
    some = "" if len(entries) == len(every) else f" Shown are {len(entries)} of {len(every)} releases."
    share = used(ledger.budget, ledger.spent)
    dates = sorted(entry.at[:10] for entry in every)
    when = "" if not dates else f", {dates[0]}" + (f" to {dates[-1]}" if dates[-1] != dates[0] else "")
    return (
        f"<header><h1>{escape(title)}</h1>"
        f'<p class="soft">{escape(str(ledger.opening["reason"]))}{escape(when)}.{some}</p>'
        "<p>These figures were published with differential privacy: each carries random noise, chosen so that the "
        f"figures say almost the same with or without the data of {escape(_protected(ledger))}.</p>"
        f'<div class="gauge" role="img" aria-label="{100 * share:.0f} % of the budget is spent">'
        f'<div style="width:{100 * share:.1f}%"></div></div>'
        f'<p class="soft">Privacy budget: {amounts(ledger.spent)} spent, {amounts(ledger.remaining)} left of '
        f"{amounts(ledger.budget)}.</p>"
        f"{links}</header>"
    )


def _protected(ledger: Ledger) -> str:
    if ledger.neighbors is Neighbors.EDGE:
        return "any one edge of the graph"
    if ledger.neighbors is Neighbors.NODE:
        return "any one vertex of the graph, with all of its edges"
    return "any one person" if ledger.unit.column is None else f"any one {ledger.unit.column}"


def _entry(entry: Entry, *, pictures: bool) -> str:
    """One release for those who read the numbers."""
    event = Event.from_dict(entry.event)
    heading = f'<section class="release"><h3 id="release-{entry.number}">{entry.number}. {escape(asked(event))}</h3>'
    if entry.release is None:
        return f"{heading}<p>Paid for; no answer was drawn yet.</p></section>"
    release = Release.from_dict(entry.release)
    tables = "".join(f'<div class="scroll">{block.html()}</div>' for block in blocks(release, 96))
    drawn = drawing(release) if pictures else ""
    figure = f"<figure>{drawn}</figure>" if drawn else ""
    words = "".join(f"<p>{escape(line)}</p>" for line in _words(release))
    told = escape(release.explain())
    return (
        f"{heading}{tables}{figure}{words}"
        f"<details><summary>In full words</summary><pre>{told}</pre></details></section>"
    )


def _words(release: Release) -> list[str]:
    """What a reader must know; intervals stand in the tables already."""
    table = release.table
    lines = about_the_answers(release)
    return [line for line in lines if not any(line == f"{row.label}: {row.interval}" for row in table)]


def _promise(ledger: Ledger, entries: Sequence[Entry]) -> str:
    """The guarantee, for auditors: whom, what, bounds, mechanisms and proofs."""
    events = [Event.from_dict(entry.event) for entry in entries]
    facts = [
        ("privacy unit", whom(ledger.unit, ledger.neighbors)),
        ("relation", f"{ledger.neighbors.value}: {ledger.neighbors.words}"),
        ("guarantee", f"{ledger.budget!r} for everything that is ever released from this ledger"),
        (
            "in words",
            f"{ledger.budget.words}. {odds(ledger.spent) if used(ledger.budget, ledger.spent) else ''}",
        ),
        ("composition", composition(ledger)),
    ]
    rows = []
    for entry, event in zip(entries, events, strict=True):
        for asked_for, mechanism in zip(parts(event.statistic), parts(event.mechanism), strict=True):
            rows.append((str(entry.number), name(asked_for), _bounds(asked_for), drawn_by(mechanism)))
    made = TableBlock(
        "Statistics, bounds and mechanisms", ("release", "statistic", "bounds", "mechanism"), tuple(rows), 4
    )
    releases = [Release.from_dict(entry.release) for entry in entries if entry.release is not None]
    rests = dict.fromkeys(sentence for release in releases for sentence in release.assumptions)
    clamps = dict.fromkeys(line for release in releases for line in clamped(release))
    apart = dict.fromkeys(line for event in events for line in not_protected(event))
    return (
        f'<h2 id="promise">Guarantee</h2>{_facts(facts)}<div class="scroll">{made.html() if rows else ""}</div>'
        f"{_list('What this rests on', rests)}{_list('What was clamped', clamps)}"
        f"{_list('What is not protected', apart)}"
    )


def _paragraph(ledger: Ledger) -> str:
    """The guarantee in one paragraph, for those who decide."""
    spent = odds(ledger.spent) if used(ledger.budget, ledger.spent) else ""
    return (
        f'<h2 id="promise">Guarantee</h2><p>Protected is {escape(whom(ledger.unit, ledger.neighbors))}. Everything '
        f"that is ever released about these people stays within {escape(ledger.budget.words)}. {escape(spent)}</p>"
    )


def _card(ledger: Ledger) -> str:
    found = card(ledger)
    facts = [
        (key, ", ".join(value) if isinstance(value, list) else ", ".join(f"{k} {v}" for k, v in value.items())
         if isinstance(value, dict) else str(value))
        for key, value in found.items() if value not in ("", [])
    ]  # fmt: skip
    return f'<h2 id="card">Card of this deployment</h2>{_facts(facts)}'


def _bounds(statistic: Any) -> str:
    if statistic.get("low") is not None and statistic.get("high") is not None:
        return f"{shown(statistic['low'])} to {shown(statistic['high'])}"
    return "-"


def _account(ledger: Ledger, every: Sequence[Entry]) -> str:
    """Who, when, what it cost, and whether the chain holds."""
    verdict = ledger.verify()
    rows = [
        (
            str(entry.number),
            entry.at[:16].replace("T", " "),
            f"{entry.who['user']}@{entry.who['host']}" if entry.who else "-",
            str((entry.event.get("data") or {}).get("name", "-")),
            asked(Event.from_dict(entry.event))
            + (f" ({entry.who['purpose']})" if entry.who.get("purpose") else ""),
            repr(entry.cost),
        )
        for entry in every
    ]
    head = ("release", "paid (UTC)", "who", "data", "asked", "cost")
    paid = TableBlock("What was paid", head, tuple(rows), 6)
    changes = [
        (change.at[:16].replace("T", " "), CHANGES.get(change.kind, change.kind), repr(change.ceiling),
         str(change.who.get("user", "-")), change.reason)
        for change in ledger.changes
    ]  # fmt: skip
    changed = TableBlock(
        "Changes of the ledger", ("when (UTC)", "ledger", "ceiling", "who", "reason"), tuple(changes), 5
    )
    facts = [
        ("ledger", ledger.name),
        ("state", ledger.state),
        ("budget", repr(ledger.budget)),
        ("spent", repr(ledger.spent)),
        ("left", repr(ledger.remaining)),
        ("chain", "holds: every row names the hash of the row before it, and the totals add up"
         if verdict.holds else "DAMAGED: " + "; ".join(verdict.faults[:3])),
        ("last row", f"{verdict.rows}:{verdict.head}"),
        ("check it", f"sordino ledger verify LEDGER --known {verdict.rows}:{verdict.head}"),
        ("written by", f"sordino {__version__}"),
    ]  # fmt: skip
    return (
        f'<h2 id="account">Account</h2>{_facts(facts)}<div class="scroll">{paid.html() if rows else ""}</div>'
        f'<div class="scroll">{changed.html()}</div>'
    )


def _facts(pairs: Iterable[tuple[str, str]]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(key)}</th><td>{escape(text)}</td></tr>' for key, text in pairs
    )
    return f'<div class="scroll"><table class="facts"><tbody>{rows}</tbody></table></div>'


def _list(title: str, lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h3>{escape(title)}</h3><ul>{items}</ul>" if items else ""
