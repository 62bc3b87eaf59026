"""Brute force over the admissible pairs of smooth sensitivity: Z against e^t Z + s, by the densities alone."""

import functools

import numpy as np

TAILS = np.concatenate((10.0 ** -np.arange(0.02, 300, 3.0), np.linspace(0.02, 0.98, 33)))


@functools.lru_cache(maxsize=8)
def sizes(noise):
    """Sizes at which the law may behave unlike elsewhere: quantiles far into the tail, small numbers, kinks."""
    # Both sides of a kink: at a jump itself, rounding would choose the side for p and for q separately.
    near = np.concatenate((kinks(noise) * (1 - 1e-9), kinks(noise), kinks(noise) * (1 + 1e-9)))
    if hasattr(noise, "breaks"):
        near = np.concatenate((kinks(noise) * (1 - 1e-9), kinks(noise) * (1 + 1e-9)))
    found = np.concatenate((noise.isf(TAILS / 2), np.geomspace(1e-9, 1e3, 120), near))
    return found[np.isfinite(found) & (found < 1e290)]


def points(noise, t, s):
    """Points where the log ratio is likely to be extreme: quantiles of both laws, their centres and kinks."""
    own = np.concatenate(([0.0], sizes(noise), -sizes(noise)))
    other = own * np.exp(t) + s
    return np.concatenate((own, other, own + s))


def kinks(noise):
    shape = {name: float(value) for name, value in noise.shape.items()}
    if noise.name == "polyplace":
        return np.array([1 / shape["alpha"]])
    if noise.name == "laplace-pareto":
        return np.array([1 + shape["alpha"]])
    if hasattr(noise, "breaks"):  # a law with jumps lists them
        return noise.breaks()
    return np.array([1.0])


def log_ratio(noise, t, s):
    """Largest |log p(x)/q(x)| over the points, p the law of Z and q the law of e^t Z + s."""
    x = points(noise, t, s)
    with np.errstate(all="ignore"):
        p = noise.logpdf(x)
        q = noise.logpdf((x - s) * np.exp(-t)) - t
    difference = (p - q)[np.isfinite(p) & np.isfinite(q)]
    return float(np.max(np.abs(difference)))


def dilations(smoothing):
    return sorted({0.0, *(sign * smoothing * share for sign in (-1, 1) for share in (0.25, 0.5, 0.9, 1.0))})


def worst_log_ratio(noise, smoothing, shift):
    """Supremum of the loss over |t| <= smoothing, |s| <= shift*min(1, e^t)."""
    return max(
        log_ratio(noise, t, shift * min(1.0, np.exp(t)) * share)
        for t in dilations(smoothing)
        for share in (0.3, 1.0)
    )


def hockey_stick(noise, t, s, epsilon):
    """delta of e^t Z + s against Z by counting mass in fine cells: exact up to the cells where the sign changes."""
    edges = np.unique(points(noise, t, s))
    fine = np.unique(
        np.concatenate([np.linspace(a, b, 40) for a, b in zip(edges[:-1], edges[1:], strict=True)])
    )
    upper = np.concatenate((fine[fine >= 0], [np.inf]))
    lower = np.concatenate(([-np.inf], fine[fine <= 0]))

    def masses(cdf, sf):
        above = sf(upper[:-1]) - np.concatenate((sf(upper[1:-1]), [0.0]))
        below = cdf(lower[1:]) - np.concatenate(([0.0], cdf(lower[1:-1])))
        return np.concatenate((below, above))

    p = masses(lambda x: noise.cdf((x - s) * np.exp(-t)), lambda x: noise.sf((x - s) * np.exp(-t)))
    q = masses(noise.cdf, noise.sf)
    return float(np.sum(np.maximum(p - np.exp(epsilon) * q, 0)))


def worst_hockey_stick(noise, smoothing, shift, epsilon):
    worst = 0.0
    for t in dilations(smoothing):
        s = shift * min(1.0, np.exp(t))
        worst = max(worst, hockey_stick(noise, t, s, epsilon))
    return worst
