"""Options that several verbs share: prices, statistics from their fields, hints, JSON, plots.

No option list is written twice: the options of a statistic are the fields of its class.
"""

from __future__ import annotations

import dataclasses
import shlex
import sys
from abc import abstractmethod
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sordino.docstrings import described as descriptions
from sordino.docstrings import sentence
from sordino.errors import ParameterError
from sordino.fields import (
    EXAMPLES,
    asked,
    described,
    guarantee,
    nested,
    positional,
    read,
    read_one,
    required,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.coverage import Coverage
    from sordino.privacy import Guarantee
    from sordino.statistics import Statistic

UNTYPED = ("interval", "measure")
"""Hints that are not options of their own here: the one has its own, the other is an object."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")


def drawable(ctx: click.Context, param: click.Parameter, path: str | None) -> str | None:  # noqa: ARG001
    """Refuse a file that cannot be drawn into, and a missing matplotlib, before the verb begins its work."""
    if path is not None:
        from sordino import plots

        plots.check(path)
    return path


def picture_option(words: str) -> Callable[..., Any]:
    """An option that names the file for a picture."""
    return click.option("--plot", metavar="FILE", callback=drawable, help=f"{words} (.svg, .png or .pdf).")


plot_option = picture_option("Draw a picture into FILE")


def interval_options(words: str) -> list[Callable[..., Any]]:
    """The options that together say what error bars cover."""
    return [
        click.option("--interval", type=float, metavar="P", help=words),
        click.option(
            "--interval-for",
            type=click.Choice(["sample", "population"]),
            default="sample",
            show_default=True,
            help="What error bars cover: the rows at hand, or the population they were drawn from.",
        ),
        click.option(
            "--simultaneous", is_flag=True, help="All error bars cover at once, not each by itself."
        ),
        click.option(
            "--inclusion",
            type=float,
            metavar="P",
            help="For counts of a population: each member is in the data with this probability.",
        ),
    ]


def interval_of(options: dict[str, Any]) -> Coverage | None:
    """What error bars are to cover, as the options say; None without any."""
    from sordino.coverage import Population, Sample

    level = options["interval"]
    if level is None:
        return None
    if options["interval_for"] == "population":
        return Population(level, simultaneous=options["simultaneous"], inclusion=options["inclusion"])
    return Sample(level, simultaneous=options["simultaneous"])


def price_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that together name a guarantee."""
    for option in (
        click.option(
            "--per",
            type=str,
            metavar="D",
            help="With --epsilon: geo-privacy, epsilon for points a distance D apart.",
        ),
        click.option(
            "--omega",
            type=str,
            metavar="W",
            help="With --rho: truncated concentrated privacy (tCDP), orders up to W.",
        ),
        click.option(
            "--rho", type=str, metavar="R", help="Instead of --epsilon: concentrated privacy (zCDP)."
        ),
        click.option(
            "--delta",
            type=str,
            metavar="D",
            help="With --epsilon or --rho: the promise may fail with probability D.",
        ),
        click.option(
            "--epsilon",
            type=str,
            metavar="E",
            help="Pure differential privacy: no answer becomes more than e^E times likelier or less likely.",
        ),
    ):
        command = option(command)
    return command


class Statistics(click.Group):
    """One command per statistic, its options made from the fields of its class."""

    named = True  # whether columns must be named
    example: tuple[str, ...] = ("--epsilon 0.5",)  # the verb's own part of an example

    @abstractmethod
    def shared(self, taken: set[str]) -> list[Callable[..., Any]]:
        """The verb's own options; those in ``taken`` belong to the statistic."""

    @abstractmethod
    def run(self, statistic: Statistic, options: dict[str, Any]) -> None:
        """What the verb does."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Name the statistics that can be written on a command line."""
        from sordino.catalogue import statistics

        return [name for name, kind in statistics().items() if not nested(kind)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Build the command of one statistic."""
        from sordino.catalogue import statistic

        return self._command(statistic(cmd_name))

    def read(self, text: str) -> tuple[Statistic, Guarantee | None]:
        """Read ``mean income --low 0 --high 500000``: a statistic, and its own price when one is named."""
        from sordino.catalogue import statistic

        words = _words(text)
        found: list[tuple[Statistic, Guarantee | None]] = []

        def run(asked: Statistic, options: dict[str, Any]) -> None:
            priced = any(value is not None for value in options.values())
            found.append((asked, guarantee(options) if priced else None))

        self._command(statistic(words[0]), run, []).main(words[1:], words[0], standalone_mode=False)
        return found[0]

    def _command(
        self,
        kind: type[Statistic],
        then: Callable[[Statistic, dict[str, Any]], None] | None = None,
        shared: list[Callable[..., Any]] | None = None,
    ) -> click.Command:
        """A command whose arguments and options are the fields of a statistic, then those of the verb."""
        fields = asked(kind)
        arguments = [field for field in fields if positional(field)]

        def run(**options: Any) -> None:
            if any("argument" in field.metadata for field in fields):
                sys.path.insert(0, str(Path.cwd()))  # my_module.py lies beside the data
            given = {field.name: read(field, options.pop(field.name)) for field in fields}
            statistic = kind(**{name: value for name, value in given.items() if value is not None})
            (then or self.run)(statistic, options)

        decorated: Callable[..., Any] = run
        names = {field.name for field in fields}
        for option in reversed(self.shared(names) if shared is None else shared):
            decorated = option(decorated)
        decorated = price_options(decorated)
        for field in reversed(fields):
            if field not in arguments:
                # A yes or no can be said by the option alone.
                alone: dict[str, Any] = (
                    {"is_flag": False, "flag_value": "yes"} if field.type == "bool" else {}
                )
                decorated = click.option(
                    f"--{field.name.replace('_', '-')}", field.name, required=required(field), metavar=_metavar(field),
                    help=described(field, kind), **alone,
                )(decorated)  # fmt: skip
        for field in reversed(arguments):
            named: dict[str, Any] = (
                {}
                if self.named
                else {"required": False, "default": "x" if field.name == "column" else field.name}
            )
            decorated = click.argument(field.name, **named)(decorated)
        text = (kind.__doc__ or kind.name).split("\n\n")[0].replace("``", "")
        helped = shared is None  # asking for help inside a text would end the program
        typed = [f"--{field.name.replace('_', '-')} {EXAMPLES.get(field.name, 'X')}" for field in fields
                 if field not in arguments and required(field)]  # fmt: skip
        columns = [EXAMPLES.get(field.name, field.name) for field in arguments]
        line = " ".join(["sordino", str(self.name), kind.name, *columns, *typed, *self.example])
        return click.command(
            name=kind.name, help=text, add_help_option=helped, epilog=f"Example: {line}"
        )(decorated)  # fmt: skip


def _words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if not words:
        raise ParameterError(
            "release", "--and names a statistic as the verb does", got={"--and": text},
            hint="--and 'mean income --low 0 --high 500000'",
        )  # fmt: skip
    return words


def _metavar(field: dataclasses.Field[Any]) -> str:
    if field.name in ("levels", "margins"):
        return "A,B;C,D;..."
    if field.type == "bool":
        return "[yes|no]"
    return "A,B,..." if str(field.type).startswith("tuple") else "TEXT" if "str" in str(field.type) else "X"


def hint_options(taken: set[str]) -> list[Callable[..., Any]]:
    """One option per public hint, from the fields of `Hints`."""
    from sordino.hints import Hints

    hints = []
    for field in fields(Hints):
        if field.name in UNTYPED or field.name in taken:
            continue
        flag = f"--{field.name}"
        about = f"Public hint. {sentence(descriptions(Hints)[field.name])}"
        if field.type == "bool":
            hints.append(click.option(flag, is_flag=True, default=None, help=about))
        else:
            hints.append(click.option(flag, metavar="X", help=about))
    return hints


def hints_of(options: dict[str, Any]) -> dict[str, Any]:
    """Read the hints by the types of their fields."""
    from sordino.hints import Hints

    found = {}
    for field in dataclasses.fields(Hints):
        value = None if field.name in UNTYPED else options.get(field.name)
        if value is not None:
            found[field.name] = (
                value if isinstance(value, bool) else read_one(str(field.type), field.name, value)
            )
    return found
