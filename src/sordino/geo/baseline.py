"""The mechanisms of Liang and Yi 2024 and older ones, to compare with: M0, M1, M2, M3 and local differential privacy.

M0 and M1 move the point before the question (biased for curved questions), M2 adds Laplace noise for the global
Lipschitz constant, M3 is the paper's own. The planar Laplace law is isotropic here in every dimension. For
experiments and plans: draws use numpy's generator, not the exact sampler, and are never a release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import Unsupported

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sordino.geo.kernel_density import KernelDensity
    from sordino.geo.query import Floats, Query
    from sordino.privacy import Geo

NAMES = ("M0", "M1", "M2", "M3", "LDP")
#: Liang and Yi 2024, section 5: nu = 3 and nu gamma = epsilon/3, so gamma = epsilon/9 and eta = epsilon/sqrt(3).
PAPER_DF, PAPER_SMOOTHING = 3, 1.0 / 9.0


def planar_radius(u: Floats, dimension: int) -> Floats:
    """Radius of the planar Laplace law e^{-|z|} in R^d at level u: the quantile of the Gamma law of order d."""
    from scipy.special import gammaincinv

    radius: Floats = gammaincinv(dimension, u)
    return radius


def planar_laplace(generator: np.random.Generator, count: int, dimension: int) -> Floats:
    """Draws with density proportional to e^{-|z|}: a Gamma radius and a direction from normal variables.

    Polar angles drawn evenly would crowd the poles from three dimensions on, and the law would not be geo-private.

    Example:
        >>> z = planar_laplace(np.random.default_rng(1), 200_000, 3)
        >>> (z**2).mean(axis=0).round(0)
        array([4., 4., 4.])
    """
    checks.whole("planar laplace", at_least=1, dimension=dimension)
    direction = generator.standard_normal((count, dimension))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction * generator.gamma(dimension, size=(count, 1))


def simulate(
    name: str,
    query: Query,
    points: ArrayLike,
    price: Geo,
    generator: np.random.Generator,
    *,
    radius: float = 0.0,
) -> Floats:
    """Draw one report per point by a mechanism of the paper.

    Args:
        name: One of M0, M1, M2, M3, LDP.
        query: The question.
        points: Points, public or generated.
        price: The promise.
        generator: numpy's generator.
        radius: For LDP, the distance C at which its epsilon equals that of the price.
    """
    checks.one_of("baseline", NAMES, name=name)
    at = query.points(points)
    rate = float(price.rate)
    if name == "M0":
        noise = planar_laplace(generator, at.shape[0], query.dimension) / rate
        return query.value(at + noise.reshape(at.shape))
    if name == "M1":
        return _distance_first(query, at, rate, generator)
    variance = noise_variance(name, query, at, price, radius=radius)
    if name == "M3":
        return query.value(at) + np.sqrt(variance / 3.0) * generator.standard_t(PAPER_DF, at.shape[0])
    return query.value(at) + generator.laplace(scale=np.sqrt(variance / 2.0), size=at.shape[0])


def noise_variance(name: str, query: Query, points: ArrayLike, price: Geo, *, radius: float = 0.0) -> Floats:
    """Variance of the added noise at each point, for the unbiased mechanisms M2, M3 and LDP."""
    at = query.points(points)
    rate = float(price.rate)
    if name == "M2":
        return np.full(at.shape[0], 2.0 * (query.lipschitz / rate) ** 2)
    if name == "LDP":
        c = float(checks.positive("baseline", radius=radius or float(price.per)))
        low, high = query.curve.extremes
        return np.full(at.shape[0], 2.0 * ((high - low) / (rate * c)) ** 2)
    if name == "M3":
        bound = query.bound(at, rate * PAPER_SMOOTHING, scope="global")
        return 3.0 * (bound * np.sqrt(3.0) / rate) ** 2
    raise Unsupported("baseline", f"{name} adds no noise to the answer", hint="M2, M3 or LDP")


def expected_bias(
    name: str, query: Query, points: ArrayLike, price: Geo, *, quantiles: int = 64
) -> tuple[Floats, Floats]:
    """Mean and variance of a report of M0 or M1 at each point, by quadrature over the noise."""
    at = query.points(points)
    rate = float(price.rate)
    total, square = np.zeros(at.shape[0]), np.zeros(at.shape[0])
    nodes = _noise_nodes(name, query.dimension, quantiles)
    for shift in nodes:
        if name == "M1":
            r = query.coordinate(at) + shift[0] / rate
            value = query.curve.value(np.abs(r))
        else:
            value = query.value(at + (shift / rate if at.ndim == 2 else shift[0] / rate))
        total += value
        square += value * value
    mean = total / len(nodes)
    return mean - query.value(at), square / len(nodes) - mean**2


def _noise_nodes(name: str, dimension: int, quantiles: int) -> Any:
    """Equally likely noise vectors that fill the law evenly: quantiles of the radius times a spread of directions."""
    levels = (np.arange(quantiles) + 0.5) / quantiles
    if name == "M1" or dimension == 1:
        size = -np.log1p(-levels)
        return np.concatenate([size, -size])[:, None]
    generator = np.random.default_rng(20250)
    radii = planar_radius(np.repeat(levels, 16), dimension)
    if dimension == 2:
        angle = 2 * np.pi * ((np.arange(radii.size) * 0.6180339887498949) % 1.0)
        return radii[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    direction = generator.standard_normal((radii.size, dimension))
    return radii[:, None] * direction / np.linalg.norm(direction, axis=1, keepdims=True)


def _distance_first(
    query: Query | KernelDensity, at: Floats, rate: float, generator: np.random.Generator
) -> Floats:
    """M1: noise on the distance to the place, then the kernel."""
    if query.name != "kernel-density":
        raise Unsupported(
            "baseline", "M1 is for a kernel density", got={"query": query.name}, hint="name='M0'"
        )
    r = query.coordinate(at) + generator.laplace(scale=1.0 / rate, size=at.shape[0])
    return query.curve.value(np.abs(r))
