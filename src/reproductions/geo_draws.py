"""Maps drawn once by every mechanism of Liang and Yi 2024, and by ours; the figures made of them are in geo_maps.py.

Draws use numpy's generator and are never a release: people are generated, or public. Every person reports about every
place, as in the paper, except for moved points (M0) and blocks, which answer the whole map at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from reproductions.geo_kernels import (
    BLOCKS,
    M0,
    M1,
    M2,
    M3,
    PP_LOCAL,
    STEP,
    W,
    blocks,
    distances,
    edges,
    ours,
    places,
)
from sordino.geo import KernelDensity
from sordino.geo.baseline import PAPER_DF, noise_variance, planar_laplace
from sordino.privacy import Geo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reproductions.experiment import Part, Row

    Floats = NDArray[np.float64]

TRUE = "true density"
NAMES = (TRUE, M0, M1, M2, M3, PP_LOCAL, BLOCKS)


def density(points: Floats, bandwidth: float, side: int) -> Floats:
    """Mean kernel at each place, rows from south to north: the Gaussian kernel is a product of east and north."""
    total = np.zeros((side, side))
    east, north = edges(side)
    for begin in range(0, points.shape[0], 1 << 14):
        x, y = points[begin : begin + (1 << 14)].T
        by_east = np.exp(-0.5 * ((x[:, None] - east) / bandwidth) ** 2)
        by_north = np.exp(-0.5 * ((y[:, None] - north) / bandwidth) ** 2)
        total += by_north.T @ by_east
    mean: Floats = total / points.shape[0]
    return mean


def draw_map(
    name: str, points: Floats, price: Geo, *, bandwidth: float, side: int, generator: np.random.Generator
) -> Floats:
    """Draw the map that one mechanism gives.

    Args:
        name: One of NAMES.
        points: Generated or public points, metres east and north.
        price: The promise: of one report about one place, or for M0 and the blocks of the whole map.
        bandwidth: Of the kernel.
        side: Places along each side.
        generator: numpy's generator.
    """
    n, rate = points.shape[0], float(price.rate)
    if name == M0:
        return density(points + planar_laplace(generator, n, 2) / rate, bandwidth, side)
    if name == BLOCKS:
        return _dealt(points, price, bandwidth, side, generator)
    true = density(points, bandwidth, side)
    if name == TRUE:
        return true
    query = KernelDensity(at=(0.0, 0.0), bandwidth=bandwidth)
    if name == M2:
        # A sum of n Laplace variables is the difference of two Gamma variables of order n: the same law at once.
        scale = np.sqrt(noise_variance("M2", query, distances()[:1], price)[0] / 2.0)
        noise: Floats = generator.gamma(n, size=true.shape) - generator.gamma(n, size=true.shape)
        drawn: Floats = true + scale * noise / n
        return drawn
    report = _report(name, query, price, generator)
    result = true if name != M1 else np.zeros_like(true)
    for j, y in enumerate(edges(side)[1]):
        up = (points[:, 1] - y) ** 2
        for i, x in enumerate(edges(side)[0]):
            result[j, i] += report(np.sqrt((points[:, 0] - x) ** 2 + up)).mean()
    return result


def _report(
    name: str, query: KernelDensity, price: Geo, generator: np.random.Generator
) -> Callable[[Floats], Floats]:
    """What a person at a given distance adds to the true answer (M1: reports in its place)."""
    if name == M1:
        return lambda d: query.curve.value(
            np.abs(d + generator.laplace(scale=1 / float(price.rate), size=d.size))
        )
    line = distances()
    if name == M3:
        scales = np.sqrt(noise_variance("M3", query, line, price) / 3.0)
        return lambda d: scales[(d / STEP + 0.5).astype(np.intp)] * generator.standard_t(PAPER_DF, d.size)
    made = ours(query, price)[name]
    fitted, law = made.scales(line), made.calibration.noise

    def noise(d: Floats) -> Floats:
        u = 2.0 * generator.random(d.size) - 1.0
        drawn: Floats = fitted[(d / STEP + 0.5).astype(np.intp)] * np.sign(u) * law.isf(np.abs(u) / 2)
        return drawn

    return noise


def _dealt(points: Floats, price: Geo, bandwidth: float, side: int, generator: np.random.Generator) -> Floats:
    """Every person answers one block of places, dealt at random; noise as for M2, at the block's scale."""
    made = blocks(price, bandwidth, side)
    scale, where = float(made.scale), np.array(made.query.at)
    found = np.empty(len(where))
    hand = generator.integers(0, len(made.blocks), points.shape[0])
    for block, members in enumerate(made.blocks):
        some = points[hand == block]
        for place in members:
            d = np.hypot(*(some - where[place]).T)
            noise = generator.gamma(len(some)) - generator.gamma(len(some))
            found[place] = made.query.curve.value(d).mean() + scale * noise / len(some)
    return found.reshape(side, side).T  # the grid's places run north first


def compute(part: Part) -> list[Row]:
    """Rows of one map: the setting, the mechanism, the place and its value."""
    price, name, side = Geo(1, per=part["distance"]), part["mechanism"], part["side"]
    points = places(part["source"], part["people"], part["data"])
    setting = [part["distance"], round(100 * part["share"]), part["people"]]
    generator = np.random.default_rng([part["seed"], *setting, NAMES.index(name)])
    found = draw_map(name, points, price, bandwidth=part["share"] * W, side=side, generator=generator)
    east, north = edges(side)
    said = f"1/{part['distance']} m, h = {part['share']:g} w, {part['people']:,} people"
    return [
        [said, name, float(x), float(y), float(found[j, i])]
        for j, y in enumerate(north)
        for i, x in enumerate(east)
    ]
