"""Output laws of counts, means and variances: noise alone, a noisy sum over a noisy count, and very many draws.

A law has `rmse`, `median_error` and `cdf`; `doubt` is the error of the logarithm of `rmse`, zero where it is exact.
Which library has which law is told elsewhere.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.peers import scores


def bisected(inside, most):
    """The least distance within which half of the answers lie."""
    low, high = 0.0, float(most)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if inside(middle) >= 0.5 else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class Whole:
    """A count plus noise in whole numbers, the answer cut to low..high."""

    count: float
    noise: Any
    chance: Any
    low: float = -math.inf
    high: float = math.inf
    doubt: float = field(default=0.0, init=False)

    def _error(self, truth):
        return np.clip(self.count + self.noise, self.low, self.high) - truth

    def rmse(self, truth):
        """Root mean square error, summed."""
        return math.sqrt(float(np.sum(self.chance * self._error(truth) ** 2)))

    def median_error(self, truth):
        """Median absolute error."""
        error = np.abs(self._error(truth))
        order = np.argsort(error)
        return float(error[order][np.searchsorted(np.cumsum(self.chance[order]), 0.5)])

    def cdf(self, at):
        """Probability of an answer up to a point."""
        return float(self.chance[self._error(0.0) <= at].sum())


def geometric(count, epsilon, low=-math.inf, high=math.inf):
    """Two-sided geometric noise, P(k) proportional to exp(-epsilon |k|)."""
    reach = math.ceil(60 / epsilon)
    noise = np.arange(-reach, reach + 1)
    chance = np.exp(-epsilon * np.abs(noise))
    return Whole(count, noise, chance / chance.sum(), low, high)


def rounded(count, epsilon, *, down=False):
    """Laplace noise of scale 1/epsilon, then rounded to the nearest whole number or down."""
    reach = math.ceil(60 / epsilon)
    noise = np.arange(-reach, reach + 1)
    edges = (np.arange(-reach, reach + 2) - (0.0 if down else 0.5)) * epsilon
    half = np.exp(-np.abs(edges)) / 2
    chance = np.diff(np.where(edges < 0, half, 1 - half))
    return Whole(count, noise, chance / chance.sum())


@dataclass(frozen=True, slots=True)
class Laplaces:
    """A mixture of Laplace laws, the answer cut to an interval; plain Laplace noise is a mixture of one."""

    chance: Any
    centre: Any
    scale: Any
    low: float = -math.inf
    high: float = math.inf
    doubt: float = field(default=0.0, init=False)

    def rmse(self, truth):
        """For g(x) = (cut(x) - t)², E g(c + U) = g(c) + ∫ g'(c + u) exp(-u/s) du with U exponential; either side alike.

        g' is 2 (x - t) within the cut and nothing outside, so that ∫ = [-2 s exp(-u/s) (c + u - t + s)] between the
        places where the cut is entered and left.
        """
        start = (np.clip(self.centre, self.low, self.high) - truth) ** 2
        both = 0.0
        for side in (1.0, -1.0):  # the left side is the right side of the mirrored law
            centre, at = side * self.centre, side * truth
            ends = (self.low, self.high) if side > 0 else (-self.high, -self.low)
            enter, leave = (np.maximum(end - centre, 0.0) for end in ends)
            both = both + start + self._tail(enter, centre - at) - self._tail(leave, centre - at)
        return math.sqrt(float(np.sum(self.chance * both / 2)))

    def _tail(self, away, ahead):
        """2 s exp(-u/s) (u + c - t + s), which is nothing at infinity."""
        finite = np.where(np.isfinite(away), away, 0.0)
        value = 2 * self.scale * np.exp(-finite / self.scale) * (finite + ahead + self.scale)
        return np.where(np.isfinite(away), value, 0.0)

    def cdf(self, at):
        """Probability of an answer up to a point."""
        if at >= self.high:
            return 1.0
        if at < self.low:
            return 0.0
        away = (at - self.centre) / self.scale
        half = np.exp(-np.abs(away)) / 2
        return float(np.sum(self.chance * np.where(away < 0, half, 1 - half)))

    def median_error(self, truth):
        """Median absolute error, by bisection; a cut answer sits at the end of the interval."""

        def inside(distance):
            below = truth - distance
            return self.cdf(truth + distance) - (0.0 if below <= self.low else self.cdf(below))

        return bisected(inside, np.max(np.abs(self.centre - truth)) + 50 * np.max(self.scale))


def laplace(centre, scale, low=-math.inf, high=math.inf):
    """Laplace noise of a scale, the answer cut to an interval."""
    return Laplaces(np.ones(1), np.array([float(centre)]), np.array([float(scale)]), low, high)


def quotient(total, rows, middle, *, sum_scale, count_scale, low=-math.inf, high=math.inf, cells=3000):
    """(total + Laplace) / max(1, rows + Laplace) + middle: given the denominator a Laplace law, so a mixture.

    The denominator is cut into cells that are narrow where it is small (for there the quotient is large) and about the
    number of rows; each has its exact probability.
    """
    far = rows + 60 * count_scale
    near = np.geomspace(1.0, rows, cells + 1)
    about = rows + count_scale * np.linspace(-30, 30, cells + 1)
    edges = np.unique(np.concatenate([near, about[(about > 1) & (about < far)], [far]]))
    away = (edges - rows) / count_scale
    half = np.exp(-np.abs(away)) / 2
    below = np.where(away < 0, half, 1 - half)
    chance = np.concatenate([[below[0]], np.diff(below)])
    denominator = np.concatenate([[1.0], (edges[1:] + edges[:-1]) / 2])
    kept = chance > 0
    chance, denominator = chance[kept] / chance[kept].sum(), denominator[kept]
    return Laplaces(chance, total / denominator + middle, sum_scale / denominator, low, high)


def mixed(parts):
    """A mixture of mixtures: (probability, law) pairs of laws that are not cut."""
    return Laplaces(
        np.concatenate([share * law.chance for share, law in parts]),
        np.concatenate([law.centre for _, law in parts]),
        np.concatenate([law.scale for _, law in parts]),
    )


@dataclass(frozen=True, slots=True)
class Sample:
    """Very many draws, where there is no closed form; answers that are not a number are left out."""

    values: Any
    doubt: float = 0.0

    def rmse(self, truth):
        """Root mean square error."""
        return scores.score("", self.values, truth).rmse

    def median_error(self, truth):
        """Median absolute error."""
        return scores.score("", self.values, truth).median

    def cdf(self, at):
        """Share of the draws up to a point."""
        return float(np.mean(self.values[np.isfinite(self.values)] <= at))
