"""Functions g with E g(report) = f(point) exactly: Gaussian kernels and smooth edges, undone by planar Laplace noise.

The characteristic function of the noise, (1 + |k|^2 U^2)^(-(d+1)/2), has no zero, so f^/p^ is the transform of such a g
whenever f is smooth enough. Lengths are in units of the kernel's own width; a = (width/U)^2, with U
the distance of loss one.
Derivations: docs/proofs/geo_points.md.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import Unsupported

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

#: Below this ratio of bandwidth to U an unbiased map is nothing but noise.
LEAST_RATIO = 0.25
_FAR = 6.2  # e^{-u^2} is below 2e-17 there


def kernel(rho: ArrayLike, a: float, dimension: int) -> Floats:
    """The deconvolved Gaussian kernel, G: E G(|x + Z - t|/h) = exp(-|x - t|^2/(2 h^2)).

    Args:
        rho: Distances of reports from the place, in bandwidths.
        a: (h/U)^2.
        dimension: One, two or three.

    Example:
        >>> kernel([0.0, 1.0, 3.0], 1.0, 2).round(4)
        array([ 5.967 ,  1.7543, -0.0749])
    """
    _refuse_narrow(a)
    r = np.asarray(rho, dtype=np.float64)
    if dimension == 2:
        return _kernel_2(r, a)
    square = r * r
    tail = np.exp(-0.5 * square)
    if dimension == 1:
        return tail * (1 + (1 - square) / a)
    return tail * (1 + 2 * (3 - square) / a + (square * (square - 10) + 15) / a**2)


def _kernel_2(r: Floats, a: float) -> Floats:
    """The trapezoid rule of the proofs page; exponentially accurate, the integrand is even and smooth."""
    total = np.zeros_like(r)
    half_square = 0.5 * r * r
    for u, weight in _nodes(a):
        s = 1.0 + 2.0 * u * u / a
        v = half_square / s
        b = 1.0 / (a * s)
        total += weight / s * np.exp(-v) * (1 + 4 * b * (1 - v) + 8 * b * b * (1 - 2 * v + 0.5 * v * v))
    return total


def edge(t: ArrayLike, a: float, dimension: int) -> Floats:
    """The deconvolved smooth edge, g: E g(s(x + Z)/w) = Phi(s(x)/w) for the signed distance s to a straight edge.

    Example:
        >>> edge([0.0, 1.0, 9.0], 1.0, 1).round(4)
        array([0.5   , 1.0833, 1.    ])
    """
    from scipy.special import ndtr

    _refuse_narrow(a)
    x = np.asarray(t, dtype=np.float64)
    if dimension == 1:
        return ndtr(x) + x * _bell(x) / a
    if dimension != 2:
        raise Unsupported(
            "edge", "an edge is on a line or in the plane", got={"dimension": dimension}, hint="a kernel"
        )
    total = np.zeros_like(x)
    for u, weight in _nodes(a):
        s = 1.0 + 2.0 * u * u / a
        z = x / np.sqrt(s)
        b = 1.0 / (a * s)
        total += weight * (ndtr(z) + (2 * b * z - b * b * (z**3 - 3 * z)) * _bell(z))
    return total


def kernel_noise(a: float, dimension: int) -> float:
    """c(a): the noise variance of a kernel sum, integrated over the place, is pi^{d/2} h^d c(a) per person.

    Example:
        >>> kernel_noise(1.0, 2), kernel_noise(4.0, 2)
        (15.0, 1.21875)
    """
    if dimension == 1:
        return 1 / a + 3 / (4 * a**2)
    if dimension == 2:
        return 3 / a + 6 / a**2 + 6 / a**3
    return 6 / a + 22.5 / a**2 + 52.5 / a**3 + 59.0625 / a**4


def edge_noise(width: float, unit_loss: float, dimension: int) -> float:
    """Noise variance per person and per unit of length across an edge, in the unit of the map."""
    w = width / unit_loss
    if dimension == 1:
        return float(unit_loss / np.pi**0.5 * (1 / w + 1 / (4 * w**3)))
    return float(unit_loss / (2 * np.pi**0.5 * w) * (3 + 1.5 / w**2 + 0.75 / w**4))


def factor(square: ArrayLike, unit_loss: float, dimension: int) -> Floats:
    """1/p^ at squared wave numbers: what a transform is multiplied by to undo the noise."""
    bent = 1.0 + np.asarray(square, dtype=np.float64) * unit_loss**2
    whole: Floats = bent ** (0.5 * (dimension + 1))
    return whole


@lru_cache(maxsize=64)
def table(a: float, dimension: int) -> Any:
    """The kernel as a cubic spline of the distance in bandwidths, zero where the tail is below 1e-15 of the peak."""
    from scipy.interpolate import CubicSpline

    far = max(12.0, 40.0 / a**0.5)  # tails fall like e^{-r/U}
    knots = np.concatenate([np.arange(0.0, 8.0, 1 / 128), np.geomspace(8.0, far, 2048)])
    return CubicSpline(
        knots, kernel(knots, a, dimension), bc_type=((1, np.zeros(())), "not-a-knot"), extrapolate=True
    ), far


def tabulated(rho: Floats, a: float, dimension: int) -> Floats:
    """The kernel from its table: for very many distances.

    Example:
        >>> float(abs(tabulated(np.array([0.7]), 1.0, 2) - kernel([0.7], 1.0, 2))[0]) < 1e-9
        True
    """
    spline, far = table(a, dimension)
    values: Floats = spline(np.minimum(rho, far))
    values[rho >= far] = 0.0
    return values


def _nodes(a: float) -> list[tuple[float, float]]:
    """Nodes and weights of the mean over u with weight 2/sqrt(pi) e^{-u^2}."""
    step = min(0.3, 0.1 * a**0.5)
    u = np.arange(0.0, _FAR + step, step)
    weights = 2.0 / np.pi**0.5 * step * np.exp(-u * u)
    weights[0] *= 0.5
    return list(zip(u.tolist(), weights.tolist(), strict=True))


def _bell(x: Floats) -> Floats:
    density: Floats = np.exp(-0.5 * x * x) / (2 * np.pi) ** 0.5
    return density


def _refuse_narrow(a: float) -> None:
    if a < LEAST_RATIO**2 * (1 - 1e-9):
        raise Unsupported(
            "estimate",
            "the width is less than a quarter of the distance of loss one",
            got={"ratio": round(float(a) ** 0.5, 4)},
            why="An unbiased answer from moved points would be noise and nothing else.",
            hint="a wider kernel or edge; the smallest-error map; or a mechanism for this one question",
        )
