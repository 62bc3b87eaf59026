"""A clipped mean, sum or mean of squares with plain noise, when the number of rows is public and when it is not.

The last step of all that is cut to a released interval, and the only one when nothing is searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sordino.lattice import Lattice
from sordino.mechanisms.parts.draws import Draws
from sordino.privacy import Neighbors

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.mechanisms.clip.column import Clipped
    from sordino.mechanisms.clip.interval import ClipInterval
    from sordino.mechanisms.clip.whole_or_interval import Valued
    from sordino.mechanisms.parts.public_noise import PublicNoise
    from sordino.privacy import Guarantee


PAIRS = Lattice.dyadic(-32)
"""The lattice of rows at either end of an interval, and of three sums: far finer than an answer needs."""


@dataclass(frozen=True, slots=True)
class Settled:
    """An answer and the noisy numbers that it was made of; all of them have been paid for.

    Attributes:
        value: The answer.
        noisy: The number that got the noise.
        count: The noisy number of rows; None where it is public or not needed.
        sums: The three noisy sums of a variance whose number of rows is private (three_sums.py).
    """

    value: Fraction
    noisy: Fraction
    count: Fraction | None
    sums: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Summand:
    """The number that gets the noise, and how the answer comes from it; the value is private.

    Under add/remove a mean is a sum about a public or released point over a noisy count. Noise in the count moves the
    answer by its distance from the point, so a point near the mean is worth more than one in the middle of the
    interval, where the sum has less noise.

    Attributes:
        value: What gets noise.
        sensitivity: How far one person moves it; public once the interval is.
        price: What it may cost.
        origin: The point about which rows are summed: it is added in the end.
        counting: What the number of rows may cost; None where it is public or not needed.
        rows: Their number; private where rows come and go.
        ends: Between what the answer is cut; None where it has no bounds.
        contribution: How many rows one person may move.
        about: The law of the noise in a released mean about which squares are taken; None where there is none.
        paired: Whether the number of rows is drawn together with what is averaged, at one price.
        known: What the answer is too large by on average: the squared noise of that mean.
    """

    value: Fraction
    sensitivity: Fraction
    price: Guarantee
    origin: Fraction
    counting: Guarantee | None
    rows: int
    ends: tuple[Fraction, Fraction] | None
    contribution: int
    about: PublicNoise | None = None
    paired: bool = False
    known: Fraction = Fraction(0)

    @property
    def half(self) -> Fraction:
        """How far one row may be from the point about which rows are summed, where the count is drawn with the sum."""
        return self.sensitivity / self.contribution

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """What is drawn: the value, or how far all rows together are from either end, in lengths of the interval.

        One row adds 1 to the sum of these two, however they share it.
        """
        if not self.paired:
            return (self.value,)
        part = self.value / self.half if self.half else Fraction(0)
        return (self.rows - part) / 2, (self.rows + part) / 2

    @classmethod
    def of(
        cls, sums: Clipped, found: ClipInterval, *, total: bool, neighbors: Neighbors, contribution: int
    ) -> Summand:
        """What gets noise for a mean or a total of clipped rows."""
        zero = Fraction(0)
        if neighbors is Neighbors.REPLACE_ONE:
            count = max(sums.rows, 1)
            scale = Fraction(1) if total else Fraction(1, count)
            width = (sums.high - sums.low) * contribution * scale
            ends = (sums.low * count, sums.high * count) if total else (sums.low, sums.high)
            return cls(sums.total * scale, width, found.rest, zero, None, sums.rows, ends, contribution)
        if total:
            largest = max(abs(sums.low), abs(sums.high)) * contribution
            return cls(sums.total, largest, found.rest, zero, None, sums.rows, None, contribution)
        paired = not found.rest.gaussian
        origin = (sums.low + sums.high) / 2 if paired else found.origin(sums)
        largest = max(sums.high - origin, origin - sums.low) * contribution
        about = sums.total - origin * sums.rows
        ends = sums.low, sums.high
        if paired:
            return cls(about, largest, found.rest, origin, None, sums.rows, ends, contribution, paired=True)
        rest, counting = found.shares
        return cls(about, largest, rest, origin, counting, sums.rows, ends, contribution)

    def again(self, sums: Clipped) -> Summand:
        """The same of other rows cut to the same interval, where rows come and go: all but value and rows is public."""
        about = sums.total - self.origin * sums.rows if self.origin else sums.total
        return Summand(
            about, self.sensitivity, self.price, self.origin, self.counting, sums.rows, self.ends, self.contribution,
            self.about, self.paired, self.known,
        )  # fmt: skip

    def valued(self, grid: Lattice) -> Valued:
        """What a price that is not concentrated adds noise to; what is drawn together is counted in rows."""
        from sordino.mechanisms.clip.whole_or_interval import Valued

        moved = Fraction(self.contribution) if self.paired else self.sensitivity
        rate = Fraction(self.price.noise_targets[0].epsilon)  # type: ignore[attr-defined]
        return Valued(self.numbers, moved, rate, PAIRS if self.paired else grid)

    def draw(self, grid: Lattice, bits: Bits | None) -> Settled:
        """The value with noise, and the answer from it."""
        if self.paired:
            return self.finish(Draws.of(bits).plain_pair(self.valued(grid), price=self.price), grid, bits)
        noisy, _ = Draws.of(bits).noisy(self.value, sensitivity=self.sensitivity, price=self.price, grid=grid)
        return self.finish((noisy,), grid, bits)

    def finish(self, noisy: tuple[Fraction, ...], grid: Lattice, bits: Bits | None) -> Settled:
        """The answer from what has got noise: over a noisy count where rows are private, cut to what is possible.

        Args:
            noisy: The value with noise, or the pair.
            grid: The lattice of the answer.
            bits: A source of random words.
        """
        value, count = noisy[0], None
        if self.paired:
            count, value = noisy[0] + noisy[1], self.half * (noisy[1] - noisy[0])
        elif self.counting is not None:
            count, _ = Draws.of(bits).noisy(
                Fraction(self.rows), sensitivity=Fraction(self.contribution), price=self.counting
            )
        # value / max(count, 1) + origin - known, in whole numbers, brought to lowest terms once: many groups come here
        above, below = value.numerator, value.denominator
        if count is not None and count.numerator > count.denominator:
            above, below = above * count.denominator, below * count.numerator
        start = self.origin - self.known if self.known else self.origin
        if start:
            above, below = above * start.denominator + start.numerator * below, below * start.denominator
        answer = Fraction(above, below)
        return Settled(answer if self.ends is None else grid.inside(answer, *self.ends), value, count)
