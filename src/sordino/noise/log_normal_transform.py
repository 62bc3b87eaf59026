"""The Laplace transform of a log-normal variable, log E exp(-e^u e^{sY}): the tail of Laplace-log-normal noise.

By the trapezoidal rule around the saddle point, tabulated once per s as piecewise Chebyshev polynomials of what
is left when the leading terms are taken out, so that a million points cost a polynomial each.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

NODES = 121
DEGREE = 13
CELL = 0.5
CHUNK = 1 << 14
LEFT = -60.0  # below it -log of the transform is e^{u + s^2/2} to all digits
SPLIT = 0.0


def log_laplace_transform(u: NDArray[np.float64], s: float) -> NDArray[np.float64]:
    """Give log E exp(-e^u e^{sY}) with full relative accuracy at both ends."""
    flat = np.ravel(np.asarray(u, dtype=np.float64))
    result = np.empty_like(flat)
    for start in range(0, flat.size, CHUNK):
        result[start : start + CHUNK] = _transform(flat[start : start + CHUNK], s)
    return result.reshape(np.shape(u))


def _transform(u: NDArray[np.float64], s: float) -> NDArray[np.float64]:
    """Evaluate one chunk, each point on its own side."""
    from scipy.special import wrightomega

    left, right, top = _tables(s)
    result = np.where(u > 0, -np.inf, np.where(u < 0, 0.0, np.nan))  # the ends, and NaN
    below = np.flatnonzero((u < SPLIT) & (u > -np.inf))
    at = u[below]
    result[below] = -np.exp(at + s * s / 2 + _evaluate(left, LEFT, np.maximum(at, LEFT)))
    middle = np.flatnonzero((u >= SPLIT) & (u <= top))
    at = u[middle]
    result[middle] = _leading(wrightomega(at + 2 * np.log(s)), s) + _evaluate(right, SPLIT, at)
    beyond = np.flatnonzero((u > top) & (u < np.inf))
    if beyond.size:  # densities where the tail itself has underflowed
        at = u[beyond]
        result[beyond] = _leading(wrightomega(at + 2 * np.log(s)), s) + _remainder(at, s)
    return result


def _leading(w: NDArray[np.float64], s: float) -> NDArray[np.float64]:
    """Give the exponent at the saddle and half the logarithm of its curvature.

    The exponent -y^2/2 - e^{u+sy} peaks at y = -w/s, w = W(s^2 e^u) (Lambert), with value -w^2/(2s^2) - w/s^2.
    """
    return -w * (w / 2 + 1) / (s * s) - 0.5 * np.log1p(w)


@lru_cache(maxsize=64)
def _tables(s: float) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Tabulate both sides; the right one reaches to where the transform is below e^-760."""
    top_w = s * np.sqrt(2 * 760.0) + 2 * s * s
    top = SPLIT + CELL * np.ceil((max(top_w + np.log(top_w) - 2 * np.log(s), 8.0) - SPLIT) / CELL)
    return (
        _fit(lambda u: _log_small(u, s), LEFT, SPLIT),
        _fit(lambda u: _remainder(u, s), SPLIT, top),
        float(top),
    )


def _fit(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]], low: float, high: float
) -> NDArray[np.float64]:
    """Interpolate at Chebyshev points in each cell; returns monomial coefficients on [-1, 1]."""
    from numpy.polynomial import chebyshev

    cells = round((high - low) / CELL)
    points = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
    at = low + CELL * (np.arange(cells)[:, None] + (points + 1) / 2)
    values = function(at.ravel()).reshape(at.shape)
    basis = np.linalg.inv(chebyshev.chebvander(points, DEGREE))
    to_powers = np.zeros((DEGREE + 1, DEGREE + 1))
    for k in range(DEGREE + 1):
        powers = chebyshev.cheb2poly(np.eye(DEGREE + 1)[k])
        to_powers[: powers.size, k] = powers
    return to_powers @ basis @ values.T


def _evaluate(table: NDArray[np.float64], low: float, v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evaluate a table by Horner's rule in the cell of each point."""
    position = (v - low) / CELL
    cell = np.minimum(position.astype(np.int64), table.shape[1] - 1)
    z = 2 * (position - cell) - 1
    rows = table[:, cell]
    total = rows[-1]
    for row in rows[-2::-1]:
        total = total * z + row
    return total


def _log_small(u: NDArray[np.float64], s: float) -> NDArray[np.float64]:
    """Give log(-log E exp(-e^u e^{sY})) - u - s^2/2 from E(1 - exp(-e^u e^{sY})), whose terms are all positive."""
    y = np.arange(-12.0, 12.0 + s, min(0.1, 0.1 / s))
    weights = np.exp(-y * y / 2) * (y[1] - y[0]) / np.sqrt(2 * np.pi)
    share = -np.expm1(-np.exp(u[:, None] + s * y)) @ weights
    return np.log(-np.log1p(-share)) - u - s * s / 2


def _remainder(u: NDArray[np.float64], s: float) -> NDArray[np.float64]:
    """Give what the leading terms leave: the logarithm of the integral around the saddle, times its curvature.

    With y = -w/s + d the exponent falls below its peak by d^2/2 + (w/s^2)(e^{sd} - 1 - sd).
    """
    from scipy.special import wrightomega

    w = wrightomega(u + 2 * np.log(s))
    weight = (w / (s * s))[:, None]
    step, start = _mesh(w, s)
    d = start[:, None] + step[:, None] * np.arange(NODES)
    total = np.exp(-d * d / 2 - weight * _bulge(s * d)).sum(axis=1)
    return np.log(step / np.sqrt(2 * np.pi) * total) + 0.5 * np.log1p(w)


def _bulge(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give e^z - 1 - z without cancellation for small z."""
    series = (
        z
        * z
        * (1 / 2 + z * (1 / 6 + z * (1 / 24 + z * (1 / 120 + z * (1 / 720 + z * (1 / 5040 + z / 40320))))))
    )
    return np.where(np.abs(z) < 0.05, series, np.expm1(np.minimum(z, 700.0)) - z)


def _mesh(w: NDArray[np.float64], s: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Choose step and left end so that the integrand is below e^-42 of its peak outside; both ends by bisection."""
    drop = 42.0
    weight = w / (s * s)

    def depth(d: NDArray[np.float64]) -> NDArray[np.float64]:
        return d * d / 2 + weight * _bulge(s * d)

    def end(sign: float) -> NDArray[np.float64]:
        near, far = np.zeros_like(w), np.full_like(w, np.sqrt(2 * drop) + 1e-9)
        for _ in range(12):
            middle = (near + far) / 2
            deep = depth(sign * middle) >= drop
            near, far = np.where(deep, near, middle), np.where(deep, middle, far)
        return sign * far

    left, right = end(-1.0), end(1.0)
    return (right - left) / (NODES - 1), left
