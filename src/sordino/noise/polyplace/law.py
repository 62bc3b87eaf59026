"""PolyPlace: the pure-DP noise for smooth bounds, polynomial in both its centre and its tails.

Hladík and Tětek 2022, with the tighter scale of ``docs/proofs/polyplace.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.noise import beta_tail
from sordino.noise.alpha_shaped import AlphaShaped
from sordino.noise.calibration import Calibration, choose_method, too_smooth
from sordino.privacy import Concentrated, Geo, Pure
from sordino.privacy.conversion import ball, evaluate, upper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

DEFAULT_SMOOTHING = Fraction(1, 10)  # of epsilon: the middle of the useful range .05 to .2


@dataclass(frozen=True, slots=True, repr=False)
class PolyPlace(AlphaShaped):
    """Density proportional to ``(1-|x|)^(alpha-1)`` inside ``|x| < 1/alpha``, to ``(1+|x|)^-(alpha+1)`` outside.

    The variance is finite for alpha > 2, that is for smoothing below epsilon/2.

    Example:
        >>> from sordino.privacy import Pure
        >>> calibration = PolyPlace.calibrate(Pure(1), smoothing=0.1)
        >>> calibration.noise, round(calibration.std, 4)
        (PolyPlace(alpha=10), 1.6457)
    """

    name = "polyplace"
    summary = "polynomial centre and tails; the least noise known for pure DP under a smooth bound"

    @classmethod
    def cases(cls) -> Iterator[PolyPlace]:
        """Yield shapes from the edge of existence to nearly Laplace."""
        for alpha in ("1.05", "1.5", "2", "2.25", "5", "20", "1000", "1000000"):
            yield cls(Fraction(alpha))

    @property
    def _constants(self) -> tuple[float, float, float, float]:
        """Give alpha, q = (1-1/alpha)^alpha, C = alpha-1+2q and (alpha+1)(1-1/alpha^2)^alpha."""
        a = float(self.alpha)
        q = float(np.exp(a * np.log1p(-1 / a)))
        outer = (a + 1) * float(np.exp(a * np.log1p(-1 / (a * a))))
        # a - 1 from the exact shape: near alpha = 1 the float difference would lose digits.
        return a, q, float(self.alpha - 1) + 2 * q, outer

    def _logpdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        a, _, C, outer = self._constants
        base = np.log(a / (2 * C))
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.log(float(self.alpha - 1)) + float(self.alpha - 1) * np.log1p(-np.minimum(x, 1 / a))
            outside = np.log(outer) - (a + 1) * np.log1p(x)
        return base + np.where(x < 1 / a, inside, outside)

    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        a, q, C, outer = self._constants
        inside = (2 * q + float(self.alpha - 1) * np.exp(a * np.log1p(-np.minimum(x, 1 / a)))) / C
        outside = outer * np.exp(-a * np.log1p(x)) / C
        return np.where(x < 1 / a, inside, outside)

    def _tail_inverse(self, tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
        a, q, C, outer = self._constants
        knee = (a + 1) * q / C
        share = np.minimum(centre * C / float(self.alpha - 1), 1 - 1e-16)
        inside = -np.expm1(np.log1p(-share) / a)
        outside = np.expm1((np.log(outer / C) - np.log(tail)) / a)
        return np.where(tail > knee, inside, outside)

    def _moment(self, order: float) -> float:
        from scipy.special import betainc, betaincc

        a, _, C, outer = self._constants
        if order >= a:
            return float("inf")
        inside = (a - 1) * np.exp(beta_tail.log_beta(order + 1, a)) * betainc(order + 1, a, 1 / a)
        outside = (
            outer
            * np.exp(beta_tail.log_beta(a - order, order + 1))
            * betaincc(order + 1, a - order, 1 / (a + 1))
        )
        return float(a / C * (inside + outside))

    @classmethod
    def _calibrate_pure(
        cls, price: Pure, smoothing: Fraction | None, method: str | None, alpha: Fraction | None = None
    ) -> Calibration:
        method = choose_method(cls.name, method, "tight", "published")
        smoothing = _default(smoothing, price.epsilon)
        noise = _shape(cls, price.epsilon, smoothing, alpha, price)
        if method == "published":  # Hladík and Tětek 2022, Theorem 8: SS/smoothing
            scale = 1 / smoothing
        else:
            scale = upper(evaluate(lambda: 1 / (2 * (ball(smoothing) / 2).expm1())))
        return Calibration(noise, smoothing, scale, price, method, "polyplace")

    @classmethod
    def _calibrate_geo(
        cls, price: Geo, smoothing: Fraction | None, method: str | None, alpha: Fraction | None = None
    ) -> Calibration:
        # Every distance must hold, the smallest too: as it falls to zero the tight scale rises to 1/smoothing.
        method = choose_method(cls.name, method, "pathwise")
        smoothing = _default(smoothing, price.rate)
        noise = _shape(cls, price.rate, smoothing, alpha, price)
        return Calibration(noise, smoothing, 1 / smoothing, price, method, "polyplace")

    @classmethod
    def _calibrate_concentrated(
        cls,
        price: Concentrated,
        smoothing: Fraction | None,
        method: str | None,
        alpha: Fraction | None = None,
    ) -> Calibration:
        from sordino.noise.concentrated import calibrate_certified

        choose_method(cls.name, method, "certified")
        return calibrate_certified(cls, price, smoothing, "alpha", alpha)

    def _price_pure(self, scale: Fraction, smoothing: Fraction, method: str | None) -> Pure:
        choose_method(self.name, method, "tight")
        moving = upper(evaluate(lambda: self._shift_divergence(ball(smoothing), 1 / ball(scale))))
        return Pure(max(self.alpha * smoothing, moving))

    def _price_geo(self, scale: Fraction, smoothing: Fraction, method: str | None, per: Any = 1) -> Geo:
        choose_method(self.name, method, "pathwise")
        rate = self.alpha * max(smoothing, 1 / scale)
        return Geo(rate * Fraction(per), per)

    def _price_concentrated(self, scale: Fraction, smoothing: Fraction, method: str | None) -> Concentrated:
        from sordino.noise.concentrated import price_certified

        choose_method(self.name, method, "certified")
        return price_certified(self, scale, smoothing)

    def _shift_divergence(self, dilation: Any, shift: Any) -> Any:
        """Bound the loss of pairs that shift; a change of scale alone costs alpha * dilation.

        alpha * (2 log((1 + e^t + shift)/2) - t) is convex in t, so t = 0 and t = dilation are the worst;
        docs/proofs/polyplace.md.
        """
        still = 2 * (1 + shift / 2).log()
        joint = 2 * ((1 + dilation.exp() + shift) / 2).log() - dilation
        return ball(self.alpha) * still.max(joint)


def _default(smoothing: Fraction | None, epsilon: Fraction) -> Fraction:
    """Take a tenth of the price as smoothing when none is given."""
    return epsilon * DEFAULT_SMOOTHING if smoothing is None else smoothing


def _shape(
    cls: type[PolyPlace], epsilon: Fraction, smoothing: Fraction, alpha: Fraction | None, price: Any
) -> PolyPlace:
    """Choose alpha = epsilon/smoothing, the largest that pays for a change of scale; smaller ones are refused."""
    if smoothing == 0:
        raise too_smooth(
            cls.name,
            smoothing,
            f"{float(epsilon):g} and greater than 0",
            price,
            "without smoothing the law becomes Laplace: Laplace.calibrate(price, smoothing=0)",
        )
    if smoothing >= epsilon:
        raise too_smooth(
            cls.name, smoothing, f"epsilon = {float(epsilon):g}", price, f"smoothing={float(epsilon) / 10:g}"
        )
    wanted = epsilon / smoothing
    if alpha is not None and alpha != wanted:
        from sordino.errors import ParameterError

        raise ParameterError(
            cls.name,
            "alpha must equal epsilon/smoothing under pure DP",
            got={"alpha": alpha},
            why="A larger one breaks the promise in the tail, a smaller one only adds noise.",
            hint=f"leave it out, or alpha={float(wanted):g}",
        )
    return cls(wanted)
