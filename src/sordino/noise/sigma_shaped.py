"""What the three laws driven by a normal variable share: the shape sigma, and their concentrated prices.

Arsinh-normal, uniform-log-normal and Laplace-log-normal (Bun and Steinke 2019, sections 3.1 to 3.3). No law of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.noise import Noise
from sordino.noise.calibration import Calibration, choose_method
from sordino.noise.concentrated import calibrate_by_scores, calibrate_certified, price_certified
from sordino.privacy import Concentrated
from sordino.privacy.conversion import ball, evaluate, upper


@dataclass(frozen=True, slots=True, repr=False)
class SigmaShaped(Noise):
    """A law with the shape ``sigma``; certified prices where a certificate exists, the papers' closed bounds else.

    Args:
        sigma: Shape, above 0: the larger, the heavier the tails.
    """

    methods: ClassVar[tuple[str, ...]] = ("certified", "analytic")
    sigma: Fraction

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, sigma: checks.Number) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", checks.positive(self.name, sigma=self.sigma))

    @abstractmethod
    def location_score_bound(self) -> Any:
        """Give an upper bound on ``|d log f/dx|`` as a ball."""

    def _dilation_root(self, smoothing: Fraction) -> Any:
        """Give sqrt(2 rho) of a change of scale alone: t/sigma, a shift of the normal in the exponent."""
        return ball(smoothing) / ball(self.sigma)

    @classmethod
    def _calibrate_concentrated(
        cls,
        price: Concentrated,
        smoothing: Fraction | None,
        method: str | None,
        sigma: Fraction | None = None,
    ) -> Calibration:
        if choose_method(cls.name, method, *cls.methods) == "analytic":
            return calibrate_by_scores(cls, price, smoothing, sigma)
        return calibrate_certified(cls, price, smoothing, "sigma", sigma)

    def _price_concentrated(self, scale: Fraction, smoothing: Fraction, method: str | None) -> Concentrated:
        if choose_method(self.name, method, *self.methods) == "certified":
            return price_certified(self, scale, smoothing)

        def rho() -> Any:
            # Theorems 18, 22 and 25 of Bun and Steinke 2019, docs/proofs/log_normal.md.
            return (self._dilation_root(smoothing) + self.location_score_bound() / ball(scale)) ** 2 / 2

        return Concentrated(upper(evaluate(rho)))
