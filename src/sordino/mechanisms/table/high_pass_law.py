"""What is shown of a cell: its noisy count if that reaches a threshold; drawn for all cells without visiting the empty.

Every empty cell is shown with the same small probability, so the gaps between those that are shown are geometric and
are drawn instead (Cormode et al. 2012). Exact: no draw is decided by a float.
Proof: docs/proofs/mechanism_high_pass.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.exact.balls import Undecided, floor, is_less, precision, rational
from sordino.exact.uniforms import LazyUniform
from sordino.mechanisms.discovery.threshold import gaussian_logs

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from sordino.exact.bits import Bits


@dataclass(frozen=True, slots=True)
class HighPassLaw:
    """Noise and threshold.

    Attributes:
        scale: Of geometric noise: a step away is less likely by ``exp(-1/scale)``. Of Gaussian noise its deviation.
        threshold: A cell is shown if its noisy count is at least this.
        gaussian: Which noise.
    """

    scale: Fraction
    threshold: int
    gaussian: bool = False

    @classmethod
    def listing(cls, scale: Fraction, cells: int, false_cells: float, *, gaussian: bool) -> HighPassLaw:
        """The threshold at which so many empty cells are shown on average, at most.

        Example:
            >>> [HighPassLaw.listing(Fraction(1), 10**power, 1, gaussian=False).threshold for power in (4, 6, 9, 12)]
            [9, 14, 21, 28]
        """
        if gaussian:
            from scipy.special import ndtri

            at = float(scale) * -float(ndtri(min(0.5, false_cells / cells))) + 0.5
            return cls(scale, max(1, math.ceil(at)), gaussian=True)
        rate = float(1 / scale)
        least = math.log(cells / (false_cells * (1 + math.exp(-rate)))) / rate
        return cls(scale, max(1, math.ceil(least - 1e-9)))

    def logs(self, count: int, top: int) -> tuple[dict[int, float], float]:
        """Log probabilities of what can be shown, and of nothing; counts far above ``top`` are one outcome."""
        if self.gaussian:
            return gaussian_logs(count, self.threshold, float(self.scale), top)
        rate = float(1 / self.scale)
        last = max(self.threshold, top) + 1
        centre, one_side = math.log(math.tanh(rate / 2)), math.log1p(math.exp(-rate))
        shown = {value: centre - rate * abs(value - count) for value in range(self.threshold, last + 1)}
        shown[last] -= math.log(-math.expm1(-rate))
        below = self.threshold - 1 - count
        if below < 0:
            return shown, rate * below - one_side
        return shown, math.log1p(-math.exp(-rate * (below + 1) - one_side))

    @property
    def empty(self) -> float:
        """How often an empty cell is shown."""
        return sum(math.exp(one) for one in self.logs(0, 0)[0].values())

    def draw(
        self, cells: NDArray[np.int64], counts: NDArray[np.int64], domain: int, bits: Bits
    ) -> dict[int, int]:
        """The cells that are shown and their noisy counts, of filled and empty cells alike, exactly."""
        shown = dict(zip(cells.tolist(), self._noisy(counts, bits).tolist(), strict=True))
        found = {cell: value for cell, value in shown.items() if value >= self.threshold}
        place = -1
        while True:
            place += 1 + whole_exponential(self._rate, bits)
            if place >= domain:
                return dict(sorted(found.items()))
            if place not in shown:  # filled cells had a draw of their own
                found[place] = self._beyond(bits)

    def _noisy(self, counts: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        from sordino.exact.sampler import draw_many
        from sordino.lattice import Lattice
        from sordino.mechanisms.discovery.mixed_cut import two_sided_many
        from sordino.noise.gaussian.sampler import GaussianRecipe

        if not len(counts):
            return counts
        if self.gaussian:
            return draw_many(GaussianRecipe(), locations=counts, scales=self.scale, grid=Lattice(), bits=bits)
        noisy: NDArray[np.int64] = counts + two_sided_many(self.scale, len(counts), bits)
        return noisy

    def _rate(self) -> Any:
        """``-log(1 - p)`` of an empty cell that is shown with probability p, as a ball."""
        if self.gaussian:
            two = rational(2)
            chance = (
                rational(Fraction(2 * self.threshold - 1, 2)) / (rational(self.scale) * two.sqrt())
            ).erfc() / 2
        else:
            step = (-1 / rational(self.scale)).exp()
            chance = step**self.threshold / (1 + step)
        return -(-chance).log1p()

    def _beyond(self, bits: Bits) -> int:
        """The noisy count of an empty cell that is shown."""
        if not self.gaussian:
            return self.threshold + whole_exponential(lambda: 1 / rational(self.scale), bits)
        return _gaussian_beyond(self.scale, Fraction(2 * self.threshold - 1, 2), bits)


def whole_exponential(rate: Callable[[], Any], bits: Bits) -> int:
    """The whole part of an exponential variable of some rate: a geometric number, whose digits are never redrawn.

    Args:
        rate: The rate as a ball, at whatever precision is set.
        bits: A source of random words.
    """
    word = LazyUniform(bits.word(), bits)
    digits = 128
    while True:
        with precision(digits):
            try:
                return floor(-word.magnitude().log() / rate())
            except Undecided:
                pass
        word.refine(64)
        digits += 64


def _gaussian_beyond(sigma: Fraction, least: Fraction, bits: Bits) -> int:
    """A Gaussian variable given that it exceeds a positive bound, rounded to whole numbers.

    By rejection from an exponential of rate ``a = least/sigma`` beyond a (Marsaglia 1964): with E exponential,
    ``a + E/a`` is kept with probability ``exp(-(E/a)^2 / 2)``, that is if ``2 a^2 E' >= E^2`` for another
    exponential E'.
    """
    while True:
        first, second = (LazyUniform(bits.word(), bits) for _ in range(2))
        digits = 128
        while True:
            with precision(digits):
                try:
                    start = rational(least) / rational(sigma)
                    here, there = (-one.magnitude().log() for one in (first, second))
                    if is_less(2 * start * start * there, here * here):
                        break
                    return floor(rational(sigma) * (start + here / start) + rational(Fraction(1, 2)))
                except Undecided:
                    pass
            for one in (first, second):
                one.refine(64)
            digits += 64
