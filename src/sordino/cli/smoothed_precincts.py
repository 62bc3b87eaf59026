"""Which precincts of a table are too small to publish, and what to do about it.

First how the file was read, then the verdict, at once; the advice on request. A table that gives votes away gets lines
to paste: the merged table to ask about again, and the noisy tally to release instead.
"""

from __future__ import annotations

import csv
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sordino.cli import render
from sordino.cli.options import plot_option
from sordino.smoothed.asked import amount

if TYPE_CHECKING:
    from sordino.smoothed.precincts import PrecinctReport

VOTE, PLACE = "vote", "precinct"
_SHOWN_KEYS = 40
_PLANNED = 20_000


@click.command()
@click.argument("path", type=click.Path(dir_okay=False), metavar="CSV")
@click.option("--unit", multiple=True, help="A column that names the precincts; repeat for several.")
@click.option(
    "--category",
    "categories",
    multiple=True,
    help="Keep this category and leave out the others; repeat for several.",
)
@click.option("--other", multiple=True, help="Merge these categories into one called other.")
@click.option("--office", help="Which contest, in a file with several.")
@click.option("--district", help="Which district of it, in a file with several.")
@click.option(
    "--suppressed",
    type=click.Choice(["unknown", "zero"]),
    help="How to read empty or hidden counts: the worst of what they may be, or 0. Refused if not given.",
)
@click.option("--hidden-at-most", type=int, help="The largest count that a hidden one can be.")
@click.option("--without", multiple=True, help="Leave out rows of this name, such as totals.")
@click.option("--pool", multiple=True, metavar='"A + B"', help="Add these precincts up into one.")
@click.option("--sum-over", multiple=True, help="Add up over an identifying column, such as mode.")
@click.option("--candidate-column", help="Long form: the column of the candidates.")
@click.option("--votes-column", help="Long form: the column of the votes.")
@click.option("--separator", help="What stands between columns, if not a comma: ';' or tab.")
@click.option("--published", metavar="AMOUNT", help="Ballots counted: a number, or 99.8%.")
@click.option("--held-back", metavar="AMOUNT", help="Ballots lost or held back: 300, or 0.2%.")
@click.option(
    "--epsilon",
    type=float,
    required=True,
    help="The factor e^EPSILON beyond which an odds ratio counts as a leak.",
)
@click.option("--delta", type=float, help="Largest acceptable delta; one over all ballots if not given.")
@click.option("--advice", is_flag=True, help="Also say what to merge, to pool or to hold back (seconds).")
@click.option(
    "--ballots", type=click.Path(dir_okay=False), help="Write one line per ballot, to release from."
)
@click.option("--all", "show_all", is_flag=True, help="List every precinct, not only the worst twenty.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
@plot_option
def precincts(
    path: str,
    published: str | None,
    held_back: str | None,
    epsilon: float,
    delta: float | None,
    advice: bool,
    ballots: str | None,
    show_all: bool,
    as_json: bool,
    plot: str | None,
    **reading: Any,
) -> None:
    """Which precincts are too small to publish?

    Reads a CSV with one row per precinct and a column per candidate, or with columns precinct, candidate, votes. Says
    first how it was read: which columns together name a precinct, and what was left out.

    sordino smoothed precincts county.csv --office President --held-back 0.2% --epsilon 1
    """
    from sordino.smoothed.files import read_precincts
    from sordino.smoothed.precincts import precincts as analyse

    read = read_precincts(path, **reading)
    if not as_json:
        render.block(read.lines())
        click.echo()
    report = analyse(
        read,
        epsilon=epsilon,
        delta=delta,
        published=amount(published, name="published"),
        held_back=amount(held_back, name="held_back"),
    )
    found = None
    if not as_json:
        rows = report.rows()
        shown = rows if show_all else rows[:20]
        more = f"... and {len(rows) - len(shown)} more; --all lists them" if len(shown) < len(rows) else ""
        render.table((PLACE, "ballots", "smallest category", "delta", ""), shown, note=more)
        render.block([pair for pair in report.lines() if pair[0] != "categories"])
        render.paragraph(report.reading)
    if advice and report.unsafe:
        with render.progress("looking for what to merge, to pool or to hold back") as advance:
            found = report.advice(progress=advance)
    if as_json:
        answer = report.to_dict()
        if report.unsafe:
            answer["way_forward"] = {
                **(found.to_dict() if found else {}),
                "noisy_tally": _noisy(report, path, epsilon),
            }
        render.as_json(answer)
    elif report.unsafe:
        _way_forward(report, found, path, epsilon)
    if ballots is not None:
        render.note(f"{_write_ballots(report, ballots):,} ballots written to {ballots}")
    if plot is not None:
        from sordino.plots import save
        from sordino.smoothed import figures

        render.note(f"picture written to {save(figures.precincts(report), plot)}")


def _way_forward(report: PrecinctReport, found: Any, path: str, epsilon: float) -> None:
    """Print what would help, and the lines to paste."""
    click.echo()
    pairs: list[tuple[str, str]] = []
    if not report.certain:
        pairs.append(
            (
                "what would help",
                "hidden counts decide here; find them out, or publish without these precincts",
            )
        )
    elif found is None:
        pairs.append(("what would help", "ask again with --advice: what to merge, to pool or to hold back"))
    else:
        pairs.extend(found.lines())
    noisy = _noisy(report, path, epsilon)
    pairs.append(("or add noise", noisy["expected"]))
    render.block(pairs, title="Way forward")
    if found is not None and found.options():
        click.echo("  to ask about the merged table:")
        click.echo(f"    {_same_line()} {found.options()}")
    if report.certain:
        click.echo(
            "  to release the noisy tally, whose promise holds for every table and not only for this one:"
        )
        for line in noisy["lines"]:
            click.echo(f"    {line}")


def _noisy(report: PrecinctReport, path: str, epsilon: float) -> dict[str, Any]:
    """Plan the tally by precinct with noise: its error in words, and the lines that release it."""
    from sordino import Categories, Pure, plan

    price = epsilon if epsilon > 0.0 else 1.0
    rows = min(report.records, _PLANNED)  # the error of a count does not depend on how many there are
    planned = plan(Categories(VOTE, keys=report.categories), Pure(price), rows=rows)
    best = planned.default
    stem = Path(path).stem
    keys = ",".join(_quoted(name) for name in report.categories)
    names = [precinct.name for precinct in report.precincts]
    listed = ",".join(_quoted(name) for name in names)
    if len(names) > _SHOWN_KEYS:
        listed = f"$(tail -n +2 {stem}_ballots.csv | cut -d, -f1 | sort -u | paste -sd,)"
        by_keys = f'"{listed}"'
    else:
        by_keys = shlex.quote(listed)
    lines = [
        f"{_same_line()} --ballots {stem}_ballots.csv",
        f'sordino ledger create {stem}.ledger --epsilon {price:g} --reason "noisy tally by precinct"',
        (
            f"sordino release categories {VOTE} --keys {shlex.quote(keys)} --by {PLACE} --by-keys {by_keys} "
            f"--epsilon {price:g} --data {stem}_ballots.csv --ledger {stem}.ledger"
        ),
    ]
    expected = (
        f"categories by precinct at epsilon {price:g}: half of the counts within {best.median:.0f} of the truth, nine "
        f"in ten within {best.most:.0f} (root mean square {best.rms:.1f}), in every precinct, delta 0"
    )
    return {
        "epsilon": price,
        "median_error": round(best.median, 3),
        "error_of_nine_in_ten": round(best.most, 3),
        "rms_error": round(best.rms, 3),
        "expected": expected,
        "lines": lines,
    }


def _same_line() -> str:
    """Write the command that was given, without what only shows or writes something."""
    context = click.get_current_context()
    parts = ["sordino smoothed precincts", shlex.quote(context.params["path"])]
    for option in context.command.params:
        value = context.params.get(str(option.name))
        if option.name in ("path", "advice", "ballots", "show_all", "as_json", "plot") or value in (None, ()):
            continue
        values = value if isinstance(value, tuple) else (value,)
        parts.extend(
            f"{option.opts[0]} {shlex.quote(f'{one:g}' if isinstance(one, float) else str(one))}"
            for one in values
        )
    return " ".join(parts)


def _quoted(name: str) -> str:
    """Write one key of a list of keys; a comma inside must not split it."""
    return name.replace(",", " ")


def _write_ballots(report: PrecinctReport, path: str) -> int:
    """Write one line per ballot, in a fixed order: it is the private table itself, for whoever holds it."""
    written = 0
    with Path(path).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([PLACE, VOTE])
        for precinct, row in zip(report.precincts, report.counts, strict=True):
            for category, votes in zip(report.categories, row, strict=True):
                writer.writerows([[_quoted(precinct.name), _quoted(category)]] * votes)
                written += votes
    return written
