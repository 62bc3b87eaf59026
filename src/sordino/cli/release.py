"""Release a statistic: shows what it protects, costs and leaves, asks, spends and prints the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sordino.address import pasted
from sordino.cli import render
from sordino.cli.options import (
    Statistics,
    guarantee,
    hint_options,
    hints_of,
    interval_of,
    interval_options,
    json_option,
)
from sordino.errors import ParameterError
from sordino.reading.condition import Condition

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.ledger import Ledger
    from sordino.session.release import Event, Release
    from sordino.statistics import Statistic

TEXT = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
NEIGHBORS = ("replace-one", "add-remove-one", "edge")


class Releases(Statistics):
    """One command per statistic."""

    example = ("--epsilon 0.5", "--data people.csv", "--ledger people.ledger")

    def shared(self, taken: set[str]) -> list[Callable[..., Any]]:
        """The options of every release."""
        return _shared(taken)

    def run(self, statistic: Statistic, options: dict[str, Any]) -> None:
        """Release."""
        price = guarantee(options)
        others = [self.read(text) for text in options.pop("others")]
        if not others:
            _release(statistic, price, options)
            return
        named = [own is not None for _, own in others]
        if any(named) and not all(named):
            raise ParameterError(
                "release", "either one price is shared or every --and has its own",
                hint="--and 'mean income --low 0 --high 500000 --epsilon 0.2'",
            )  # fmt: skip
        prices = [price, *(own for _, own in others)] if all(named) else price
        _release([statistic, *(other for other, _ in others)], prices, options)


@click.group(
    name="release",
    cls=Releases,
    subcommand_metavar="STATISTIC COLUMN [OPTIONS]",
    epilog="Example: sordino release median income --low 0 --high 500000 --epsilon 0.5 "
    "--data people.parquet --ledger people.ledger",
)
def command() -> None:
    """Release a statistic and spend its price. Nothing is read before the price is in the book."""


def _shared(taken: set[str]) -> list[Callable[..., Any]]:
    """The options of every release; hints come from the fields of `Hints`."""
    return [
        click.option(
            "--and",
            "others",
            multiple=True,
            metavar="'STATISTIC COLUMN ...'",
            help="A further statistic, with its options: read in the same pass, one entry in the book. The price is "
            "shared equally, unless each --and names its own.",
        ),
        click.option("--data", metavar="FILE", help="The data."),
        click.option("--ledger", "location", metavar="LEDGER", help="The book that pays."),
        click.option("--unit", metavar="COLUMN", help="Whom to protect; by default as the book says."),
        click.option("--max-rows", type=int, help="Rows used of each unit; by default as the book says."),
        click.option("--row", "row_order", metavar="COLUMN", help="Orders the rows of a unit."),
        click.option("--numbers", metavar="A,B,...", help="Columns of text that are to be read as numbers."),
        click.option(
            "--decimal",
            type=click.Choice([".", ","]),
            default=".",
            help="Decimal sign of numbers in a CSV file.",
        ),
        click.option(
            "--quoted-line-breaks", is_flag=True, help="Quoted fields of a CSV file hold line breaks."
        ),
        click.option("--neighbors", type=click.Choice(NEIGHBORS), help="By default as the book says."),
        click.option("--where", multiple=True, metavar="COND", help="Only rows with, e.g., 'age>=18'."),
        click.option("--by", metavar="COLUMN", help="Answer for every group of a column; needs --by-keys."),
        click.option("--by-keys", metavar="A,B,...", help="The public keys of --by."),
        *interval_options("Error bars that cover with this probability, e.g. 0.95."),
        *hint_options(taken),
        click.option(
            "--data-name", metavar="NAME", help="What the data are called in public: else the file's name."
        ),
        click.option("--user", metavar="NAME", help="Who asks, for the ledger; by default the login name."),
        click.option("--purpose", metavar="TEXT", help="What it is for; it stays in the ledger."),
        click.option(
            "--known",
            metavar="ROW:HASH",
            help="A row of the ledger noted earlier: an older copy put back is refused.",
        ),
        click.option("--token", help="Asked again with it, the stored answer comes back and costs nothing."),
        click.option("--yes", is_flag=True, help="Do not ask."),
        click.option(
            "--dry-run", is_flag=True, help="Show what would be asked; touches neither data nor book."
        ),
        json_option,
    ]


def _release(statistic: Any, price: Any, options: dict[str, Any]) -> None:
    """Quote, ask, release, print."""
    hints = hints_of(options)
    by = _split(options["by"], options["by_keys"])
    conditions = tuple(Condition.of(text) for text in options["where"])
    interval = interval_of(options)
    asking = {"interval": interval, "by": by, **hints}
    if options["dry_run"]:
        _dry(statistic, price, conditions, asking, options)
        return
    for name, value in (("--data", options["data"]), ("--ledger", options["location"])):
        if not value:
            raise ParameterError(
                "release", f"{name} must be given",
                hint=f"{name} {'people.csv' if name == '--data' else 'people.ledger'}, or --dry-run to spend nothing",
            )  # fmt: skip
    from sordino import session
    from sordino.ledger import Ledger
    from sordino.privacy import Neighbors

    with Ledger(options["location"], user=options["user"], known=options["known"]) as book:
        unit = _unit(options, book)
        neighbors = Neighbors(options["neighbors"]) if options["neighbors"] else None
        people = session.open(
            options["data"],
            ledger=book,
            unit=unit,
            neighbors=neighbors,
            rows=hints.pop("rows", None),
            row=options["row_order"],
            numbers=options["numbers"].split(",") if options["numbers"] else (),
            decimal=options["decimal"],
            quoted_line_breaks=options["quoted_line_breaks"],
            data_name=options["data_name"],
        )
        asking.pop("rows", None)
        if conditions:
            people = people.where(*conditions)
        event = people.quote(statistic, price, **asking)
        _preview(event, book, options["token"])
        _reading(options["data"], options["decimal"], quoted=options["quoted_line_breaks"])
        if not options["yes"]:
            click.confirm("release?", abort=True, err=True)
        bought = {
            "interval": interval,
            "token": options["token"],
            "purpose": options["purpose"],
            **hints,
        }
        if by is None:
            answer = people.release(statistic, price, **bought)
        else:
            answer = people.release_by(*by, statistic, price, **bought)
        _print(answer, book, options["as_json"])


def _dry(
    statistic: Any,
    price: Any,
    conditions: tuple[Any, ...],
    asking: dict[str, Any],
    options: dict[str, Any],
) -> None:
    """Show the question without opening anything."""
    from sordino.privacy import Neighbors, Unit
    from sordino.session.door import public_keys
    from sordino.session.quote import prepare

    hints = dict(asking)
    by, interval, rows = hints.pop("by"), hints.pop("interval"), hints.pop("rows", None)
    question = prepare(
        statistic,
        price,
        neighbors=Neighbors(options["neighbors"] or "replace-one"),
        unit=Unit(options["unit"], max_rows=1 if options["max_rows"] is None else options["max_rows"]),
        rows=rows,
        where=conditions,
        by=None if by is None else (by[0], public_keys(*by)),
        interval=interval,
        hints=hints,
    )
    if options["as_json"]:
        render.as_json({"event": question.event.to_dict(), "assumptions": question.assumptions})
        return
    from sordino.explain import asked, parts, whom

    event = question.event
    render.block(
        [
            ("asks", asked(event)),
            ("protects", whom(event.unit, event.neighbors)),
            ("promises", event.guarantee.words),
            ("costs", repr(event.guarantee)),
            ("mechanism", ", ".join(part["kind"] for part in parts(event.mechanism))),
            *(("rests on", sentence) for sentence in question.assumptions),
        ],
        title="dry run: no data and no book were touched",
    )


def _preview(event: Event, book: Ledger, token: str | None) -> None:
    """Say on stderr what the release protects, costs and leaves."""
    from sordino.explain import asked, whom
    from sordino.ledger.account import left, short

    cost, remaining = book.cost(event), book.remaining
    render.note(f"  asks        {asked(event)}")
    render.note(f"  protects    {whom(event.unit, event.neighbors)}")
    if token is not None and book.paid(token) is not None:
        render.note("  costs       nothing: this token has paid before")
        return
    render.note(f"  costs       {cost!r}")
    if not cost.within(remaining):
        raise short(book.name, cost, remaining, book.budget)
    render.note(f"  leaves      {left(remaining, cost)!r} of {book.budget!r}")


def _reading(data: str, decimal: str, *, quoted: bool) -> None:
    """Say how a text file is read: whether a field is a number is private, so nobody will say it later."""
    if data.endswith(TEXT):
        like, other = ("1234,5", "1.234") if decimal == "," else ("1234.5", "1,234")
        render.note(
            f"  reads       numbers like {like}; {other}, 12 kg and dates are none and follow --missing"
        )
        if decimal == ".":
            render.note("              with decimal commas: --decimal ,")
        if not quoted:
            render.note(
                "              every line is a record; with line breaks in quotes: --quoted-line-breaks"
            )


def _print(answer: Release, book: Ledger, as_json: bool) -> None:
    """Print one number, a row for each statistic, or a row for each group."""
    from sordino.explain import shown, statistics, wider

    if as_json:
        render.as_json(answer.to_dict())
        return
    names = statistics(answer.event)
    values: Any = answer.value
    bars = answer.interval if isinstance(answer.interval, tuple) else (answer.interval,)
    ends = [f"{shown(bar.low)} to {shown(bar.high)}" if bar else "-" for bar in bars]
    if answer.event.by is not None:
        header = [str(answer.event.by["column"]), *names]
        rows = [
            [str(key), *(map(shown, value) if len(names) > 1 else [shown(value)])]
            for key, value in answer.groups.items()
        ]
        if any(bars):
            header += ["error bar" if len(names) == 1 else f"error bar, {name}" for name in names]
            width = len(names)
            rows = [[*row, *ends[place * width : (place + 1) * width]] for place, row in enumerate(rows)]
        render.table(header, rows)
    elif len(names) > 1:
        listed = [[name, shown(value)] for name, value in zip(names, values, strict=True)]
        if any(bars):
            render.table(
                ["", "answer", "error bar"], [[*row, end] for row, end in zip(listed, ends, strict=True)]
            )
        else:
            render.block([(name, value) for name, value in listed])
    else:
        lines = [(names[0], shown(answer.value))]
        if bars[0] is not None:
            said = f"{ends[0]}, {100 * bars[0].level:g} times in 100, for the {bars[0].covers}"
            lines.append(("error bar", said))
            if bars[0].added is not None:
                lines.append(("", wider(bars[0].added)))
        render.block(lines)
    render.note(f"  release {answer.ledger_id}, token {answer.token}")
    render.note(f"  next: sordino explain {answer.ledger_id} --ledger {pasted(book.name)}")


def _split(column: str | None, keys: str | None) -> tuple[str, list[Any]] | None:
    if column is None and keys is None:
        return None
    if not column or not keys:
        raise ParameterError(
            "release", "--by and --by-keys go together", why="Keys are public: they never come from the data.",
            hint="--by region --by-keys north,south",
        )  # fmt: skip
    given: list[Any] = [key.strip() for key in keys.split(",")]
    if all(key.lstrip("-").isdigit() for key in given):
        given = [int(key) for key in given]
    return column, given


def _unit(options: dict[str, Any], book: Ledger) -> Any:
    from sordino.privacy import Unit

    if options["unit"] is None and options["max_rows"] is None:
        return None
    kept = book.unit
    rows = kept.max_rows if options["max_rows"] is None else options["max_rows"]
    return Unit(options["unit"] or kept.column, max_rows=rows)
