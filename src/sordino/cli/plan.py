"""Plan a release: the error to expect of every mechanism at a price, on public or generated data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sordino.cli import render
from sordino.cli.options import (
    Statistics,
    guarantee,
    hint_options,
    hints_of,
    json_option,
    plot_option,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.statistics import Statistic

NEIGHBORS = ("replace-one", "add-remove-one")


class Plans(Statistics):
    """One command per statistic; columns need no name, because no data are read."""

    named = False

    def shared(self, taken: set[str]) -> list[Callable[..., Any]]:
        """The options of every plan."""
        return [
            click.option(
                "--assume",
                metavar="SHAPE",
                help="normal, log-normal, uniform, heavy-tail, bimodal, ages or heaped-pay, with parameters as in "
                "log-normal:median=40000,sigma=0.8; by default one that suits the bounds.",
            ),
            click.option(
                "--neighbors", type=click.Choice(NEIGHBORS), help="Which datasets the promise compares."
            ),
            click.option("--interval", type=float, metavar="P", help="Plan with an error bar, e.g. 0.95."),
            *hint_options(taken),
            click.option("--tables", type=int, help="Generated columns to average over."),
            click.option("--draws", type=int, help="Simulated answers where no exact law is known."),
            click.option("--seed", type=int, default=0, help="Names the generated columns."),
            click.option(
                "--error", metavar="X", help="Ask back: which price, and how many rows, give this rms error?"
            ),
            plot_option,
            json_option,
        ]

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
    if options["interval"] is not None:
        hints["interval"] = options["interval"]
    asked: dict[str, Any] = {
        "rows": hints.pop("rows", None),
        "assume": options["assume"],
        "seed": options["seed"],
    }
    if options["neighbors"]:
        asked["neighbors"] = Neighbors(options["neighbors"])
    counts = {name: options[name] for name in ("tables", "draws") if options[name] is not None}
    with render.progress("planning", 100) as advance:
        found = plan(statistic, price, progress=_percent(advance), **asked, **counts, **hints)
    back = _back(statistic, found.price, options["error"], asked, hints) if options["error"] else {}
    if options["as_json"]:
        render.as_json({**found.to_dict(), **back})
    else:
        click.echo("\n".join("  " + line for line in str(found).splitlines()))
        for name, value in back.items():
            click.echo(f"  {name.replace('_', ' ')} for an rms error of {options['error']}: {value}")
    if options["plot"]:
        from sordino import plots

        with render.progress("drawing", None):
            figure = found.plot()
        render.note(f"wrote {plots.save(figure, options['plot'])}")


def _percent(advance: Callable[[int], None]) -> Callable[[int, int], None]:
    """Turn steps done of all into steps of a hundred."""
    shown = 0

    def progress(done: int, total: int) -> None:
        nonlocal shown
        now = 100 * done // total
        advance(now - shown)
        shown = now

    return progress


def _back(
    statistic: Statistic, price: Any, error: str, asked: dict[str, Any], hints: dict[str, Any]
) -> dict[str, Any]:
    """The inverse questions for one error."""
    from sordino.cli.options import number
    from sordino.planner import needed_price, needed_rows

    wanted = number("error", error)
    rest = {name: value for name, value in asked.items() if name != "rows"}
    enough = needed_price(statistic, error=wanted, like=price, **asked, **hints)
    rows = needed_rows(statistic, price, error=wanted, **rest, **hints)
    return {"needed_price": repr(enough), "needed_rows": rows}
