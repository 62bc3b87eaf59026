"""Exact output laws of the peers' quantile mechanisms, written down from their sources and checked against their draws.

A simulated error misses rare far answers, and the least of several such errors misses them most. Where a mechanism is
an exponential mechanism over gaps (diffprivlib, Tumult) or a noisy maximum over candidates (OpenDP), its error is
computed.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.peers.libraries import QUANTILES

FINE, COARSE = 10_001, 1001  # OpenDP's candidates, as its adapter has them


@dataclass(frozen=True, slots=True)
class Pieces:
    """A mixture of uniform laws on intervals; an interval of no width is a point."""

    chance: Any
    low: Any
    high: Any

    def rmse(self, truth):
        """Root mean square error: the mean square of a uniform law on [a, b] is (a² + ab + b²)/3."""
        a, b = self.low - truth, self.high - truth
        return math.sqrt(float(np.sum(self.chance * (a * a + a * b + b * b) / 3)))

    def cdf(self, at):
        """Probability of an answer up to a point."""
        width = self.high - self.low
        inside = np.where(width > 0, (at - self.low) / np.where(width > 0, width, 1), at >= self.low)
        return float(np.sum(self.chance * np.clip(inside, 0, 1)))

    def median_error(self, truth):
        """Median absolute error, by bisection."""
        low, high = 0.0, float(max(abs(self.low - truth).max(), abs(self.high - truth).max()))
        for _ in range(60):
            middle = (low + high) / 2
            inside = self.cdf(truth + middle) - self.cdf(truth - middle) + self._at(truth - middle)
            low, high = (low, middle) if inside >= 0.5 else (middle, high)
        return high

    def _at(self, point):
        return float(np.sum(self.chance[(self.low == self.high) & (self.low == point)]))


def gaps(values, low, high, q, slope):
    """The exponential mechanism over the gaps between rows: exp(-slope |i - q n|) times the width of gap i."""
    rows = np.clip(np.sort(values), low, high)
    ends = np.concatenate([[low], rows, [high]])
    width = np.diff(ends)
    height = -slope * np.abs(np.arange(len(rows) + 1) - q * len(rows))
    with np.errstate(divide="ignore"):
        weight = np.log(width) + height
    chance = np.exp(weight - weight.max())
    return Pieces(chance / chance.sum(), ends[:-1], ends[1:])


def diffprivlib(values, low, high, q, epsilon):
    """Utility -|i - q n| of sensitivity 1, by `Exponential` with the widths as measure: slope epsilon / 2."""
    return gaps(values, low, high, q, epsilon / 2)


def tmlt(values, low, high, q, epsilon):
    """Sensitivity max(q, 1 - q) under add/remove: slope epsilon / (2 max(q, 1 - q))."""
    return gaps(values, low, high, q, epsilon / (2 * max(q, 1 - q)))


def opendp(values, low, high, q, epsilon, candidates):
    """Scores |(1 - q) #below - q #above| of sensitivity 1, exponential noise of scale 2/epsilon, the least score wins.

    With E_i the noise, P(i wins) = ∫ f_i(x) Π_{j≠i} F_j(x) dx over x above the best score; candidates with equal scores
    share one factor. The substitution x = best - b log(1 - u) spreads the points where the integrand lives.
    """
    points = np.linspace(low, high, candidates)
    rows = np.sort(values)
    below, upto = np.searchsorted(rows, points, "left"), np.searchsorted(rows, points, "right")
    score = -np.abs((1 - q) * below - q * (len(rows) - upto)) * epsilon / 2  # in units of the noise's scale
    levels, group, size = np.unique(np.round(score, 9), return_inverse=True, return_counts=True)
    above = np.linspace(0, 60 + math.log(candidates), 6001)[1:]  # x - best, in units of the scale
    chance = np.zeros(len(levels))
    step = above[1] - above[0]
    log_f = np.zeros(len(above))
    behind = levels - levels[-1]
    for gap, count in zip(behind, size, strict=True):
        if gap > -45:
            log_f += count * np.log1p(-np.exp(-(above - step / 2 - gap)))
    for place, gap in enumerate(behind):
        if gap > -45:
            at = above - step / 2 - gap
            chance[place] = np.sum(np.exp(-at + log_f - np.log1p(-np.exp(-at)))) * step
    chance /= np.sum(chance * size)
    return Pieces(chance[group], points, points)


@dataclass(frozen=True, slots=True)
class Noise:
    """Laplace noise of a scale, the answer cut to an interval."""

    scale: float
    low: float = -math.inf
    high: float = math.inf

    def rmse(self, truth):
        """A side with room a has s² - exp(-a/s)(a s + s²): the inner integral and the point at the end."""
        sides = 0.0
        for room in (truth - self.low, self.high - truth):
            sides += self.scale**2
            if room < math.inf:
                sides -= math.exp(-room / self.scale) * (room * self.scale + self.scale**2)
        return math.sqrt(sides)

    def median_error(self, truth):
        """Scale times log 2, or the room on the nearer side: half of the answers go there."""
        return min(self.scale * math.log(2), truth - self.low, self.high - truth)


@dataclass(frozen=True, slots=True)
class Whole:
    """Two-sided geometric noise, P(k) proportional to exp(-epsilon |k|), the answer cut to whole numbers low..high."""

    epsilon: float
    low: float = -math.inf
    high: float = math.inf

    def _law(self, truth):
        reach = math.ceil(60 / self.epsilon)
        noise = np.arange(-reach, reach + 1)
        chance = np.exp(-self.epsilon * np.abs(noise))
        return np.clip(truth + noise, self.low, self.high) - truth, chance / chance.sum()

    def rmse(self, truth):
        """Root mean square error, summed."""
        error, chance = self._law(truth)
        return math.sqrt(float(np.sum(chance * error**2)))

    def median_error(self, truth):
        """Median absolute error."""
        error, chance = self._law(truth)
        order = np.argsort(np.abs(error))
        return float(np.abs(error)[order][np.searchsorted(np.cumsum(chance[order]), 0.5)])


def of_cell(library, cell, values):
    """The law of a library's answer to a cell of the main table, or None where it has to be simulated."""
    if library not in LAWS or cell.table != "main":
        return None
    known, epsilon = cell.public, cell.epsilon
    cut = {"low": known.low, "high": known.high}
    if cell.query == "mean" and library != "tmlt":
        scale = (known.high - known.low) / len(values) / epsilon
        return Noise(scale, **(cut if library == "diffprivlib" else {}))
    if cell.query == "count" and library != "tmlt":
        return Whole(epsilon, **({"low": 0, "high": len(values)} if library == "diffprivlib" else {}))
    if cell.query not in QUANTILES:
        return None
    q = QUANTILES[cell.query]
    if library == "opendp":
        candidates = COARSE if cell.query in ("min", "max") else FINE
        return opendp(values, known.low, known.high, q, epsilon, candidates)
    return LAWS[library](values, known.low, known.high, q, epsilon)


LAWS = {"opendp": opendp, "diffprivlib": diffprivlib, "tmlt": tmlt}
