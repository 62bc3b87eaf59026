"""Arsinh-normal noise sinh(sigma Y)/sigma: the best concentrated noise for smooth bounds, once priced exactly.

Bun and Steinke 2019 (section 3.3) dismiss it by a loose bound; the certified price is in
``docs/proofs/certification.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.noise.gaussian.law import normal_size
from sordino.noise.sigma_shaped import SigmaShaped
from sordino.privacy.conversion import ball

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, repr=False)
class ArsinhNormal(SigmaShaped):
    """The law of sinh(sigma Y)/sigma for a standard normal Y; every moment is finite.

    Example:
        >>> round(ArsinhNormal(sigma=0.5).std, 6)
        1.139053
    """

    name = "arsinh-normal"
    summary = "sinh of a normal; the least noise known for concentrated DP under a smooth bound"

    @classmethod
    def cases(cls) -> Iterator[ArsinhNormal]:
        """Yield shapes from nearly normal to heavy."""
        for sigma in ("0.01", "0.25", "0.5", "1", "1.1547", "3"):
            yield cls(Fraction(sigma))

    def _logpdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        s = float(self.sigma)
        v = np.arcsinh(s * x)
        # log cosh v = v + log1p(e^{-2v}) - log 2
        return -((v / s) ** 2) / 2 - 0.5 * np.log(2 * np.pi) - (v + np.log1p(np.exp(-2 * v)) - np.log(2))

    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import erfc

        s = float(self.sigma)
        return erfc(np.arcsinh(s * x) / (s * np.sqrt(2)))

    def _tail_inverse(self, tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
        s = float(self.sigma)
        normal = normal_size(tail, centre)
        return np.sinh(s * normal) / s

    def _moment(self, order: float) -> float:
        s = float(self.sigma)
        if order == 2:
            return float(np.expm1(2 * s * s) / (2 * s * s))
        if order == 1:
            from scipy.special import erf

            return float(np.exp(s * s / 2) * erf(s / np.sqrt(2)) / s)
        return _folded_normal_mean(lambda y: order * (np.log(np.sinh(s * y)) - np.log(s)), order * s)

    def location_score_bound(self) -> Any:
        """Give an upper bound on |d log f/dx| as a ball: 2/(3 sigma) + sigma/2 (Bun and Steinke 2019, Lemma 28)."""
        s = ball(self.sigma)
        return 2 / (3 * s) + s / 2

    def _dilation_root(self, smoothing: Fraction) -> Any:
        """Give sqrt(2 rho) of a mere change of scale: sqrt(t (t/sigma^2 + 1/sigma + 2)); Theorem 25."""
        t, s = ball(smoothing), ball(self.sigma)
        return (t * (t / (s * s) + 1 / s + 2)).sqrt()


def _folded_normal_mean(log_function: Any, peak: float) -> float:
    """Give E exp(log_function(|Y|)) for a standard normal Y by double-exponential quadrature."""
    from scipy.integrate import tanhsinh

    def log_integrand(y: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(all="ignore"):
            return log_function(y) - y * y / 2 + 0.5 * np.log(2 / np.pi)

    top = peak + 40.0
    middle = max(peak, 1.0)
    parts = [
        tanhsinh(log_integrand, a, b, log=True, rtol=np.log(1e-14)).integral
        for a, b in ((0, middle), (middle, top))
    ]
    return float(np.exp(np.real(np.logaddexp(np.real(parts[0]), np.real(parts[1])))))
