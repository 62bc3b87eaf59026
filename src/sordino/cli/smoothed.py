"""What publishing a sample or a tally leaks, without noise: profiles, holdback, tables, precincts, elections.

Every answer prints the worst case (ordinary differential privacy) beside the smoothed figure. Tallies come as
category=count pairs or from a CSV; nothing is released and no budget is spent.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from sordino.cli import render
from sordino.cli.options import plot_option
from sordino.cli.smoothed_elections import elections
from sordino.cli.smoothed_precincts import precincts
from sordino.smoothed.asked import described, only_tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.smoothed.electorate import Electorate
    from sordino.smoothed.tally import Tally


@click.group()
def command() -> None:
    """What does publishing a sample or a tally leak, when no noise is added?

    A random part of the records is published; the rest was lost or held back. Say what there is in one of four ways:
    counts (yes=5200 no=4800), --csv FILE, --column NAME of a CSV with one row per record, or --size with --share for
    electorates that are only foreseen.
    """


def source_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say what there is and how much of it is published."""
    for option in (
        plot_option,
        click.option("--json", "as_json", is_flag=True, help="Print JSON for machines."),
        click.option("--replacement", is_flag=True, help="The sample is drawn with replacement."),
        click.option("--held-back", metavar="AMOUNT", help="Records lost or held back: 300000, or 0.2%."),
        click.option(
            "--published", "--sample", "published", metavar="AMOUNT", help="Records published: 500, or 99.8%."
        ),
        click.option(
            "--share",
            "shares",
            multiple=True,
            metavar="P[,P...]",
            help="An electorate: chance of the first of two types, or of every type. Repeat for a set.",
        ),
        click.option(
            "--least", metavar="SHARE", help="With --candidates: what each of them gets at least, e.g. 5%."
        ),
        click.option("--candidates", type=int, help="Electorates with so many candidates (with --least)."),
        click.option(
            "--size", "--voters", "size", type=int, help="How many records there will be (with --share)."
        ),
        click.option("--column", help="Count the values of this column of --csv, one row per record."),
        click.option("--csv", "path", type=click.Path(dir_okay=False), help="A CSV with the counts."),
        click.argument("parts", nargs=-1, metavar="[CATEGORY=COUNT]..."),
    ):
        function = option(function)
    return function


epsilon_option = click.option(
    "--epsilon",
    type=float,
    required=True,
    help="The factor e^EPSILON beyond which an odds ratio counts as a leak.",
)
delta_option = click.option(
    "--delta", type=float, help="Largest acceptable delta; one over the records if not given."
)


def _finish(figure: Any, plot: str | None) -> None:
    """Save a picture and say where."""
    if plot is not None:
        from sordino.plots import save

        render.note(f"picture written to {save(figure(), plot)}")


def _say(pairs: list[tuple[str, str]], reading: str, warnings: tuple[str, ...] = ()) -> None:
    """Print figures, then how to read them, then warnings."""
    render.block(pairs)
    render.paragraph(reading)
    for warning in warnings:
        render.paragraph(f"Warning: {warning}.")


@command.command()
@source_options
@click.option("--epsilon", "epsilons", type=float, multiple=True, help="One or more; a curve if not given.")
@click.option("--delta", type=float, help="Also give the smallest epsilon for this delta (1/n if not given).")
def profile(
    epsilons: tuple[float, ...], delta: float | None, as_json: bool, plot: str | None, **what: Any
) -> None:
    """Delta as a function of epsilon, for one tally or a set of electorates.

    sordino smoothed profile Biden=81283501 Trump=74223975 --held-back 0.2% --epsilon 0.04
    """
    source = described(**what)
    smallest = source.epsilon_for(delta=delta)
    listed = list(epsilons) or _spread(smallest)
    leaks = source.profile(listed)
    target = delta if delta is not None else 1.0 / source.records
    if as_json:
        render.as_json(
            {
                "profile": [leak.to_dict() for leak in leaks],
                "epsilon_for": {"delta": target, "epsilon": smallest},
            }
        )
    else:
        from sordino.smoothed.leak import power

        if len(leaks) > 1:
            rows = [(leak.epsilon, leak.text, power(leak.log_worst)) for leak in leaks]
            render.table(
                ("epsilon", f"delta, {leaks[0].about}", "worst case"), rows, title=repr(source).strip("<>")
            )
        words = (
            f"delta is at most {target:.3g} from epsilon {smallest:.4g} on"
            if math.isfinite(smallest)
            else f"no epsilon gives delta at most {target:.3g}"
        )
        last = min(leaks, key=lambda leak: abs(leak.epsilon - smallest)) if len(leaks) > 1 else leaks[0]
        _say([*last.lines(), ("which epsilon", words)], last.reading, last.warnings)
    _finish(lambda: _profile_figure(source, listed, smallest), plot)


def _spread(smallest: float) -> list[float]:
    """Choose epsilons around the one that is just enough."""
    centre = smallest if math.isfinite(smallest) and smallest > 0 else 1.0
    return [round(centre * factor, 6) for factor in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)]


def _profile_figure(source: Tally | Electorate, listed: list[float], smallest: float) -> Any:
    """Draw the curve from 0 to beyond what was asked."""
    from sordino.smoothed import figures

    end = max([*listed, min(2.0 * smallest, 20.0) if math.isfinite(smallest) else 1.0])
    drawn = getattr(source, "types", 2) > 2 and source.records > 200  # Monte Carlo takes seconds a point
    count = 6 if drawn else 40
    points = [end * i / count for i in range(count + 1)]
    name = "this tally" if hasattr(source, "counts") else "electorates like these"
    return figures.profile({name: source.profile(points)})


@command.command()
@source_options
@epsilon_option
def sampling(epsilon: float, as_json: bool, plot: str | None, **what: Any) -> None:
    """What a published sample leaks: one figure, in words.

    sordino smoothed sampling --size 10000 --share 0.5,0.3,0.2 --published 500 --epsilon 1
    """
    source = described(**what)
    leak = source.delta(epsilon=epsilon)
    if as_json:
        render.as_json(leak.to_dict())
    else:
        _say(leak.lines(), leak.reading, leak.warnings)
    _finish(lambda: _profile_figure(source, [epsilon], epsilon), plot)


@command.command()
@source_options
@epsilon_option
@click.option("--delta", type=float, help="Largest acceptable delta; one over the records if not given.")
def holdback(epsilon: float, delta: float | None, as_json: bool, plot: str | None, **what: Any) -> None:
    """How many records must be held back for (epsilon, delta)?

    sordino smoothed holdback --size 100000 --share 0.055 --epsilon 1 --delta 1e-9
    """
    from dataclasses import replace

    from sordino.smoothed.holdback import holdback as least

    if what["published"] is None and what["held_back"] is None:
        what["published"] = "1"  # how much is published now plays no part
    source = described(**what)
    target = delta if delta is not None else 1.0 / source.records
    answer = least(source, epsilon=epsilon, delta=target)
    if as_json:
        render.as_json(answer.to_dict())
    else:
        _say(answer.lines(), answer.leak.reading)

    def figure() -> Any:
        from sordino.smoothed import figures

        n = source.records
        most = min(n - 1, max(20, 2 * (answer.held_back or n // 2)))
        numbers = sorted({round(most * i / 40) for i in range(41)})
        logs = [replace(source, published=n - held).delta(epsilon=epsilon).log_delta for held in numbers]
        name = f"{answer.leak.about}, epsilon {epsilon:g}"
        return figures.held_back(numbers, {name: logs}, records=n, delta=target, chosen=answer.held_back)

    _finish(figure, plot)


@command.command()
@source_options
@epsilon_option
@delta_option
def table(epsilon: float, delta: float | None, as_json: bool, plot: str | None, **what: Any) -> None:
    """Can this table include small categories?

    sordino smoothed table A=600000 B=399500 write-in=500 --held-back 0.2% --epsilon 1
    """
    from sordino.smoothed.table import table as ask

    source = only_tally(described(**what), "table")
    answer = ask(source, epsilon=epsilon, delta=delta)
    if as_json:
        render.as_json(answer.to_dict())
    else:
        render.table(("category", "records", "delta", ""), answer.rows())
        _say(answer.lines(), answer.leak.reading, answer.leak.warnings)
    _finish(lambda: _profile_figure(source, [epsilon], epsilon), plot)


@command.command()
@source_options
@epsilon_option
@click.option("--times", type=int, required=True, help="How many independent samples are published.")
@click.option(
    "--adaptive", is_flag=True, help="Later samples depend on earlier results (refused, with the reason)."
)
def repeat(epsilon: float, times: int, adaptive: bool, as_json: bool, plot: str | None, **what: Any) -> None:
    """What do repeated releases of the same records cost?

    sordino smoothed repeat yes=60000 no=40000 --held-back 2% --times 16 --epsilon 1
    """
    source = only_tally(described(**what), "repeat")
    with render.progress("adding up the losses"):
        leak = source.repeat(times, epsilon=epsilon, adaptive=adaptive)
    adding = min(0.0, source.log_delta(epsilon / times) + math.log(times))
    if as_json:
        render.as_json({**leak.to_dict(), "times": times, "by_adding_log_delta": adding})
    else:
        from sordino.smoothed.leak import power

        each = f"{times} releases at epsilon {epsilon / times:.3g} (Proposition 5)"
        added = f"delta = {power(adding)} by adding up {each}"
        fixed = (
            "only if",
            "all samples are fixed beforehand; a release that reacts to an earlier one is not covered",
        )
        _say([*leak.lines(), ("by adding", added), fixed], leak.reading, leak.warnings)
    _finish(lambda: _profile_figure(source, [epsilon], epsilon), plot)


@command.command()
@source_options
@epsilon_option
@click.option("--people", type=int, required=True, help="How many people are protected together.")
def group(epsilon: float, people: int, as_json: bool, plot: str | None, **what: Any) -> None:
    """What about a family or a group voting together?

    sordino smoothed group yes=60000 no=40000 --held-back 2% --people 5 --epsilon 1
    """
    source = only_tally(described(**what), "group")
    leak = source.group(people, epsilon=epsilon)
    if as_json:
        render.as_json({**leak.to_dict(), "people": people})
    else:
        one = source.delta(epsilon=epsilon)
        pairs = [*leak.lines(), ("one person", one.statement)]
        _say(pairs, leak.reading.replace("any one record", f"any {people} records"), leak.warnings)
    _finish(lambda: _profile_figure(source, [epsilon], epsilon), plot)


command.add_command(precincts)
command.add_command(elections)


@command.command()
@source_options
@click.option(
    "--false-alarm", "alarms", type=float, multiple=True, help="One or more chances; a range if not given."
)
def errors(alarms: tuple[float, ...], as_json: bool, plot: str | None, **what: Any) -> None:
    """What can a test about one record achieve? Misses against false alarms.

    sordino smoothed errors yes=5200 no=4800 --held-back 5% --false-alarm 0.05
    """
    from sordino.smoothed import trade_off

    curve = trade_off.error_rates(described(**what), false_alarms=alarms)
    if as_json:
        render.as_json(curve.to_dict())
    else:
        header = ("false alarms", "misses at least", "worst case\n(ordinary DP)", "guessing")
        render.table(header, curve.rows())
        render.paragraph(curve.reading)
        if not curve.certified:
            render.paragraph("Not certified: larger deltas than were found would lower the misses.")
    _finish(lambda: trade_off.plot(curve), plot)
