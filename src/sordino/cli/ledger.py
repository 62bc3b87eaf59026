"""Keep the ledger of a budget: create, show, verify, raise, lower, freeze, close, export."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sordino.address import pasted
from sordino.cli import render
from sordino.cli.ledger_shares import limit
from sordino.cli.options import json_option, picture_option, price_options
from sordino.errors import LedgerDamaged, ParameterError
from sordino.fields import guarantee

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sordino.ledger import Entry, Ledger

NEIGHBORS = ("replace-one", "add-remove-one", "edge", "node", "metric")
place = click.argument("location", metavar="LEDGER")
user_option = click.option("--user", metavar="NAME", help="Who does it; by default the login name.")
why_option = click.option("--reason", required=True, help="Why; it stays in the ledger.")


@click.group(name="ledger")
def command() -> None:
    """Keep the ledger of a budget. LEDGER is a file, or postgresql://host/db?ledger=people."""


command.add_command(limit)


@command.command(
    epilog='Example: sordino ledger create people.ledger --epsilon 3 --unit person_id --reason "2026 tables"'
)
@place
@price_options
@click.option("--reason", required=True, help="What the ledger is for; it stays in it.")
@click.option(
    "--unit", metavar="COLUMN", help="Whose rows belong together; without it one row is one person."
)
@click.option(
    "--max-rows", type=int, default=1, show_default=True, help="How many rows of each unit are used at most."
)
@click.option(
    "--neighbors",
    type=click.Choice(NEIGHBORS),
    default="replace-one",
    show_default=True,
    help="Which datasets the promise compares: one person's data replaced, or added and removed.",
)
@click.option(
    "--counting",
    type=click.Choice(("sums", "concentrated")),
    default="sums",
    show_default=True,
    help="How an approximate budget adds up: epsilons and deltas, or in rho and converted once.",
)
@user_option
@json_option
def create(
    location: str,
    reason: str,
    unit: str | None,
    max_rows: int,
    neighbors: str,
    counting: str,
    user: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Open a ledger with a ceiling for everything that will ever be released about these people."""
    from sordino.ledger import Ledger
    from sordino.privacy import Neighbors, Unit

    with Ledger.create(
        location,
        guarantee(options),
        reason=reason,
        neighbors=Neighbors(neighbors),
        unit=Unit(unit, max_rows=max_rows),
        counting=counting,
        user=user,
    ) as ledger:
        _state(ledger, as_json)
        name = ledger.name
        price = " ".join(f"--{amount.name} {amount.name[0].upper()}" for amount in fields(ledger.budget))
    render.note(
        f"next: sordino release median COLUMN --low L --high H {price} --data FILE --ledger {pasted(name)}"
    )


@command.command()
@place
@click.option("--by", type=click.Choice(("user",)), help="Add up what each user has spent.")
@click.option("--last", type=click.IntRange(min=0), default=100, show_default=True, metavar="N",
              help="List the last N releases; 0 lists all.")  # fmt: skip
@picture_option("Draw the budget as a gauge into FILE")
@json_option
def show(location: str, by: str | None, last: int, plot: str | None, as_json: bool) -> None:
    """Show what was promised, spent and released, by whom, and why the ledger was changed."""
    from sordino.ledger import Ledger

    with Ledger(location) as ledger:
        if plot:
            from sordino import plots
            from sordino.session.figures import gauge

            render.note(f"wrote {plots.save(gauge(ledger.budget, ledger.spent, ledger.remaining), plot)}")
        if by is not None:
            _by_user(ledger, as_json)
            return
        before = max(0, ledger.releases - last) if last else 0
        changes = ledger.changes
        if as_json:
            entries = [entry.to_dict() for entry in ledger.entries(before)]
            told = [change.to_dict() for change in changes]
            render.as_json({**_facts(ledger), "changes": told, "releases": entries})
            return
        _state(ledger, as_json=False)
        if len(changes) > 1:
            click.echo()
            rows = [[change.at, _DONE[change.kind], repr(change.ceiling), _person(change.who), change.reason]
                    for change in changes]  # fmt: skip
            _table(["when", "ledger", "ceiling", "by", "reason"], rows)
        click.echo()
        listed = [_listed(entry) for entry in ledger.entries(before)]
        if before:
            render.note(f"the last {last}; {before} earlier: --last 0")
        if listed:
            _table(["release", "paid", "who", "data", "asked", "cost", "answer"], listed)
            _answers(ledger.entries(before))
        else:
            render.note("nothing was released yet")


_DONE = {
    "open": "opened", "raise": "raised", "lower": "lowered", "freeze": "frozen", "unfreeze": "unfrozen",
    "close": "closed",
}  # fmt: skip


def _listed(entry: Entry) -> list[str]:
    from sordino.explain import asked, shown
    from sordino.session.release import Event, Release

    value = "no answer yet"
    if entry.release is not None:
        table = Release.from_dict(entry.release).table
        several = len(table) > 1
        value = "below" if several else f"{shown(table.rows[0].value)} {table.rows[0].interval}".strip()
    data = (entry.event.get("data") or {}).get("name", "-")
    what = asked(Event.from_dict(entry.event))
    if purpose := entry.who.get("purpose"):
        what += f" ({purpose})"
    at = entry.at[:16].replace("T", " ")
    return [str(entry.number), at, _person(entry.who), data, what, repr(entry.cost), value]


def _answers(entries: Iterable[Entry]) -> None:
    """Answers of several numbers as tables, whole."""
    from sordino.session.release import Release

    for entry in entries:
        if entry.release is not None:
            answer = Release.from_dict(entry.release)
            if len(answer.table) > 1:
                click.echo(f"\nrelease {entry.number}\n{answer.text(render.width())}")


def _person(who: Mapping[str, str]) -> str:
    return f"{who['user']}@{who['host']}" if who else "-"


def _table(header: list[str], rows: list[list[str]]) -> None:
    from sordino.ledger.entry import visible

    render.table(header, [[visible(cell) for cell in row] for row in rows])


def _by_user(ledger: Ledger, as_json: bool) -> None:
    """Add up what each user has spent."""
    from sordino.ledger.account import nothing

    sums: dict[str, list[Any]] = {}
    for entry in ledger.entries():
        line = sums.setdefault(entry.who.get("user", "-"), [0, nothing(ledger.budget), ""])
        line[0] += 1
        line[1] += entry.cost
        line[2] = entry.at
    rows = sorted(sums.items())
    if as_json:
        render.as_json(
            [
                {"user": user, "releases": count, "spent": spent.to_dict(), "last": at}
                for user, (count, spent, at) in rows
            ]
        )
    elif rows:
        listed = [[user, str(count), repr(spent), at] for user, (count, spent, at) in rows]
        _table(["user", "releases", "spent", "last paid"], listed)
    else:
        render.note("nothing was released yet")


@command.command()
@place
@click.option(
    "--known", metavar="ROW:HASH", help="A row noted earlier: notices a ledger put back to an older state."
)
@json_option
def verify(location: str, known: str | None, as_json: bool) -> None:
    """Check the file, the chain of hashes, the totals and the tokens; exit code 5 if anything is wrong."""
    from sordino.ledger import Ledger

    with Ledger(location) as ledger:
        report = ledger.verify(known=known)
    if as_json:
        render.as_json(report.to_dict())
    else:
        render.block(
            [
                ("ledger", report.name),
                ("rows", report.rows),
                ("last row", f"{report.rows}:{report.head}" if report.head else "-"),
                ("verdict", "the ledger holds" if report.holds else "the ledger is damaged"),
                *(("fault", fault) for fault in report.faults[:20]),
            ]
        )
    if not report.holds:
        raise LedgerDamaged(
            f"ledger {report.name}",
            f"the ledger is damaged: {report.faults[0]}",
            why="Nothing should be released from it.",
            hint="restore the newest backup; releases since then are spent all the same",
        )


def _changing(name: str, words: str, change: Callable[..., Any], *, ceiling: bool) -> None:
    """A verb that changes the ledger for a reason, and prints where it stands then."""

    @place
    @why_option
    @user_option
    @json_option
    def verb(location: str, reason: str, user: str | None, as_json: bool, **options: Any) -> None:
        from sordino.ledger import Ledger

        asked = [guarantee(options)] if ceiling else []
        with Ledger(location, user=user) as ledger:
            change(ledger, *asked, reason=reason)
            _state(ledger, as_json)

    command.command(name=name, help=words)(price_options(verb) if ceiling else verb)


_changing(
    "raise",
    "Raise the ceiling, with a reason.",
    lambda ledger, budget, reason: ledger.raise_to(budget, reason=reason),
    ceiling=True,
)
_changing(
    "lower",
    "Lower the ceiling, not below what is spent, with a reason.",
    lambda ledger, budget, reason: ledger.lower_to(budget, reason=reason),
    ceiling=True,
)
_changing(
    "freeze",
    "Refuse every release until it is unfrozen; stored answers still come back by their tokens.",
    lambda ledger, reason: ledger.freeze(reason=reason),
    ceiling=False,
)
_changing(
    "unfreeze", "Take releases again.", lambda ledger, reason: ledger.unfreeze(reason=reason), ceiling=False
)
_changing(
    "close",
    "Close the ledger for good: nothing will ever be spent from it again.",
    lambda ledger, reason: ledger.seal(reason=reason),
    ceiling=False,
)


@command.command()
@place
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@click.option("--csv", "table", is_flag=True, help="A table for people; so is a FILE that ends in .csv.")
def export(location: str, file: str | None, table: bool) -> None:
    """Write the whole ledger as JSON or CSV, to FILE or to stdout."""
    from sordino.ledger import Ledger

    if file is not None and Path(file).exists() and Path(location).exists() and Path(file).samefile(location):
        raise ParameterError(
            "ledger export", "the ledger cannot be overwritten by its export", got={"file": file},
            hint=f"sordino ledger export {pasted(location)} {pasted(file + '.json')}",
        )  # fmt: skip
    table = table or (file or "").lower().endswith(".csv")
    with Ledger(location) as ledger, _written(file) as output:
        ledger.export_to(output, table=table)
    if file is not None:
        render.note(f"wrote {file}")


@contextlib.contextmanager
def _written(file: str | None) -> Iterator[Any]:
    """A file to write to, or stdout."""
    if file is None:
        yield sys.stdout
        return
    try:
        output = Path(file).open("w", encoding="utf-8", newline="")  # noqa: SIM115  closed below
    except (OSError, ValueError):
        output = None
    if output is None:
        raise ParameterError(
            "export",
            "the file cannot be written",
            got={"file": file},
            hint="name a file in a folder that exists",
        )
    with output:
        yield output


def _facts(ledger: Ledger) -> dict[str, Any]:
    opening = ledger.opening
    return {
        "ledger": ledger.name,
        "reason": opening["reason"],
        "state": ledger.state,
        "neighbors": opening["neighbors"],
        "unit": opening["unit"],
        "budget": ledger.budget.to_dict(),
        "stated": opening["stated"],
        "spent": ledger.spent.to_dict(),
        "remaining": ledger.remaining.to_dict(),
    }


def _state(ledger: Ledger, as_json: bool) -> None:
    """Print where the budget stands."""
    if as_json:
        render.as_json(_facts(ledger))
        return
    from sordino.explain import whom
    from sordino.ledger.entry import visible
    from sordino.privacy import Guarantee

    opening, budget, state = ledger.opening, ledger.budget, ledger.state
    stated = Guarantee.from_dict(opening["stated"])
    ceiling = repr(budget) if type(stated) is type(budget) else f"{budget!r}, within {stated!r}"
    lines = [
        ("ledger", ledger.name),
        ("for", visible(opening["reason"])),
        ("protects", whom(ledger.unit, ledger.neighbors)),
        ("budget", ceiling),
        ("spent", repr(ledger.spent)),
        ("left", repr(ledger.remaining)),
    ]
    if state != "open":
        told = [change for change in ledger.changes if change.kind in ("freeze", "close")][-1]
        lines.insert(1, ("state", f"{state}: {visible(told.reason)}"))
    render.block(lines)


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(name)
