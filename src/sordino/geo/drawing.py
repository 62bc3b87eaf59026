"""A demonstration map: the true density of public points beside its estimates from their reports.

Only for generated or public data, because the true map is drawn too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.geo.estimation import ReportTally
from sordino.geo.figures import maps
from sordino.geo.kernel_density import KernelDensity
from sordino.geo.maps import map_of
from sordino.geo.points import Points
from sordino.geo.reference import Reference
from sordino.geo.reporting import mechanism_for, stream
from sordino.geo.window import MapWindow

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from sordino.privacy import Geo

    Floats = NDArray[np.float64]


def density_map(
    points: ArrayLike,
    price: Geo,
    *,
    side: float,
    cells: int,
    bandwidth: float,
    blocks: bool = False,
    progress: Callable[[int], None] | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Draw the maps over a square of `side` metres around the origin, and measure their errors.

    Args:
        points: Public or generated points, metres east and north.
        price: The promise of one report.
        side: Side of the square.
        cells: Places along each side.
        bandwidth: Of the kernel.
        blocks: Draw the map by blocks of places too, which was the default before.
        progress: Told how many points each chunk held.
    """
    at = np.asarray(points, dtype=np.float64)
    half = side / 2
    corners: dict[str, Any] = {"low": (-half, -half), "high": (half, half), "shape": (cells, cells)}
    truth = true_density(at, bandwidth=bandwidth, **corners)
    far = half + 3 * bandwidth + 5 * float(1 / price.rate)
    made = Points(Reference.flat(low=(-far, -far), high=(far, far)), price)
    reports = list(made.stream(metres=at, progress=progress))
    together = type(reports[0])(made, np.concatenate([part.at for part in reports]))
    plain = map_of(together, bandwidth=bandwidth, **corners)
    best = map_of(together, bandwidth=bandwidth, best=True, **corners)
    panels = [("true", truth), ("unbiased", plain.density), ("smallest error", best.density)]
    if blocks:
        panels.append(("by blocks of places", block_density(at, price, bandwidth=bandwidth, **corners)))
    errors = {name: 1e6 * float(np.sqrt(np.mean((panel - truth) ** 2))) for name, panel in panels[1:]}
    figure = maps(
        [(name, 1e6 * panel.T) for name, panel in panels],
        extent=(-half / 1000, half / 1000, -half / 1000, half / 1000),
        unit="people per square km",
        title=f"epsilon {float(price.epsilon):g} per {float(price.per):,g} m, {len(at):,} people, one report each",
    )
    return figure, {
        "people": len(at),
        "places": cells * cells,
        "error": errors["unbiased"],
        "errors": errors,
        "expected_error": 1e6 * float(np.sqrt(plain.noise_variance.mean())),
        "largest": 1e6 * float(truth.max()),
    }


def true_density(points: Floats, *, bandwidth: float, low: Any, high: Any, shape: Any) -> Floats:
    """The kernel density of points without noise, people per square metre: for public points."""
    window = MapWindow.over(low=low, high=high, shape=shape, finest=bandwidth / 4, pad=6 * bandwidth)
    smooth = np.exp(-0.5 * bandwidth**2 * window.waves) / window.area
    return window.back(window.spread([points])[0] * smooth)[window.inner]


def block_density(points: Floats, price: Geo, *, bandwidth: float, low: Any, high: Any, shape: Any) -> Floats:
    """The density estimated by blocks of places, one price for the whole map."""
    query = KernelDensity.grid(low=low, high=high, shape=shape, bandwidth=bandwidth)
    tally = ReportTally(query)
    for part in stream(mechanism_for(query, price), points, chunk=1 << 16):
        tally.add(part)
    density: Floats = (tally.estimate().density * len(points)).reshape(tuple(shape))
    return density
