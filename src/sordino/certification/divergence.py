"""Renyi divergences by quadrature, for any symmetric log density: numbers to compare with, not proofs.

The certificate does not use this file. It serves price curves, tests and plots; it integrates by the
double-exponential rule between the kinks, to about 1e-11 relative.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
LogDensity = Callable[[FloatArray], FloatArray]

_SPAN = 6.0


def _finite_rule(count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distances from both ends of (0, 1), and weights, of the tanh-sinh rule."""
    u, step = np.linspace(-3.6, 3.6, count, retstep=True)
    right = 1 / (1 + np.exp(np.pi * np.sinh(u)))
    return right[::-1], right, step * np.pi * np.cosh(u) * right * right[::-1]


def _infinite_rule(count: int) -> tuple[FloatArray, FloatArray]:
    """Points and weights on (0, infinity) of the rule x = exp(pi/2 sinh u)."""
    u, step = np.linspace(-_SPAN, _SPAN, count, retstep=True)
    with np.errstate(over="ignore"):
        x = np.exp(0.5 * np.pi * np.sinh(u))
    keep = (x > 1e-300) & (x < 1e140)
    return x[keep], (step * 0.5 * np.pi * np.cosh(u) * x)[keep]


def _nodes(breaks: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """One composite rule for the line cut at the breaks."""
    out_x, out_weight = _infinite_rule(2 * count)
    width = max(float(np.ptp(breaks)), abs(float(breaks[0])), 1e-3)
    points = [breaks[0] - width * out_x, breaks[-1] + width * out_x]
    weights = [width * out_weight, width * out_weight]
    left, right, weight = _finite_rule(count)
    for a, b in itertools.pairwise(breaks):
        points.append(np.where(left < right, a + (b - a) * left, b - (b - a) * right))
        weights.append((b - a) * weight)
    return np.concatenate(points), np.concatenate(weights)


def _integral(log_mass: FloatArray, loss: FloatArray, order: float) -> float:
    """The divergence of a finite sum: centred when the moments are moderate, in logarithms when they are not."""
    if order == 1:
        return float(np.sum(np.exp(log_mass) * loss))
    exponent = (order - 1) * loss
    total = log_mass + exponent
    top = float(np.max(total))
    if top > 30 or float(np.max(exponent)) > 300:
        return (top + math.log(float(np.sum(np.exp(total - top))))) / (order - 1)
    return math.log1p(float(np.sum(np.exp(log_mass) * np.expm1(exponent)))) / (order - 1)


def renyi_divergence(
    log_density: LogDensity,
    t: float,
    s: float,
    order: float,
    *,
    kinks: Iterable[float] = (),
    reverse: bool = False,
    tolerance: float = 1e-11,
) -> float:
    """The Renyi divergence of order >= 1 of Z against e^t Z + s (or, reversed, of e^t Z + s against Z).

    Args:
        log_density: Log of the symmetric density of Z, called with x >= 0.
        t: Logarithm of the ratio of scales.
        s: The shift.
        order: Renyi order; 1 means Kullback-Leibler.
        kinks: Points x > 0 where the density is not smooth or changes its scale; 0 is always one.
        reverse: Take the divergence in the other direction.
        tolerance: Relative change between two refinements at which the rule stops.

    Example:
        >>> gauss = lambda x: -0.5 * x * x - 0.5 * math.log(2 * math.pi)
        >>> round(renyi_divergence(gauss, 0.0, 0.5, 3.0), 12)
        0.375
    """
    if reverse:
        return renyi_divergence(log_density, -t, -s * math.exp(-t), order, kinks=kinks, tolerance=tolerance)
    own = np.array([0.0, *(sign * k for k in kinks for sign in (-1, 1))])
    breaks = np.unique(np.concatenate([own, s + math.exp(t) * own]))
    previous = value = change = math.inf
    for level in range(4, 11):
        x, weight = _nodes(breaks, 32 * 2**level // 8)
        with np.errstate(over="ignore", invalid="ignore"):
            log_p = log_density(np.abs(x))
            loss = log_p + t - log_density(np.abs(np.exp(-t) * (x - s)))
        seen = np.isfinite(log_p) & np.isfinite(loss)
        value = _integral(np.log(weight[seen]) + log_p[seen], loss[seen], order)
        change = abs(value - previous) / abs(value) if value else abs(previous)
        if change <= tolerance:
            return value
        previous = value
    if not change <= 1e-7:
        raise ArithmeticError(f"the quadrature of order {order} does not converge at t={t}, s={s}")
    return value
