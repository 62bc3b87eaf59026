"""The bar of a mean, sum or variance that was cut to a published interval: made of published numbers, so it is free.

It covers the number of the rows cut to that interval, and says how many rows can lie beyond and what they can hide.
Under add/remove a mean is a noisy sum over a noisy count: the bar is the set of means under which both together are not
too far off (Fieller). With the spread of the rows it covers the population too. Proof: docs/proofs/mean_bars.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from sordino.mechanisms.clip.blurred import Blur, blurred_quantile, flat_topped_quantile, paired_quantile
from sordino.mechanisms.clip.noisy_mean import PAIRS
from sordino.mechanisms.clip.slants import quantiles
from sordino.mechanisms.clip.variance_bar import variance_ends
from sordino.mechanisms.parts.drawing import noise_for
from sordino.mechanisms.parts.public_noise import PublicNoise
from sordino.mechanisms.tuned_means import ForMeanBar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sordino.lattice import Lattice
    from sordino.mechanisms.clip.cut_tails import Rarity
    from sordino.mechanisms.clip.family import Family
    from sordino.mechanisms.clip.noisy_mean import Settled, Summand
    from sordino.mechanisms.clip.whole_or_interval import Chosen

ROUNDS = 6  # of the search for an end that appears in its own width


class NoiseReach(Protocol):
    """How far a noisy number may be off."""

    @property
    def scale(self) -> Fraction:
        """Of the noise."""
        ...

    def half(self, miss: float) -> Fraction:
        """The half width that is exceeded with probability at most ``miss``."""
        ...


@dataclass(frozen=True, slots=True)
class JointReach:
    """The reach of one outcome of a joint draw, whose noise has a private flat top.

    Attributes:
        family: The intervals among which was chosen.
        level: The level of the drawn one; None for the whole range.
        priors: Whether an interval of these codes has prior 1; both where one that has and one that has not share them.
        scale: Sensitivity over rate of its noise.
        step: The lattice of published numbers.
    """

    family: Family
    level: int | None
    priors: tuple[bool, ...]
    scale: Fraction
    step: Fraction

    @classmethod
    def of(cls, family: Family, found: Chosen | None, scale: Fraction, grid: Lattice) -> JointReach:
        """The reach of what was drawn."""
        if found is None:
            return cls(family, None, (False,), scale, grid.step)
        return cls(
            family, found.level, family.priors_of(found.level, found.low, found.high), scale, grid.step
        )

    def half(self, miss: float) -> Fraction:
        """A public number of scales, and half a step for the rounding."""
        raw = Fraction(self.scales(miss) * (1 + 1e-9)) * self.scale + self.step / 2
        return self.step * math.ceil(raw / self.step)

    def scales(self, miss: float) -> float:
        """The public number of scales."""
        from sordino.mechanisms.clip.cut_tails import CutTails

        tails = CutTails.of(self.family, miss)
        if self.level is None:
            return tails.whole
        return max((tails.favoured if one else tails.others)[self.level] for one in self.priors)

    def rarities(self, slack: float) -> list[Rarity]:
        """How rarely the outcome is drawn with noise of a flat top, by what its prior may be."""
        from sordino.mechanisms.clip.cut_tails import Rarity

        return [Rarity.of(self.family, self.level, favoured=one, slack=slack) for one in self.priors]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippedBar:
    """What a bar around a clipped number is made of; everything in it is published or public.

    Attributes:
        cut: The published clipping interval.
        bounds: The declared bounds.
        value: The answer, before a root is taken.
        noisy: The number that got the noise: a mean, a sum, or a sum about `origin`.
        reach: How far it may be off.
        origin: The point about which rows are summed where their number is private.
        count: The noisy number of rows; None where it is public or not needed.
        counting: The law of its noise.
        about: The law of the noise in a released mean about which squares are taken.
        rows: The number of rows where it is public.
        ends: Between which numbers the statistic lies; None where it has no bounds.
        step: The lattice of what gets the noise.
        beyond: Fewer rows lie beyond the interval in 95 of 100 releases; None where nothing is known of them.
        averages: ``"mean"``, ``"sum"`` or ``"squares"``.
        root: The lattice of the answer where it is the root; None otherwise.
        paired: Whether the count was drawn together with what is averaged.
        sums: The three noisy sums of a variance whose number of rows is private.
    """

    cut: tuple[Fraction, Fraction]
    bounds: tuple[Fraction, Fraction]
    value: Fraction
    noisy: Fraction
    reach: NoiseReach
    step: Fraction
    origin: Fraction = Fraction(0)
    count: Fraction | None = None
    counting: PublicNoise | None = None
    about: PublicNoise | None = None
    rows: int | None = None
    ends: tuple[Fraction, Fraction] | None = None
    beyond: int | None = None
    averages: str = "mean"
    root: Fraction | None = None
    paired: bool = False
    sums: tuple[Fraction, ...] = ()

    @classmethod
    def of(
        cls, part: Summand, settled: Settled, reach: NoiseReach, counting: PublicNoise | None, *,
        bounds: tuple[Fraction, Fraction], public: Mapping[str, Any], rows: int | None, step: Fraction, averages: str,
        root: Fraction | None = None,
    ) -> ClippedBar:  # fmt: skip
        """From what was drawn and what is published with it."""
        beyond = public.get("rows_beyond")
        return cls(
            cut=(public["low"], public["high"]), bounds=bounds, value=settled.value, noisy=settled.noisy, reach=reach,
            step=step, origin=part.origin, count=settled.count, counting=counting, about=part.about, rows=rows,
            ends=part.ends, beyond=None if beyond is None else int(beyond), averages=averages, root=root,
            paired=part.paired, sums=settled.sums,
        )  # fmt: skip

    @staticmethod
    def noise_of_count(part: Summand) -> PublicNoise | None:
        """The law of the noise in a number of rows; None where that is public or not needed."""
        price = part.price if part.paired else part.counting
        if price is None:
            return None
        known, step = noise_for(price), PAIRS.step if part.paired else Fraction(1)
        return PublicNoise(known.noise, part.contribution * known.scale, step, aligned=True)

    @staticmethod
    def public_reach(part: Summand, grid: Lattice) -> PublicNoise:
        """Plain noise, whose law is public once the interval is."""
        known = noise_for(part.price)
        return PublicNoise(known.noise, part.sensitivity * known.scale, grid.step)

    @property
    def whole(self) -> bool:
        """Whether nothing is cut beyond the declared bounds."""
        return self.cut == self.bounds

    @property
    def plain(self) -> PublicNoise | None:
        """The noise of an answer within the declared bounds, where its law is public and nothing is divided by it."""
        known = isinstance(self.reach, PublicNoise) and self.whole and self.count is None
        return self.reach if known else None  # type: ignore[return-value]

    def interval(self, miss: float, deviation: float = 0.0) -> tuple[Fraction, Fraction]:
        """The bar around the published answer.

        Args:
            miss: How often it may fail.
            deviation: Of the noisy number, as the sample is drawn from a population; 0 covers the rows at hand.
        """
        if self.sums:
            found = self._of_three(miss)
        elif self.about is not None:
            about = ForMeanBar.ABOUT * miss
            moved = self.about.half(about)
            if self.paired:
                found = self._quotient(miss - about, deviation)
            else:
                off = self.reach.half(miss - about)
                found = self.noisy - off, self.noisy + off
            found = found[0] - moved**2, found[1]
        elif self.count is None or self.counting is None:
            half = Fraction(self._half(0.0, deviation, miss)) if deviation else self.reach.half(miss)
            found = self.value - half, self.value + half
        else:
            found = self._quotient(miss, deviation)
        low, high = self._possible(min(found[0], self.value), max(found[1], self.value))
        if self.root is None:
            return low, high
        below, above = (math.sqrt(max(end, Fraction(0))) for end in (low, high))
        return (
            self.root * math.floor(Fraction(below * (1 - 1e-12)) / self.root),
            self.root * math.ceil(Fraction(above * (1 + 1e-12)) / self.root),
        )

    def _quotient(self, miss: float, deviation: float) -> tuple[Fraction, Fraction]:
        """All means under which the noisy sum and the noisy count are not too far off together."""
        assert self.count is not None
        assert self.counting is not None
        assert self.ends is not None
        if self.count <= 0:
            return self.ends
        middle = self.origin + self.noisy / self.count
        found = [middle, middle]
        far = float(max(self.ends[1] - self.origin, self.origin - self.ends[0]))
        if self.paired:  # so far is one row from the point at most
            far = float(self.reach.scale / self.counting.scale)
        for side, sign in ((0, -1), (1, 1)):
            for place in range(ROUNDS):
                away = min(abs(float(found[side] - self.origin)), far)
                if (
                    place == ROUNDS - 1
                ):  # a count so noisy that the end runs away: the farthest possible one decides
                    away = far
                width = self._half(away * float(self.counting.scale), deviation, miss)
                width += away * float(self.counting.step) / 2
                end = middle + sign * Fraction(width) / self.count
                done, found[side] = abs(end - found[side]) * 1000 <= abs(end - middle), end
                if done:
                    break
        return found[0], found[1]

    def _of_three(self, miss: float) -> tuple[Fraction, Fraction]:
        """The variances that three noisy sums allow."""
        assert self.counting is not None
        assert self.ends is not None
        low, high = variance_ends(
            list(map(float, self.sums)),
            float(self.counting.scale),
            lambda weights, part: self._slanted(weights, miss, part),
        )
        return Fraction(low) * 4 * self.ends[1], Fraction(high) * 4 * self.ends[1]

    def _slanted(
        self, weights: Sequence[Sequence[float]], miss: float, part: float = 1.0
    ) -> NDArray[np.float64]:
        """How far sums of their noise with some weights may be off, in scales, for a part of all misses."""
        if not isinstance(self.reach, JointReach):
            return quantiles(weights, [], miss * part)
        flat = ForMeanBar.FLAT * miss
        rarities = [replace(one, allowed=one.allowed * part) for one in self.reach.rarities(flat)]
        return quantiles(weights, rarities, (miss - flat) * part)

    def _half(self, counted: float, deviation: float, miss: float) -> float:
        """How far the noisy number may be off, with the noise of a count at so large a scale and a normal deviation."""
        reach, scale = self.reach, float(self.reach.scale)
        blur = Blur(deviation, counted)
        if counted and self.counting is not None and self.counting.noise.name != "laplace":  # type: ignore[union-attr]
            blur = Blur(math.hypot(deviation, counted), 0.0)
        if self.paired and isinstance(reach, JointReach):
            found = (
                paired_quantile(rarity, scale, counted, deviation, (1 - ForMeanBar.FLAT) * miss)
                for rarity in reach.rarities(ForMeanBar.FLAT * miss)
            )
            return max(found) + float(self.step)
        if isinstance(reach, JointReach):
            found = (
                flat_topped_quantile(rarity, scale, blur, (1 - ForMeanBar.FLAT) * miss)
                for rarity in reach.rarities(ForMeanBar.FLAT * miss)
            )
            return max(found) + float(self.step)
        assert isinstance(reach, PublicNoise)
        assert reach.noise is not None
        if self.paired:  # rows at either end have noise of their own
            scale, blur = scale + counted, Blur(deviation, abs(scale - counted))
        return blurred_quantile(reach.noise, scale, blur, miss) + float(self.step)

    def rows_between(self, miss: float) -> tuple[Fraction, Fraction]:
        """How many rows there are: a public number, or an interval around the noisy one."""
        if self.count is None or self.counting is None:
            rows = Fraction(max(self.rows or 1, 1))
            return rows, rows
        half = self._counted(miss) if self.paired else self.counting.half(miss)
        return max(self.count - half, Fraction(1)), max(self.count + half, Fraction(1))

    def _counted(self, miss: float) -> Fraction:
        """How far a count may be off that was drawn with the sum: two Laplace numbers, or what a flat top allows."""
        assert self.counting is not None
        if isinstance(self.reach, JointReach):
            return Fraction(self.reach.scales(miss) * (1 + 1e-9)) * self.counting.scale
        if self.sums:
            return Fraction(float(self._slanted([(1, 1, 1)], miss)[0])) * self.counting.scale
        assert self.counting.noise is not None
        own = float(self.counting.scale)
        return Fraction(blurred_quantile(self.counting.noise, own, Blur(0.0, own), miss))

    def _possible(self, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        """Outwards to the lattice, cut to what the statistic can be."""
        step = self.step
        low, high = step * (low // step), step * -(-high // step)
        if self.ends is None:
            return low, high
        bottom, top = step * (self.ends[0] // step), step * -(-self.ends[1] // step)
        return min(max(low, bottom), top), max(min(high, top), bottom)

    @property
    def hidden(self) -> tuple[float, float] | None:
        """By how much rows beyond can pull the number of the declared bounds below and above; None where not known."""
        if self.beyond is None or self.averages == "squares":
            return None
        below, above = self.cut[0] - self.bounds[0], self.bounds[1] - self.cut[1]
        rows = Fraction(1) if self.averages == "sum" else self.rows_between(0.05)[0]
        return float(self.beyond * below / rows), float(self.beyond * above / rows)
