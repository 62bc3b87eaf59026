"""PolyPlace (unit scale, shape alpha > 1) as the certificate sees it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sordino.certification.shape import FloatArray, PowerTail


class PolyPlaceShape(PowerTail):
    """f ~ (1-|x|)^(alpha-1) inside 1/alpha, ~ (1+|x|)^(-alpha-1) outside, joined with equal slopes."""

    __slots__ = ()
    family = "polyplace"
    above = 1
    certified_range = (1.01, 2000.0)
    least_price = Fraction(3, 10**6)
    search_range = (2.02, 2000.0)
    # At its edge, past which dilation exhausts the price, PolyPlace is cheapest: the search is finer and leaves room.
    search_aim = 0.998
    search_precision = 0.002

    @classmethod
    def search_limits(cls, rho: float, smoothing: float) -> tuple[float, float]:
        """Steeper laws pay for the dilation at orders whose moments no double can hold."""
        low, high = cls.search_range
        return (
            (low, max(min(high, 28 * math.sqrt(rho) / smoothing), 2 * low)) if smoothing > 0 else (low, high)
        )

    def _constants(self) -> tuple[float, float, float]:
        """Q = (1-1/a)^a, C = a-1+2q, log((1-1/a^2)^a)."""
        a = self.parameter
        q = math.exp(a * math.log1p(-1 / a))
        return q, a - 1 + 2 * q, a * math.log1p(-1 / (a * a))

    def tail(self, x: FloatArray) -> FloatArray:
        """Both branches in logarithms."""
        a = self.parameter
        _, c, joint = self._constants()
        inside = 1 + (a - 1) * np.expm1(a * np.log1p(-np.minimum(x, 1 / a))) / c
        outside = (a + 1) / c * np.exp(joint - a * np.log1p(x))
        return np.asarray(np.where(x < 1 / a, inside, outside))

    @property
    def tail_error(self) -> float:
        """Elementary functions; the exponent a*log(...) of size up to 700 costs its own ulps."""
        return 1e-13 * max(1.0, self.parameter / 100)

    def log_density(self, x: FloatArray) -> FloatArray:
        """Log of the two branches."""
        a = self.parameter
        _, c, joint = self._constants()
        norm = math.log(a / (2 * c))
        inside = math.log(a - 1) + (a - 1) * np.log1p(-np.minimum(x, 1 / a))
        outside = math.log(a + 1) + joint - (a + 1) * np.log1p(x)
        return np.asarray(norm + np.where(x < 1 / a, inside, outside))

    def score(self, x: FloatArray) -> FloatArray:
        """(a-1)/(1-x) up to 1/a, then (a+1)/(1+x)."""
        a = self.parameter
        return np.asarray(np.where(x < 1 / a, (a - 1) / (1 - np.minimum(x, 1 / a)), (a + 1) / (1 + x)))

    def knots(self) -> tuple[float, ...]:
        """The score is largest where the branches meet."""
        return (1 / self.parameter,)

    def turning_points(self, t: float, s: float) -> tuple[float, ...]:
        """On every pair of branches the score is c/(1 + b x), so the derivative of the loss has one zero at most.

        c_z e^-t (1 + b_x x) = c_x (1 + b_z z) is linear in x; zeros off their branches are harmless nodes.
        """
        a = self.parameter
        branches = [(side * (a + kind), side * kind) for side in (-1, 1) for kind in (-1, 1)]
        shrink = math.exp(-t)
        found = []
        for c_x, b_x in branches:
            for c_z, b_z in branches:
                slope = shrink * (c_z * b_x - c_x * b_z)
                constant = shrink * c_z - c_x * (1 - b_z * shrink * s)
                if slope != 0:
                    found.append(-constant / slope)
        return tuple(found)

    @property
    def power(self) -> float:
        """The density falls like x^-(a+1)."""
        return self.parameter + 1

    def deficit(self, x: float) -> float:
        """(a+1) log(1 + 1/x)."""
        return (self.parameter + 1) * math.log1p(1 / x)

    def kappa(self, shift: float) -> float:
        """The maxima of k on the four pieces of the real line, in closed form."""
        a, e = self.parameter, shift
        pieces = [(a - 1) * e * (1 - e)] if e <= 0.5 else [(a - 1) / 4 if e < 1 else 0.0]
        if e > 1 / a:
            pieces.append((a + 1) * (1 + e) * (e - 1 / a) / (1 + 1 / a) ** 2)
        if e > 1:
            pieces.append((a + 1) * (e - 1) * (e + 1 / a) / (1 + 1 / a) ** 2)
        return max(pieces)

    def std(self) -> float:
        """Lemma 13 of Hladík and Tětek 2022, simplified; infinite up to alpha = 2."""
        a = self.parameter
        if a <= 2:
            return math.inf
        q, c, _ = self._constants()
        top = (a - 2) * (a - 1) ** 2 + (19 * a * a + 5) * q
        return math.sqrt(2 * top / (c * (a * a - 1) * (a * a - 4)))
