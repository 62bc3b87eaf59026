"""Keep the book of a budget: create, show, verify, raise, export."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from sordino.address import pasted
from sordino.cli import render
from sordino.cli.options import guarantee, json_option, price_options
from sordino.errors import DamagedLedger, ParameterError

if TYPE_CHECKING:
    from sordino.ledger import Ledger

NEIGHBORS = ("replace-one", "add-remove-one", "edge", "metric")
place = click.argument("location", metavar="LEDGER")


@click.group(name="ledger")
def command() -> None:
    """Keep the book of a budget. LEDGER is a file, or postgresql://host/db?ledger=people."""


@command.command(
    epilog='Example: sordino ledger create people.ledger --epsilon 3 --unit person_id --reason "2026 tables"'
)
@place
@price_options
@click.option("--reason", required=True, help="What the book is for; it stays in the book.")
@click.option(
    "--unit", metavar="COLUMN", help="Whose rows belong together; without it one row is one person."
)
@click.option("--max-rows", type=int, default=1, show_default=True, help="Rows used of each unit.")
@click.option("--neighbors", type=click.Choice(NEIGHBORS), default="replace-one", show_default=True)
@click.option(
    "--counting",
    type=click.Choice(("sums", "concentrated")),
    default="sums",
    show_default=True,
    help="How an approximate budget is counted.",
)
@json_option
def create(
    location: str,
    reason: str,
    unit: str | None,
    max_rows: int,
    neighbors: str,
    counting: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Begin a book with a ceiling for everything that will ever be released about these people."""
    from sordino.ledger import Ledger
    from sordino.privacy import Neighbors, Unit

    with Ledger.create(
        location,
        guarantee(options),
        reason=reason,
        neighbors=Neighbors(neighbors),
        unit=Unit(unit, max_rows=max_rows),
        counting=counting,
    ) as book:
        _state(book, as_json)
    render.note(
        f"next: sordino release median COLUMN --low L --high H --epsilon E --data FILE --ledger {pasted(book.name)}"
    )


@command.command()
@place
@click.option("--plot", metavar="FILE", help="Draw the budget as a gauge into FILE (.svg, .png or .pdf).")
@json_option
def show(location: str, plot: str | None, as_json: bool) -> None:
    """Show what was promised, spent and released."""
    from sordino.explain import asked, shown
    from sordino.ledger import Ledger
    from sordino.session.release import Event, Release

    with Ledger(location) as book:
        if plot:
            from sordino import plots
            from sordino.session.figures import gauge

            render.note(f"wrote {plots.save(gauge(book.budget, book.spent, book.remaining), plot)}")
        history = book.history
        if as_json:
            render.as_json({**_facts(book), "releases": [entry.to_dict() for entry in history]})
            return
        _state(book, as_json=False)
        rows, long = [], []
        for entry in history:
            value = "no answer yet"
            if entry.release is not None:
                answer = Release.from_dict(entry.release)
                single = len(answer.table) == 1
                value = " ".join([shown(answer.value), answer.table.rows[0].interval]) if single else "below"
                long += [] if single else [(entry.number, answer)]
            rows.append(
                [
                    str(entry.number),
                    entry.at[:16].replace("T", " "),
                    asked(Event.from_dict(entry.event)),
                    repr(entry.cost),
                    value,
                ]
            )
        if rows:
            render.table(["release", "paid", "asked", "cost", "answer"], rows)
            for number, answer in long:
                click.echo(f"\nrelease {number}")
                click.echo(answer.text(render.width()))
        else:
            render.note("nothing was released yet")


@command.command()
@place
@click.option(
    "--known", metavar="ROW:HASH", help="A row noted earlier: notices a book put back to an older state."
)
@json_option
def verify(location: str, known: str | None, as_json: bool) -> None:
    """Check the file, the chain of hashes, the totals and the tokens; exit code 5 if anything is wrong."""
    from sordino.ledger import Ledger

    noted = None
    if known is not None:
        number, _, text = known.partition(":")
        if not number.isdigit() or not text:
            raise click.BadParameter("write it as ROW:HASH, as verify prints them", param_hint="--known")
        noted = (int(number), text)
    with Ledger(location) as book:
        report = book.verify(known=noted)
    if as_json:
        render.as_json(report.to_dict())
    else:
        render.block(
            [
                ("ledger", report.name),
                ("rows", report.rows),
                ("last row", f"{report.rows}:{report.head}" if report.head else "-"),
                ("verdict", "the book holds" if report.holds else "the book is damaged"),
                *(("fault", fault) for fault in report.faults),
            ]
        )
    if not report.holds:
        raise DamagedLedger(
            f"ledger {report.name}",
            f"the book is damaged: {report.faults[0]}",
            why="Nothing should be released from it.",
            hint="restore the newest backup; releases since then are spent all the same",
        )


@command.command(name="raise")
@place
@price_options
@click.option("--reason", required=True, help="Why; it stays in the book.")
@json_option
def raise_(location: str, reason: str, as_json: bool, **options: Any) -> None:
    """Raise the ceiling, with a reason."""
    from sordino.ledger import Ledger

    with Ledger(location) as book:
        book.raise_to(guarantee(options), reason=reason)
        _state(book, as_json)


@command.command()
@place
@click.argument("file", required=False, type=click.Path(dir_okay=False, writable=True))
def export(location: str, file: str | None) -> None:
    """Write the whole book as JSON, to FILE or to stdout."""
    from pathlib import Path

    from sordino.ledger import Ledger

    with Ledger(location) as book:
        document = book.export()
    if file is None:
        render.as_json(document)
        return
    if Path(file).exists() and Path(location).exists() and Path(file).samefile(location):
        raise ParameterError(
            "ledger export", "the book cannot be overwritten by its export", got={"file": file},
            hint=f"sordino ledger export {pasted(location)} {pasted(file + '.json')}",
        )  # fmt: skip
    Path(file).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    render.note(f"wrote {file}")


def _facts(book: Ledger) -> dict[str, Any]:
    opening = book.opening
    return {
        "ledger": book.name,
        "reason": opening["reason"],
        "neighbors": opening["neighbors"],
        "unit": opening["unit"],
        "budget": book.budget.to_dict(),
        "stated": opening["stated"],
        "spent": book.spent.to_dict(),
        "remaining": book.remaining.to_dict(),
    }


def _state(book: Ledger, as_json: bool) -> None:
    """Print where the budget stands."""
    if as_json:
        render.as_json(_facts(book))
        return
    from sordino.explain import whom
    from sordino.privacy import Guarantee

    opening, budget = book.opening, book.budget
    stated = Guarantee.from_dict(opening["stated"])
    ceiling = repr(budget) if type(stated) is type(budget) else f"{budget!r}, within {stated!r}"
    render.block(
        [
            ("ledger", book.name),
            ("for", opening["reason"]),
            ("protects", whom(book.unit, book.neighbors)),
            ("budget", ceiling),
            ("spent", repr(book.spent)),
            ("left", repr(book.remaining)),
        ]
    )
