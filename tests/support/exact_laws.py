"""Tail probabilities P(|Z| > x) of the unit-scale families, written from the definitions, for the tests."""

import numpy as np
from scipy import special


def polyplace(alpha):
    q = np.exp(alpha * np.log1p(-1 / alpha))
    c = alpha - 1 + 2 * q

    def tail(x):
        inner = 1 - (alpha - 1) * (1 - np.maximum(1 - x, 0.0) ** alpha) / c
        outer = (alpha + 1) * (1 - alpha**-2.0) ** alpha * (1 + x) ** -alpha / c
        return np.where(x < 1 / alpha, inner, outer)

    return tail


def laplace_log_normal(sigma):
    y, step = np.linspace(-13, 13, 1401, retstep=True)
    weight = np.exp(-y * y / 2) / np.sqrt(2 * np.pi) * step

    def tail(x):
        return np.array([np.sum(weight * np.exp(-v * np.exp(-sigma * y))) for v in np.atleast_1d(x)])

    return tail


def uniform_log_normal(sigma):
    def tail(x):
        with np.errstate(divide="ignore"):
            level = np.log(x) / sigma
        upper = special.ndtr(-level) - x * np.exp(sigma**2 / 2) * special.ndtr(-(level + sigma))
        return np.where(x > 0, upper, 1.0)

    return tail


def laplace_pareto(alpha):
    b = 1 + alpha
    extra = np.exp(-b) / alpha

    def tail(x):
        inner = (np.exp(-np.minimum(x, b)) + extra) / (1 + extra)
        return np.where(x <= b, inner, extra * b * (np.maximum(x, b) / b) ** -alpha / (1 + extra))

    return tail


def generalized_cauchy(p, theta):
    return lambda x: special.betainc(theta - 1 / p, 1 / p, 1 / (1 + x**p))


TAILS = {
    "laplace": lambda x: np.exp(-x),
    "gaussian": lambda x: special.erfc(x / np.sqrt(2)),
    "student-t 3": lambda x: 2 * special.stdtr(3, -x),
    "generalized-cauchy 4, 1": generalized_cauchy(4.0, 1.0),
    "generalized-cauchy 2, 1": generalized_cauchy(2.0, 1.0),
    "generalized-cauchy 5/2, 3/2": generalized_cauchy(2.5, 1.5),
    "generalized-cauchy 2, 15.5": generalized_cauchy(2.0, 15.5),
    "generalized-cauchy 27/25, 44/5": generalized_cauchy(1.08, 8.8),
    "polyplace 10": polyplace(10.0),
    "polyplace 1.5": polyplace(1.5),
    "polyplace 1000": polyplace(1000.0),
    "laplace-log-normal 0.5": laplace_log_normal(0.5),
    "uniform-log-normal 1.5": uniform_log_normal(1.5),
    "arsinh-normal 1.15": lambda x: special.erfc(np.arcsinh(1.15 * x) / (1.15 * np.sqrt(2))),
    "laplace-pareto 9": laplace_pareto(9.0),
    "laplace-pareto 1.5": laplace_pareto(1.5),
}


def cell_probabilities(tail, location, ratio, low, high):
    """P(k <= low), P(low+1), ..., P(high-1), P(k >= high) for k = floor(location + ratio Z + 1/2)."""
    edges = (np.arange(low, high) + 0.5 - location) / ratio
    half = tail(np.abs(edges)) / 2
    below = np.where(edges < 0, half, 1 - half)
    return np.diff(np.concatenate([[0.0], below, [1.0]]))
