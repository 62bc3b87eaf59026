"""The radius of a d-dimensional piecewise Laplace answer: shells, their masses and the exact radial law.

The density in R^d depends on ``r = norm(y - f)`` only: shell l has outer radius ``B_l = R_1 + ... + R_l`` and the score
grows linearly from l - 1 to l across it; beyond the last shell it grows by 1 per ``tail``. No rejection is needed.
Mathematics: docs/proofs/mechanism_radial.md. The mechanism is radial.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np


class RadialLaw:
    """Law of the radius, density ``~ r^(dimension-1) exp(-slope score(r))``.

    Args:
        radii: Widths ``R_1, R_2, ...`` of the shells; zero widths are skipped but keep their level.
        tail: Width of every later shell; None ends the law after the last one.
        dimension: d, at least 1.
        slope: Nats per level.

    Example:
        >>> law = RadialLaw([0.5, 0.75, 1.0, 3.0], tail=4.0, dimension=1, slope=0.25)
        >>> [round(float(mass), 6) for mass in law.masses]
        [0.051229, 0.059845, 0.062143, 0.145192, 0.681591]
    """

    def __init__(
        self,
        radii: Sequence[float | Fraction],
        *,
        tail: float | Fraction | None,
        dimension: int,
        slope: float | Fraction,
    ) -> None:
        self.dimension, self.slope = dimension, float(slope)
        self.edges = np.concatenate([[0.0], np.cumsum([float(radius) for radius in radii])])
        self.widths = np.diff(self.edges)
        self.tail = None if tail is None else float(tail)
        # The exponent varies by one slope inside a shell only, so Gauss-Legendre is exact to rounding.
        self._nodes, self._weights = np.polynomial.legendre.leggauss(dimension // 2 + 12 + int(self.slope))
        self._top = math.log(
            float(self.edges[-1]) + (0.0 if self.tail is None else self.tail * dimension / self.slope)
        )
        logs = [self._log_shell(level, 1.0) for level in range(1, len(self.edges))]
        logs.append(self._log_tail())
        peak = max(logs)
        shares = np.exp(np.array(logs) - peak)
        self.log_normalizer = peak + math.log(float(shares.sum())) + (dimension - 1) * self._top
        self.masses = shares / shares.sum()

    def _log_shell(self, level: int, part: float, power: int = 0) -> float:
        """Log integral of r^(d-1+power) exp(-slope score) over the inner part of a shell, powers scaled by the top."""
        inner, width = self.edges[level - 1], self.widths[level - 1]
        if width == 0 or part <= 0:
            return -math.inf
        places = (self._nodes + 1) / 2 * part
        with np.errstate(divide="ignore"):
            heights = (self.dimension - 1 + power) * (np.log(inner + width * places) - self._top)
        terms = heights - self.slope * (level - 1 + places) + np.log(self._weights / 2 * width * part)
        peak = float(terms.max())
        return peak + math.log(float(np.exp(terms - peak).sum()))

    def tail_terms(self, power: int = 0) -> list[float]:
        """Logs of the d positive terms of the tail: ``r = B + Gamma(j+1)/rate`` with weight of term j."""
        if self.tail is None:
            return []
        start, rate = float(self.edges[-1]), self.slope / self.tail
        last = len(self.edges) - 1
        order = self.dimension - 1 + power
        log_start = math.log(start) if start > 0 else -math.inf
        terms = []
        for j in range(order + 1):
            rest = (order - j) * log_start if order > j else 0.0
            choose = math.lgamma(order + 1) - math.lgamma(order - j + 1)  # binomial times j!
            terms.append(choose + rest - (j + 1) * math.log(rate) - order * self._top - self.slope * last)
        return terms

    def _log_tail(self, power: int = 0) -> float:
        terms = self.tail_terms(power)
        if not terms:
            return -math.inf
        peak = max(terms)
        return peak + math.log(math.fsum(math.exp(term - peak) for term in terms))

    def cdf(self, radius: float) -> float:
        """Probability of a radius that is not larger."""
        if radius <= 0:
            return 0.0
        level = int(np.searchsorted(self.edges, radius, side="left"))
        if level < len(self.edges):
            inside = float(self.masses[: level - 1].sum())
            part = (radius - self.edges[level - 1]) / self.widths[level - 1]
            whole = self._log_shell(level, 1.0)
            return inside + float(self.masses[level - 1]) * math.exp(self._log_shell(level, part) - whole)
        if self.tail is None:
            return 1.0
        return 1.0 - float(self.masses[-1]) * self._tail_survival(radius)

    def _tail_survival(self, radius: float) -> float:
        from scipy.special import gammaincc

        rate = self.slope / float(self.tail or 1.0)
        excess = (radius - float(self.edges[-1])) * rate
        terms = np.array(self.tail_terms())
        weights = np.exp(terms - terms.max())
        survivals = gammaincc(np.arange(1, len(terms) + 1), excess)
        return float((weights * survivals).sum() / weights.sum())

    def logpdf(self, radius: float) -> float:
        """Log density of the radius."""
        if radius <= 0:
            return -math.inf
        level = int(np.searchsorted(self.edges, radius, side="left"))
        if level < len(self.edges):
            score = level - 1 + (radius - self.edges[level - 1]) / self.widths[level - 1]
        elif self.tail is not None:
            score = len(self.edges) - 1 + (radius - self.edges[-1]) / self.tail
        else:
            return -math.inf
        return float((self.dimension - 1) * math.log(radius) - self.slope * score - self.log_normalizer)

    def _moment(self, power: int) -> float:
        logs = [self._log_shell(level, 1.0, power) for level in range(1, len(self.edges))]
        logs.append(self._log_tail(power))
        log_mass = self.log_normalizer - (self.dimension - 1) * self._top
        return math.exp(power * self._top) * math.fsum(math.exp(log - log_mass) for log in logs)

    def mean(self) -> float:
        """Expected radius."""
        return self._moment(1)

    def mean_squared_radius(self) -> float:
        """Expected squared radius: the expected squared distance of the answer from the truth in the norm."""
        return self._moment(2)

    def mean_squared_error(self, value: float) -> float:
        """Expected squared difference between the radius and a number."""
        return self._moment(2) - 2 * value * self._moment(1) + value * value
