"""Student's t: pure, concentrated and geo-privacy under a smooth bound, by an exact hyperbolic formula.

Bun and Steinke 2019, section 3.4; the exact cost is in ``docs/proofs/student_t.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.noise import Noise, beta_tail
from sordino.noise.calibration import Calibration, choose_method, lowest, short, smoothing_below, too_smooth
from sordino.privacy import Concentrated, Geo, Pure
from sordino.privacy.conversion import ball, evaluate, lower, upper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

METHODS = ("exact", "joint", "split", "published")


@dataclass(frozen=True, slots=True, repr=False)
class StudentT(Noise):
    """Density proportional to (1 + x^2/df)^(-(df+1)/2); finite variance for df > 2.

    Args:
        df: Degrees of freedom, above 1: the more, the thinner the tails.

    Example:
        >>> from sordino.privacy import Pure
        >>> calibration = StudentT.calibrate(Pure(1), smoothing=0.1)
        >>> round(calibration.std, 3), round(float(calibration.noise.df), 1)
        (2.047, 3.7)
    """

    name = "student-t"
    summary = "polynomial tails; pure and concentrated at once, cheap to compose"
    df: Fraction

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, df: checks.Number) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "df", checks.positive(self.name, df=self.df))

    @classmethod
    def cases(cls) -> Iterator[StudentT]:
        """Yield shapes from heavier than Cauchy to nearly normal."""
        for df in ("0.5", "1", "2.5", "3", "4.75", "12", "300", "100000"):
            yield cls(Fraction(df))

    def _log_odds(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give log(x^2/df)."""
        with np.errstate(divide="ignore"):
            return 2 * np.log(x / np.sqrt(float(self.df)))

    def _logpdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        d = float(self.df)
        u = x / np.sqrt(d)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            spread = np.where(u < 1, np.log1p(u * u), 2 * np.log(u) + np.log1p((1 / u) ** 2))
        return -(d + 1) / 2 * spread - beta_tail.log_beta(d / 2, 0.5) - np.log(d) / 2

    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return beta_tail.tail(float(self.df) / 2, 0.5, self._log_odds(x))

    def _tail_inverse(self, tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
        v = beta_tail.inverse(float(self.df) / 2, 0.5, tail, centre)
        return np.sqrt(float(self.df)) * np.exp(v / 2)

    def _moment(self, order: float) -> float:
        d = float(self.df)
        if order >= d:
            return float("inf")
        ratio = beta_tail.log_beta((order + 1) / 2, (d - order) / 2) - beta_tail.log_beta(0.5, d / 2)
        return float(np.exp(order / 2 * np.log(d) + ratio))

    # Pure: the smaller of two exact shifts ---------------------------------------------------------------

    @classmethod
    def _calibrate_pure(
        cls, price: Pure, smoothing: Fraction | None, method: str | None, df: Fraction | None = None
    ) -> Calibration:
        method = choose_method(cls.name, method, *METHODS)
        epsilon, smoothing = price.epsilon, smoothing_below(cls.name, price, smoothing)
        if df is None:
            df = _best_df(float(epsilon), float(smoothing), method)
        eta = lower(evaluate(lambda: _shift(ball(epsilon), ball(smoothing), ball(df), method)))
        if eta <= 0:
            raise too_smooth(
                cls.name,
                smoothing,
                "epsilon/df" if df > 1 else "epsilon",
                price,
                f"df={min(float(epsilon / smoothing) * 0.5, 3):.3g}",
            )
        return Calibration(cls(df), smoothing, 1 / eta, price, method, "student_t")

    @classmethod
    def _calibrate_geo(
        cls, price: Geo, smoothing: Fraction | None, method: str | None, df: Fraction | None = None
    ) -> Calibration:
        # At every small distance: the straight path, whose cost is the supremum of the joint scores.
        choose_method(cls.name, method, "joint")
        calibration = cls._calibrate_pure(Pure(price.rate), smoothing, "joint", df)
        return Calibration(
            calibration.noise, calibration.smoothing, calibration.scale, price, "joint", "student_t"
        )

    @classmethod
    def _calibrate_concentrated(
        cls, price: Concentrated, smoothing: Fraction | None, method: str | None, df: Fraction | None = None
    ) -> Calibration:
        from sordino.noise.concentrated import calibrate_by_pure, calibrate_certified

        if choose_method(cls.name, method, "certified", "analytic") == "analytic":
            return calibrate_by_pure(cls, price, smoothing, df=df)
        return calibrate_certified(cls, price, smoothing, "df", df)

    def _price_pure(self, scale: Fraction, smoothing: Fraction, method: str | None) -> Pure:
        method = choose_method(self.name, method, *METHODS)
        return Pure(upper(evaluate(lambda: _cost(ball(smoothing), 1 / ball(scale), ball(self.df), method))))

    def _price_geo(self, scale: Fraction, smoothing: Fraction, method: str | None, per: Any = 1) -> Geo:
        choose_method(self.name, method, "joint")
        rate = self._price_pure(scale, smoothing, "joint").epsilon
        return Geo(rate * Fraction(per), per)

    def _price_concentrated(self, scale: Fraction, smoothing: Fraction, method: str | None) -> Concentrated:
        from sordino.noise.concentrated import price_certified

        if choose_method(self.name, method, "certified", "analytic") == "analytic":
            return self._price_pure(scale, smoothing, "exact").to(Concentrated)
        return price_certified(self, scale, smoothing)


def max_divergence(df: Any, t: Any, s: Any) -> tuple[Any, Any]:
    """Give D_inf(Z || e^t Z + s) and D_inf(e^t Z + s || Z) exactly: the location-scale family is hyperbolic."""
    u = (t.cosh() + (-t).exp() * s * s / (2 * df)).acosh()
    return (df + 1) / 2 * u - (df - 1) / 2 * t, (df + 1) / 2 * u + (df - 1) / 2 * t


def _cost(g: Any, eta: Any, d: Any, method: str) -> Any:
    """Give epsilon of the worst admissible pair; docs/proofs/student_t.md."""
    if method == "exact":
        # Only the ends t = 0 and t = smoothing matter: the distance is convex along the vertical geodesic.
        still = (d + 1) / 2 * (1 + eta * eta / (2 * d)).acosh()
        moving = (d + 1) / 2 * (g.cosh() + (-g).exp() * eta * eta / (2 * d)).acosh()
        return still.max(moving + abs(d - 1) / 2 * g)
    if method == "joint":
        return abs(d - 1) / 2 * g + (d + 1) / 2 * (g * g + eta * eta / d).sqrt()
    shift = (d + 1) * eta / (2 * d.sqrt())
    # Liang and Yi 2024 have df * smoothing, Bun and Steinke 2019 (Theorem 31) have (df + 1) * smoothing.
    return ((d + 1) * g if method == "published" else d.max(1 + 0 * d) * g) + shift


def _shift(e: Any, g: Any, d: Any, method: str) -> Any:
    """Invert ``_cost`` in the shift; not positive where the smoothing alone costs too much."""
    none = ball(Fraction(-1))
    if method == "exact":
        still = 2 * d.sqrt() * (e / (d + 1)).sinh()
        spare = (2 * e - abs(d - 1) * g) / (d + 1)
        room = (
            2 * ((spare + g) / 2).sinh() * ((spare - g) / 2).sinh()
        )  # cosh(spare) - cosh(g), small prices too
        if not (spare > 0 and room > 0):
            return none
        return still.min((2 * d * g.exp() * room).sqrt())
    if method == "joint":
        spare = (2 * e - abs(d - 1) * g) / (d + 1)
        square = d * (spare * spare - g * g)
        return square.sqrt() if spare > 0 and square > 0 else none
    left = e - ((d + 1) * g if method == "published" else d.max(1 + 0 * d) * g)
    return 2 * d.sqrt() / (d + 1) * left


def _best_df(epsilon: float, smoothing: float, method: str) -> Fraction:
    """Find the df of smallest variance; without finite variance (smoothing >= epsilon/2) of smallest E|Z|^(1/2)."""
    if method == "joint" and smoothing < epsilon / 2:
        return Fraction(5 * epsilon + 2 * smoothing) / Fraction(epsilon + 4 * smoothing)  # exact optimum

    most = epsilon / smoothing if smoothing else 1e6
    most -= 1.0 if method == "published" else 0.0

    def cost(log_df: float) -> float:
        d = float(np.exp(log_df))
        eta = float(_shift(ball(Fraction(epsilon)), ball(Fraction(smoothing)), ball(Fraction(d)), method))
        if eta <= 0:
            return 1e300
        order = 2.0 if most > 2.0 else 0.25
        return float(np.log(StudentT(Fraction(d)).moment(order)) / order - np.log(eta))

    low, high = (2.0, min(most, 100.0)) if most > 2.0 else (0.25, most)
    return short(float(np.exp(lowest(cost, float(np.log(low)) + 1e-9, float(np.log(high)) - 1e-9))))
