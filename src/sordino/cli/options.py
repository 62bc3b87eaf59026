"""Options that several verbs share: prices, statistics from their fields, hints, JSON, plots.

No option list is written twice: the options of a statistic are the fields of its class.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
import sys
from abc import abstractmethod
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sordino.docstrings import described, sentence
from sordino.errors import ParameterError
from sordino.privacy import Approx, Concentrated, Geo, Guarantee, Pure, TruncatedConcentrated

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.coverage import Coverage
    from sordino.statistics import Statistic

_EXAMPLES = {
    "column": "income", "low": "0", "high": "500000", "q": "0.5", "qs": "0.25,0.5,0.75", "trim": "0.05",
    "f": "my_module:gini", "columns": "income",
    "keys": "north,south", "edges": "0,18,65,120", "threshold": "50000", "vertices": "100",
}  # fmt: skip
"""What stands for a field in an example."""

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
            help="With --epsilon: approximate privacy, but for a probability D.",
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


def guarantee(options: dict[str, Any]) -> Guarantee:
    """Make the guarantee that the price options name, taking them out of ``options``.

    Example:
        >>> guarantee({"epsilon": "1", "delta": None, "rho": None, "omega": None, "per": None})
        Pure(epsilon=1)
    """
    given = {name: number(name, options.pop(name)) for name in ("epsilon", "delta", "rho", "omega", "per")}
    present = frozenset(name for name, value in given.items() if value is not None)
    kinds: dict[frozenset[str], type[Guarantee]] = {
        frozenset(field.name for field in fields(kind)): kind
        for kind in (Pure, Approx, Concentrated, TruncatedConcentrated, Geo)
    }
    if present not in kinds:
        raise ParameterError(
            "price",
            "name one guarantee",
            got={f"--{name}": value for name, value in given.items() if value is not None},
            why="There is no default price: how much to spend is yours to say.",
            hint="--epsilon 1 | --epsilon 1 --delta 1e-6 | --rho 0.5 | --rho 0.5 --omega 10 | --epsilon 1 --per 200",
        )
    return kinds[present](**{name: given[name] for name in present})


def number(name: str, text: str | None) -> Any:
    """Read a number as it was typed, exactly: ``0.1`` is one tenth, ``1/3`` a third."""
    from fractions import Fraction

    if text is None:
        return None
    if not re.search(r"(?i)e\s*[+-]?\s*0*[1-9][\d_]{3,}|\d{1000}", text):  # 1e999999999 would fill the memory
        try:
            return Fraction(text)
        except (ValueError, ZeroDivisionError):
            try:
                return float(text)  # nan, inf: let the checks say what is wrong with them
            except ValueError:
                pass
    raise ParameterError(
        "option", f"--{name.replace('_', '-')} must be a number", got={name: text},
        why="Numbers are written with a point, without units or separators, and are at most 1e300.",
        hint=f"--{name.replace('_', '-')} {_EXAMPLES.get(name, '0.5')}",
    )  # fmt: skip


def real(name: str, text: str) -> float:
    """Read a number that is used as a double."""
    from sordino import checks

    return float(checks.exact("option", **{name: number(name, text)}))


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

        return [name for name, kind in statistics().items() if not _nested(kind)]

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
        fields = [field for field in dataclasses.fields(kind) if field.init and _asked(kind, field)]  # type: ignore[arg-type]
        arguments = [field for field in fields if _positional(field)]

        def run(**options: Any) -> None:
            if any("argument" in field.metadata for field in fields):
                sys.path.insert(0, str(Path.cwd()))  # my_module.py lies beside the data
            given = {field.name: _read(field, options.pop(field.name)) for field in fields}
            statistic = kind(**{name: value for name, value in given.items() if value is not None})
            (then or self.run)(statistic, options)

        decorated: Callable[..., Any] = run
        names = {field.name for field in fields}
        for option in reversed(self.shared(names) if shared is None else shared):
            decorated = option(decorated)
        decorated = price_options(decorated)
        for field in reversed(fields):
            if field not in arguments:
                decorated = click.option(
                    f"--{field.name.replace('_', '-')}", field.name, required=_required(field), metavar=_metavar(field),
                    help=_help(field, kind),
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
        typed = [f"--{field.name.replace('_', '-')} {_EXAMPLES.get(field.name, 'X')}" for field in fields
                 if field not in arguments and _required(field)]  # fmt: skip
        columns = [_EXAMPLES.get(field.name, field.name) for field in arguments]
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


def _nested(kind: type[Statistic]) -> bool:
    return any("Numeric" in str(field.type) for field in dataclasses.fields(kind))  # type: ignore[arg-type]


def _asked(kind: type[Statistic], field: dataclasses.Field[Any]) -> bool:
    """Whether a field is the user's to set: not the relation, and not what the name of the statistic fixes."""
    fixed = field.name == "q" and not _required(field)
    return field.name != "neighbors" and not fixed and kind.name != "" and "hidden" not in field.metadata


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _positional(field: dataclasses.Field[Any]) -> bool:
    return (str(field.type) == "str" or "argument" in field.metadata) and _required(field)


def _metavar(field: dataclasses.Field[Any]) -> str:
    return "A,B,..." if str(field.type).startswith("tuple") else "TEXT" if "str" in str(field.type) else "X"


def _help(field: dataclasses.Field[Any], kind: type) -> str:
    """What a field is, in the first sentence of its description; the docstrings are where it is written."""
    text = sentence(described(kind).get(field.name, field.name.replace("_", " ").capitalize()))
    return text if _required(field) or field.default in (None, ()) else f"{text} [default: {field.default}]"


def _read(field: dataclasses.Field[Any], text: str | None) -> Any:
    """Read an option by the type of its field."""
    if text is None:
        return None
    kind = str(field.type)
    if kind.startswith("tuple[tuple"):
        return tuple(
            tuple(_read_one("int", field.name, end) for end in pair.split("-")) for pair in text.split(",")
        )
    if kind.startswith("tuple"):
        return tuple(_read_one(kind, field.name, item.strip()) for item in text.split(","))
    return _read_one(kind, field.name, text)


def _read_one(kind: str, name: str, text: str) -> Any:
    if kind == "bool":
        return text.lower() in ("true", "yes", "1")
    if "Fraction" in kind:
        return number(name, text)
    if "float" in kind:
        if "str" in kind and text == "drop":
            return text
        return real(name, text)
    if "int" in kind:
        try:
            return int(text)
        except ValueError:
            if "str" not in kind:
                raise ParameterError(
                    "option", f"--{name} must be a whole number", got={name: text}, hint=f"--{name} 1000"
                ) from None
    return text


def hint_options(taken: set[str]) -> list[Callable[..., Any]]:
    """One option per public hint, from the fields of `Hints`."""
    from sordino.hints import Hints

    hints = []
    for field in fields(Hints):
        if field.name in UNTYPED or field.name in taken:
            continue
        flag = f"--{field.name}"
        about = f"Public hint. {sentence(described(Hints)[field.name])}"
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
                value if isinstance(value, bool) else _read_one(str(field.type), field.name, value)
            )
    return found


def split(column: str | None, keys: str | None) -> tuple[str, list[Any]] | None:
    """Read the column and the public keys of groups."""
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
