"""Private error bars: the exact pivot for additive noise, and order-statistic intervals for quantiles.

Both are paid from the same budget and cover the statistic of the sample, not of the population, with at least the
stated probability on every dataset. Proofs: docs/proofs/mechanism_error_bar.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sordino import checks
from sordino.coverage import Sample
from sordino.errors import ParameterError, Unsupported
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.tuned import ForScaleBar
from sordino.privacy import Pure, Purse

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.coverage import Coverage
    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice
    from sordino.mechanisms.additive.additive import Additive, AdditiveLaw
    from sordino.noise import Noise
    from sordino.noise.calibration import Calibration
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading
    from sordino.statistics import Statistic

WIDEST = 700.0  # nats: beyond it no float is left; the noise gets there with probability below e^-600
LOG_STEP = Fraction(1, 1024)  # lattice of the released log scale; its rounding widens the bar by 0.05 %


@lru_cache(maxsize=256)
def pivot_quantile(noise: Noise, ratio: float, level: float) -> float:
    """The c with ``P(|Z| exp(-eta) <= c) = level`` for noise Z and eta Laplace of scale ``ratio``; data-free.

    Example:
        >>> from sordino.noise.polyplace import PolyPlace
        >>> from sordino.privacy import Pure
        >>> calibration = PolyPlace.calibrate(Pure(0.8), smoothing=0.04, method="published")
        >>> round(pivot_quantile(calibration.noise, 0.2, 0.95) * float(calibration.scale), 2)
        4.36
    """
    nodes, weights = np.polynomial.legendre.leggauss(400)
    # eta = -ratio ln(1 - u) on each side, u uniform: quadrature in u resolves both flanks.
    places = (nodes + 1) / 2
    sizes = -ratio * np.log1p(-places)

    def beyond(c: float) -> float:
        with np.errstate(
            over="ignore", under="ignore"
        ):  # of a scale that is nearly unknown: nothing, or everything
            tails = noise.sf(c * np.exp(sizes)) + noise.sf(c * np.exp(-sizes))
        return float(np.sum(weights / 2 * tails))  # both signs of Z and of eta: 2 * (1/2)

    low, high = 0.0, 1.0
    while beyond(high) > 1 - level:
        low, high = high, 2 * high
        if high > 1e18:
            raise Unsupported(
                "error bar", "is too wide", hint="a smaller smoothing or a larger share for the scale"
            )
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > 1 - level else (low, middle)
    return high


@dataclass(frozen=True, slots=True, kw_only=True)
class WithErrorBar(Mechanism):
    """An additive answer with an interval that covers the statistic with a stated probability.

    Releases ``M = f + S Z`` and ``L = ln S + eta``; ``(M - f) exp(-L)`` has a data-free law, so ``M +- c exp(L)``
    covers f with exactly the stated probability (rounding only widens it). With a global bound the scale is public and
    the bar costs nothing.

    Args:
        mechanism: The additive mechanism that answers.
        price: What the released scale costs; None with a global bound, whose scale is public.
        level: Probability that the interval covers the statistic of the sample.
    """

    mechanism: Additive
    price: Pure | None = None
    level: float = 0.95

    name: ClassVar[str] = "error-bar"
    needs: ClassVar[tuple[str, ...]] = ("profile",)
    proof: ClassVar[str] = "mechanism_error_bar"

    @classmethod
    def sold(cls, price: Guarantee, asked: Coverage | None) -> bool:
        """Whether such a bar is asked for and known: for the sample, at a pure price."""
        return isinstance(asked, Sample) and isinstance(price, Pure)

    @classmethod
    def offered(
        cls, build: Callable[[Guarantee], Additive], price: Guarantee, asked: Coverage | None
    ) -> WithErrorBar:
        """Four fifths for the answer, one fifth for its scale."""
        assert asked is not None
        assert isinstance(price, Pure)
        purse = Purse(price)
        answer = build(purse.take(ForScaleBar.ANSWER_SHARE))
        return cls(mechanism=answer, price=purse.rest(), level=asked.level)

    @property
    def label(self) -> str:
        """That of the answer."""
        return f"{self.mechanism.label} + error bar"

    @property
    def adaptive(self) -> bool:
        """As the answer is."""
        return self.mechanism.adaptive

    @property
    def smooth_noise(self) -> Calibration | None:
        """That of the answer."""
        return self.mechanism.smooth_noise

    def __post_init__(self) -> None:
        checks.between(self.name, 0, 1, level=self.level)
        if self.mechanism.calibration.smoothing == 0:
            object.__setattr__(self, "price", None)
        elif self.price is None:
            raise ParameterError(
                self.name, "needs a price for the scale of a smooth bound", hint="price=Pure(0.2)"
            )
        elif not isinstance(self.price, Pure):
            raise ParameterError(
                self.name, "releases its scale at a pure price", got={"price": self.price},
                why="The noise on the scale is Laplace noise of that epsilon.", hint="price=Pure(0.2)",
            )  # fmt: skip
        else:
            checks.positive(self.name, epsilon=self.price.epsilon)

    def refusal(self, statistic: Statistic) -> str | None:
        """What the mechanism inside answers."""
        return self.mechanism.refusal(statistic)

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:
        """Answer and ends of the bar."""
        value = self.mechanism.lattices(statistic, grid)["value"]
        return {"value": value, "low": value, "high": value}

    @property
    def guarantee(self) -> Guarantee:
        """The answer and the released scale compose."""
        return self.mechanism.guarantee if self.price is None else self.mechanism.guarantee + self.price

    @property
    def depth(self) -> int:
        """As far as the mechanism looks."""
        return self.mechanism.depth

    @property
    def ratio(self) -> Fraction:
        """Scale of the noise on the log of the smooth bound."""
        return (
            Fraction(0) if self.price is None else self.mechanism.calibration.smoothing / self.price.epsilon
        )

    @property
    def width(self) -> float:
        """Half the interval per unit of the released scale; public."""
        return pivot_quantile(self.mechanism.calibration.noise, float(self.ratio), float(self.level))

    def law(self, reading: Reading) -> AdditiveLaw:
        """The law of the answer."""
        return self.mechanism.law(reading)

    def draw(self, reading: Reading, grid: Lattice, *, bits: Bits | None = None) -> Answer:
        """Draw the answer, then the scale, then put the interval around the answer."""
        from sordino.exact.scale import ExpScale
        from sordino.lattice import Lattice
        from sordino.noise.laplace import Laplace

        answer = replace(self.mechanism, clip=False).draw(reading, grid, bits=bits)
        assert isinstance(answer.value, Fraction)
        scale = self.mechanism.scale(reading)
        if isinstance(scale, ExpScale):
            fine = Lattice.dyadic(-10)  # LOG_STEP
            assert self.price is not None
            place = scale.step * scale.exponent
            point = Draws.of(bits).noise(
                Laplace(), location=place, scale=self.ratio, grid=fine, price=self.price
            )
            released = float(fine.step * point) + float(LOG_STEP) / 2
            size = Fraction(math.exp(min(released, WIDEST))) * scale.multiplier
        else:
            size = scale
        half = size * Fraction(self.width) * (1 + Fraction(1, 2**40)) + grid.step / 2
        half = grid.step * -(-half // grid.step)  # outwards to the grid: a bar may be wider, never narrower
        return Answer(
            answer.value, {"low": answer.value - half, "high": answer.value + half, "level": self.level}
        )
