"""The concentrated price of Laplace-log-normal noise by quadrature: a number for figures, not a proof.

The product prices this family by its closed bound (Bun and Steinke 2019, Theorem 18). Here the supremum over orders
of D_order/order is taken numerically at the two corner pairs, both directions; nothing is released by it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sordino import checks
from sordino.noise.laplace_log_normal import LaplaceLogNormal

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: At larger orders D_order/order tends to (smoothing/sigma)^2/2, which the choice of sigma keeps within rho.
ORDERS = np.concatenate([[1.0], 1 + np.geomspace(1e-2, 150.0, 48)])
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)
#: Distances from a kink, in units of the shift, at which panels end: order a looks as far as e^(a smoothing).
_PANELS = 2.0 ** np.arange(-14.0, 200.0)


@lru_cache(maxsize=16)
def _log_density(sigma: float) -> Callable[[Floats], Floats]:
    """The log density as a spline in log x: the integral behind it is too slow to be asked a million times."""
    from scipy.interpolate import CubicSpline

    places = np.linspace(-28.0, 150.0, 7000)
    spline = CubicSpline(places, LaplaceLogNormal(Fraction(sigma)).logpdf(np.exp(places)))
    return lambda x: np.asarray(spline(np.log(np.clip(np.abs(x), 1e-12, 1e65))))


def _grid(shift: float) -> tuple[Floats, Floats]:
    """Gauss-Legendre panels that shrink towards the kinks 0 and shift of the two densities."""
    steps = shift * _PANELS
    ends = np.concatenate([[0.0, shift], *(kink + sign * steps for kink in (0.0, shift) for sign in (-1, 1))])
    ends = np.unique(ends)
    half = np.diff(ends) / 2
    middle = ends[:-1] + half
    return (middle[:, None] + half[:, None] * _NODES).ravel(), (half[:, None] * _WEIGHTS).ravel()


def price(sigma: float, smoothing: float, shift: float) -> float:
    """Estimate rho of Laplace-log-normal noise of scale S/shift: sup of D_order/order over orders and corner pairs.

    Example:
        >>> round(price(0.1, 0.1, 1.19), 2)  # Theorem 18 says 0.94 at best
        0.5
    """
    checks.positive("price", sigma=sigma)
    checks.positive("price", shift=shift)
    density = _log_density(float(sigma))
    worst = 0.0
    for t in {0.0, float(smoothing)}:
        # The shift is at most the smaller bound, which is 1 here: e^t Z + shift against Z.
        x, weight = _grid(shift)
        near, far = density(x), density((x - shift) * math.exp(-t)) - t
        for p, q in ((near, far), (far, near)):
            loss = p - q
            mass = np.log(weight) + p
            total = mass + np.outer(ORDERS[1:] - 1, loss)
            top = total.max(axis=1, keepdims=True)
            logs = top[:, 0] + np.log(np.exp(total - top).sum(axis=1))
            values = np.concatenate([[float(np.sum(np.exp(mass) * loss))], logs / (ORDERS[1:] - 1)])
            worst = max(worst, float(np.max(values / ORDERS)))
    return worst


@dataclass(frozen=True, slots=True)
class LeastNoise:
    """The best shape found and the standard deviation per unit of smooth sensitivity."""

    sigma: float
    std: float


@lru_cache(maxsize=1024)
def least_noise(rho: float, smoothing: float) -> LeastNoise | None:
    """Find the least standard deviation whose numerical price is rho; None where dilation costs everything.

    A shape below smoothing/sqrt(2 rho) cannot pay for the dilation at large orders, so the search starts there.

    Example:
        >>> round(least_noise(0.5, 0.1).std, 2)
        1.19
    """
    least = max(smoothing / math.sqrt(2 * rho), 1e-3)
    best: LeastNoise | None = None
    for factor in (1.0, 1.05, 1.15, 1.3):
        sigma = least * factor
        shift = _largest_shift(sigma, smoothing, rho)
        tried = None if shift is None else LeastNoise(sigma, math.sqrt(2) * math.exp(sigma * sigma) / shift)
        if best is not None and (tried is None or tried.std >= best.std):
            break  # past the best shape
        best = tried
    return best


def _largest_shift(sigma: float, smoothing: float, rho: float) -> float | None:
    """The shift whose price is rho, by the secant rule in logarithms with a bracket."""
    low, high = None, None
    shift = math.sqrt(2 * rho)
    for _ in range(40):
        # At the least shape the price tends to rho from below as the order grows: allow for rounding there.
        excess = price(sigma, smoothing, shift) / (rho * (1 + 1e-6)) - 1
        if excess <= 0:
            low = shift
        else:
            high = shift
        if low is not None and high is not None:
            if high / low < 1 + 1e-4:
                return low
            shift = math.sqrt(low * high)
        else:
            shift *= 2.0 if high is None else 0.5
        if shift < 1e-4 * rho:
            return None
    return low
