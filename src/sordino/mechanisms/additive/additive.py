"""Additive noise: the value plus calibrated noise, scaled to a global or a smooth bound of its sensitivity.

The calibration is made without data; the smooth bound is read from the profile on an integer log-grid, so that it is
smooth exactly. The scale of a release is private and is not part of the answer.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import SordinoError, Unsupported
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.public_noise import PublicNoise
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.exact.bits import Bits
    from sordino.exact.scale import ExpScale
    from sordino.hints import Hints
    from sordino.lattice import Lattice
    from sordino.mechanisms import Asking
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.noise import Noise
    from sordino.noise.calibration import Calibration
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Opened, Profile, Reading
    from sordino.statistics import Statistic

SPAN = 24.0  # nats between the global sensitivity and one step of a 31-bit lattice, with room to spare


def profile_points(profile: Profile) -> tuple[list[Any], list[int]]:
    """Bounds and the smallest distances at which each of them holds; the ceiling comes last.

    A distance that is not listed takes the next listed bound, so bound i holds from one past the distance before it.
    """
    starts = [0, *(distance + 1 for distance in profile.distance)]
    return [*profile.bound, profile.ceiling], starts


class AdditiveLaw:
    """The law of ``value + scale * noise`` on known data."""

    def __init__(self, noise: Noise, *, value: float, scale: float) -> None:
        self.noise, self.value, self.scale = noise, value, scale

    def logpdf(self, value: float) -> float:
        """Log density."""
        if self.scale == 0:
            return math.inf if value == self.value else -math.inf
        return float(self.noise.logpdf((value - self.value) / self.scale)) - math.log(self.scale)

    def cdf(self, value: float) -> float:
        """Probability of an answer that is not larger."""
        if self.scale == 0:
            return float(value >= self.value)
        return float(self.noise.cdf((value - self.value) / self.scale))

    def mean(self) -> float:
        """The noise is symmetric."""
        return self.value

    def mean_squared_error(self, value: float) -> float:
        """Variance plus squared bias."""
        return self.scale**2 * self.noise.variance + (self.value - value) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Additive(Mechanism):
    """The value plus noise.

    Args:
        calibration: What ``Noise.calibrate`` returned; its ``smoothing`` of 0 means a global bound.
        look: How many changed rows the profile is read ahead; from the smoothing when None.
        clip: Cut the answer to the public range of the statistic (post-processing, costs nothing).

    Example:
        >>> from sordino.noise.polyplace import PolyPlace
        >>> from sordino.privacy import Pure
        >>> Additive(calibration=PolyPlace.calibrate(Pure(1), smoothing=0.2)).depth
        120
    """

    calibration: Calibration
    look: int | None = None
    clip: bool = True

    name: ClassVar[str] = "additive"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.NUMBER,)
    needs: ClassVar[tuple[str, ...]] = ("profile",)
    proof: ClassVar[str] = "mechanism_additive"

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Noise for the smoothing that suits the statistic, with a bar where one is asked for."""
        from sordino.mechanisms.additive.error_bar import WithErrorBar
        from sordino.mechanisms.additive.smoothing import noise_at
        from sordino.mechanisms.parts.drawing import noise_for

        smoothing, look = statistic.smoothing(price, hints), hints.look if statistic.counts_rows else None
        if smoothing is None:
            return
        if smoothing == 0:
            yield cls(calibration=noise_for(price))  # the scale is public: a bar is free
        elif not WithErrorBar.sold(price, hints.interval):
            yield cls.looking(noise_at(price, smoothing), look)
        else:
            yield WithErrorBar.offered(
                lambda cost: cls.looking(noise_at(cost, smoothing), look), price, hints.interval
            )

    @classmethod
    def cases(cls) -> Iterator[MechanismCase]:
        """What is offered for every statistic, and every family of noise on one of them."""
        from sordino.mechanisms.parts.cases import PRICES, MechanismCase, offered, worlds
        from sordino.noise import families

        yield from offered(cls, shows=False)
        for world in worlds():
            if not {Trait.QUANTILE, Trait.ROW} <= world.statistic.traits:
                continue
            for family, price in product(families().values(), PRICES):
                smoothing = Fraction(price.strength).limit_denominator(20) / 10
                if type(price) in family.promises():
                    with contextlib.suppress(SordinoError):
                        yield MechanismCase(
                            cls(calibration=family.calibrate(price, smoothing=smoothing)), world
                        )

    @classmethod
    def looking(cls, calibration: Calibration, look: int | None) -> Additive:
        """Look ahead as far as the smoothing asks, and no farther than all rows: there the global bound holds."""
        whole = cls(calibration=calibration)
        far = look is not None and whole.depth > look
        return cls(calibration=calibration, look=look) if far else whole

    @classmethod
    def alternatives(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Every family that promises this kind of price, for a smooth bound and, where it can, for the global one."""
        from sordino.noise import families

        if statistic.vector:
            return
        smoothing = statistic.smoothing_tried(price, hints)
        for family in families().values():
            if type(price) not in family.promises():
                continue
            for gamma in (smoothing, Fraction(0)):
                if gamma == 0 and not family.plain:
                    continue
                try:
                    yield cls.looking(family.calibrate(price, smoothing=gamma), hints.look)
                except SordinoError:
                    continue

    @property
    def label(self) -> str:
        """Noise goes by its family."""
        name = self.calibration.noise.name
        return name if self.adaptive else f"{name} (global)"

    @property
    def adaptive(self) -> bool:
        """Whether the scale follows a smooth bound."""
        return self.calibration.smoothing > 0

    @property
    def smooth_noise(self) -> Calibration | None:
        """The calibration, when it is for a smooth bound."""
        return self.calibration if self.adaptive else None

    @property
    def clips(self) -> bool:
        """As it was built."""
        return self.clip

    def __post_init__(self) -> None:
        if self.look is not None:
            checks.whole(self.name, look=self.look)

    def refusal(self, statistic: Statistic) -> str | None:
        """Noise whose scale keeps its promise, on a single number; any relation with a local sensitivity."""
        if not self.calibration.kept:
            return "The scale of its calibration does not keep the promise that is written beside it."
        return Mechanism.refusal(self, statistic)

    @property
    def guarantee(self) -> Guarantee:
        """What the calibration promises."""
        return self.calibration.guarantee

    @property
    def depth(self) -> int:
        """Beyond this distance the global bound counts for less than one step of the data."""
        if self.look is not None:
            return self.look
        gamma = self.calibration.smoothing
        return 0 if gamma == 0 else math.ceil(SPAN / float(gamma))

    def reading(self, statistic: Statistic, ask: Asking, contribution: int) -> Reading:
        """Noise for a global bound needs no row by itself: sums do where the statistic is one."""
        whole = statistic.whole() if self.depth == 0 and not self.adaptive else None
        if whole is None:
            return Mechanism.reading(self, statistic, ask, contribution)
        return statistic.read(ask(whole)).by(contribution)

    def scale(self, reading: Reading) -> Fraction | ExpScale:
        """The exact scale of the noise on this reading: as private as the data."""
        return self._scale(reading.open())

    def _scale(self, opened: Opened) -> Fraction | ExpScale:
        from sordino.exact.log_grid import LogGrid

        calibration = self.calibration
        if calibration.smoothing == 0:  # a Fraction says that the scale is public
            return Fraction(opened.profile.ceiling) * opened.units.step * calibration.scale
        bounds, distances = profile_points(opened.profile)
        grid = LogGrid(calibration.smoothing)
        return grid.bound([Fraction(bound) for bound in bounds], distances, unit=opened.units.step).times(
            calibration.scale
        )

    def law(self, reading: Reading) -> AdditiveLaw:
        """Density of the answer before it is rounded and clipped."""
        from sordino.exact.scale import ExpScale

        opened = reading.open()
        scale = self._scale(opened)
        size = (
            float(scale.multiplier) * math.exp(float(scale.step) * scale.exponent)
            if isinstance(scale, ExpScale)
            else float(scale)
        )
        return AdditiveLaw(self.calibration.noise, value=float(opened.units.real(opened.value)), scale=size)

    def draw(self, reading: Reading, grid: Lattice, *, bits: Bits | None = None) -> Answer:
        """Draw value plus noise, exactly rounded to the grid, then clip to the public range."""
        opened = reading.open()
        if isinstance(opened.value, tuple):
            raise Unsupported(self.name, "adds noise to single numbers", hint="RadialLaplace answers vectors")
        scale = self._scale(opened)
        point = Draws.of(bits).noise(
            self.calibration.noise,
            location=opened.units.real(opened.value),
            scale=scale,
            grid=grid,
            price=self.guarantee,
        )
        value = grid.step * point
        if self.clip and opened.bottom is not None and opened.top is not None:
            value = grid.inside(value, opened.units.real(opened.bottom), opened.units.real(opened.top))
        known = None
        if isinstance(
            scale, Fraction
        ):  # for a global bound, which is public; a smooth one never leaves this room
            known = PublicNoise.around(self.calibration.noise, scale, grid, opened, clipped=self.clip)
        return Answer(value, noise=known)
