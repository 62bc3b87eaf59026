"""Pictures for the questions of this room, in the house style; every one draws the worst case as well.

Deltas are drawn by their decimal logarithm on a plain axis, because they leave the range of floats.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sordino.plots import COLOURS, lines, plain_ticks, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.smoothed.leak import Leak
    from sordino.smoothed.precincts import PrecinctReport

_LN10 = math.log(10.0)
_WORST = {"color": "#000000", "linestyle": (0, (4, 2)), "linewidth": 1.4}
_LIMIT = {"color": "#666666", "linestyle": (0, (1, 2)), "linewidth": 1.2}


def _powers(axis: Any) -> None:
    """Write a decimal logarithm as a power of ten."""

    def word(value: float, _: int) -> str:
        if abs(value) < 1e-9:
            return "1"
        return f"$10^{{{value:.10g}}}$"

    axis.set_major_formatter(word)
    axis.get_major_locator().set_params(integer=True)


def _floor(values: Sequence[float]) -> float:
    """Return a lower end for the axis: below the smallest finite value."""
    finite = [value for value in values if math.isfinite(value)]
    low = min(finite, default=-1.0)
    return low * 1.06 - 0.3


def profile(curves: dict[str, Sequence[Leak]], *, title: str = "") -> Any:
    """Draw delta against epsilon for one or more sources."""
    with style() as plt:
        figure, axes = plt.subplots(figsize=(8.6, 4.4))
        values: list[float] = []
        for (name, leaks), line in zip(curves.items(), lines(), strict=False):
            x = [leak.epsilon for leak in leaks]
            y = [leak.log_delta / _LN10 if math.isfinite(leak.log_delta) else math.nan for leak in leaks]
            values += [value for value in y if not math.isnan(value)]
            axes.plot(x, y, label=name, **line)
        some = next(iter(curves.values()))[0]
        axes.axhline(some.log_worst / _LN10, label="worst case (ordinary DP)", **_WORST)
        limit = -math.log10(some.records)
        axes.axhline(limit, label=f"1/n for {some.records:,} records", **_LIMIT)
        axes.set(
            xlabel="epsilon",
            ylabel="delta",
            title=title or "What the published tally leaks",
            ylim=(_floor([*values, limit]), _headroom([*values, limit])),
        )
        _powers(axes.yaxis)
        figure.legend(loc="outside right center")
        return figure


def _headroom(values: Sequence[float]) -> float:
    """Leave room above 1 so that the worst-case line does not lie on the frame."""
    return 0.04 * -_floor(values)


def held_back(
    numbers: Sequence[int],
    log_deltas: dict[str, Sequence[float]],
    *,
    records: int,
    delta: float,
    chosen: int | None,
    title: str = "",
) -> Any:
    """Draw delta against the number of records held back, the limit and the least number that keeps it."""
    with style() as plt:
        figure, axes = plt.subplots(figsize=(8.6, 4.4))
        values: list[float] = [math.log10(delta)]
        for (name, logs), line in zip(log_deltas.items(), lines(), strict=False):
            y = [value / _LN10 if math.isfinite(value) else math.nan for value in logs]
            values += [value for value in y if not math.isnan(value)]
            axes.plot(numbers, y, label=name, **line)
        worst = [math.log10((records - held) / records) for held in numbers]
        axes.plot(numbers, worst, label="worst case (ordinary DP)", **_WORST)
        axes.axhline(math.log10(delta), label=f"asked for: {delta:.3g}", **_LIMIT)
        if chosen is not None:
            axes.plot(
                [chosen],
                [math.log10(delta)],
                marker="o",
                linestyle="",
                color="#000000",
                label=f"hold back {chosen:,}",
            )
        axes.set(
            xlabel=f"records held back, of {records:,}",
            ylabel="delta",
            title=title or "Holding back more leaks less",
            ylim=(_floor(values), _headroom(values)),
            xlim=(min(numbers), max(numbers)),
        )
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        _powers(axes.yaxis)
        figure.legend(loc="outside right center")
        return figure


def precincts(report: PrecinctReport) -> Any:
    """Draw every precinct by its delta, the limit and the worst case: by name when they fit a page, else by size."""
    return _by_name(report) if len(report.precincts) <= 40 else _by_ballots(report)


_MARKS = ((False, "X", COLOURS[1], "too small to publish"), (True, "o", COLOURS[0], "may be published"))


def _height(log_delta: float) -> float:
    """Return log10 delta, cut where a precinct leaks nothing at all."""
    return max(log_delta / _LN10, -300.0)


def _title(report: PrecinctReport) -> str:
    """Say what is missing."""
    missing = report.records - report.published
    return f"{missing:,} of {report.records:,} ballots missing at random, epsilon {report.epsilon:g}"


def _by_name(report: PrecinctReport) -> Any:
    """Draw one line per precinct, the most exposed on top."""
    with style() as plt:
        listed = sorted(report.precincts, key=lambda p: (p.log_delta, -p.ballots))
        figure, axes = plt.subplots(figsize=(8.6, 1.9 + 0.24 * len(listed)))
        place = {id(precinct): row for row, precinct in enumerate(listed)}
        for safe, marker, colour, word in _MARKS:
            chosen = [p for p in listed if p.safe is safe]
            if chosen:
                x, y = [_height(p.log_delta) for p in chosen], [place[id(p)] for p in chosen]
                label = f"{word} ({len(chosen)})"
                axes.plot(x, y, marker, color=colour, markersize=7, label=label, clip_on=False, zorder=3)
        limit = math.log10(report.delta)
        axes.axvline(report.log_worst / _LN10, label="worst case (ordinary DP)", **_WORST)
        axes.axvline(limit, label=f"asked for: at most {report.delta:.2g}", **_LIMIT)
        values = [limit, *(_height(p.log_delta) for p in listed)]
        axes.set_yticks(range(len(listed)), [f"{p.name}  ({p.ballots:,} ballots)" for p in listed])
        axes.set(xlabel="delta (to the right: leaks more)", title=_title(report))
        axes.set(xlim=(_floor(values), _headroom(values)), ylim=(-0.7, len(listed) - 0.3))
        _powers(axes.xaxis)
        figure.legend(loc="outside lower center", ncols=2)
        return figure


def _by_ballots(report: PrecinctReport) -> Any:
    """Draw a point per precinct: ballots against delta."""
    with style() as plt:
        figure, axes = plt.subplots(figsize=(8.6, 4.8))
        for safe, marker, colour, word in _MARKS:
            chosen = [p for p in report.precincts if p.safe is safe and p.ballots > 0]
            if chosen:
                x, y = [p.ballots for p in chosen], [_height(p.log_delta) for p in chosen]
                label = f"{word} ({len(chosen)})"
                axes.plot(x, y, marker, color=colour, markersize=5, label=label, alpha=0.7)
        limit = math.log10(report.delta)
        axes.axhline(report.log_worst / _LN10, label="worst case (ordinary DP)", **_WORST)
        axes.axhline(limit, label=f"asked for: at most {report.delta:.2g}", **_LIMIT)
        values = [limit, *(_height(p.log_delta) for p in report.precincts)]
        axes.set(xscale="log", xlabel="ballots in the precinct", ylabel="delta", title=_title(report))
        axes.set_ylim(_floor(values), _headroom(values))
        plain_ticks(axes.xaxis)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        _powers(axes.yaxis)
        figure.legend(loc="outside lower center", ncols=2)
        return figure
