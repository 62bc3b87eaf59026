"""Plan a whole budget: `sordino plan budget` proposes how to share it among several statistics. No data are read."""

from __future__ import annotations

import dataclasses
import shlex
from typing import TYPE_CHECKING, Any

import click

from sordino.cli import render
from sordino.cli.options import Statistics, hint_options, hints_of, json_option, plot_option, price_options
from sordino.errors import ParameterError
from sordino.fields import guarantee, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.statistics import Statistic

NEIGHBORS = ("replace-one", "add-remove-one", "edge", "node")


class Asked(Statistics):
    """Reads one ``--ask``: a statistic as `sordino plan` takes it, with the error that is wanted of it."""

    named = False

    def shared(self, taken: set[str]) -> list[Callable[..., Any]]:
        """What may stand beside the options of the statistic."""
        return [
            click.option("--error", metavar="X", help="The rms error that is wanted of it."),
            click.option("--assume", metavar="SHAPE", help="What its data may look like."),
            *hint_options(taken),
        ]

    def run(self, statistic: Statistic, options: dict[str, Any]) -> None:
        """Nothing is run: statistics are only read."""

    def take(self, text: str) -> tuple[Statistic, dict[str, Any]]:
        """Read one statistic as it is typed, and what stands beside it."""
        from sordino.catalogue import statistic

        words = shlex.split(text)
        if not words:
            raise ParameterError(
                "plan budget", "--ask names a statistic", hint="--ask 'median income --low 0 --high 500000'"
            )
        found: list[tuple[Statistic, dict[str, Any]]] = []
        kind = statistic(words[0])
        own = self.shared({field.name for field in dataclasses.fields(kind)})  # type: ignore[arg-type]
        command = self._command(kind, lambda asked, options: found.append((asked, options)), own)
        try:
            command.main(words[1:], words[0], standalone_mode=False)
        except click.ClickException as problem:
            raise ParameterError(
                "plan budget", f"--ask {text!r} cannot be read", why=problem.format_message(),
                hint=f"sordino plan {words[0]} --help",
            ) from None  # fmt: skip
        asked, options = found[0]
        if any(options.pop(name) is not None for name in ("epsilon", "delta", "rho", "omega", "per")):
            raise ParameterError(
                "plan budget", "a price stands beside --ask, not in it", got={"ask": text},
                why="The plan proposes the price of each statistic.", hint="--epsilon 3 for all together",
            )  # fmt: skip
        return asked, options


@click.command(
    name="budget",
    epilog="Example: sordino plan budget --epsilon 3 --rows 20000 --ask 'median income --low 0 --high 500000' "
    "--ask 'count income --error 20'",
)
@click.option(
    "--ask", "asks", multiple=True, required=True, metavar="'STATISTIC ...'",
    help="A statistic with its options, as for sordino plan; --error X in it is the error that is wanted.",
)  # fmt: skip
@price_options
@click.option("--rows", type=int, help="How many rows the data have, roughly.")
@click.option(
    "--neighbors",
    type=click.Choice(NEIGHBORS),
    help="Neighbours: one person's data replaced, or added and removed.",
)
@click.option("--tables", type=int, help="Generated tables to average over.")
@click.option("--draws", type=int, help="Simulated answers where no exact law is known.")
@click.option("--seed", type=int, default=0, help="Another seed generates other tables.")
@plot_option
@json_option
def budget(asks: tuple[str, ...], **options: Any) -> None:
    """Propose how to share one budget among several statistics, with the error of each. No private data are read."""
    from sordino.planner import plan_budget
    from sordino.privacy import Neighbors

    reader = Asked("ask")
    taken = [reader.take(text) for text in asks]
    budget = guarantee(options)
    wanted = [number("error", given["error"]) for _, given in taken]
    with render.progress("planning", 100) as advance:
        found = plan_budget(
            [statistic for statistic, _ in taken], budget, rows=options["rows"], errors=wanted,
            assume=[given["assume"] for _, given in taken],
            hints=[hints_of(given) for _, given in taken],
            neighbors=Neighbors(options["neighbors"]) if options["neighbors"] else None,
            tables=options["tables"], draws=options["draws"], seed=options["seed"],
            progress=render.percent(advance),
        )  # fmt: skip
    render.report(found, structured=options["as_json"], plot=options["plot"])
