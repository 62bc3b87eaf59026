"""Plan a release: the error to expect of every mechanism at a price, on public or generated data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sordino.cli import render
from sordino.cli.groups import by_options, split
from sordino.cli.options import (
    Statistics,
    hint_options,
    hints_of,
    interval_of,
    interval_options,
    json_option,
    plot_option,
)
from sordino.errors import ParameterError
from sordino.fields import guarantee

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.statistics import Statistic

NEIGHBORS = ("replace-one", "add-remove-one", "edge", "node")
BEST_TRIM = click.option("--best-trim", is_flag=True, help="Ask back: which trim has the smallest error?")
WIDEST = click.option(
    "--widest-bounds",
    metavar="TIMES",
    help="Ask back: how wide may the bounds be until the error grows so many times?",
)


class Plans(Statistics):
    """One command per statistic; columns need no name, because no data are read."""

    named = False

    def shared(self, taken: set[str]) -> list[Callable[..., Any]]:
        """The options of every plan."""
        return [
            click.option(
                "--assume",
                metavar="SHAPE",
                help="normal, log-normal, uniform, heavy-tail, bimodal, ages or heaped-pay; correlated for several "
                "columns; zipf or weights for categories; random-graph, scale-free or communities for graphs. With "
                "parameters as in log-normal:median=40000,sigma=0.8; by default one that suits the statistic.",
            ),
            click.option(
                "--neighbors",
                type=click.Choice(NEIGHBORS),
                help="Neighbours: one person's data replaced, or added and removed.",
            ),
            *interval_options("Plan with error bars that cover with this probability, e.g. 0.95."),
            *by_options("Plan an answer for every group of a column, or of several."),
            click.option(
                "--groups", type=int, metavar="K", help="How many groups, instead of --by and --by-keys."
            ),
            *hint_options(taken),
            click.option("--tables", type=int, help="Generated columns to average over."),
            click.option("--draws", type=int, help="Simulated answers where no exact law is known."),
            click.option("--seed", type=int, default=0, help="Another seed generates other columns."),
            click.option(
                "--error", metavar="X", help="Ask back: which price, and how many rows, give this rms error?"
            ),
            *([BEST_TRIM] if "trim" in taken else []),
            *([WIDEST] if {"low", "high"} <= taken else []),
            click.option(
                "--add-remove-cost",
                is_flag=True,
                help="Ask back: what does add/remove cost over replace-one?",
            ),
            plot_option,
            json_option,
        ]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The statistics, and a whole budget."""
        return sorted([*super().list_commands(ctx), "budget"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One statistic, or a whole budget."""
        if cmd_name == "budget":
            from sordino.cli.plan_budget import budget

            return budget
        return super().get_command(ctx, cmd_name)

    def run(self, statistic: Statistic, options: dict[str, Any]) -> None:
        """Plan."""
        _plan(statistic, options)


@click.group(
    name="plan",
    cls=Plans,
    subcommand_metavar="STATISTIC [OPTIONS]",
    epilog="Example: sordino plan median --low 0 --high 500000 --epsilon 0.5 --rows 20000 --plot plan.svg",
)
def command() -> None:
    """Say what error to expect of STATISTIC at a price. No private data are read: there is no option for them."""


def _plan(statistic: Statistic, options: dict[str, Any]) -> None:
    """Work out, print, draw."""
    from sordino.planner import plan
    from sordino.privacy import Neighbors

    price = guarantee(options)
    hints = hints_of(options)
    interval = interval_of(options)
    if interval is not None:
        hints["interval"] = interval
    asked: dict[str, Any] = {
        "rows": hints.pop("rows", None),
        "assume": options["assume"],
        "seed": options["seed"],
    }
    if (groups := _groups(options)) is not None:
        asked["groups"] = groups
    if options["neighbors"]:
        asked["neighbors"] = Neighbors(options["neighbors"])
    counts = {name: options[name] for name in ("tables", "draws") if options[name] is not None}
    if options.get("best_trim") or options.get("widest_bounds") or options["add_remove_cost"]:
        _sweep(statistic, price, options, {**asked, **counts, **hints})
        return
    with render.progress("planning", 100) as advance:
        found = plan(statistic, price, progress=render.percent(advance), **asked, **counts, **hints)
    back = _back(statistic, found.price, options["error"], asked, hints) if options["error"] else {}
    if options["as_json"]:
        render.as_json({**found.to_dict(), **back})
    else:
        click.echo("\n".join("  " + line for line in found.text(render.width() - 2).splitlines()))
        for name, value in back.items():
            click.echo(f"  {name.replace('_', ' ')} for an rms error of {options['error']}: {value}")
    if options["plot"]:
        from sordino import plots

        with render.progress("drawing", None):
            figure = found.plot()
        render.note(f"wrote {plots.save(figure, options['plot'])}")


def _groups(options: dict[str, Any]) -> int | None:
    """How many groups are planned."""
    by = split(options)
    if by is not None and by.discover is not None and options["groups"] is None:
        raise ParameterError(
            "plan",
            "how many keys there are must be guessed",
            got={"--by": by.name},
            hint="--groups 50 instead",
        )
    if by is not None and by.discover is None:
        return len(by)
    groups: int | None = options["groups"]
    return groups


def _sweep(statistic: Statistic, price: Any, options: dict[str, Any], given: dict[str, Any]) -> None:
    """Answer one of the questions back with a table of its own."""
    from sordino.fields import number
    from sordino.planner import add_remove_cost, best_trim, widest_bounds

    if given["rows"] is None:
        raise ParameterError("plan", "rows must be given", hint="--rows 20000")
    with render.progress("planning", None):
        if options.get("best_trim"):
            found = best_trim(statistic, price, **given)
        elif options.get("widest_bounds"):
            found = widest_bounds(
                statistic, price, factor=number("widest-bounds", options["widest_bounds"]), **given
            )
        else:
            given.pop("neighbors", None)
            found = add_remove_cost(statistic, price, **given)
    render.report(found, structured=options["as_json"], plot=options["plot"])


def _back(
    statistic: Statistic, price: Any, error: str, asked: dict[str, Any], hints: dict[str, Any]
) -> dict[str, Any]:
    """The inverse questions for one error."""
    from sordino.fields import number
    from sordino.planner import needed_price, needed_rows

    wanted = number("error", error)
    rest = {name: value for name, value in asked.items() if name != "rows"}
    enough = needed_price(statistic, error=wanted, like=price, **asked, **hints)
    rows = needed_rows(statistic, price, error=wanted, **rest, **hints)
    return {"needed_price": repr(enough), "needed_rows": rows}
