"""Exact output laws of the peers' quantile mechanisms, written down from their sources and checked against their draws.

A simulated error misses rare far answers, and the least of several such errors misses them most. Where a mechanism is
an exponential mechanism over gaps (diffprivlib, Tumult) or a noisy maximum over candidates (OpenDP), its error is
computed.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.peers.moment_laws import bisected

NODES = 2000  # of the integral of a noisy maximum
SHIFTS = 32  # of a grid of candidates, by fractions of its step


@dataclass(frozen=True, slots=True)
class Pieces:
    """A mixture of uniform laws on intervals; an interval of no width is a point."""

    chance: Any
    low: Any
    high: Any
    doubt: float = field(default=0.0, init=False)

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
        most = max(abs(self.low - truth).max(), abs(self.high - truth).max())
        return bisected(
            lambda away: self.cdf(truth + away) - self.cdf(truth - away) + self._at(truth - away), most
        )

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


def opendp(values, points, q, epsilon):
    """Scores |(1 - q) #below - q #above| of sensitivity 1, exponential noise of scale 2/epsilon, the least score wins.

    With E_i the noise, P(i wins) = ∫ f_i(x) Π_{j≠i} F_j(x) dx over x above the best score; candidates with equal scores
    share one factor.
    """
    rows = np.sort(values)
    below, upto = np.searchsorted(rows, points, "left"), np.searchsorted(rows, points, "right")
    score = -np.abs((1 - q) * below - q * (len(rows) - upto)) * epsilon / 2  # in units of the noise's scale
    levels, group, size = np.unique(np.round(score, 9), return_inverse=True, return_counts=True)
    behind = np.exp(levels - levels[-1])
    near = behind > 1e-19  # the others never win
    step = (60 + math.log(len(points))) / NODES
    decay = np.exp(-step * (np.arange(NODES) + 0.5))  # exp(-(x - best)) in units of the scale
    log_f = np.zeros(NODES)
    for factor, count in zip(behind[near], size[near], strict=True):
        log_f += count * np.log1p(-factor * decay)
    chance, density = np.zeros(len(levels)), decay * np.exp(log_f)
    chance[near] = [float(np.sum(density * factor / (1 - factor * decay))) for factor in behind[near]]
    chance /= np.sum(chance * size)
    return Pieces(chance[group], points, points)


def shifted_rmse(values, points, q, epsilon, truth, shifts=SHIFTS):
    """OpenDP's error when its equally spaced candidates did not happen to lie where they do.

    The root mean square over shifts of all candidates by -1/2 .. 1/2 of a step; none leaves the bounds.
    """
    step = points[1] - points[0]
    places = (np.arange(shifts) + 0.5) / shifts - 0.5
    found = [
        opendp(values, np.clip(points + place * step, points[0], points[-1]), q, epsilon).rmse(truth)
        for place in places
    ]
    return math.sqrt(float(np.mean(np.square(found))))
