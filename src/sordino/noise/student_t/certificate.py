"""Student's t as the certificate sees it: any real number of degrees of freedom."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from sordino.certification.semiconvexity import enclose_kappa
from sordino.certification.shape import FloatArray, PowerTail


class StudentTShape(PowerTail):
    """Student's t with `parameter` degrees of freedom; f(x) ~ (1 + x^2/d)^(-(d+1)/2)."""

    __slots__ = ()
    family = "student-t"
    certified_range = (0.25, 2000.0)
    search_range = (2.02, 400.0)

    def tail(self, x: FloatArray) -> FloatArray:
        """Regularised incomplete beta; the complement near the middle keeps both branches accurate."""
        d = self.parameter
        square = x * x
        with np.errstate(over="ignore"):
            far = special.betainc(0.5 * d, 0.5, d / (d + square))
            near = special.betaincc(0.5, 0.5 * d, square / (d + square))
        return np.asarray(np.where(square > d, far, near))

    @property
    def tail_error(self) -> float:
        """Measured against ball arithmetic below 2e-14 for d <= 100 and growing slowly: ten times that."""
        return 2e-13 * max(1.0, self.parameter / 50)

    def log_density(self, x: FloatArray) -> FloatArray:
        """Log density through log1p."""
        d = self.parameter
        top = special.gammaln(0.5 * (d + 1)) - special.gammaln(0.5 * d) - 0.5 * math.log(math.pi * d)
        return np.asarray(top - 0.5 * (d + 1) * np.log1p(x * x / d))

    def score(self, x: FloatArray) -> FloatArray:
        """(d+1) x / (d + x^2)."""
        return np.asarray((self.parameter + 1) * x / (self.parameter + x * x))

    def knots(self) -> tuple[float, ...]:
        """The score is largest at sqrt(d)."""
        return (math.sqrt(self.parameter),)

    def turning_points(self, t: float, s: float) -> tuple[float, ...]:
        """Roots of s x^2 + (d - s^2 - d e^(2t)) x - d s = 0: one of each sign for s > 0."""
        d = self.parameter
        if s == 0:
            return (0.0,)
        b = -d * math.expm1(2 * t) - s * s
        q = -0.5 * (b + math.copysign(math.sqrt(b * b + 4 * d * s * s), b))
        return (q / s, -d * s / q)

    @property
    def power(self) -> float:
        """The density falls like x^-(d+1)."""
        return self.parameter + 1

    def deficit(self, x: float) -> float:
        """(d+1)/2 log(1 + d/x^2)."""
        return 0.5 * (self.parameter + 1) * math.log1p(self.parameter / (x * x))

    def kappa(self, shift: float) -> float:
        """Two bounds of k(z) = (d+1)(z+e)(e z^2 - 2dz - ed)/(d+z^2)^2, for z > 0 and for -e < z < 0.

        z > 0: k > 0 needs 1/z < e/(2d), and then k/(d+1) <= e/z + e^2/z^2.
        z = -w: e w^2 <= e^2 w and (d+w^2)^2 >= d^2 leave a parabola in w, largest at e(B+d)/(2B).
        """
        d, e = self.parameter, shift
        b = 2 * d + e * e
        w = e * (b + d) / (2 * b)
        closed = (d + 1) * max(e**2 / (2 * d) + e**4 / (4 * d * d), (e - w) * (b * w - e * d) / d**2)
        return closed if e * e < d else min(closed, self._covered_kappa(e))

    def _covered_kappa(self, shift: float) -> float:
        """By monotone pieces, much tighter for large shifts: score' = (d+1)(d-x^2)/(d+x^2)^2."""
        d = self.parameter

        def derivative(a: FloatArray, b: FloatArray) -> FloatArray:
            top = (d + 1) * (d - b * b)
            return np.asarray(np.minimum(top / (d + a * a) ** 2, top / (d + b * b) ** 2))

        return enclose_kappa(self.score, derivative, lambda z: (d + 1) / z, self.knots(), shift)

    def std(self) -> float:
        """sqrt(d/(d-2))."""
        return math.sqrt(self.parameter / (self.parameter - 2)) if self.parameter > 2 else math.inf
