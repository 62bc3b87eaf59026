"""Generalized Cauchy: (1+|x|^p)^-theta, pure and geo-privacy by the joint cost of shift and scale.

Hladík and Tětek 2022 and Liang and Yi 2024 use theta = 1; the joint cost is in ``docs/proofs/generalized_cauchy.md``.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.noise import Noise, beta_tail
from sordino.noise.calibration import Calibration, choose_method, short, smoothing_below, too_smooth
from sordino.privacy import Geo, Pure
from sordino.privacy.conversion import ball, evaluate, round_down, round_up, upper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

METHODS = ("joint", "split", "published")


@dataclass(frozen=True, slots=True, repr=False)
class GeneralizedCauchy(Noise):
    """Density proportional to ``(1+|x|^p)^(-theta)``, p > 1 and p*theta > 1; finite variance for p*theta > 3.

    Args:
        p: Shape of the centre, above 1: 2 is Cauchy's, larger ones are flatter.
        theta: Shape of the tails, with p * theta above 1: the larger, the thinner.

    Example:
        >>> from sordino.privacy import Pure
        >>> round(GeneralizedCauchy.calibrate(Pure(1), smoothing=0.1, p=4, theta=1).std, 3)
        2.909
    """

    name = "generalized-cauchy"
    summary = "(1+|x|^p)^-theta; pure under a smooth bound, with a flat top"
    p: Fraction
    theta: Fraction = Fraction(1)

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, p: checks.Number, theta: checks.Number = ...) -> None: ...

    def __post_init__(self) -> None:
        p = checks.greater_than(self.name, 1, why="At p <= 1 the density has a cusp.", p=self.p)
        theta = checks.positive(self.name, theta=self.theta)
        if p * theta <= 1:
            raise ParameterError(
                self.name,
                "p * theta must be greater than 1",
                got={"p": self.p, "theta": self.theta},
                why="Otherwise the density has no finite integral.",
            )
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "theta", theta)

    @classmethod
    def cases(cls) -> Iterator[GeneralizedCauchy]:
        """Yield Cauchy, the papers' shapes and sharper ones."""
        shapes = (
            ("2", "1"),
            ("4", "1"),
            ("3.5", "1"),
            ("1.5", "3"),
            ("2.25", "1.75"),
            ("1.08", "8.8"),
            ("1.5", "0.9"),
        )
        for p, theta in shapes:
            yield cls(Fraction(p), Fraction(theta))

    def _ab(self) -> tuple[float, float]:
        return float(self.theta - 1 / self.p), float(1 / self.p)

    def _log_power(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return float(self.p) * np.log(x)

    def _logpdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        constant = np.log(float(self.p) / 2) - beta_tail.log_beta(*self._ab())
        v = self._log_power(x)  # log(1 + e^v), faster than logaddexp
        return constant - float(self.theta) * (np.maximum(v, 0) + np.log1p(np.exp(-np.abs(v))))

    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return beta_tail.tail(*self._ab(), self._log_power(x))

    def _tail_inverse(self, tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.exp(beta_tail.inverse(*self._ab(), tail, centre) / float(self.p))

    def _moment(self, order: float) -> float:
        a, b = self._ab()
        share = order / float(self.p)
        if share >= a:
            return float("inf")
        return float(np.exp(beta_tail.log_beta(a - share, b + share) - beta_tail.log_beta(a, b)))

    @classmethod
    def _calibrate_pure(
        cls,
        price: Pure,
        smoothing: Fraction | None,
        method: str | None,
        p: Fraction | None = None,
        theta: Fraction | None = None,
    ) -> Calibration:
        method = choose_method(cls.name, method, *METHODS)
        epsilon, smoothing = price.epsilon, smoothing_below(cls.name, price, smoothing)
        if p is None or theta is None:
            shapes = KNOWN if method == METHODS[0] and p is None and theta is None else {}
            p, theta = shapes.get(smoothing / epsilon) or _best_shape(
                float(smoothing / epsilon), method, p, theta
            )
        noise = cls(p, theta)
        eta = noise._largest_shift(epsilon, smoothing, method)
        if eta <= 0:
            raise too_smooth(
                cls.name,
                smoothing,
                "epsilon/(p*theta - 1)",
                price,
                f"p={float(p):g}, theta={(float(epsilon / smoothing) * 0.5 + 1) / float(p):.3g}",
            )
        return Calibration(noise, smoothing, 1 / eta, price, method, "generalized_cauchy")

    @classmethod
    def _calibrate_geo(
        cls,
        price: Geo,
        smoothing: Fraction | None,
        method: str | None,
        p: Fraction | None = None,
        theta: Fraction | None = None,
    ) -> Calibration:
        choose_method(cls.name, method, "joint")
        inner = cls._calibrate_pure(Pure(price.rate), smoothing, "joint", p, theta)
        return Calibration(inner.noise, inner.smoothing, inner.scale, price, "joint", inner.proof)

    def _price_pure(self, scale: Fraction, smoothing: Fraction, method: str | None) -> Pure:
        method = choose_method(self.name, method, *METHODS)
        return Pure(self._cost(1 / scale, smoothing, method))

    def _price_geo(self, scale: Fraction, smoothing: Fraction, method: str | None, per: Any = 1) -> Geo:
        choose_method(self.name, method, "joint")
        return Geo(self._cost(1 / scale, smoothing, "joint") * Fraction(per), per)

    def _cost(self, eta: Fraction, smoothing: Fraction, method: str) -> Fraction:
        """Bound the privacy loss from above, rigorously."""
        if method == "published":  # Nissim, Raskhodnikova and Smith 2007: (p+1)(smoothing + shift), theta = 1
            return (self.p + 1) * (smoothing + eta)
        if method == "split":  # Liang and Yi 2024, Lemma 3.3
            p, theta = ball(self.p), ball(self.theta)
            scores = (
                ball(max(Fraction(1), self.p * self.theta - 1)),
                theta * ((p - 1).log() * (p - 1) / p).exp(),
            )
            return upper(evaluate(lambda: scores[0] * ball(smoothing) + scores[1] * ball(eta)))
        return self._joint_cost(eta, smoothing)

    def _joint_cost(self, eta: Fraction, smoothing: Fraction) -> Fraction:
        """Enclose sup over w of smoothing |p theta w - 1| + eta theta p w^((p-1)/p) (1-w)^(1/p).

        Beyond w1 = 1/(p theta) the function is concave, as is the second term everywhere; before it the first
        term only falls. The supremum over w <= w1 is at most smoothing + the second term there, and a concave
        function is enclosed by its tangent at a point near its maximum. docs/proofs/generalized_cauchy.md.
        """
        p, theta, g, e = self.p, self.theta, smoothing, eta

        def value(w: Any, sign: int) -> Any:
            b = (1 / ball(p) * (1 - w).log() + (1 - 1 / ball(p)) * w.log()).exp()
            return sign * ball(g) * (ball(p * theta) * w - 1) + ball(e * theta * p) * b

        def slope(w: Any, sign: int) -> Any:
            b = (1 / ball(p) * (1 - w).log() + (1 - 1 / ball(p)) * w.log()).exp()
            return sign * ball(g * p * theta) + ball(e * theta * p) * b * (
                (1 - 1 / ball(p)) / w - 1 / (ball(p) * (1 - w))
            )

        def enclose(low: Fraction, high: Fraction, sign: int) -> Any:
            # Concave on [low, high]: bisect for the zero of the slope, then the tangents at both ends of the last
            # interval bound the maximum.
            left, right = low, high
            for _ in range(60):
                middle = (left + right) / 2
                middle = Fraction(float(middle)) if left < Fraction(float(middle)) < right else middle
                if slope(ball(middle), sign) > 0:
                    left = middle
                else:
                    right = middle
            best = ball(Fraction(0))
            width = ball(right - left)
            for point in (left, right):
                if 0 < point < 1:
                    best = best.max(value(ball(point), sign) + abs(slope(ball(point), sign)) * width)
            return best

        def supremum() -> Any:
            knee = 1 / (p * theta)
            tiny = Fraction(1, 2**200)
            # Both branches must turn inside [tiny, 1 - tiny]; if not (p barely above 1), the split cost holds.
            if not (slope(ball(tiny), -1) > 0 and slope(ball(1 - tiny), 1) < 0):
                return ball(self._cost(eta, smoothing, "split"))
            upper_branch = enclose(max(knee, tiny), 1 - tiny, 1)
            lower_branch = enclose(tiny, min(knee, 1 - tiny), -1)
            ends = ball(g).max(ball(g * abs(p * theta - 1)))
            return upper_branch.max(lower_branch).max(ends)

        return upper(evaluate(supremum))

    def _largest_shift(self, epsilon: Fraction, smoothing: Fraction, method: str) -> Fraction:
        """Find the largest shift whose cost is at most epsilon, by bisection in the safe direction."""
        if method == "published":
            return epsilon / (self.p + 1) - smoothing
        if self._cost(Fraction(0), smoothing, "split") >= epsilon:
            return Fraction(0)
        if method == "split":
            unit = self._cost(Fraction(1), Fraction(0), "split")
            return round_down((epsilon - smoothing * max(Fraction(1), self.p * self.theta - 1)) / unit)
        shift = Fraction(self._float_shift(float(epsilon), float(smoothing)))
        margin = Fraction(1, 2**48)
        while self._joint_cost(shift, smoothing) > epsilon:
            shift, margin = shift * (1 - margin), min(2 * margin, Fraction(1, 2))
        return 1 / round_up(1 / shift)

    def _float_best_shift(self, epsilon: float, smoothing: float, method: str) -> float:
        """Find the largest shift in floats, by any of the methods."""
        p, theta = float(self.p), float(self.theta)
        if method == "published":
            return epsilon / (p + 1) - smoothing
        if method == "split":
            return (epsilon - max(1.0, p * theta - 1) * smoothing) / (theta * (p - 1) ** ((p - 1) / p))
        return self._float_shift(epsilon, smoothing)

    def _float_shift(self, epsilon: float, smoothing: float) -> float:
        """Find the largest shift in floats: the least over w of (epsilon - smoothing |p theta w - 1|)/second term."""
        p, theta = float(self.p), float(self.theta)

        def room(log_odds: Any) -> Any:
            log_w, log_rest = -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)
            left = epsilon - smoothing * np.abs(p * theta * np.exp(log_w) - 1)
            return np.maximum(left, 0) / (theta * p) * np.exp(-(1 - 1 / p) * log_w - log_rest / p)

        # A kink at p theta w = 1 parts two valleys, which are about as deep where the shape is best.
        kink, rows = -float(np.log(p * theta - 1)), np.arange(2)
        low, high = np.array([-45.0 + min(kink, 0), kink]), np.array([kink, 45.0 + max(kink, 0)])
        for size in (181, 41, 41, 41, 41):
            grid = np.linspace(low, high, size, axis=1)
            found = room(grid)
            best = np.argmin(found, axis=1)
            low, high = grid[rows, np.maximum(best - 1, 0)], grid[rows, np.minimum(best + 1, size - 1)]
        return float(np.min(found))


KNOWN = {
    Fraction(1, 10): (Fraction("1.0892"), Fraction("8.34794")),
    Fraction(1, 20): (Fraction("1.04749"), Fraction("15.909")),
}
"""Shapes that `_best_shape` finds at the smoothings of defaults: plans begin a third of a second earlier."""


@functools.lru_cache(maxsize=64)  # plans and laws ask for the same prices again and again
def _best_shape(
    smoothing: float, method: str, p: Fraction | None, theta: Fraction | None
) -> tuple[Fraction, Fraction]:
    """Find the shape of smallest variance, or of smallest median where no variance is finite, at epsilon 1.

    Shifts grow in proportion to epsilon where the smoothing does, so the shape is the same for all such pairs.
    """
    from scipy.optimize import minimize, minimize_scalar

    epsilon = 1.0
    if method == "published":
        theta = Fraction(1)
    # The exponent of the tail, p theta - 1, must pay for a change of scale, and exceed 2 for a finite variance.
    most = min(epsilon / smoothing, 60.0) if smoothing else 60.0
    least = 2.0 if most > 2.0 else 0.0

    def cost(power: float, tail: float) -> float:
        if not (1 < power < 1000 and least < tail < most):
            return 1e300
        noise = GeneralizedCauchy(Fraction(power), Fraction((1 + tail) / power))
        eta = noise._float_best_shift(epsilon, smoothing, method)
        size = noise.std if least else float(noise.isf(0.25))
        return float(np.log(size / eta)) if eta > 0 and np.isfinite(size) else 1e300

    def along(function: Any, low: float, high: float) -> float:
        grid = np.linspace(low, high, 102)[1:-1]
        best = int(np.argmin([function(point) for point in grid]))
        bounds = (grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)])
        return float(minimize_scalar(function, bounds=bounds, method="bounded", options={"xatol": 1e-9}).x)

    if theta is not None:
        fixed = float(theta)
        power = along(
            lambda x: cost(x, x * fixed - 1), max((1 + least) / fixed, 1.0), max((1 + most) / fixed, 1.01)
        )
        return short(power), theta
    if p is not None:
        power = float(p)
        return p, short((1 + along(lambda tail: cost(power, tail), least, most)) / power)

    def free(point: Any) -> float:
        return cost(1 + float(np.exp(point[0])), least + (most - least) / (1 + float(np.exp(-point[1]))))

    starts = ((-2.0, 1.0), (-1.0, 0.0), (0.5, 0.5), (1.1, -0.5))
    rough: Any = {"xatol": 1e-2, "fatol": 1e-4}
    fine: Any = {"xatol": 1e-7, "fatol": 1e-13}
    best = min(
        (minimize(free, start, method="Nelder-Mead", options=rough) for start in starts), key=lambda r: r.fun
    )
    point = minimize(free, best.x, method="Nelder-Mead", options=fine).x
    power = 1 + float(np.exp(point[0]))
    return short(power), short((1 + least + (most - least) / (1 + float(np.exp(-point[1])))) / power)
