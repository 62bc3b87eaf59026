"""US presidential elections: the figures of Liu, Wang and Xia 2023, with what we found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sordino.cli import render
from sordino.cli.options import plot_option
from sordino.smoothed.asked import amount

if TYPE_CHECKING:
    from collections.abc import Callable


@click.command()
@click.option(
    "--figure",
    "number",
    type=click.Choice(["1", "2"]),
    default="1",
    help="The figure of the paper to draw: 1, elections since 1920; 2, growing electorates.",
)
@click.option("--lost", default="0.2%", help="Share of the votes lost.")
@click.option("--epsilon", type=float, help="The epsilon of Figure 1; ln(51/49) if not given.")
@click.option("--units", type=click.Path(dir_okay=False), help="Figure 2: a CSV with columns unit, dem, rep.")
@click.option(
    "--certify", is_flag=True, help="Figure 2: bracket the large electorates (minutes, not seconds)."
)
@click.option("--samples", type=int, default=12, help="Figure 2 right: databases drawn per point.")
@click.option("--largest", type=int, default=4096, help="Figure 2 right: largest number of records.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
@plot_option
def elections(
    number: str,
    lost: str,
    epsilon: float | None,
    units: str | None,
    certify: bool,
    samples: int,
    largest: int,
    as_json: bool,
    plot: str | None,
) -> None:
    """US presidential elections: Figures 1 and 2 of Liu, Wang and Xia 2023, with what we found.

    sordino smoothed elections --figure 2 --plot figure2.svg
    """
    from sordino.cli.paper import reproduction

    facts, findings = reproduction("elections"), reproduction("election_findings")
    figures = reproduction("election_figures")
    draw: Callable[[], Any]
    share = float(amount(lost, name="lost") or 0.0)
    if number == "1":
        price = facts.EPSILON if epsilon is None else epsilon
        points = facts.figure_one(lost=share, epsilon=price)
        found = findings.figure_one(points, lost=share, epsilon=price)
        draw = lambda: figures.elections(points, lost=share, epsilon=price)  # noqa: E731
    else:
        given = facts.read_units(units) if units else facts.UNITS_2020
        hull = {name: given[name] for name in facts.ends(given)}
        sizes = [n for n in facts.BATCHED_SIZES if n <= largest]
        with render.progress("computing both panels"):
            left = facts.figure_two_left(hull, lost=share, certify=certify)
            right = facts.figure_two_right(sizes=sizes, samples=samples)
        found = findings.figure_two(left, right, ends=tuple(hull), units=len(given), lost=share)
        draw = lambda: figures.figure_two(left, right, lost=share)  # noqa: E731
    if as_json:
        render.as_json(found.data)
    else:
        for title, header, rows in found.tables:
            render.table(header, rows, title=title)
        for text in found.paragraphs:
            render.paragraph(text)
    if plot is not None:
        from sordino.plots import save

        render.note(f"picture written to {save(draw(), plot)}")
