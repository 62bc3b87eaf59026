"""The pictures of Figures 1 and 2 of Liu, Wang and Xia (2023), from numbers that are computed elsewhere."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from reproductions.elections import straight_line
from sordino.plots import COLOURS, lines, style
from sordino.smoothed.figures import _LIMIT, _LN10, _WORST, _floor, _headroom, _powers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproductions.elections import SizeFigure, YearFigure


def elections(points: Sequence[YearFigure], *, lost: float, epsilon: float) -> Any:
    """Draw Figure 1: delta and the adversary's utility in every election, one over the votes, the worst case."""
    with style() as plt:
        figure, axes = plt.subplots(figsize=(8.6, 4.6))
        years = [point.election.year for point in points]
        delta = [point.log_delta / _LN10 for point in points]
        gain = [point.log_utility / _LN10 for point in points]
        axes.plot(years, delta, marker="o", markersize=4, color=COLOURS[0], label="delta of this election")
        axes.plot(
            years, gain, marker="x", markersize=5, linestyle="", color=COLOURS[1], label="adversary's utility"
        )
        axes.plot(years, [-math.log10(p.election.votes) for p in points], label="1/n (votes)", **_LIMIT)
        axes.plot(years, [p.log_worst / _LN10 for p in points], label="worst case (ordinary DP)", **_WORST)
        axes.set(
            xlabel="presidential election",
            ylabel="delta, utility",
            title=f"US presidential elections, {lost:.2%} of the votes lost, epsilon {epsilon:.3g}",
            ylim=(_floor(delta), _headroom(delta)),
        )
        _powers(axes.yaxis)
        figure.legend(loc="outside right center")
        return figure


def figure_two(left: Sequence[SizeFigure], right: Sequence[SizeFigure], *, lost: float) -> Any:
    """Draw Figure 2: smoothed delta of growing electorates, and of one quantised gradient step against sqrt n."""
    with style() as plt:
        figure, (one, two) = plt.subplots(1, 2, figsize=(11.0, 4.6))
        _growing(one, left, float)
        one.set(
            xlabel="voters",
            ylabel="smoothed delta",
            title=f"Electorates between DC and NE-3, {lost:.1%} lost",
        )
        one.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        for label in one.get_xticklabels():
            label.set_rotation(30)
            label.set_horizontalalignment("right")
        _growing(two, right, math.sqrt)
        two.set(
            xlabel="square root of the records (= batch size)",
            ylabel="smoothed delta",
            title="One gradient step, 8-bit gradients",
        )
        return figure


def _growing(axes: Any, points: Sequence[SizeFigure], scale: Any) -> None:
    """Draw one series per epsilon with its interval and a straight fit."""
    finite = [point for point in points if math.isfinite(point.log_delta)]
    for epsilon, line in zip(dict.fromkeys(point.epsilon for point in finite), lines(), strict=False):
        chosen = [point for point in finite if point.epsilon == epsilon]
        x = [scale(point.records) for point in chosen]
        y = [point.log_delta / _LN10 for point in chosen]
        axes.plot(x, y, marker="o", markersize=4, label=f"epsilon {epsilon:g}", **line)
        low = [max(point.log_low, -1e4) / _LN10 for point in chosen]
        if any(a < b - 1e-6 for a, b in zip(low, y, strict=True)):
            axes.fill_between(
                x, low, [2 * b - a for a, b in zip(low, y, strict=True)], alpha=0.15, color=line["color"]
            )
        if len(x) >= 3:
            start, slope, _ = straight_line(x, y)
            axes.plot(
                x, [start + slope * value for value in x], color=line["color"], linewidth=0.8, linestyle=":"
            )
    worst = sorted({(scale(point.records), point.log_worst / _LN10) for point in finite})
    axes.plot([x for x, _ in worst], [y for _, y in worst], label="worst case (ordinary DP)", **_WORST)
    values = [point.log_delta / _LN10 for point in finite]
    axes.set_ylim(_floor(values), _headroom(values))
    _powers(axes.yaxis)
    axes.legend(loc="lower left")
