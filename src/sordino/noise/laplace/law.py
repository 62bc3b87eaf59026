"""Laplace noise: pure under a global bound, approximate by the exact hockey-stick under a smooth one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lgamma
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.noise import Noise
from sordino.noise.calibration import Calibration, choose_method, global_only, too_smooth
from sordino.privacy import Approx, Geo, Pure
from sordino.privacy.conversion import ball, evaluate, lower, upper

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, repr=False)
class Laplace(Noise):
    """Density ``exp(-|x|)/2``.

    Example:
        >>> from sordino.privacy import Approx, Pure
        >>> Laplace.calibrate(Pure(0.5), smoothing=0).scale
        Fraction(2, 1)
        >>> round(Laplace.calibrate(Approx(1, 1e-6), smoothing=0.03).std, 4)
        1.9173
    """

    name = "laplace"
    plain = True
    summary = "exp(-|x|)/2; pure with a global bound, approximate with a smooth one"

    def _logpdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return -x - np.log(2)

    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.exp(-x)

    def _tail_inverse(self, tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(tail < 0.5, -np.log(tail), -np.log1p(-centre))

    def _moment(self, order: float) -> float:
        return float(np.exp(lgamma(order + 1)))

    @classmethod
    def _calibrate_pure(cls, price: Pure, smoothing: Fraction | None, method: str | None) -> Calibration:
        method = choose_method(cls.name, method, "global")
        global_only(cls.name, smoothing, price, "PolyPlace or StudentT are pure under a smooth bound")
        return Calibration(cls(), Fraction(0), 1 / price.epsilon, price, method, "laplace")

    @classmethod
    def _calibrate_geo(cls, price: Geo, smoothing: Fraction | None, method: str | None) -> Calibration:
        method = choose_method(cls.name, method, "global")
        global_only(cls.name, smoothing, price, "PolyPlace or StudentT take a smooth bound")
        return Calibration(cls(), Fraction(0), 1 / price.rate, price, method, "laplace")

    @classmethod
    def _calibrate_approx(cls, price: Approx, smoothing: Fraction | None, method: str | None) -> Calibration:
        method = choose_method(cls.name, method, "exact")
        epsilon, delta = price.epsilon, price.delta
        if smoothing is None:
            # Half of the smoothing at which dilation alone costs the whole price.
            smoothing = Fraction(f"{_most(epsilon, delta) / 2:.3g}") if delta else Fraction(0)
        if smoothing == 0:
            # Against its shift by more than epsilon: 1 - exp(-(shift - epsilon)/2) <= delta.
            spare = lower(evaluate(lambda: -2 * ball(1 - delta).log())) if 0 < delta < 1 else Fraction(0)
            return Calibration(cls(), smoothing, 1 / (epsilon + spare), price, method, "laplace")
        if delta == 0 or smoothing >= epsilon:
            raise too_smooth(cls.name, smoothing, _limit(price), price, "PolyPlace needs no delta")

        def shift() -> Any:
            # The largest shift with (1-e^-g) exp(-(eps+g)/(e^g-1)) cosh(shift/(e^g-1)) <= delta, up to epsilon: the
            # pairs with t <= 0 never cost more (docs/proofs/laplace.md, Lemma).
            g, e = ball(smoothing), ball(epsilon)
            grown = g.expm1()
            log_y = ball(delta).log() + (e + g) / grown - (-(-g).expm1()).log()
            if not log_y > 0:
                return ball(Fraction(-1))
            # arcosh(e^L) = L + log(1 + sqrt(1 - e^{-2L})): no overflow for small smoothing.
            arcosh = log_y + (1 + (1 - (-2 * log_y).exp()).sqrt()).log()
            return e.min(grown * arcosh)

        eta = lower(evaluate(shift))
        if eta <= 0:
            raise too_smooth(cls.name, smoothing, _limit(price), price, "PolyPlace needs no delta")
        return Calibration(cls(), smoothing, 1 / eta, price, method, "laplace")

    def _price_pure(self, scale: Fraction, smoothing: Fraction, method: str | None) -> Pure:
        choose_method(self.name, method, "global")
        if smoothing:
            raise too_smooth(self.name, smoothing, "or equal to 0", Pure(1 / scale), "as_=Approx, delta=1e-6")
        return Pure(1 / scale)

    def _price_geo(self, scale: Fraction, smoothing: Fraction, method: str | None, per: Any = 1) -> Geo:
        return Geo(self._price_pure(scale, smoothing, method).epsilon * Fraction(per), per)

    def _price_approx(
        self, scale: Fraction, smoothing: Fraction, method: str | None, *, epsilon: Any
    ) -> Approx:
        choose_method(self.name, method, "exact")
        wanted = Approx(epsilon, 0).epsilon
        eta = 1 / scale
        if smoothing == 0:
            if eta <= wanted:
                return Approx(wanted, 0)

            def shift_only() -> Any:
                # Laplace against its shift: 1 - exp(-(shift - eps)/2).
                return -(-(ball(eta - wanted) / 2)).expm1()

            return Approx(wanted, upper(evaluate(shift_only)))

        if wanted < eta or wanted <= smoothing:
            raise too_smooth(
                self.name,
                smoothing,
                "what this epsilon pays for",
                Approx(wanted, 0),
                "a larger epsilon or scale",
            )

        def formula() -> Any:
            g = ball(smoothing)
            grown = g.expm1()
            width = ball(eta) / grown
            # (1-e^-g) exp(-(eps+g)/(e^g-1)) cosh(width), with the exponentials joined so nothing overflows.
            log_cosh = width + ((1 + (-2 * width).exp()) / 2).log()
            return -(-g).expm1() * (log_cosh - (ball(wanted) + g) / grown).exp()

        return Approx(wanted, min(Fraction(1), upper(evaluate(formula))))


def _most(epsilon: Fraction, delta: Fraction) -> float:
    """The smoothing at which dilation alone costs the whole price, in floats: for defaults and for words."""
    e, log_delta = float(epsilon), float(np.log(float(delta)))

    def spare(g: float) -> float:
        return log_delta + (e + g) / float(np.expm1(g)) - float(np.log(-np.expm1(-g)))

    low, high = 0.0, min(e, 500.0)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if spare(middle) > 0 else (low, middle)
    return low


def _limit(price: Approx) -> str:
    """Say how much smoothing the price allows."""
    return f"about {_most(price.epsilon, price.delta):.3g}" if price.delta else "or equal to 0 (delta is 0)"
