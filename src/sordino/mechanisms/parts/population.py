"""Intervals for the population from a count with public noise: the law of sample and noise together, inverted exactly.

Rows are drawn independently, so a count is binomial; the published number is that count plus noise of a public law.
Equal tails, as Clopper and Pearson have them without noise. Proof: docs/proofs/population_intervals.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.mechanisms.parts.public_noise import PublicNoise

HALVINGS = 45  # of the unit interval: a limit is known to 3e-14
REACH = 9.5  # standard deviations of a binomial law beyond which its mass is below 1e-15
SLACK = 1e-13  # what the cut of the binomial law and the floats may hide of a tail


@dataclass(frozen=True, slots=True)
class PopulationInterval:
    """An interval for the population, and its width without noise.

    Attributes:
        low: Lower limit.
        high: Upper limit.
        plain: Width of the interval that the same number would have without noise.
    """

    low: float
    high: float
    plain: float


def share_limits(
    released: Fraction, noise: PublicNoise, *, rows: int, unit: Fraction, origin: Fraction, miss: float
) -> PopulationInterval:
    """Limits for the share of the population that has a property, from a noisy count or share of fixed rows.

    Args:
        released: What was published: ``origin + unit * count`` plus noise.
        noise: Its public law.
        rows: The public number of rows.
        unit: What one row adds.
        origin: What no row gives.
        miss: How often the limits may fail.

    Example:
        >>> from sordino.mechanisms.parts.public_noise import PublicNoise
        >>> noise = PublicNoise(None, Fraction(1), Fraction(1), aligned=True)
        >>> found = share_limits(Fraction(30), noise, rows=100, unit=Fraction(1), origin=Fraction(0), miss=0.05)
        >>> round(found.low, 3), round(found.high, 3)
        (0.209, 0.404)
    """
    tails = _Tails(released, noise, unit=unit, origin=origin)
    count = min(max((released - origin) / unit, Fraction(0)), Fraction(rows))
    start = float(count) / rows

    def above(share: float) -> float:
        return tails.at_least(rows, share)

    def below(share: float) -> float:
        return tails.at_most(rows, share)

    low = _bisect(above, 0.0, start, miss / 2) if above(start) > miss / 2 else start
    high = 1 - _bisect(lambda part: below(1 - part), 0.0, 1 - start, miss / 2)
    return PopulationInterval(low, high, _clopper_pearson(round(count), rows, miss))


def size_limits(
    released: Fraction, noise: PublicNoise, *, inclusion: float, miss: float
) -> PopulationInterval:
    """Limits for a count in the population, each member of which is in the data with a known probability.

    Args:
        released: The published count.
        noise: Its public law.
        inclusion: Probability that a member is in the data, independently of all others.
        miss: How often the limits may fail.
    """
    tails = _Tails(released, noise, unit=Fraction(1), origin=Fraction(0))
    low, high = _sizes(tails, released, inclusion, miss)
    exact = _Tails(Fraction(max(round(released), 0)), None, unit=Fraction(1), origin=Fraction(0))
    least, most = _sizes(exact, released, inclusion, miss)
    return PopulationInterval(low, high, most - least)


def _sizes(tails: _Tails, released: Fraction, inclusion: float, miss: float) -> tuple[float, float]:
    """The smallest and the largest number of members under which neither tail is too small."""
    low, high = -1, 1
    while tails.at_least(high, inclusion) <= miss / 2:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tails.at_least(middle, inclusion) > miss / 2 else (middle, high)
    least = high if low >= 0 or tails.at_least(0, inclusion) <= miss / 2 else 0
    low = max(least, math.ceil(max(float(released), 0) / inclusion))
    high = max(2 * low, 1)
    while tails.at_most(high, inclusion) > miss / 2:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tails.at_most(middle, inclusion) > miss / 2 else (low, middle)
    return float(least), float(high)


class _Tails:
    """Tails of a published number: the binomial law of the count, convolved with the noise; upper bounds of both."""

    def __init__(
        self, released: Fraction, noise: PublicNoise | None, *, unit: Fraction, origin: Fraction
    ) -> None:
        self.released, self.noise, self.unit, self.origin = released, noise, float(unit), float(origin)

    def at_least(self, rows: int, share: float) -> float:
        """Probability of a published number as large as this one."""
        return self._tail(rows, share, 1.0)

    def at_most(self, rows: int, share: float) -> float:
        """Probability of a published number as small as this one."""
        return self._tail(rows, share, -1.0)

    def _tail(self, rows: int, share: float, sign: float) -> float:
        from scipy.stats import binom

        middle, spread = rows * share, math.sqrt(rows * share * (1 - share))
        first = max(math.floor(middle - REACH * spread - 20), 0)
        last = min(math.ceil(middle + REACH * spread + 20), rows)
        counts: NDArray[np.float64] = np.arange(first, last + 1, dtype=np.float64)
        away = sign * (float(self.released) - self.origin - self.unit * counts)
        if self.noise is None:
            chances = (away <= 0).astype(float)
        else:
            chances = self.noise.above_each(away - float(self.noise.step) / 2)
        return float(np.sum(binom.pmf(counts, rows, share) * chances)) + SLACK


def _bisect(tail: Callable[[float], float], low: float, high: float, wanted: float) -> float:
    """The point up to which an increasing tail is at most ``wanted``, rounded outwards (down)."""
    if tail(low) > wanted:
        return low
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) <= wanted else (low, middle)
    return low


def _clopper_pearson(count: int, rows: int, miss: float) -> float:
    """Width of the exact interval without noise."""
    from scipy.stats import beta

    low = 0.0 if count == 0 else float(beta.ppf(miss / 2, count, rows - count + 1))
    high = 1.0 if count == rows else float(beta.ppf(1 - miss / 2, count + 1, rows - count))
    return high - low
