"""Laplace-log-normal noise X exp(sigma Y): the first concentrated noise for smooth bounds.

Bun and Steinke 2019, section 3.1. Its closed bound is used; ``docs/proofs/log_normal.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lgamma
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.noise.concentrated import newton_inverse
from sordino.noise.log_normal_transform import log_laplace_transform
from sordino.noise.sigma_shaped import SigmaShaped
from sordino.privacy.conversion import ball

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, repr=False)
class LaplaceLogNormal(SigmaShaped):
    """The law of X exp(sigma Y), X standard Laplace and Y standard normal.

    Example:
        >>> round(LaplaceLogNormal(sigma=0.5).variance, 6)
        3.297443
    """

    name = "laplace-log-normal"
    summary = "Laplace times log-normal; concentrated by a closed bound, dominated by arsinh-normal"
    methods = ("analytic",)

    @classmethod
    def cases(cls) -> Iterator[LaplaceLogNormal]:
        """Yield narrow and heavy shapes."""
        for sigma in ("0.02", "0.125", "0.5", "1", "1.75"):
            yield cls(Fraction(sigma))

    def _logpdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        # f(x) = (e^{s^2/2}/2) E exp(-x e^{s^2 + sY}), the tail function at x e^{s^2}.
        s = float(self.sigma)
        with np.errstate(divide="ignore"):
            return s * s / 2 - np.log(2) + log_laplace_transform(np.log(x) + s * s, s)

    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.exp(log_laplace_transform(np.log(x), float(self.sigma)))

    def _inside(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give P(|Z| <= x), accurate for small x."""
        with np.errstate(divide="ignore"):
            return -np.expm1(log_laplace_transform(np.log(x), float(self.sigma)))

    def _tail_inverse(self, tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
        return newton_inverse(self, tail, centre)

    def _moment(self, order: float) -> float:
        s = float(self.sigma)
        return float(np.exp(s * s * order * order / 2 + lgamma(order + 1)))

    def location_score_bound(self) -> Any:
        """Give the exact sup |d log f/dx| as a ball: e^{3 sigma^2/2}, reached at 0 (Bun and Steinke 2019, Lemma 20)."""
        return (3 * ball(self.sigma) ** 2 / 2).exp()
