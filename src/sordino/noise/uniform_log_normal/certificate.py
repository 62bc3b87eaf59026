"""The uniform-log-normal law U exp(sigma Y) as the certificate sees it."""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy import optimize, special

from sordino.certification.semiconvexity import enclose_kappa
from sordino.certification.shape import LOG_TWO, FloatArray, LogNormalTail


def mills(g: FloatArray | float) -> FloatArray:
    """Q(g)/phi(g), the Mills ratio of the normal law; its inverse is the hazard."""
    return np.asarray(math.sqrt(math.pi / 2) * special.erfcx(np.asarray(g) / math.sqrt(2)))


def excess(g: FloatArray | float) -> FloatArray:
    """h(g) - g, the normal hazard above its argument: decreasing from -g to 1/g."""
    g = np.asarray(g, dtype=float)
    return np.asarray(np.where(g < -30, -g, 1 / mills(np.maximum(g, -30)) - g))


@functools.lru_cache(maxsize=4096)
def where_excess(level: float) -> float:
    """The g with h(g) - g = level."""
    return float(
        optimize.brentq(
            lambda g: float(excess(g)) - level, -level - 1, max(1.0, 2 / level), xtol=1e-13, rtol=1e-13
        )
    )


class UniformLogNormalShape(LogNormalTail):
    """Z = U exp(sigma*Y), U uniform on [-1, 1]; g = sigma + log(x)/sigma, h the normal hazard."""

    __slots__ = ()
    family = "uniform-log-normal"
    certified_range = (0.03, 2.5)
    search_range = (0.2, 2.0)

    def tail(self, x: FloatArray) -> FloatArray:
        """Q(l) - x e^(sigma^2/2) Q(l+sigma) = phi(l) (M(l) - M(l+sigma)) with l = log(x)/sigma."""
        sigma = self.parameter
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            l = np.log(x) / sigma
            near = special.ndtr(-l) - x * math.exp(sigma * sigma / 2) * special.ndtr(-l - sigma)
            # inside, both terms are at most 1 and their difference is not small
            far = np.exp(-0.5 * l * l) / math.sqrt(2 * math.pi) * (mills(l) - mills(l + sigma))
        return np.asarray(np.where(l > 0, far, near))

    @property
    def tail_error(self) -> float:
        """The difference of Mills ratios loses at most (l+sigma)/sigma, l <= 38; exp loses l^2/2 ulps."""
        return 2e-12 + 2e-14 / self.parameter

    def log_density(self, x: FloatArray) -> FloatArray:
        """sigma^2/2 - log 2 + log Q(g)."""
        sigma = self.parameter
        with np.errstate(divide="ignore"):
            g = sigma + np.log(x) / sigma
        return np.asarray(sigma * sigma / 2 - LOG_TWO + special.log_ndtr(-g))

    def score(self, x: FloatArray) -> FloatArray:
        """h(g)/(sigma x), which vanishes with all derivatives at 0."""
        return self._score(x, 1)

    def _score(self, x: FloatArray, power: int) -> FloatArray:
        """h(g)/(sigma x^power)."""
        sigma = self.parameter
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            g = sigma + np.log(x) / sigma
            log_hazard = -0.5 * g * g - 0.5 * math.log(2 * math.pi) - special.log_ndtr(-g)
            low = np.exp(log_hazard - math.log(sigma) - power * np.log(x))
            high = 1 / (mills(g) * sigma * x**power)
        return np.asarray(np.where(x <= 0, 0.0, np.where(g > 0, high, low)))

    def _at(self, g: float) -> float:
        """The x of a g."""
        return math.exp(self.parameter * (g - self.parameter))

    def knots(self) -> tuple[float, ...]:
        """The score rises while h - g > sigma, then falls."""
        return (self._at(where_excess(self.parameter)),)

    def score_supremum(self) -> float:
        """h(g*) e^(sigma^2 - sigma g*)/sigma; h rises and the exponential falls, so a bracket of g* bounds it."""
        sigma = self.parameter
        g = where_excess(sigma)
        hazard = 1 / float(mills(g + 1e-10))
        return hazard * math.exp(sigma * sigma - sigma * (g - 1e-10)) / sigma * (1 + 1e-12)

    def kappa(self, shift: float) -> float:
        """By monotone pieces: score' = (score/x) ((h-g)/sigma - 1); score/x turns where h - g = 2 sigma."""
        sigma = self.parameter

        def derivative(a: FloatArray, b: FloatArray) -> FloatArray:
            first, second = self._score(a, 2), self._score(b, 2)
            bottom = excess(sigma + np.log(b) / sigma) / sigma - 1  # decreasing, so least at b
            return np.asarray(np.minimum(bottom * first, bottom * second))

        def beyond(z: float) -> float:
            return float(self.score(np.array([z]))[0])  # -score' <= score/z

        knots = (*self.knots(), self._at(where_excess(2 * sigma)))
        return enclose_kappa(self.score, derivative, beyond, knots, shift)

    def far(self, order: float, smoothing: float, shift: float) -> float:
        """Post-processing of a Gaussian shift by tau/sigma: no constant."""
        return self._far(order, smoothing, shift, 0.0)

    def outer_far(self, edge: float, smoothing: float, shift: float) -> tuple[float, float, float]:
        """The moment below with its normal tail replaced by 1, largest at tau = gamma."""
        extra = math.log1p(shift / edge)
        c = (extra + smoothing) / self.parameter
        g = self.parameter + math.log(edge) / self.parameter
        fixed = max(math.log(self.parameter * float(mills(g))), 0.0)
        ratio = math.log(float(mills(g)) / float(mills(g + c)))
        return c * c / 2 + 1e-12, extra + ratio, fixed

    def outer_log_moment(self, orders: FloatArray, edge: float, t: float, s: float) -> FloatArray:
        """Contraction: beyond the edge the loss is at most c g + k, as M(g)/M(g+c) falls in g."""
        if t >= 0:
            return self._outer_dilation(orders, edge, t, s)
        sigma, more = self.parameter, orders - 1
        c = (math.log1p(s / edge) - t) / sigma
        g = sigma + math.log(edge) / sigma
        k = c * c / 2 + math.log(float(mills(g)) / float(mills(g + c))) + t
        quantity = (
            math.log(0.5 * sigma * float(mills(g)))
            + more * (k + c * sigma)
            + (more * c) ** 2 / 2
            + special.log_ndtr(sigma + more * c - g)
        )
        return np.asarray(LOG_TWO + quantity + 1e-12 * (1 + (more * c) ** 2))

    def std(self) -> float:
        """E Z^2 = e^(2 sigma^2)/3."""
        return math.exp(self.parameter**2) / math.sqrt(3) if self.parameter < 18 else math.inf
