"""How far an answer is from the statistic of the sample: exactly, from the law of the answer on public data.

Rounding to the public grid and clipping to the public range are counted. How the errors of several columns are
summed up is the planner's business.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from sordino.mechanisms.additive.additive import AdditiveLaw
from sordino.mechanisms.additive.geometric import GeometricLaw
from sordino.mechanisms.parts.law import LatticeLaw, MixtureLaw

COARSE = 20  # a grid of more than a twentieth of the scale is summed point by point
POINTS = 20_000
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


class Errors(Protocol):
    """The law of the error of one answer."""

    def within(self, distance: float) -> float:
        """Probability of an error of at most this."""

    @property
    def mean_square(self) -> float:
        """Expected squared error."""


class ErrorLaw:
    """The law of the error of one answer on one public column.

    Args:
        law: The law of the answer before it is rounded and clipped.
        truth: The statistic of the column.
        step: The grid to which answers are rounded; None where the law lives on its own lattice.
        low: Answers are clipped to at least this.
        high: Answers are clipped to at most this.

    Example:
        >>> from sordino.noise.laplace import Laplace
        >>> law = ErrorLaw(AdditiveLaw(Laplace(), value=0, scale=1.0), truth=Fraction(0), step=2.0**-20)
        >>> round(law.within(math.log(2)), 4), round(law.mean_square, 4)
        (0.5, 2.0)
    """

    def __init__(
        self,
        law: Any,
        *,
        truth: Fraction,
        step: float | None,
        low: float = -math.inf,
        high: float = math.inf,
    ) -> None:
        self.law, self.truth, self.step = law, truth, step
        self.low, self.high = low, high
        inner = law.parts[0][1] if isinstance(law, MixtureLaw) else law
        self._lattice = (inner.low, inner.step) if isinstance(inner, LatticeLaw) else None

    def within(self, distance: float) -> float:
        """Probability of an error of at most this."""
        if self._lattice is not None:
            origin, step = self._lattice
            reach = Fraction(distance)
            below = math.ceil((self.truth - reach - origin) / step) - 1
            under, over = 0.0, 1.0
            if self.truth - reach > self.low:
                under = self.law.cdf(origin + step * below + step / 2)
            if self.truth + reach < self.high:
                over = self.law.cdf(self.truth + reach)
            return float(over - under)
        upper, lower = float(self.truth) + distance, float(self.truth) - distance
        return self.at_most(upper) - self.less_than(lower)

    def at_most(self, value: float) -> float:
        """Probability of an answer that is not larger."""
        if value >= self.high:
            return 1.0
        if self.step is None:
            return float(self.law.cdf(value))
        return float(self.law.cdf((math.floor(value / self.step) + 0.5) * self.step))

    def less_than(self, value: float) -> float:
        """Probability of a smaller answer."""
        if value <= self.low:
            return 0.0
        if self.step is None:
            return float(self.law.cdf(value))
        return float(self.law.cdf((math.ceil(value / self.step) - 0.5) * self.step))

    @property
    def mean_square(self) -> float:
        """Expected squared error."""
        if isinstance(self.law, GeometricLaw) and math.isfinite(self.high - self.low):
            return self._whole()
        if not isinstance(self.law, AdditiveLaw):
            rounding = 0.0 if self.step is None else self.step**2 / 12
            return float(self.law.mean_squared_error(self.truth)) + rounding
        if self.law.scale == 0:
            return (self.law.value - float(self.truth)) ** 2
        if self.step is not None and self.step > self.law.scale / COARSE:
            reach = self.law.scale * float(self.law.noise.isf(1e-12)) / self.step
            if reach <= POINTS:
                return self._summed(math.ceil(reach) + 1)
        rounding = 0.0 if self.step is None else self.step**2 / 12
        return self._integral(upward=True) + self._integral(upward=False) + rounding

    def _whole(self) -> float:
        """Point by point for whole-number noise; what lies outside the range counts at its ends."""
        law = self.law
        reach = math.ceil(40 / law.rate)
        first, last = (
            max(law.value - reach, math.ceil(self.low)),
            min(law.value + reach, math.floor(self.high)),
        )
        points = np.arange(first, last + 1)
        chances = math.tanh(law.rate / 2) * np.exp(-law.rate * np.abs(points - law.value))
        inside = float(np.sum(chances * (points - float(self.truth)) ** 2))
        ends = ((law.cdf_point(first - 1), self.low), (1 - law.cdf_point(last), self.high))
        return inside + sum(chance * (end - float(self.truth)) ** 2 for chance, end in ends)

    def _summed(self, reach: int) -> float:
        """Point by point on the grid."""
        assert self.step is not None
        law = self.law
        points = self.step * (round(law.value / self.step) + np.arange(-reach, reach + 1))
        upper = np.asarray(law.noise.cdf((points + self.step / 2 - law.value) / law.scale))
        lower = np.asarray(law.noise.cdf((points - self.step / 2 - law.value) / law.scale))
        errors = np.clip(points, self.low, self.high) - float(self.truth)
        return float(np.sum((upper - lower) * errors**2))

    def _integral(self, *, upward: bool) -> float:
        """``int 2 t P(error > t) dt`` on one side, up to where the answer is clipped."""
        law, truth = self.law, float(self.truth)
        sign = 1.0 if upward else -1.0
        bias = sign * (law.value - truth)
        limit = self.high - truth if upward else truth - self.low
        if limit <= 0:
            return 0.0
        if math.isinf(limit):
            # Both sides together are the variance and the squared bias.
            return 0.5 * (law.scale**2 * law.noise.variance + bias**2)
        sizes = law.scale * np.geomspace(1e-4, max(limit / law.scale, 1.0) * 2, 80)
        cuts = np.concatenate([[0.0, limit], sizes, bias + sizes, bias - sizes])
        cuts = np.unique(np.clip(cuts, 0.0, limit))
        half = np.diff(cuts)[:, None] / 2
        places = (cuts[:-1, None] + half) + half * NODES
        tails = np.asarray(law.noise.sf((places - bias) / law.scale))
        return float(np.sum(half * WEIGHTS * 2 * places * tails))


class ShortfallLaw:
    """The law of the error of a choice from a public list: how far the chosen one is from the best.

    Args:
        chances: Probability of every entry.
        gaps: How far each falls short.

    Example:
        >>> law = ShortfallLaw(np.array([0.75, 0.25]), np.array([0, 8]))
        >>> law.within(0), law.within(8), law.mean_square
        (0.75..., 1.0, 16.0)
    """

    def __init__(self, chances: np.ndarray[Any, Any], gaps: np.ndarray[Any, Any]) -> None:
        # A chance of one in a million million is none: nobody reads an error of 1e-23 rows.
        self.chances, self.gaps = np.where(chances < 1e-12, 0.0, chances), gaps

    def within(self, distance: float) -> float:
        """Probability of an error of at most this."""
        return min(1.0, float(self.chances[self.gaps <= distance * (1 + 1e-9)].sum()) + 1e-9)

    @property
    def mean_square(self) -> float:
        """Expected squared error."""
        return float(np.sum(self.chances * np.square(self.gaps, dtype=np.float64)))
