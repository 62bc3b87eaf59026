"""A demonstration map: the true density of public points beside its estimate from their reports.

Only for generated or public data, because the true map is drawn too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.geo.estimation import Tally
from sordino.geo.figures import maps
from sordino.geo.kernel_density import KernelDensity
from sordino.geo.reporting import mechanism_for, stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from sordino.privacy import Geo


def density_map(
    points: ArrayLike,
    price: Geo,
    *,
    side: float,
    cells: int,
    bandwidth: float,
    progress: Callable[[int], None] | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Draw both maps over a square of `side` metres around the origin, and measure the error.

    Args:
        points: Public or generated points, metres east and north.
        price: The promise of one report, which answers a whole block of places.
        side: Side of the square.
        cells: Places along each side.
        bandwidth: Of the kernel.
        progress: Told how many points each chunk held.
    """
    query = KernelDensity.grid(
        low=(-side / 2, -side / 2), high=(side / 2, side / 2), shape=(cells, cells), bandwidth=bandwidth
    )
    at = query.points(points)
    made = mechanism_for(query, price)
    tally = Tally(query)
    for part in stream(made, at, chunk=1 << 16, progress=progress):
        tally.add(part)
    found = tally.estimate()
    # People per square kilometre: the mean kernel over its integral, times the people.
    unit = at.shape[0] * 1e6 / query.normaliser
    truth = true_density(query, at) * unit
    guess = found.value * unit
    shape = (cells, cells)
    half = side / 2000
    figure = maps(
        [("true", truth.reshape(shape).T), ("estimated from reports", guess.reshape(shape).T)],
        extent=(-half, half, -half, half),
        unit="people per square km",
        title=f"epsilon {float(price.epsilon):g} per {float(price.per):,g} m, {at.shape[0]:,} people",
    )
    return figure, {
        "people": int(at.shape[0]),
        "places": cells * cells,
        "blocks": len(made.blocks),  # type: ignore[union-attr]
        "error": float(np.sqrt(np.nanmean((guess - truth) ** 2))),
        "expected_error": float(np.sqrt(np.nanmean(found.standard_error**2)) * unit),
        "largest": float(truth.max()),
    }


def true_density(query: KernelDensity, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean kernel at each place, without noise: for public points."""
    total = np.zeros(len(query.at))
    for begin in range(0, points.shape[0], 1 << 14):
        part = points[begin : begin + (1 << 14)]
        for j, place in enumerate(query.each()):
            total[j] += place.value(part).sum()
    mean: NDArray[np.float64] = total / max(1, points.shape[0])
    return mean
