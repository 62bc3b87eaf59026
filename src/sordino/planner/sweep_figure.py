"""The picture of a sweep: errors against one public number, the answer marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sordino.planner.sweep import Sweep


def sweep_picture(sweep: Sweep) -> Any:
    """Draw the lines of a sweep."""
    from sordino import plots
    from sordino.planner.figures import plain_ticks

    with plots.style() as plt:
        figure, axes = plt.subplots()
        positive = True
        for name, look in zip(sweep.drawn, plots.lines(), strict=False):
            figures = [np.nan if one is None else one for one in sweep.columns[name]]
            positive &= bool(np.nanmin(figures) > 0)
            axes.plot(sweep.values, figures, marker=".", label=name, **look)
        if sweep.best is not None:
            top = sweep.columns[sweep.marked][sweep.best]
            axes.plot([sweep.values[sweep.best]], [top], marker="o", markersize=8, color="#000000", linestyle="",
                      label="the answer")  # fmt: skip
        axes.set(xlabel=sweep.along, ylabel="root mean square error")
        plain_ticks(axes, sweep.values)
        if positive:
            axes.set_yscale("log")
        figure.legend(loc="outside lower center", ncols=4)
        figure.suptitle(f"{sweep.question[0].upper()}{sweep.question[1:]}\n{sweep.assumed}", fontsize=10)
        return figure
