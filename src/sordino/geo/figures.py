"""Figures of this room: a map beside its estimate, and error against mechanism. Returned, never shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.plots import COLOURS, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sordino.geo.planning import Expectation
    from sordino.privacy import Geo


def maps(
    panels: Sequence[tuple[str, NDArray[np.float64]]],
    *,
    extent: tuple[float, float, float, float],
    unit: str,
    title: str = "",
) -> Any:
    """Draw densities on the same grid side by side, with one colour scale and a bar that names the unit.

    Args:
        panels: Titles and arrays of shape (rows north, columns east).
        extent: West, east, south, north in kilometres.
        unit: What the colour means.
        title: Above all.
    """
    with style() as plt:
        figure, axes = plt.subplots(
            1, len(panels), figsize=(4.1 * len(panels) + 0.8, 4.6), squeeze=False, sharey=True
        )
        top = max(float(np.nanmax(panel)) for _, panel in panels[:1]) or 1.0
        image = None
        for axis, (name, panel) in zip(axes[0], panels, strict=True):
            image = axis.imshow(
                panel, origin="lower", extent=extent, cmap="viridis", vmin=0.0, vmax=top, aspect="equal"
            )
            axis.set_title(name)
            axis.set_xlabel("east (km)")
            axis.grid(visible=False)
        axes[0][0].set_ylabel("north (km)")
        figure.colorbar(image, ax=list(axes[0]), label=unit, shrink=0.85, extend="both")
        if title:
            figure.suptitle(title, x=0.01, ha="left")
        return figure


def errors(rows: Sequence[Expectation], *, title: str, unit: str = "mean answer") -> Any:
    """Draw the expected error of each mechanism: bars from zero, or points on a log axis when they lie far apart."""
    with style() as plt:
        figure, axis = plt.subplots(figsize=(7.2, 0.42 * len(rows) + 1.2))
        place, sizes = np.arange(len(rows))[::-1], [row.error for row in rows]
        if max(sizes) > 30 * min(sizes):  # a bar on a log axis has no honest length
            axis.plot(sizes, place, "o", color=COLOURS[0])
            axis.set_xscale("log")
        else:
            axis.barh(place, sizes, color=COLOURS[0], height=0.6)
            axis.set_xlim(left=0)
        for y, row in zip(place, rows, strict=True):
            if abs(row.bias) > 0.5 * row.error:
                axis.text(row.error, y, " bias", va="center", color=COLOURS[1])
        axis.set_yticks(place, [row.mechanism for row in rows])
        axis.margins(x=0.12)
        axis.set_xlabel(f"expected root mean squared error ({unit})")
        axis.set_title(title)
        axis.grid(visible=False, axis="y")
        return figure


def bars(
    groups: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    title: str,
    ylabel: str,
) -> Any:
    """Draw grouped bars on a logarithmic scale: one group per setting, one bar per mechanism."""
    with style() as plt:
        figure, axis = plt.subplots(figsize=(max(7.2, 1.05 * len(groups)), 4.2))
        width = 0.8 / len(series)
        x = np.arange(len(groups))
        hatches = ("", "//", "..", "xx", "\\\\", "++")
        for i, (name, heights) in enumerate(series):
            axis.bar(
                x + (i - (len(series) - 1) / 2) * width,
                heights,
                width * 0.92,
                label=name,
                color=COLOURS[i],
                hatch=hatches[i % len(hatches)],
                edgecolor="white",
                linewidth=0.5,
            )
        axis.set_yscale("log")
        axis.set_xticks(x, groups)
        axis.set_ylabel(ylabel)
        axis.set_title(title)
        axis.grid(visible=False, axis="x")
        axis.legend(ncols=min(len(series), 3), loc="upper left", bbox_to_anchor=(0.0, -0.1))
        return figure


def circles(price: Geo, *, distances: Sequence[float] | None = None) -> Any:
    """Draw how well two points can be told apart against their distance."""
    with style() as plt:
        per = float(price.per)
        d = np.linspace(0.0, 4 * per, 200) if distances is None else np.asarray(distances, dtype=np.float64)
        odds = np.exp(float(price.rate) * d)
        figure, axis = plt.subplots()
        axis.plot(d, 1 / (1 + 1 / odds), color=COLOURS[0])
        axis.axvline(per, color=COLOURS[7], linestyle=":")
        axis.set_xlabel("distance of the two points (m)")
        axis.set_ylabel("best chance of naming the right one")
        axis.set_ylim(0.5, 1.0)
        axis.set_title(f"What one report can tell at most: epsilon {float(price.epsilon):g} per {per:g} m")
        return figure
