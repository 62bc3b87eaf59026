"""What a map of point reports will show, before anything is collected: from formulas and from a generated city.

Public numbers only: how many people, over what ground, at what price. `compare` runs every way to make a map for one
price on the same generated people; `plan_points` turns a wanted error into the smallest bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.geo.deconvolution import LEAST_RATIO, edge_noise, kernel_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.geo.query import Query
    from sordino.privacy import Geo

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What can be seen at one bandwidth.

    Attributes:
        bandwidth: Of the kernel, in metres.
        error: Standard error of the density where people stand as densely as the mean, per square km.
        relative: The same in parts of that density.
        needed: People within a circle of one bandwidth for an error of a tenth.
    """

    bandwidth: float
    error: float
    relative: float
    needed: float


def error_of_density(per_km2: float, bandwidth: float, unit_loss: float) -> float:
    """Standard error of an unbiased density, per square km: sqrt(rho c(a)/(4 pi h^2)).

    Example:
        >>> round(error_of_density(165.0, 500.0, 500.0), 1)
        28.1
    """
    rho = per_km2 * 1e-6
    variance = rho * kernel_noise((bandwidth / unit_loss) ** 2, 2) / (4 * np.pi * bandwidth**2)
    return float(1e6 * variance**0.5)


def resolutions(
    per_km2: float, unit_loss: float, *, ratios: Any = (0.5, 1, 1.5, 2, 3, 4)
) -> list[Resolution]:
    """The errors of a few bandwidths, in units of the distance of loss one."""
    density = float(checks.positive("plan", per_km2=per_km2))
    found = []
    for ratio in ratios:
        h = ratio * unit_loss
        error = error_of_density(density, h, unit_loss)
        needed = 7.96 * kernel_noise(ratio**2, 2) * np.pi  # rho h^2 = 7.96 c(a) for a tenth
        found.append(Resolution(h, error, error / density, float(needed)))
    return found


def plan_points(per_km2: float, price: Geo, *, relative: float = 0.1) -> tuple[float, float]:
    """The smallest bandwidth, and the smallest square region, whose relative error is at most as wanted.

    Args:
        per_km2: People per square kilometre where it matters.
        price: What one report may reveal.
        relative: The standard error that is wanted, in parts of the density or count.

    Returns:
        The bandwidth and the side of the square, in metres.

    Example:
        >>> from sordino.privacy import Geo
        >>> [round(metres, -1) for metres in plan_points(1000.0, Geo(1, per=200))]
        [240.0, 670.0]
    """
    density = float(checks.positive("plan", per_km2=per_km2))
    wanted = float(checks.positive("plan", relative=relative))
    unit = float(1 / price.rate)

    def map_error(h: float) -> float:
        return error_of_density(density, h, unit) / density

    def count_error(side: float) -> float:
        rho = density * 1e-6
        return float((rho * 4 * side * edge_noise(0.7 * unit, unit, 2)) ** 0.5 / (rho * side**2))

    return (
        _smallest(map_error, wanted, LEAST_RATIO * unit, 1e4 * unit),
        _smallest(count_error, wanted, 0.1 * unit, 1e5 * unit),
    )


def _smallest(error: Any, wanted: float, low: float, high: float) -> float:
    """Bisect a falling error."""
    if error(high) > wanted:
        raise ParameterError(
            "plan",
            "no bandwidth is wide enough",
            got={"wanted": wanted},
            hint="more people, or a higher epsilon",
        )
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if error(middle) <= wanted else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class MapError:
    """The error of one way to make a map.

    Attributes:
        method: Its name.
        error: Root mean squared error over the map, people per square km.
        reports: What a device sends, in words.
    """

    method: str
    error: float
    reports: str


def compare(
    points: Floats, price: Geo, *, side: float, bandwidth: float, cells: int = 65, seed: int = 5
) -> list[MapError]:
    """Run every way to make a map on generated or public points, and rank them; nothing here is a release.

    Args:
        points: Generated or public points, metres from the middle of the map.
        price: What one report may reveal.
        side: Of the map, in metres.
        bandwidth: Of the kernel.
        cells: Places along each side.
        seed: Of numpy's generator, which draws the noise here.
    """
    from sordino.geo.baseline import planar_laplace
    from sordino.geo.blocks import BlockMechanism
    from sordino.geo.kernel_density import KernelDensity
    from sordino.geo.maps import map_of
    from sordino.geo.mechanism import QueryMechanism
    from sordino.geo.points import PointReports, Points
    from sordino.geo.reference import Reference
    from sordino.geo.window import MapWindow

    half, h = side / 2, float(bandwidth)
    unit = float(1 / price.rate)
    far = half + 3 * h + 5 * unit
    made = Points(Reference.flat(low=(-far, -far), high=(far, far)), price)
    generator = np.random.default_rng(seed)
    steps = planar_laplace(generator, len(points), 2) * made.unit_loss / float(made.step)
    reports = PointReports(made, made.snap(points) + np.rint(steps).astype(np.int64))
    corners: dict[str, Any] = {"low": (-half, -half), "high": (half, half), "shape": (cells, cells)}
    window = MapWindow.over(**corners, finest=h / 4, pad=6 * h)
    smooth = np.exp(-0.5 * h * h * window.waves) / window.area
    truth, moved = (
        window.back(window.spread([at])[0] * smooth)[window.inner] for at in (points, reports.metres)
    )

    def rms(density: Any) -> float:
        return float(1e6 * np.sqrt(np.mean((density - truth) ** 2)))

    found = []
    if h >= LEAST_RATIO * made.unit_loss:
        plain = map_of(reports, bandwidth=h, **corners)
        found.append(MapError("one report, unbiased map", rms(plain.density), "one report"))
    best = map_of(reports, bandwidth=h, best=True, **corners)
    found.append(MapError("one report, smallest-error map", rms(best.density), "one report"))
    found.append(MapError("moved points (M0)", rms(moved), "one report"))
    coarse = max(2, min(cells, int(side / h) + 2))
    grid = KernelDensity.grid(low=(-half, -half), high=(half, half), shape=(coarse, coarse), bandwidth=h)
    blocks = BlockMechanism.choose(grid, price)
    scale = 1e6 * len(points) / grid.normaliser
    noise = scale * (len(blocks.blocks) * blocks.variance() / len(points)) ** 0.5
    found.append(MapError(f"{len(blocks.blocks)} blocks of places", float(noise), "one report"))
    single = QueryMechanism.choose(KernelDensity(at=((0.0, 0.0),), bandwidth=h), price)
    some = points[:: max(1, len(points) // 4000)]
    spots = grid.places[:: max(1, len(grid.at) // 25)]
    variance = np.mean([single.variance(some - spot).mean() for spot in spots])
    per_place = scale * float(variance / len(points)) ** 0.5
    found.append(
        MapError("one question per place", per_place, f"{len(grid.at):,} reports, each at the price")
    )
    return sorted(found, key=lambda row: row.error)


def one_report_error(
    query: Query, price: Geo, points: Any, *, users: int, seed: int = 5
) -> tuple[float, float] | None:
    """Noise and bias of the mean answer to a query from point reports, for assumed points; None if it cannot be asked.

    The edge is softened to the same spread as the query's band where the noise allows, and never below U/2.
    """
    from sordino.errors import SordinoError
    from sordino.geo.answers import answer
    from sordino.geo.baseline import planar_laplace
    from sordino.geo.points import PointReports, Points
    from sordino.geo.reference import Reference

    at = np.asarray(query.points(points), dtype=np.float64)
    flat = at.reshape(len(at), -1)
    unit = float(1 / price.rate)
    low, high = flat.min(axis=0) - unit, flat.max(axis=0) + unit
    made = Points(Reference.flat(low=tuple(low), high=tuple(high)), price)
    generator = np.random.default_rng(seed)
    steps = planar_laplace(generator, len(flat), flat.shape[1]) * made.unit_loss / float(made.step)
    reports = PointReports(made, made.snap(flat) + np.rint(steps).astype(np.int64))
    still = PointReports(made, made.snap(flat))
    try:
        found = answer(reports, query)
    except SordinoError:
        return None
    # The spread of g over reports less that of the softened answer over people is what privacy adds.
    soft = _softened(still, query, found.edge_width)
    sampling = float(np.var(soft))
    noise = max(found.standard_error**2 / len(flat) - sampling, 0.0) / users
    bias = float(np.mean(soft)) - float(np.mean(query.value(points)))
    return float(noise**0.5), bias


def _softened(still: Any, query: Query, width: float | None) -> Floats:
    """The answer to the softened question at points that were not moved, by a few Gaussian shifts."""
    at = still.metres if still.mechanism.dimension > 1 else still.metres[:, 0]
    if not width:
        return query.value(at)
    band = float(getattr(query, "width", 0.0))
    extra = max(width**2 - band**2 / 12, 0.0) ** 0.5
    if extra < 1e-9 * width:
        return query.value(at)
    levels = np.array([-1.5, -0.5, 0.5, 1.5]) * (2 / 5**0.5) * extra  # four shifts with the right variance
    if at.ndim == 1:
        return np.mean([query.value(at + shift) for shift in levels], axis=0)
    shifted = [query.value(at + np.array([a, b])) for a in levels for b in levels]
    return np.mean(shifted, axis=0)
