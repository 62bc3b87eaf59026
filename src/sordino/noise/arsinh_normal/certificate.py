"""The arsinh-normal law sinh(sigma Y)/sigma as the certificate sees it."""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize, special

from sordino.certification.semiconvexity import enclose_kappa
from sordino.certification.shape import LOG_TWO, FloatArray, LogNormalTail


class ArsinhNormalShape(LogNormalTail):
    """Z = sinh(sigma*Y)/sigma with Y standard normal; v = asinh(sigma*x) throughout."""

    __slots__ = ()
    family = "arsinh-normal"
    certified_range = (0.03, 20.0)
    search_range = (0.03, 3.0)

    def tail(self, x: FloatArray) -> FloatArray:
        """erfc(v/(sigma sqrt 2))."""
        return np.asarray(special.erfc(np.arcsinh(self.parameter * x) / (self.parameter * math.sqrt(2))))

    @property
    def tail_error(self) -> float:
        """Erfc is good to a few ulp; its argument y <= 38 has a few ulp too, which costs y^2 times as much."""
        return 2e-12

    def log_density(self, x: FloatArray) -> FloatArray:
        """-v^2/(2 sigma^2) - log cosh v - log sqrt(2 pi)."""
        sigma = self.parameter
        v = np.arcsinh(sigma * x)
        return np.asarray(
            -0.5 * (v / sigma) ** 2 - 0.5 * np.log1p((sigma * x) ** 2) - 0.5 * math.log(2 * math.pi)
        )

    def score(self, x: FloatArray) -> FloatArray:
        """(v/sigma + sigma tanh v) / cosh v."""
        sigma = self.parameter
        v = np.arcsinh(sigma * x)
        cosh = np.sqrt(1 + (sigma * x) ** 2)
        return np.asarray((v / sigma + sigma * sigma * x / cosh) / cosh)

    def _turn(self, v: FloatArray | float) -> FloatArray:
        """Cosh^2 v times the score's derivative: decreasing in v > 0."""
        tanh = np.tanh(v)
        return np.asarray(1 - v * tanh + self.parameter**2 * (1 - 2 * tanh * tanh))

    def knots(self) -> tuple[float, ...]:
        """The only zero of the score's derivative."""
        top = 2 + self.parameter**2
        v = optimize.brentq(lambda w: float(self._turn(w)), 1e-9, top, xtol=1e-15, rtol=1e-14)
        return (math.sinh(v) / self.parameter,)

    def kappa(self, shift: float) -> float:
        """By monotone pieces: the derivative of the score is _turn(v)/cosh(v)^2, both factors monotone."""
        sigma = self.parameter

        def derivative(a: FloatArray, b: FloatArray) -> FloatArray:
            turn = self._turn(np.arcsinh(sigma * b))
            return np.asarray(np.minimum(turn / (1 + (sigma * a) ** 2), turn / (1 + (sigma * b) ** 2)))

        def beyond(z: float) -> float:
            # -score' <= (v + sigma^2)/(1 + sigma^2 z^2), and (asinh(x) + c)/x falls
            return (math.asinh(sigma * z) + sigma**2) / (sigma * sigma * z)

        return enclose_kappa(self.score, derivative, beyond, self.knots(), shift)

    def score_supremum(self) -> float:
        """Sup v/cosh v = .662743..., sup tanh v/cosh v = 1/2 (Bun and Steinke 2019, Lemma 28, rounded up)."""
        return 0.66275 / self.parameter + self.parameter / 2

    def far(self, order: float, smoothing: float, shift: float) -> float:
        """The factor 2 of E exp(c|Y|) <= 2 exp(c^2/2) leaves log 2."""
        return self._far(order, smoothing, shift, LOG_TWO)

    def outer_far(self, edge: float, smoothing: float, shift: float) -> tuple[float, float, float]:
        """The moment below with its normal tail replaced by 1, largest at tau = gamma."""
        extra = math.log1p(shift / edge)
        c = (extra + smoothing) / self.parameter
        return c * c / 2, extra, LOG_TWO

    def outer_log_moment(self, orders: FloatArray, edge: float, t: float, s: float) -> FloatArray:
        """Contraction: beyond the edge the loss is at most c y + c^2/2 + l, with y = v/sigma normal under P."""
        if t >= 0:
            return self._outer_dilation(orders, edge, t, s)
        sigma, more = self.parameter, orders - 1
        extra = math.log1p(s / edge)
        c = (extra - t) / sigma
        y = math.asinh(sigma * edge) / sigma
        quantity = more * (c * c / 2 + extra) + (more * c) ** 2 / 2 + special.log_ndtr(more * c - y)
        return np.asarray(LOG_TWO + quantity + 1e-12 * (1 + (more * c) ** 2))

    def std(self) -> float:
        """sqrt((e^(2 sigma^2) - 1)/(2 sigma^2))."""
        sigma = self.parameter
        exponent = 2 * sigma * sigma
        return math.sqrt(math.expm1(exponent) / exponent) if exponent < 700 else math.inf
