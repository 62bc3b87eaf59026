"""Staircase PolyPlace: pure noise for smooth bounds and large epsilon, up to a quarter smaller than PolyPlace.

The smallest law that is private above a chosen core, ``docs/proofs/staircase_polyplace.md``; without smoothing and
with a flat core it is the staircase law of Geng and Viswanath.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sordino import checks
from sordino.errors import ParameterError, Unsupported
from sordino.noise import Noise
from sordino.noise.calibration import Calibration, choose_method, short, too_smooth
from sordino.privacy import Pure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sordino.noise.staircase_polyplace.ladder import StaircaseLadder

LEAST_EPSILON = 2
MOST_EPSILON = 50
#: Below epsilon/200 the law hardly changes and its levels become many: a larger smoothing protects as well.
LEAST_RATIO = Fraction(1, 200)


@dataclass(frozen=True, slots=True, repr=False)
class StaircasePolyPlace(Noise):
    """The least density above a core that is 1 up to plateau, then ~1/(1+x) up to middle, then ~1/x up to core.

    Scale 1 keeps epsilon for every bound of the law's own smoothing, so epsilon and smoothing are part of the shape.

    Args:
        epsilon: The pure price that scale 1 keeps.
        smoothing: By which factor, e^smoothing, the bounds change between neighbours at most.
        plateau: Up to where the density is constant.
        middle: Up to where it falls like 1/(1+x).
        core: Up to where it falls like 1/x; the tail begins there.

    Example:
        >>> from sordino.privacy import Pure
        >>> found = StaircasePolyPlace.calibrate(Pure(4), smoothing=0.4)
        >>> round(found.std, 3)
        0.293
    """

    name = "staircase-polyplace"
    summary = "steps with hyperbolic edges; the least noise known for pure DP with epsilon of 2 and more"
    epsilon: Fraction
    smoothing: Fraction
    plateau: Fraction
    middle: Fraction
    core: Fraction

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(
            self,
            epsilon: checks.Number,
            smoothing: checks.Number,
            plateau: checks.Number,
            middle: checks.Number,
            core: checks.Number,
        ) -> None: ...

    def __post_init__(self) -> None:
        epsilon = checks.between(
            self.name,
            LEAST_EPSILON,
            MOST_EPSILON,
            closed=True,
            why="For smaller epsilon PolyPlace is as good and simpler.",
            epsilon=self.epsilon,
        )
        smoothing = checks.between(
            self.name, epsilon * LEAST_RATIO, epsilon / 2, closed=True, smoothing=self.smoothing
        )
        plateau = checks.positive(self.name, plateau=self.plateau)
        middle = checks.positive(self.name, middle=self.middle)
        core = checks.positive(self.name, core=self.core)
        ordered = plateau <= middle <= core and middle <= 1 and plateau * _expm1_up(smoothing) <= 1
        if not (ordered and middle * _expm1_down(epsilon) >= 1):
            raise ParameterError(
                self.name,
                "plateau, middle and core must rise, with middle between 1/(e^epsilon - 1) and 1",
                got={"plateau": plateau, "middle": middle, "core": core},
                why="Only then does each level of the staircase end where the next begins.",
                hint="leave them out: the best ones are found",
            )
        for field, value in zip(
            ("epsilon", "smoothing", "plateau", "middle", "core"),
            (epsilon, smoothing, plateau, middle, core),
            strict=True,
        ):
            object.__setattr__(self, field, value)

    @classmethod
    def cases(cls) -> Iterator[StaircasePolyPlace]:
        """Yield flat and bent cores, light and heavy tails."""
        for shape in (
            ("2", "0.2", "0.05", "0.302", "0.415"),
            ("2", "0.01", "0.33", "0.33", "0.33"),
            ("2", "0.9", "0.01", "0.16", "0.675"),
            ("4", "0.4", "0.139", "0.139", "0.232"),
            ("10", "1", "0.01", "0.01", "0.01"),
        ):
            yield cls(*(Fraction(number) for number in shape))

    @property
    def _ladder(self) -> StaircaseLadder:
        from sordino.noise.staircase_polyplace.ladder import build  # loads scipy

        return build(*(float(value) for value in self.shape.values()))

    def breaks(self) -> NDArray[np.float64]:
        """Give the points x > 0 where the density jumps or bends, as far as doubles can see."""
        ladder = self._ladder
        skipped = np.arange(1.0, np.ceil(700 / ladder.epsilon))[:, None]
        return np.concatenate([ladder.high, ladder.unfold(skipped, ladder.high[ladder.first :]).ravel()])

    def _logpdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        ladder = self._ladder
        return ladder.log_density(x) - np.log(2 * ladder.mass)

    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        ladder = self._ladder
        with np.errstate(invalid="ignore"):
            tail = ladder.mass_beyond(np.minimum(x, 1e300)) / ladder.mass
        return np.where(np.isinf(x), 0.0, np.where(x == 0, 1.0, np.minimum(tail, 1.0)))

    def _tail_inverse(self, tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
        ladder = self._ladder
        with np.errstate(divide="ignore", invalid="ignore"):
            found = ladder.inverse(np.log(tail) + np.log(ladder.mass), centre * ladder.mass)
        return np.where(tail == 0, np.inf, found)

    def _moment(self, order: float) -> float:
        ladder = self._ladder
        return ladder.moment(order) / ladder.mass

    @classmethod
    def _calibrate_pure(
        cls,
        price: Pure,
        smoothing: Fraction | None,
        method: str | None,
        epsilon: Fraction | None = None,
        plateau: Fraction | None = None,
        middle: Fraction | None = None,
        core: Fraction | None = None,
    ) -> Calibration:
        method = choose_method(cls.name, method, "minimal")
        if smoothing is None:
            smoothing = price.epsilon / 10
        if 2 * smoothing >= price.epsilon:
            raise too_smooth(
                cls.name,
                smoothing,
                f"epsilon/2 = {float(price.epsilon) / 2:g}",
                price,
                f"smoothing={float(price.epsilon) / 10:g}, or PolyPlace",
            )
        if not LEAST_EPSILON <= price.epsilon <= MOST_EPSILON or epsilon not in (None, price.epsilon):
            raise Unsupported(
                cls.name,
                f"epsilon must be between {LEAST_EPSILON} and {MOST_EPSILON}",
                got={"price": price},
                why="For smaller epsilon PolyPlace is as good and simpler.",
                hint="PolyPlace.calibrate(price)",
            )
        own = max(smoothing, price.epsilon * LEAST_RATIO)
        best = _best_core(price.epsilon, own) if None in (plateau, middle, core) else (own, own, own)
        noise = cls(
            price.epsilon,
            own,
            best[0] if plateau is None else plateau,
            best[1] if middle is None else middle,
            best[2] if core is None else core,
        )
        return Calibration(noise, smoothing, Fraction(1), price, method, "staircase_polyplace")

    def _price_pure(self, scale: Fraction, smoothing: Fraction, method: str | None) -> Pure:
        choose_method(self.name, method, "minimal")
        if scale < 1 or smoothing > self.smoothing:
            raise Unsupported(
                self.name,
                "scale must be at least 1 and smoothing at most the law's own",
                got={"scale": scale, "smoothing": smoothing},
                why="The law is the smallest one for its epsilon and smoothing, at scale 1.",
                hint="calibrate it for the price and smoothing wanted",
            )
        return Pure(self.epsilon)  # a multiple of a smooth bound is a smooth bound


def _expm1_down(value: Fraction) -> Fraction:
    """Give e^value - 1 rounded down."""
    return Fraction(float(np.expm1(float(value)))) * (1 - Fraction(1, 10**12))


def _expm1_up(value: Fraction) -> Fraction:
    """Give e^value - 1 rounded up."""
    return Fraction(float(np.expm1(float(value)))) * (1 + Fraction(1, 10**12))


@lru_cache(maxsize=256)
def _best_core(epsilon: Fraction, smoothing: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Find the core of least variance, by a search over its three bends and over flat cores."""
    from scipy.optimize import minimize, minimize_scalar

    from sordino.noise.staircase_polyplace.ladder import build

    e, g = float(epsilon), float(smoothing)
    least = float(1 / np.expm1(e)) * (1 + 1e-6)
    most = min(1.0, float(1 / np.expm1(g)) * (1 - 1e-6))

    def cost(plateau: float, middle: float, core: float) -> float:
        ladder = build.__wrapped__(e, g, plateau, middle, core)
        return float(np.log(ladder.moment(2.0) / ladder.mass))

    flat = minimize_scalar(
        lambda u: cost(*(3 * [float(np.exp(u))])),
        bounds=(np.log(least), np.log(most)),
        method="bounded",
        options={"xatol": 1e-5},
    )
    b = float(np.exp(flat.x))

    def shape(v: NDArray[np.float64]) -> tuple[float, float, float]:
        middle = float(np.clip(np.exp(v[0]), least, most))
        plateau = middle * float(np.exp(-min(abs(v[1]), 9.0)))
        return plateau, middle, middle * float(np.exp(min(abs(v[2]), 5.0)))

    def objective(v: NDArray[np.float64]) -> float:
        return cost(*shape(v))

    tries = [(float(flat.fun), (b, b, b))]
    starts = (
        [float(np.log(b)), 0.1, 0.1],
        [float(np.log(max(0.8 * b, least))), 2.0, 0.5],
        [float(np.log(least * 1.5)), 3.0, 1.0],
    )
    for start in starts:
        found = minimize(objective, start, method="Nelder-Mead", tol=1e-5)
        tries.append((float(found.fun), shape(found.x)))
    plateau, middle, core = min(tries)[1]
    exact_middle = max(short(middle, 5), short(least * 1.00002, 6))
    return min(short(plateau, 5), exact_middle), exact_middle, max(short(core, 5), exact_middle)
