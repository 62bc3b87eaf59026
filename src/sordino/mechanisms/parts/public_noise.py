"""Noise whose law is public: what is needed to put a bar around an answer after it was drawn, without a further price.

Exact tails of the published number around the true one: the rounding to the output lattice is part of the law.
Proof: docs/proofs/free_bars.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.lattice import Lattice
    from sordino.noise import Noise
    from sordino.reading.profile import Opened

SLACK = 1 + 1e-9  # tails are floats: a bar must not owe its last step to their rounding


@dataclass(frozen=True, slots=True)
class PublicNoise:
    """The law of a published number around the true one, and of every cell of a vector alike and independently.

    Attributes:
        noise: The family at unit scale; None for two-sided geometric noise on whole numbers.
        scale: Its scale; for geometric noise a step away is less likely by ``exp(-1 / scale)``.
        step: The lattice of published numbers.
        aligned: Whether the true number lies on that lattice.
        low: Public lower end of what can be true, where there is one.
        high: Public upper end.

    Example:
        >>> one = PublicNoise(None, Fraction(1), Fraction(1), aligned=True, low=Fraction(0))
        >>> [one.half(1 - 0.95 ** (1 / cells)) for cells in (1, 7, 100)]
        [Fraction(3, 1), Fraction(5, 1), Fraction(7, 1)]
        >>> one.interval(Fraction(2), 0.05)
        (Fraction(0, 1), Fraction(5, 1))
    """

    noise: Noise | None
    scale: Fraction
    step: Fraction
    aligned: bool = False
    low: Fraction | None = None
    high: Fraction | None = None

    @classmethod
    def around(
        cls, noise: Noise, scale: Fraction, grid: Lattice, opened: Opened, *, clipped: bool
    ) -> PublicNoise:
        """Noise for a public bound on what was read, with the ends of its public range."""
        low, high = (opened.bottom, opened.top) if clipped else (None, None)
        step, real = grid.step, opened.units.real  # the ends of a bar are on the lattice: outwards
        bottom = None if low is None else step * (Fraction(real(low)) // step)
        top = None if high is None else step * -(-Fraction(real(high)) // step)
        return cls(noise, scale, step, low=bottom, high=top)

    def of_counts(self) -> PublicNoise:
        """The same around numbers that are known to be counts: whole, and not negative."""
        whole = 1 % self.step == 0
        return replace(self, aligned=whole, low=Fraction(0) if self.low is None else self.low)

    def above(self, distance: float) -> float:
        """Probability that the published number exceeds the true one by more than this; at least that, if not aligned.

        Args:
            distance: Any number; negative ones ask how likely it is not to fall so far below.
        """
        return float(self.above_each(np.array([distance], dtype=np.float64))[0])

    def above_each(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same for many distances."""
        step = float(self.step)
        if self.noise is None:
            rate = float(1 / self.scale)
            steps = np.floor(distances / step) + 1  # the least whole excess that counts
            tail = np.exp(-rate * np.where(steps > 0, steps, 1 - steps)) / (1 + math.exp(-rate))
            return np.where(steps > 0, tail, 1 - tail)
        edges = (np.floor(distances / step) + 0.5) * step if self.aligned else distances - step / 2
        if self.scale == 0:
            return (edges < 0).astype(np.float64)
        return np.asarray(self.noise.sf(edges / float(self.scale)), dtype=np.float64)

    def half(self, miss: float) -> Fraction:
        """The smallest half width on the lattice that is exceeded with probability at most ``miss``."""
        return _half(self, miss)

    def interval(self, value: Fraction, miss: float) -> tuple[Fraction, Fraction]:
        """The bar around a published number, cut to what can be true."""
        half = self.half(miss)
        return self.cut(value - half), self.cut(value + half)

    def cut(self, end: Fraction) -> Fraction:
        """An end of a bar, moved to the public range."""
        if self.high is not None:
            end = min(end, self.high)
        return end if self.low is None else max(end, self.low)


@lru_cache(maxsize=512)
def _half(law: PublicNoise, miss: float) -> Fraction:
    """A bar is asked for again and again: of every release, of every plan."""

    def exceeded(steps: int) -> bool:
        return 2 * law.above(float(steps * law.step)) * SLACK > miss

    if not exceeded(0):
        return Fraction(0)
    low, high = 0, 1
    while exceeded(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if exceeded(middle) else (low, middle)
    return high * law.step
