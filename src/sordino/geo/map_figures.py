"""Figures of maps from point reports: both maps side by side with degrees at the edges, and errors by bandwidth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.geo.reference import Sphere
from sordino.plots import COLOURS, DASHES, style

if TYPE_CHECKING:
    from sordino.geo.maps import DensityMap
    from sordino.geo.point_planning import MapError


def density_figure(plain: DensityMap | None, best: DensityMap) -> Any:
    """Draw the unbiased and the smallest-error map with one colour scale; axes are kilometres, corners degrees."""
    panels = [] if plain is None else [("unbiased", plain)]
    panels.append(("smallest error", best))
    with style() as plt:
        figure, axes = plt.subplots(
            1, len(panels), figsize=(4.6 * len(panels) + 1.0, 4.9), squeeze=False, sharey=True
        )
        top = 1e6 * float(best.density.max())
        image = None
        for axis, (name, found) in zip(axes[0], panels, strict=True):
            extent = (found.low[0] / 1e3, found.high[0] / 1e3, found.low[1] / 1e3, found.high[1] / 1e3)
            image = axis.imshow(
                1e6 * found.density.T,
                origin="lower",
                extent=extent,
                cmap="viridis",
                vmin=0.0,
                vmax=top,
                aspect="equal",
                interpolation="nearest",
            )
            axis.set_title(name)
            axis.set_xlabel("east of the centre (km)")
            axis.grid(visible=False)
        axes[0][0].set_ylabel("north of the centre (km)")
        figure.colorbar(image, ax=list(axes[0]), label="people per square km", shrink=0.85, extend="both")
        where = ""
        if isinstance(best.reference, Sphere):
            a, b = best.reference.to_degrees(np.array([best.low, best.high]))
            where = f"\nlongitude {a[0]:.3f} to {b[0]:.3f}, latitude {a[1]:.3f} to {b[1]:.3f}"
        title = f"{best.people:,.0f} people, one report each, bandwidth {best.bandwidth:,.4g} m{where}"
        figure.suptitle(title, x=0.01, ha="left")
        return figure


def map_errors(runs: dict[float, list[MapError]], *, users: int) -> Any:
    """Draw the error of every way to make a map against the bandwidth."""
    with style() as plt:
        figure, axis = plt.subplots()
        widths = sorted(runs)
        kinds: dict[str, dict[float, float]] = {}
        for h in widths:
            for row in runs[h]:
                name = "blocks of places" if row.method.endswith("blocks of places") else row.method
                kinds.setdefault(name, {})[h] = row.error
        for i, (name, errors) in enumerate(kinds.items()):
            axis.plot(
                list(errors),
                list(errors.values()),
                marker="o",
                color=COLOURS[i % len(COLOURS)],
                linestyle=DASHES[i % len(DASHES)],
                label=name,
            )
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xticks(widths, [f"{h:,.4g}" for h in widths])
        axis.minorticks_off()
        axis.set_xlabel("bandwidth (m)")
        axis.set_ylabel("error (people per square km)")
        axis.set_title(f"Maps of a generated city, {users:,} people")
        axis.legend()
        return figure
