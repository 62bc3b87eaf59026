"""Options that several verbs share: prices, JSON, plots. No option list is written twice."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from sordino.errors import ParameterError
from sordino.privacy import Approx, Concentrated, Geo, Guarantee, Pure, TruncatedConcentrated

if TYPE_CHECKING:
    from collections.abc import Callable

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
plot_option = click.option("--plot", metavar="FILE", help="Draw a picture into FILE (.svg, .png or .pdf).")


def price_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that together name a guarantee."""
    for option in (
        click.option(
            "--per", type=str, metavar="D", help="With --epsilon: geo-privacy, epsilon per distance D."
        ),
        click.option("--omega", type=str, metavar="W", help="With --rho: truncated concentrated DP."),
        click.option("--rho", type=str, metavar="R", help="Concentrated DP."),
        click.option("--delta", type=str, metavar="D", help="With --epsilon: approximate DP."),
        click.option("--epsilon", type=str, metavar="E", help="Pure DP."),
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
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        try:
            return float(text)  # nan, inf: let the checks say what is wrong with them
        except ValueError:
            raise ParameterError("option", f"--{name} must be a number", got={name: text}) from None
