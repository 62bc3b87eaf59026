"""A variance of a private number of rows: three sums whose squares a row shares out, drawn together at one price.

With t in [0, 1] the place of a clipped row in its interval, ``(1 - t)^2``, ``2 t (1 - t)`` and ``t^2`` are not negative
and add up to 1. So a row that comes or goes moves their sums by 1 together, all three get noise of the whole rate, and
count, mean and variance follow from them. Proof: docs/proofs/mechanism_plain_or_cut.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sordino.mechanisms.clip.noisy_mean import Settled, Summand

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice
    from sordino.mechanisms.clip.column import Clipped
    from sordino.privacy import Guarantee


@dataclass(frozen=True, slots=True, repr=False)
class ThreeSums(Summand):
    """What gets noise for a variance whose number of rows is private.

    Attributes:
        sums: The three, lowest end first; private.
    """

    sums: tuple[Fraction, Fraction, Fraction] = (Fraction(0), Fraction(0), Fraction(0))

    @classmethod
    def of_rows(cls, sums: Clipped, price: Guarantee, contribution: int) -> ThreeSums:
        """Of the rows clipped to an interval.

        Example:
            >>> from sordino.mechanisms.clip.column import Clipped
            >>> from sordino.privacy import Pure
            >>> rows = Clipped(3, Fraction(9), Fraction(41), Fraction(0), Fraction(8))  # 0, 4, 5
            >>> part = ThreeSums.of_rows(rows, Pure(1), 1)
            >>> [float(one) for one in part.numbers], float(part.value / part.rows)
            ([1.390625, 0.96875, 0.640625], 4.666666666666667)
        """
        length = sums.high - sums.low
        first = (sums.total - sums.low * sums.rows) / length if length else Fraction(0)
        second = sums.about(sums.low) / length**2 if length else Fraction(0)
        squares = sums.squares - sums.total**2 / max(sums.rows, 1)
        return cls(
            squares, length**2 * contribution, price, Fraction(0), None, sums.rows, (Fraction(0), length**2 / 4),
            contribution, paired=True, sums=(sums.rows - 2 * first + second, 2 * (first - second), second),
        )  # fmt: skip

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """The three sums."""
        return self.sums

    def finish(self, noisy: tuple[Fraction, ...], grid: Lattice, bits: Bits | None) -> Settled:
        """The variance, ``(B0 B2 - B1^2 / 4) / n^2`` squared lengths, cut to what is possible."""
        del bits
        low, between, high = noisy
        count = low + between + high
        size = self.half * (low * high - between**2 / 4)
        assert self.ends is not None
        answer = size / max(count, Fraction(1)) ** 2
        return Settled(grid.inside(answer, *self.ends), size, count, noisy)


def slopes(mean: float, variance: float) -> tuple[float, float, float]:
    """How far a unit of noise in each of the three sums moves the variance, in squared lengths per row.

    Example:
        >>> slopes(0.5, 0.0), slopes(0.75, 0.0)
        ((0.25, -0.25, 0.25), (0.5625, -0.1875, 0.0625))
    """
    return mean**2 - variance, -mean * (1 - mean) - variance, (1 - mean) ** 2 - variance
