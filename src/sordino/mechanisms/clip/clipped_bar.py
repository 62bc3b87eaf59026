"""The bar of a mean or sum that was cut to a published interval: made of published numbers, so it costs nothing.

It covers the mean (or sum) of the rows cut to that interval, and says how many rows can lie beyond and what they can
hide. Under add/remove a mean is a noisy sum over a noisy count: the bar is the set of means under which both together
are not too far off (Fieller). With the spread of rows it covers the population too. Proof: docs/proofs/mean_bars.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from sordino.mechanisms.clip.blurred import Blur, blurred_quantile, flat_topped_quantile
from sordino.mechanisms.parts.drawing import noise_for
from sordino.mechanisms.parts.public_noise import PublicNoise

if TYPE_CHECKING:
    from sordino.lattice import Lattice
    from sordino.mechanisms.clip.cut_tails import Rarity
    from sordino.mechanisms.clip.family import Family
    from sordino.mechanisms.clip.noisy_mean import Settled, Summand
    from sordino.mechanisms.clip.whole_or_interval import Chosen

SLACK = 0.3
"""Of the probability of a miss, for noise with a flat top, where something else is off too."""
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
class JointTail:
    """The reach of one outcome of a joint draw, whose noise has a private flat top.

    Attributes:
        family: The intervals among which was chosen.
        level: The level of the drawn one; None for the whole range.
        favoured: Whether it has prior 1.
        scale: Sensitivity over rate of its noise.
        step: The lattice of published numbers.
    """

    family: Family
    level: int | None
    favoured: bool
    scale: Fraction
    step: Fraction

    @classmethod
    def of(
        cls, family: Family, found: Chosen | None, part: Summand, rate: Fraction, grid: Lattice
    ) -> JointTail:
        """The reach of what was drawn."""
        scale = part.sensitivity / rate
        if found is None:
            return cls(family, None, favoured=False, scale=scale, step=grid.step)
        starts = family.favoured(found.level).tolist()
        favoured = (found.low, found.high) in {family.interval(found.level, place) for place in starts}
        return cls(family, found.level, favoured, scale, grid.step)

    def half(self, miss: float) -> Fraction:
        """A public number of scales, and half a step for the rounding."""
        reach = self.reach(miss)
        raw = Fraction(reach * (1 + 1e-9)) * self.scale + self.step / 2
        return self.step * math.ceil(raw / self.step)

    def reach(self, miss: float) -> float:
        """How many scales."""
        from sordino.mechanisms.clip.cut_tails import CutTails

        tails = CutTails.of(self.family, miss)
        if self.level is None:
            return tails.whole
        return (tails.favoured if self.favoured else tails.others)[self.level]

    def rarity(self, slack: float) -> Rarity:
        """How rarely the outcome is drawn with noise of a flat top."""
        from sordino.mechanisms.clip.cut_tails import Rarity

        return Rarity.of(self.family, self.level, favoured=self.favoured, slack=slack)


@dataclass(frozen=True, slots=True)
class ClippedBar:
    """What a bar around a clipped mean or sum is made of; everything in it is published or public.

    Attributes:
        cut: The published clipping interval.
        whole: Whether it is the whole declared range: then nothing is cut.
        bounds: The declared bounds.
        noisy: The noisy number (a mean, a sum, or a sum about `origin`).
        tail: How far it may be off.
        origin: The point about which rows are summed where their number is private.
        count: The noisy number of rows; None where it is public or not needed.
        counting: The law of its noise.
        rows: The number of rows where it is public.
        total: Whether it is a sum.
        clipped: Whether the answer is cut to what is possible.
        beyond: Fewer rows lie beyond the interval in 95 of 100 releases; None where nothing is known of them.
        step: The lattice of published numbers.
    """

    cut: tuple[Fraction, Fraction]
    whole: bool
    bounds: tuple[Fraction, Fraction]
    noisy: Fraction
    tail: NoiseReach
    origin: Fraction
    count: Fraction | None
    counting: PublicNoise | None
    rows: int | None
    total: bool
    clipped: bool
    beyond: int | None
    step: Fraction

    @classmethod
    def of(
        cls, part: Summand, settled: Settled, tail: NoiseReach, grid: Lattice, *, bounds: tuple[Fraction, Fraction],
        total: bool, beyond: int | None = None,
    ) -> ClippedBar:  # fmt: skip
        """From what was drawn."""
        cut = part.sums.low, part.sums.high
        counting = None
        if part.counting is not None:
            known = noise_for(part.counting)
            scale = part.contribution * known.scale
            counting = PublicNoise(known.noise, scale, Fraction(1), aligned=True)
        return cls(
            cut=cut, whole=cut == bounds, bounds=bounds, noisy=settled.noisy, tail=tail, origin=part.origin,
            count=settled.count, counting=counting, rows=part.public_rows, total=total,
            clipped=part.factor is not None, beyond=beyond, step=grid.step,
        )  # fmt: skip

    @classmethod
    def public_tail(cls, part: Summand, grid: Lattice) -> PublicNoise:
        """Plain noise, whose law is public once the interval is."""
        known = noise_for(part.price)
        return PublicNoise(known.noise, part.sensitivity * known.scale, grid.step)

    @property
    def plain(self) -> PublicNoise | None:
        """The noise of an answer within the declared bounds, where its law is public and nothing is divided by it."""
        known = isinstance(self.tail, PublicNoise) and self.whole and self.count is None
        return self.tail if known else None  # type: ignore[return-value]

    def interval(self, value: Fraction, miss: float, deviation: float = 0.0) -> tuple[Fraction, Fraction]:
        """The bar around a published answer.

        Args:
            value: The answer.
            miss: How often it may fail.
            deviation: Of the noisy number, as the sample is drawn from a population; 0 covers the rows at hand.
        """
        if self.count is None or self.counting is None:
            half = Fraction(self._half(0.0, deviation, miss)) if deviation else self.tail.half(miss)
            return self._inside(value - half, value + half)
        if self.count <= 0:
            return self._inside(*self.cut)
        middle = self.origin + self.noisy / self.count
        ends = [middle, middle]
        far = float(max(self.cut[1] - self.origin, self.origin - self.cut[0]))
        for side, sign in ((0, -1), (1, 1)):
            for _ in range(ROUNDS):
                away = min(abs(float(ends[side] - self.origin)), far)
                width = self._half(away * float(self.counting.scale), deviation, miss) + away / 2
                end = middle + sign * Fraction(width) / self.count
                done, ends[side] = abs(end - ends[side]) * 1000 <= abs(end - middle), end
                if done:
                    break
            else:  # a count so noisy that the end runs away: the farthest mean that is possible decides
                width = self._half(far * float(self.counting.scale), deviation, miss) + far / 2
                ends[side] = middle + sign * Fraction(width) / self.count
        return self._inside(min(ends[0], value), max(ends[1], value))

    def _half(self, counted: float, deviation: float, miss: float) -> float:
        """How far the noisy number may be off, with the noise of a count at so large a scale and a normal deviation."""
        tail, scale = self.tail, float(self.tail.scale)
        blur = Blur(deviation, counted)
        if counted and self.counting is not None and self.counting.noise.name != "laplace":  # type: ignore[union-attr]
            blur = Blur(math.hypot(deviation, counted), 0.0)
        if isinstance(tail, JointTail):
            rarity = tail.rarity(SLACK * miss)
            return flat_topped_quantile(rarity, scale, blur, (1 - SLACK) * miss) + float(tail.step)
        assert isinstance(tail, PublicNoise)
        assert tail.noise is not None
        return blurred_quantile(tail.noise, scale, blur, miss) + float(tail.step)

    def rows_between(self, miss: float) -> tuple[Fraction, Fraction]:
        """How many rows there are: a public number, or an interval around the noisy one."""
        if self.count is None or self.counting is None:
            rows = Fraction(max(self.rows or 1, 1))
            return rows, rows
        half = self.counting.half(miss)
        return max(self.count - half, Fraction(1)), max(self.count + half, Fraction(1))

    def _inside(self, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        """Outwards to the lattice, cut to what a clipped mean or sum can be."""
        step = self.step
        low, high = step * (low // step), step * -(-high // step)
        if not self.clipped:
            return low, high
        times = self.rows if self.total and self.rows else 1
        bottom, top = (end * times for end in self.cut)
        bottom, top = step * (bottom // step), step * -(-top // step)
        return min(max(low, bottom), top), max(min(high, top), bottom)

    @property
    def hidden(self) -> tuple[float, float] | None:
        """By how much rows beyond can pull the number of the declared bounds below and above; None where not known."""
        if self.whole:
            return 0.0, 0.0
        if self.beyond is None:
            return None
        below, above = self.cut[0] - self.bounds[0], self.bounds[1] - self.cut[1]
        rows = Fraction(1) if self.total else self.rows_between(0.05)[0]
        return float(self.beyond * below / rows), float(self.beyond * above / rows)
