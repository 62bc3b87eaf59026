"""The picture of a split budget: every error beside its sampling error, in units of what is wanted of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sordino.planner.budget_plan import BudgetPlan


def split_picture(split: BudgetPlan) -> Any:
    """Draw the shares on the left and the errors on the right."""
    from sordino import plots

    names = [line.name for line in split.lines]
    places = np.arange(len(names))
    with plots.style() as plt:
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(10.4, 1.6 + 0.5 * len(names)), sharey=True, width_ratios=(1, 2)
        )
        left.barh(places, [100 * float(line.share) for line in split.lines], color=plots.COLOURS[0])
        left.set_yticks(places, names)
        left.invert_yaxis()
        left.set(xlabel="per cent of the budget", title="Shares")
        drawn = (
            ("this split", "o", plots.COLOURS[0], [line.ratio for line in split.lines]),
            ("even split", "s", plots.COLOURS[1], [line.even / line.measure for line in split.lines]),
            ("sampling error, no privacy", "|", "#666666",
             [line.sampling_error / line.measure for line in split.lines]),
        )  # fmt: skip
        for label, marker, colour, values in drawn:
            shown = [value if value > 0 else np.nan for value in values]
            right.plot(
                shown, places, linestyle="", marker=marker, color=colour, label=label,
                markersize=12 if marker == "|" else 7, markeredgewidth=2 if marker == "|" else 1,
            )  # fmt: skip
        right.axvline(1, color="#999999", linewidth=1)
        right.set(
            xscale="log", xlabel="root mean square error over its measure (line: as wanted)", title="Errors"
        )
        figure.legend(loc="outside lower center", ncols=3)
        size = split.lines[0].plan.size
        figure.suptitle(f"{split.budget!r} for {len(names)} answers, {size}, generated data")
        return figure
