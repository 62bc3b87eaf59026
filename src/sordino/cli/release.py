"""Release a statistic: shows what it protects, costs and leaves, asks, spends and prints the answer."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any

import click

from sordino.address import pasted
from sordino.cli import render
from sordino.cli.answers import answer_options, check_outputs, print_answer
from sordino.cli.groups import by_options, split
from sordino.cli.options import Statistics, hint_options, hints_of, interval_of, interval_options
from sordino.errors import ParameterError
from sordino.fields import guarantee
from sordino.reading.condition import Condition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sordino.ledger import Ledger
    from sordino.session.release import Event, Release
    from sordino.statistics import Statistic

TEXT = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
NEIGHBORS = ("replace-one", "add-remove-one", "edge", "node")


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
    """Release a statistic and spend its price. Nothing is read before the price is in the ledger."""


def _shared(taken: set[str]) -> list[Callable[..., Any]]:
    """The options of every release; hints come from the fields of `Hints`."""
    return [
        click.option(
            "--and",
            "others",
            multiple=True,
            metavar="'STATISTIC COLUMN ...'",
            help="A further statistic, with its options: read in the same pass, one entry in the ledger. The price is "
            "shared equally, unless each --and names its own.",
        ),
        click.option(
            "--data",
            metavar="FILE",
            help="The table: a .csv, .tsv, .parquet or .npz file, or a PostgreSQL address.",
        ),
        click.option(
            "--ledger",
            "location",
            metavar="LEDGER",
            help="The ledger that is debited: a file, or postgresql://host/db?ledger=NAME.",
        ),
        click.option("--unit", metavar="COLUMN", help="Whom to protect; by default as the ledger says."),
        click.option("--max-rows", type=int, help="Rows used of each unit; by default as the ledger says."),
        click.option(
            "--row",
            "row_order",
            metavar="COLUMN",
            help="A column that orders the rows of a unit, to say which are used where it has too many.",
        ),
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
        click.option(
            "--neighbors",
            type=click.Choice(NEIGHBORS),
            help="Which datasets the promise compares; by default as the ledger says.",
        ),
        click.option("--where", multiple=True, metavar="COND", help="Only rows with, e.g., 'age>=18'."),
        *by_options("Answer for every group of a column, or of several: --by region,sex."),
        click.option(
            "--scale",
            type=click.Choice(["own", "shared"]),
            help="Whether every group searches its own interval, or means of all are cut to a shared one.",
        ),
        *interval_options("Error bars that cover with this probability, e.g. 0.95."),
        click.option(
            "--mechanism", metavar="NAME", help="Instead of the default one, as `sordino plan` lists them."
        ),
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
        click.option("--yes", is_flag=True, help="Release without asking for confirmation."),
        click.option(
            "--dry-run",
            is_flag=True,
            help="Show the question as the ledger would put it, its price and its expected error; spends nothing.",
        ),
        *answer_options,
    ]


def _release(statistic: Any, price: Any, options: dict[str, Any]) -> None:
    """Quote, ask, release, print."""
    check_outputs(options)
    hints = hints_of(options)
    by = split(options)
    conditions = tuple(Condition.of(text) for text in options["where"])
    interval = interval_of(options)
    if options["scale"] is not None:
        hints["scale"] = options["scale"]
    asking = {"interval": interval, "by": by, **hints}
    if options["dry_run"]:
        from sordino.cli.dry_run import dry_run

        dry_run(statistic, price, conditions, asking, options)
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

    with Ledger(options["location"], user=options["user"], known=options["known"]) as ledger:
        unit = _unit(options, ledger)
        neighbors = Neighbors(options["neighbors"]) if options["neighbors"] else None
        with render.reading(options["data"]):
            people = session.open(
                options["data"],
                ledger=ledger,
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
        mechanism = _named(people, statistic, price, asking, options["mechanism"])
        event = people.quote(statistic, price, mechanism=mechanism, **asking)
        _preview(event, ledger, options["token"])
        _reading(options["data"], options["decimal"], quoted=options["quoted_line_breaks"])
        if not options["yes"]:
            click.confirm("release?", abort=True, err=True)
        bought = {
            "interval": interval,
            "token": options["token"],
            "purpose": options["purpose"],
            "mechanism": mechanism,
            **hints,
        }
        with _shown(statistic, options["data"]) as asked:
            if by is None:
                answer = people.release(asked, price, **bought)
            else:
                answer = people.release_by(by.columns, by, asked, price, **bought)
        _print(answer, ledger, options)


@contextlib.contextmanager
def _shown(statistic: Any, data: str) -> Iterator[Any]:
    """Show how many blocks of a function are done; for any other statistic how much of a large text file is read."""
    if not hasattr(statistic, "progress"):
        with render.reading(data):
            yield statistic
        return
    with render.progress("running", 100) as advance:
        yield dataclasses.replace(statistic, progress=render.percent(advance))


def _named(people: Any, statistic: Any, price: Any, asking: dict[str, Any], name: str | None) -> Any:
    """The mechanism of a name, when one was given."""
    if not name:
        return None
    from sordino.planner.expected import named

    hints = {key: value for key, value in asking.items() if key != "by" and value is not None}
    question = people.question(statistic, price, **asking)
    return named(name, question, price, people.rows, hints)


def _preview(event: Event, ledger: Ledger, token: str | None) -> None:
    """Say on stderr what the release protects, costs and leaves."""
    from sordino.explain import asked, parts, whom
    from sordino.ledger.account import left, short
    from sordino.made import drawn_by
    from sordino.session.release import Event

    cost, remaining = ledger.cost(event), ledger.remaining
    render.note(f"  asks        {asked(event)}")
    render.note(f"  protects    {whom(event.unit, event.neighbors)}")
    paid = None if token is None else ledger.paid(token)
    if paid is not None:
        before = asked(Event.from_dict(paid.event))
        same = before == asked(event)
        render.note(
            "  costs       nothing: this token has paid before"
            if same
            else f"  token       has paid for {before}"
        )
        return
    render.note(f"  costs       {cost!r}")
    kinds = [drawn_by(part) for part in parts(event.mechanism)]
    render.note(f"  mechanism   {', '.join(dict.fromkeys(kinds))}")
    if not cost.within(remaining):
        raise short(ledger.name, cost, remaining, ledger.budget)
    render.note(f"  leaves      {left(remaining, cost)!r} of {ledger.budget!r}")


def _reading(data: str, decimal: str, *, quoted: bool) -> None:
    """Say how a text file is read: whether a field is a number is private, so nobody will say it later."""
    if data.endswith(TEXT):
        like, other = ("1234,5", "1.234") if decimal == "," else ("1234.5", "1,234")
        render.note(
            f"  reads       numbers like {like}; {other}, 12 kg and dates are not numbers (see --missing)"
        )
        if decimal == ".":
            render.note("              with decimal commas: --decimal ,")
        if not quoted:
            render.note(
                "              every line is a record; with line breaks in quotes: --quoted-line-breaks"
            )


def _print(answer: Release, ledger: Ledger, options: dict[str, Any]) -> None:
    """Print the answers as asked, and how to go on."""
    print_answer(answer, options)
    render.note(f"  release {answer.ledger_id}, token {answer.token}")
    render.note(f"  next: sordino explain {answer.ledger_id} --ledger {pasted(ledger.name)}")


def _unit(options: dict[str, Any], ledger: Ledger) -> Any:
    from sordino.privacy import Unit

    if options["unit"] is None and options["max_rows"] is None:
        return None
    kept = ledger.unit
    rows = kept.max_rows if options["max_rows"] is None else options["max_rows"]
    return Unit(options["unit"] or kept.column, max_rows=rows)
