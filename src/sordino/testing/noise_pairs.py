"""Brute force over the admissible pairs of smooth sensitivity: Z against e^t Z + s, by the densities alone."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.noise import Noise

    Floats = NDArray[np.float64]

TAILS = np.concatenate((10.0 ** -np.arange(0.02, 300, 3.0), np.linspace(0.02, 0.98, 33)))


@functools.lru_cache(maxsize=8)
def sizes(noise: Noise) -> Floats:
    """Sizes at which the law may behave unlike elsewhere: quantiles far into the tail, small numbers, kinks."""
    # Both sides of a kink: at a jump itself, rounding would choose the side for p and for q separately.
    near = np.concatenate((kinks(noise) * (1 - 1e-9), kinks(noise), kinks(noise) * (1 + 1e-9)))
    if hasattr(noise, "breaks"):
        near = np.concatenate((kinks(noise) * (1 - 1e-9), kinks(noise) * (1 + 1e-9)))
    found = np.concatenate((noise.isf(TAILS / 2), np.geomspace(1e-9, 1e3, 120), near))
    return np.asarray(found[np.isfinite(found) & (found < 1e290)])


def points(noise: Noise, t: float, s: float) -> Floats:
    """Points where the log ratio is likely to be extreme: quantiles of both laws, their centres and kinks."""
    own = np.concatenate(([0.0], sizes(noise), -sizes(noise)))
    other = own * np.exp(t) + s
    return np.asarray(np.concatenate((own, other, own + s)))


def kinks(noise: Noise) -> Floats:
    """Where the density changes its form, at unit scale."""
    shape = {name: float(value) for name, value in noise.shape.items()}
    if noise.name == "polyplace":
        return np.array([1 / shape["alpha"]])
    if noise.name == "laplace-pareto":
        return np.array([1 + shape["alpha"]])
    if hasattr(noise, "breaks"):  # a law with jumps lists them
        found: Floats = noise.breaks()
        return found
    return np.array([1.0])


def log_ratio(noise: Noise, t: float, s: float) -> float:
    """Largest |log p(x)/q(x)| over the points, p the law of Z and q the law of e^t Z + s."""
    x = points(noise, t, s)
    with np.errstate(all="ignore"):
        p = noise.logpdf(x)
        q = noise.logpdf((x - s) * np.exp(-t)) - t
    difference = (p - q)[np.isfinite(p) & np.isfinite(q)]
    return float(np.max(np.abs(difference)))


def dilations(smoothing: float) -> list[float]:
    """Logarithms of ratios of two smooth bounds."""
    return sorted({0.0, *(sign * smoothing * share for sign in (-1, 1) for share in (0.25, 0.5, 0.9, 1.0))})


def worst_log_ratio(noise: Noise, smoothing: float, shift: float) -> float:
    """Supremum of the loss over |t| <= smoothing, |s| <= shift*min(1, e^t)."""
    return max(
        log_ratio(noise, t, shift * min(1.0, np.exp(t)) * share)
        for t in dilations(smoothing)
        for share in (0.3, 1.0)
    )


def hockey_stick(noise: Noise, t: float, s: float, epsilon: float) -> float:
    """Delta of e^t Z + s against Z by counting mass in fine cells: exact up to the cells where the sign changes."""
    edges = np.unique(points(noise, t, s))
    fine = np.unique(np.concatenate([np.linspace(a, b, 40) for a, b in itertools.pairwise(edges)]))
    upper = np.concatenate((fine[fine >= 0], [np.inf]))
    lower = np.concatenate(([-np.inf], fine[fine <= 0]))

    def masses(cdf: Callable[[Any], Any], sf: Callable[[Any], Any]) -> Any:
        above = sf(upper[:-1]) - np.concatenate((sf(upper[1:-1]), [0.0]))
        below = cdf(lower[1:]) - np.concatenate(([0.0], cdf(lower[1:-1])))
        return np.concatenate((below, above))

    p = masses(lambda x: noise.cdf((x - s) * np.exp(-t)), lambda x: noise.sf((x - s) * np.exp(-t)))
    q = masses(noise.cdf, noise.sf)
    return float(np.sum(np.maximum(p - np.exp(epsilon) * q, 0)))


def worst_hockey_stick(noise: Noise, smoothing: float, shift: float, epsilon: float) -> float:
    """Supremum of delta over dilations with the largest shift."""
    worst = 0.0
    for t in dilations(smoothing):
        s = shift * min(1.0, np.exp(t))
        worst = max(worst, hockey_stick(noise, t, s, epsilon))
    return worst
