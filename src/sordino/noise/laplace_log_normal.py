"""Laplace-log-normal noise X exp(sigma Y): the first concentrated noise for smooth bounds.

Bun & Steinke (paper 004, section 3.1). Its closed bound is used; ``docs/proofs/log_normal.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lgamma
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.noise import Noise
from sordino.noise.calibration import Calibration, choose_method
from sordino.noise.concentrated import newton_inverse
from sordino.privacy import Concentrated
from sordino.privacy.conversion import ball, evaluate, upper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

NODES = 97
CHUNK = 1 << 14


@dataclass(frozen=True, slots=True, repr=False)
class LaplaceLogNormal(Noise):
    """The law of X exp(sigma Y), X standard Laplace and Y standard normal.

    Example:
        >>> round(LaplaceLogNormal(sigma=0.5).variance, 6)
        3.297443
    """

    name = "laplace-log-normal"
    summary = "Laplace times log-normal; concentrated by a closed bound, dominated by arsinh-normal"
    sigma: Fraction

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, sigma: checks.Number) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", checks.positive(self.name, sigma=self.sigma))

    @classmethod
    def cases(cls) -> Iterator[LaplaceLogNormal]:
        """Yield narrow and heavy shapes."""
        for sigma in ("0.02", "0.125", "0.5", "1", "1.75"):
            yield cls(Fraction(sigma))

    def _logpdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        # f(x) = (e^{s^2/2}/2) E exp(-x e^{s^2 + sY}), the tail function at x e^{s^2}.
        s = float(self.sigma)
        with np.errstate(divide="ignore"):
            return s * s / 2 - np.log(2) + self._log_tail(np.log(x) + s * s)

    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.exp(self._log_tail(np.log(x)))

    def _log_tail(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give log E exp(-e^u e^{sY}) by the trapezoidal rule around the saddle point, in chunks."""
        flat = np.ravel(u)
        result = np.where(flat > 0, -np.inf, 0.0)  # at x = infinity and x = 0
        inner = np.flatnonzero(np.isfinite(flat))
        for start in range(0, inner.size, CHUNK):
            chosen = inner[start : start + CHUNK]
            result[chosen] = self._saddle(flat[chosen])
        return np.where(np.isnan(flat), np.nan, result).reshape(np.shape(u))

    def _saddle(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import wrightomega

        # The exponent -y^2/2 - e^{u+sy} peaks at y0 = -w/s with w = W(s^2 e^u); with y = y0 + d it is
        # -w^2/(2s^2) - w/s^2 - d^2/2 - (w/s^2)(e^{sd} - 1 - sd), so only d is integrated.
        s = float(self.sigma)
        w = wrightomega(u + 2 * np.log(s))
        weight = w / (s * s)
        step, left = _mesh(w, s)
        d = left[:, None] + step[:, None] * np.arange(NODES)
        z = s * d
        # e^z - 1 - z without cancellation for small z.
        bulge = np.where(
            np.abs(z) < 0.03,
            z * z * (1 / 2 + z * (1 / 6 + z * (1 / 24 + z * (1 / 120 + z * (1 / 720 + z / 5040))))),
            np.expm1(z) - z,
        )
        total = np.exp(-d * d / 2 - weight[:, None] * bulge).sum(axis=1)
        return -w * w / (2 * s * s) - weight + np.log(step / np.sqrt(2 * np.pi) * total)

    def _inside(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give P(|Z| <= x) = -E expm1(-x e^{sY}); the integrand peaks between 0 and s."""
        s = float(self.sigma)
        y = np.arange(-9.0, 9.0 + s, min(0.15, 0.1 / s))
        weights = np.exp(-y * y / 2) * (y[1] - y[0]) / np.sqrt(2 * np.pi)
        flat = np.ravel(x)
        result = np.empty_like(flat)
        for start in range(0, flat.size, CHUNK):
            part = flat[start : start + CHUNK]
            with np.errstate(over="ignore"):
                result[start : start + CHUNK] = -(np.expm1(-part[:, None] * np.exp(s * y)) @ weights)
        return result.reshape(np.shape(x))

    def _tail_inverse(self, tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
        return newton_inverse(self, tail, centre)

    def _moment(self, order: float) -> float:
        s = float(self.sigma)
        return float(np.exp(s * s * order * order / 2 + lgamma(order + 1)))

    def location_score_bound(self) -> Any:
        """Give the exact sup |d log f/dx| as a ball: e^{3 sigma^2/2}, attained at 0 (paper 004, Lemma 20)."""
        return (3 * ball(self.sigma) ** 2 / 2).exp()

    @classmethod
    def _calibrate_concentrated(
        cls,
        target: Concentrated,
        smoothing: Fraction | None,
        method: str | None,
        sigma: Fraction | None = None,
    ) -> Calibration:
        from sordino.noise.concentrated import calibrate_by_scores

        choose_method(cls.name, method, "analytic")
        return calibrate_by_scores(cls, target, smoothing, sigma)

    def _price_concentrated(self, scale: Fraction, smoothing: Fraction, method: str | None) -> Concentrated:
        choose_method(self.name, method, "analytic")

        def rho() -> Any:
            return (self._dilation_root(smoothing) + self.location_score_bound() / ball(scale)) ** 2 / 2

        return Concentrated(upper(evaluate(rho)))

    def _dilation_root(self, smoothing: Fraction) -> Any:
        """Give sqrt(2 rho) of a change of scale alone: t/sigma, a shift of the normal in the exponent."""
        return ball(smoothing) / ball(self.sigma)


def _mesh(w: NDArray[np.float64], s: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Choose the step and left end of the mesh in d: beyond it the integrand is below e^-42 of its peak."""
    drop = 42.0
    weight = w / (s * s)

    def depth(d: NDArray[np.float64]) -> NDArray[np.float64]:
        z = np.minimum(s * d, 700.0)
        return d * d / 2 + weight * (np.expm1(z) - z)

    spread = np.sqrt(2 * drop / (1 + w))
    right, left = spread.copy(), -np.sqrt(2 * drop) * np.ones_like(w)
    for _ in range(4):  # both ends by a few secant-like contractions towards depth = drop, kept outside
        shrink = np.sqrt(drop / np.maximum(depth(left), drop))
        left = np.where(depth(left * shrink) >= drop, left * shrink, left * np.sqrt(shrink))
        left = np.where(depth(left) >= drop, left, left / np.sqrt(shrink))
    return (right - left) / (NODES - 1), left
