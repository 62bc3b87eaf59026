"""Gaussian noise: concentrated under a global bound, truncated concentrated or approximate under a smooth one.

The truncated price printed in Bun and Steinke 2019 (section 3.5, Lemma 33) is wrong, by up to a factor of nine; the
exact one is in ``docs/proofs/gaussian.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lgamma, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.noise import Noise
from sordino.noise.calibration import Calibration, choose_method, global_only, too_smooth
from sordino.privacy import Approx, Concentrated, TruncatedConcentrated
from sordino.privacy.conversion import ball, evaluate, lower, round_up, upper

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, repr=False)
class Gaussian(Noise):
    """The standard normal law.

    Example:
        >>> from sordino.privacy import Concentrated
        >>> Gaussian.calibrate(Concentrated(0.5), smoothing=0).scale
        Fraction(1, 1)
    """

    name = "gaussian"
    plain = True
    summary = "the normal law; concentrated with a global bound, truncated concentrated with a smooth one"

    def _logpdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return -x * x / 2 - 0.5 * np.log(2 * pi)

    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import erfc

        return erfc(x / np.sqrt(2))

    def _tail_inverse(self, tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
        return normal_size(tail, centre)

    def _moment(self, order: float) -> float:
        return float(np.exp(order / 2 * np.log(2) + lgamma((order + 1) / 2)) / np.sqrt(pi))

    @classmethod
    def _calibrate_concentrated(
        cls, price: Concentrated, smoothing: Fraction | None, method: str | None
    ) -> Calibration:
        method = choose_method(cls.name, method, "global")
        global_only(
            cls.name, smoothing, price, "ArsinhNormal or StudentT are concentrated under a smooth bound"
        )
        scale = upper(evaluate(lambda: 1 / (2 * ball(price.rho)).sqrt()))
        return Calibration(cls(), Fraction(0), scale, price, method, "gaussian")

    @classmethod
    def _calibrate_truncated_concentrated(
        cls, price: TruncatedConcentrated, smoothing: Fraction | None, method: str | None
    ) -> Calibration:
        method = choose_method(cls.name, method, "exact")
        rho, omega = price.rho, price.omega
        if smoothing is None:
            smoothing = Fraction(f"{min(1 / (8 * float(omega)), float(np.sqrt(float(rho))) / 8):.3g}")

        def shift() -> Any:
            # rho = e^{-2g} eta^2/(2 kappa) + dilation cost, solved for eta.
            g, w = ball(smoothing), ball(omega)
            kappa = 1 + w * (-2 * g).expm1()
            if not kappa > 0:
                return ball(Fraction(-1))
            room = ball(rho) - _dilation_cost(g, w, kappa)
            return g.exp() * (2 * kappa * room).sqrt() if room > 0 else ball(Fraction(-1))

        eta = lower(evaluate(shift))
        if eta <= 0:
            raise too_smooth(
                cls.name,
                smoothing,
                "about sqrt(rho), and 1/(2 omega)",
                price,
                f"smoothing={1 / (8 * float(omega)):.3g}",
            )
        return Calibration(cls(), smoothing, 1 / eta, price, method, "gaussian")

    @classmethod
    def _calibrate_approx(cls, price: Approx, smoothing: Fraction | None, method: str | None) -> Calibration:
        method = choose_method(cls.name, method, "exact")
        epsilon, delta = price.epsilon, price.delta
        if delta == 0:
            raise too_smooth(
                cls.name,
                smoothing or Fraction(0),
                "nothing: delta must be positive",
                price,
                "Approx(1, 1e-6)",
            )
        # A small delta is a difference of normal tails near each other: its digits are lost and more are taken.
        digits = 4 * (epsilon.denominator.bit_length() + delta.denominator.bit_length())

        def leaves_room(at: Fraction) -> bool:
            quick = _worst_delta(0.0, float(at), float(epsilon)) < float(delta)
            return quick and upper(evaluate(lambda: _worst_delta_ball(Fraction(0), at, epsilon), digits)) < delta

        if smoothing is None:
            smoothing = Fraction(f"{float(epsilon) / (8 * np.log(2 / float(delta))):.3g}")
            while not leaves_room(smoothing):
                smoothing /= 2
        low, high = 0.0, float(np.sqrt(2 * float(epsilon)))
        if not leaves_room(smoothing):
            raise too_smooth(
                cls.name,
                smoothing,
                "about epsilon/15",
                price,
                f"smoothing={float(epsilon) / 50:.3g}, or Laplace or PolyPlace",
            )
        while high - low > 1e-15 * high:
            middle = (low + high) / 2
            low, high = (
                (middle, high)
                if _worst_delta(middle, float(smoothing), float(epsilon)) <= float(delta)
                else (low, middle)
            )
            if middle in (low, high) and (low + high) / 2 in (low, high):
                break
        eta, step, tried = Fraction(low), Fraction(1, 2**40), 0
        while upper(evaluate(lambda: _worst_delta_ball(eta, smoothing, epsilon), digits)) > delta:  # noqa: B023
            eta *= 1 - step
            tried += 1
            if tried > 8:
                step = min(2 * step, Fraction(1, 2))
        return Calibration(cls(), smoothing, round_up(1 / eta), price, method, "gaussian")

    def _price_concentrated(self, scale: Fraction, smoothing: Fraction, method: str | None) -> Concentrated:
        choose_method(self.name, method, "global")
        rho = 1 / (2 * scale * scale)
        if smoothing:
            raise too_smooth(
                self.name,
                smoothing,
                "or equal to 0",
                Concentrated(rho),
                "as_=TruncatedConcentrated, omega=10",
            )
        return Concentrated(rho)

    def _price_truncated_concentrated(
        self, scale: Fraction, smoothing: Fraction, method: str | None, *, omega: Any
    ) -> TruncatedConcentrated:
        choose_method(self.name, method, "exact")
        limit = TruncatedConcentrated(1, omega).omega

        def rho() -> Any:
            g, w = ball(smoothing), ball(limit)
            kappa = 1 + w * (-2 * g).expm1()
            if not kappa > 0:
                return None
            return (-2 * g).exp() / (2 * kappa * ball(scale) ** 2) + _dilation_cost(g, w, kappa)

        value = evaluate(rho)
        if value is None:
            raise too_smooth(
                self.name, smoothing, "1/(2 omega)", TruncatedConcentrated(1, limit), "a smaller omega"
            )
        return TruncatedConcentrated(upper(value), limit)

    def _price_approx(
        self, scale: Fraction, smoothing: Fraction, method: str | None, *, epsilon: Any
    ) -> Approx:
        choose_method(self.name, method, "exact")
        wanted, eta = Approx(epsilon, 0).epsilon, 1 / scale
        if eta * eta > 2 * wanted:
            raise too_smooth(
                self.name,
                smoothing,
                "what this epsilon pays for",
                Approx(wanted, 0),
                "a larger epsilon or scale",
            )
        return Approx(wanted, upper(evaluate(lambda: _worst_delta_ball(eta, smoothing, wanted))))


def normal_size(tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the |y| with P(|Y| > |y|) = tail = 1 - centre, from whichever keeps its digits."""
    from scipy.special import erfinv, ndtri

    size = -ndtri(np.asarray(tail) / 2)
    middle = np.asarray(tail) > 0.75  # there 1 - 2q would cancel
    if np.any(middle):
        size = np.where(middle, np.sqrt(2) * erfinv(np.where(middle, centre, 0.0)), size)
    return size


def _dilation_cost(g: Any, w: Any, kappa: Any) -> Any:
    """Give rho of a change of scale alone at order omega: (-omega g - log(kappa)/2)/(omega (omega-1))."""
    return (-w * g - kappa.log() / 2) / (w * (w - 1))


def hockey_stick(t: float, s: float, epsilon: float) -> float:
    """Give the delta of e^t Z + s against Z at epsilon: two normal tails where the quadratic log ratio exceeds it.

    Example:
        >>> round(hockey_stick(0.0, 0.25, 1.0) * 1e6, 4)
        2.9243
    """
    from scipy.special import ndtr

    # log p/q = -t - (x-s)^2 e^{-2t}/2 + x^2/2 = A x^2 + B x + C
    shrunk = np.exp(-2 * t)
    A, B, C = -np.expm1(-2 * t) / 2, s * shrunk, -t - s * s * shrunk / 2 - epsilon
    if A == 0:
        if B == 0:
            return float(max(0.0, -np.expm1(epsilon)))
        x = -C / abs(B)
        return float(ndtr(abs(s) - x) - np.exp(epsilon) * ndtr(-x))
    square = B * B - 4 * A * C
    if square <= 0:
        return 0.0 if A < 0 else float(-np.expm1(epsilon)) if epsilon < 0 else 0.0
    root = np.sqrt(square)
    half = -(B + np.copysign(root, B)) / 2 if B else root / 2
    low, high = sorted((half / A, C / half))
    from_low, from_high = (low - s) * np.exp(-t), (high - s) * np.exp(-t)
    if A > 0:  # outside the two points
        return float(ndtr(from_low) + ndtr(-from_high) - np.exp(epsilon) * (ndtr(low) + ndtr(-high)))
    return float(ndtr(from_high) - ndtr(from_low) - np.exp(epsilon) * (ndtr(high) - ndtr(low)))


def _worst_delta(eta: float, smoothing: float, epsilon: float) -> float:
    """Bound delta over all admissible pairs, for eta^2 <= 2 epsilon; docs/proofs/gaussian.md.

    With t >= 0 it rises in t, so t = smoothing is the worst; with t < 0 the wider density is at least
    e^-smoothing times the narrower one's, so it is at most the delta of the shift alone at epsilon - smoothing.
    """
    return max(hockey_stick(smoothing, eta, epsilon), hockey_stick(0.0, eta, epsilon - smoothing))


def _worst_delta_ball(eta: Fraction, smoothing: Fraction, epsilon: Fraction) -> Any:
    """Evaluate the same bound in balls."""
    two = ball(Fraction(2))

    def tail(x: Any) -> Any:
        return (x / two.sqrt()).erfc() / 2

    s, e = ball(eta), ball(epsilon)

    def shift_only(at: Any) -> Any:
        if eta == 0:
            return 0 * two
        x = (at + s * s / 2) / s
        return tail(x - s) - at.exp() * tail(x)

    if smoothing == 0:
        return shift_only(e)
    g = ball(smoothing)
    A = -(-2 * g).expm1() / 2
    B, C = s * (-2 * g).exp(), -g - s * s * (-2 * g).exp() / 2 - e
    root = (B * B - 4 * A * C).sqrt()
    high, low = (root - B) / (2 * A), (-root - B) / (2 * A)
    forward = (
        tail((high - s) * (-g).exp()) + tail((s - low) * (-g).exp()) - e.exp() * (tail(high) + tail(-low))
    )
    return forward.max(shift_only(e - g))
