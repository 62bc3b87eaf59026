"""Logistic noise: a noise family of one's own, in one file: its law, its promise and its exact sampler.

The density ``e^-x / (1 + e^-x)^2`` has a score of at most 1, so that noise of scale ``1 / epsilon`` per unit of a
global bound is pure epsilon. Under a smooth bound it promises nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gamma
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.exact.recipe import Fast, Guard, Recipe
from sordino.noise import Noise
from sordino.noise.calibration import Calibration, choose_method, too_smooth
from sordino.privacy import Pure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sordino.exact.balls import Ball
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform

# A head is known to 2^-54 + 2^-63, and the guard keeps 1 - |x| above 2^-20: log(1 - |x|) is off by at most 2^-33.9.
# The logarithms themselves (at most 14.6) and the product with the scale add less than 2^-44.
TOLERANCE = 2.0**-33


@dataclass(frozen=True, slots=True, repr=False)
class Logistic(Noise):
    """Density ``e^-|x| / (1 + e^-|x|)^2``.

    Example:
        >>> Logistic.calibrate(Pure(0.5), smoothing=0).scale
        Fraction(2, 1)
    """

    name = "logistic"
    summary = "like Laplace noise without its peak; pure with a global bound"

    @classmethod
    def cases(cls) -> Iterator[Logistic]:
        """There is one shape."""
        yield cls()

    def _logpdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return -x - 2 * np.log1p(np.exp(-x))

    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        shrunk = np.exp(-x)
        return 2 * shrunk / (1 + shrunk)

    def _tail_inverse(self, tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log1p(centre) - np.where(tail < 0.5, np.log(tail), np.log1p(-centre))

    def _moment(self, order: float) -> float:
        from scipy.special import zeta

        if order == 1:
            return float(2 * np.log(2))
        # E|Z|^p = 2 Gamma(p + 1) eta(p), eta(p) = (1 - 2^(1 - p)) zeta(p) continued through p < 1.
        if order > 1:
            return float(2 * gamma(order + 1) * (1 - 2 ** (1 - order)) * zeta(order))
        from mpmath import altzeta

        return float(2 * gamma(order + 1) * altzeta(order))

    @classmethod
    def _calibrate_pure(cls, price: Pure, smoothing: Fraction | None, method: str | None) -> Calibration:
        method = choose_method(cls.name, method, "global")
        if smoothing:
            raise too_smooth(
                cls.name, smoothing, "or equal to 0", price, "PolyPlace is pure under a smooth bound"
            )
        return Calibration(cls(), Fraction(0), 1 / price.epsilon, price, method, "laplace")

    def _price_pure(self, scale: Fraction, smoothing: Fraction, method: str | None) -> Pure:
        choose_method(self.name, method, "global")
        if smoothing:
            raise too_smooth(self.name, smoothing, "or equal to 0", Pure(1 / scale), "PolyPlace")
        return Pure(1 / scale)


@dataclass(frozen=True, slots=True)
class LogisticRecipe(Recipe):
    """How it is drawn exactly: ``log((1 + X) / (1 - X))`` for X uniform on [-1, 1)."""

    guards: ClassVar[tuple[Guard, ...]] = (Guard.ENDS,)

    def fast(self, f: Functions, *x: Any) -> Fast:
        """In floats, with a proved tolerance."""
        (v,) = x
        return Fast(f.log(1.0 + v) - f.log(1.0 - v), TOLERANCE)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same formula in balls."""
        (v,) = u
        size = v.magnitude()
        return ((1 + size) / (1 - size)).log() * v.sign()
