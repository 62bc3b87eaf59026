"""Release a statistic: shows what it protects, costs and leaves, asks, spends and prints the answer."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import click

from sordino.cli import render
from sordino.cli.options import guarantee, json_option, number, price_options
from sordino.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.ledger import Ledger
    from sordino.release import Event, Release
    from sordino.statistics import Statistic

NEIGHBORS = ("replace-one", "add-remove-one", "edge")


class Statistics(click.Group):
    """One command per statistic, its options made from the fields of its class."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Name the statistics that can be written on a command line."""
        from sordino.catalogue import statistics

        return [name for name, kind in statistics().items() if not _nested(kind)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Build the command of one statistic."""
        from sordino.catalogue import statistic

        return _command(statistic(cmd_name))


@click.group(
    name="release",
    cls=Statistics,
    subcommand_metavar="STATISTIC COLUMN [OPTIONS]",
    epilog="Example: sordino release median income --low 0 --high 500000 --epsilon 0.5 "
    "--data people.parquet --ledger people.ledger",
)
def command() -> None:
    """Release a statistic and spend its price. Nothing is read before the price is in the book."""


def _nested(kind: type[Statistic]) -> bool:
    return any("Numeric" in str(field.type) for field in dataclasses.fields(kind))  # type: ignore[arg-type]


def _command(kind: type[Statistic]) -> click.Command:
    """A command whose arguments and options are the fields of a statistic, then those of every release."""
    fields = [field for field in dataclasses.fields(kind) if field.init and _asked(kind, field)]  # type: ignore[arg-type]
    arguments = [field for field in fields if _positional(field)]

    def run(**options: Any) -> None:
        given = {field.name: _read(field, options.pop(field.name)) for field in fields}
        statistic = kind(**{name: value for name, value in given.items() if value is not None})
        _release(statistic, options)

    decorated: Callable[..., Any] = run
    for option in reversed(_shared({field.name for field in fields})):
        decorated = option(decorated)
    decorated = price_options(decorated)
    for field in reversed(fields):
        if field not in arguments:
            decorated = click.option(
                f"--{field.name.replace('_', '-')}", field.name, required=_required(field), metavar=_metavar(field),
                help=_help(field),
            )(decorated)  # fmt: skip
    for field in reversed(arguments):
        decorated = click.argument(field.name)(decorated)
    text = (kind.__doc__ or kind.name).split("\n\n")[0].replace("``", "")
    return click.command(name=kind.name, help=text)(decorated)


def _asked(kind: type[Statistic], field: dataclasses.Field[Any]) -> bool:
    """Whether a field is the user's to set: not the relation, and not what the name of the statistic fixes."""
    fixed = field.name == "q" and not _required(field)
    return field.name != "neighbors" and not fixed and kind.name != ""


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _positional(field: dataclasses.Field[Any]) -> bool:
    return str(field.type) == "str" and _required(field)


def _metavar(field: dataclasses.Field[Any]) -> str:
    return "A,B,..." if str(field.type).startswith("tuple") else "TEXT" if "str" in str(field.type) else "X"


def _help(field: dataclasses.Field[Any]) -> str:
    words = {
        "low": "Lower bound, public: values below count as it.",
        "high": "Upper bound, public: values above count as it.",
        "step": "The lattice on which the data live: 1 for ages, 0.01 for pay.",
        "missing": "What a row that is no number counts as: a number, or drop.",
        "bits": "Resolution of the lattice when no step is given.",
        "keys": "Public categories.",
    }
    text = words.get(field.name, field.name.replace("_", " ").capitalize() + ".")
    return text if _required(field) or field.default is None else f"{text} [default: {field.default}]"


def _read(field: dataclasses.Field[Any], text: str | None) -> Any:
    """Read an option by the type of its field."""
    if text is None:
        return None
    kind = str(field.type)
    if kind.startswith("tuple[tuple"):
        return tuple(tuple(int(end) for end in pair.split("-")) for pair in text.split(","))
    if kind.startswith("tuple"):
        return tuple(_read_one(kind, field.name, item.strip()) for item in text.split(","))
    return _read_one(kind, field.name, text)


def _read_one(kind: str, name: str, text: str) -> Any:
    if "Fraction" in kind:
        return number(name, text)
    if "float" in kind:
        if "str" in kind and text == "drop":
            return text
        return float(number(name, text))
    if "int" in kind:
        try:
            return int(text)
        except ValueError:
            if "str" not in kind:
                raise ParameterError("option", f"--{name} must be a whole number", got={name: text}) from None
    return text


def _shared(taken: set[str]) -> list[Callable[..., Any]]:
    """The options of every release; hints come from the fields of `Hints`."""
    from sordino.mechanisms.choose import Hints

    hints = []
    for field in dataclasses.fields(Hints):
        if field.name == "interval" or field.name in taken:
            continue
        flag = f"--{field.name}"
        about = f"Public hint for choosing: {field.name}."
        if field.type == "bool":
            hints.append(click.option(flag, is_flag=True, default=None, help=about))
        else:
            hints.append(click.option(flag, metavar="X", help=about))
    return [
        click.option("--data", metavar="FILE", help="The data."),
        click.option("--ledger", "location", metavar="LEDGER", help="The book that pays."),
        click.option("--unit", metavar="COLUMN", help="Whom to protect; by default as the book says."),
        click.option("--max-rows", type=int, help="Rows used of each unit; by default as the book says."),
        click.option("--row", "row_order", metavar="COLUMN", help="Orders the rows of a unit."),
        click.option("--numbers", metavar="A,B,...", help="Columns of text that are to be read as numbers."),
        click.option("--neighbors", type=click.Choice(NEIGHBORS), help="By default as the book says."),
        click.option("--where", multiple=True, metavar="COND", help="Only rows with, e.g., 'age>=18'."),
        click.option("--by", metavar="COLUMN", help="Answer for every group of a column; needs --by-keys."),
        click.option("--by-keys", metavar="A,B,...", help="The public keys of --by."),
        click.option("--interval", type=float, metavar="P", help="Buy an error bar, e.g. 0.95."),
        *hints,
        click.option("--token", help="Asked again with it, the stored answer comes back and costs nothing."),
        click.option("--yes", is_flag=True, help="Do not ask."),
        click.option(
            "--dry-run", is_flag=True, help="Show what would be asked; touches neither data nor book."
        ),
        json_option,
    ]


def _release(statistic: Statistic, options: dict[str, Any]) -> None:
    """Quote, ask, release, print."""
    price = guarantee(options)
    hints = _hints(options)
    by = _split(options["by"], options["by_keys"])
    conditions = tuple(_condition(text) for text in options["where"])
    asking = {"interval": options["interval"], "by": by, **hints}
    if options["dry_run"]:
        _dry(statistic, price, conditions, asking, options)
        return
    for name, value in (("--data", options["data"]), ("--ledger", options["location"])):
        if not value:
            raise ParameterError("release", f"{name} must be given", hint=f"{name} FILE, or --dry-run")
    from sordino import session
    from sordino.ledger import Ledger
    from sordino.privacy import Neighbors

    with Ledger(options["location"]) as book:
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
        )
        asking.pop("rows", None)
        if conditions:
            people = people.where(*conditions)
        event = people.quote(statistic, price, **asking)
        _preview(event, book, options["token"])
        if not options["yes"]:
            click.confirm("release?", abort=True, err=True)
        if by is not None:
            answer = people.release_by(*by, statistic, price, token=options["token"], **hints)
        else:
            answer = people.release(
                statistic, price, interval=options["interval"], token=options["token"], **hints
            )
        _print(answer, book, options["as_json"])


def _dry(
    statistic: Statistic,
    price: Any,
    conditions: tuple[Any, ...],
    asking: dict[str, Any],
    options: dict[str, Any],
) -> None:
    """Show the question without opening anything."""
    from sordino.privacy import Neighbors, Unit
    from sordino.question import prepare
    from sordino.session import public_keys

    hints = dict(asking)
    by, interval, rows = hints.pop("by"), hints.pop("interval"), hints.pop("rows", None)
    question = prepare(
        statistic,
        price,
        neighbors=Neighbors(options["neighbors"] or "replace-one"),
        unit=Unit(options["unit"], max_rows=options["max_rows"] or 1),
        rows=rows,
        where=conditions,
        by=None if by is None else (by[0], public_keys(*by)),
        interval=interval,
        hints=hints,
    )
    if options["as_json"]:
        render.as_json({"event": question.event.to_dict(), "assumptions": question.assumptions})
        return
    from sordino.words import asked, whom

    event = question.event
    render.block(
        [
            ("asks", asked(event)),
            ("protects", whom(event.unit, event.neighbors)),
            ("promises", event.guarantee.words),
            ("costs", repr(event.guarantee)),
            ("mechanism", event.mechanism["kind"]),
            *(("rests on", sentence) for sentence in question.assumptions),
        ],
        title="dry run: no data and no book were touched",
    )


def _preview(event: Event, book: Ledger, token: str | None) -> None:
    """Say on stderr what the release protects, costs and leaves."""
    from sordino.ledger.account import left
    from sordino.ledger.book import short
    from sordino.words import asked, whom

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


def _print(answer: Release, book: Ledger, as_json: bool) -> None:
    from sordino.words import asked, shown

    if as_json:
        click.echo(json.dumps(answer.to_dict(), indent=2))
        return
    if answer.event.by is not None:
        rows = [[str(key), shown(value)] for key, value in answer.groups.items()]
        render.table([str(answer.event.by["column"]), asked(answer.event)], rows)
    else:
        lines = [(asked(answer.event), shown(answer.value))]
        bar = answer.interval
        if bar is not None and not isinstance(bar, tuple):
            lines.append(
                ("error bar", f"{shown(bar.low)} to {shown(bar.high)}, {100 * bar.level:g} times in 100")
            )
        render.block(lines)
    render.note(f"  release {answer.ledger_id}, token {answer.token}")
    render.note(f"  next: sordino explain {answer.ledger_id} --ledger {book.name}")


def _hints(options: dict[str, Any]) -> dict[str, Any]:
    """Read the hints by the types of their fields."""
    from sordino.mechanisms.choose import Hints

    found = {}
    for field in dataclasses.fields(Hints):
        value = options.get(field.name) if field.name != "interval" else None
        if value is not None:
            found[field.name] = (
                value if isinstance(value, bool) else _read_one(str(field.type), field.name, value)
            )
    return found


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


def _condition(text: str) -> Any:
    """Read a condition: ``age>=18``, ``region==north``, ``region in north|south``."""
    from sordino.source import Condition

    if " in " in text:
        column, _, values = text.partition(" in ")
        return Condition(column.strip(), "in", tuple(_literal(value) for value in values.split("|")))
    for op in ("==", "!=", ">=", "<=", ">", "<"):
        column, found, value = text.partition(op)
        if found:
            return Condition(column.strip(), op, _literal(value))
    raise ParameterError(
        "release", "a condition compares a column with a value", got={"where": text}, hint="--where 'age>=18'"
    )


def _literal(text: str) -> Any:
    text = text.strip()
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text.strip("'\"")


def _unit(options: dict[str, Any], book: Ledger) -> Any:
    from sordino.privacy import Unit

    if options["unit"] is None and options["max_rows"] is None:
        return None
    kept = book.unit
    return Unit(options["unit"] or kept.column, max_rows=options["max_rows"] or kept.max_rows)
