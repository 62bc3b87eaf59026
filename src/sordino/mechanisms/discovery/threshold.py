"""`WeightThreshold`: a key is shown if the weight of its people, with Gaussian noise, exceeds a threshold.

A person with t keys gives each the weight ``1/sqrt(t)``: all of them together move the weights by one in the Euclidean
norm, however many they are. Thresholds and noise: docs/proofs/mechanism_discovery.md, Theorems 2 to 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.tuned_tables import ForDiscovery
from sordino.privacy import Approx, Concentrated
from sordino.privacy.conversion import ball, evaluate, lower, round_up, upper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.exact.bits import Bits

UNIT = 1 << 20
"""Weights are whole multiples of 2^-20, so that their sums are exact and the same from every source."""


def shares(passes: int) -> tuple[Fraction, ...]:
    """What each pass gets of a price: the first one little, the second one the rest.

    Example:
        >>> sum(shares(1)), sum(shares(2))
        (Fraction(1, 1), Fraction(1, 1))
    """
    return (Fraction(1),) if passes == 1 else (ForDiscovery.FIRST, 1 - ForDiscovery.FIRST)


def weights(most: int) -> tuple[int, ...]:
    """What each of t keys of one person weighs, rounded down, for t = 1 .. most.

    Example:
        >>> weights(4)
        (1048576, 741455, 605395, 524288)
    """
    return tuple(math.isqrt(UNIT * UNIT // t) for t in range(1, most + 1))


@dataclass(frozen=True, slots=True)
class WeightThreshold:
    """When a key is shown.

    Attributes:
        sigma: Standard deviation of the noise, in the units of the weights.
        above: A key is shown if its noisy weight exceeds this whole number.
        counts: Whether weights are people, so that the noisy weight is published too.
    """

    sigma: Fraction
    above: int
    counts: bool = False

    def chance(self, weight: int) -> float:
        """How often a key of this weight is shown; the noise is rounded to whole units."""
        from scipy.special import ndtr

        return float(ndtr((weight - self.above - 0.5) / float(self.sigma))) if weight else 0.0

    def logs(self, weight: int, top: int) -> tuple[dict[int, float], float]:
        """Log probabilities of what can be shown, and of nothing; counts far above ``top`` are one outcome."""
        if not weight:
            return {}, 0.0
        return gaussian_logs(weight, self.above + 1, float(self.sigma), top if self.counts else None)

    @property
    def even(self) -> int:
        """From how many people, with one key each, a key is shown at least half the time."""
        unit = 1 if self.counts else UNIT
        return -(-(self.above + 1) // unit)

    def draw(self, amounts: Sequence[int], bits: Bits) -> list[int | None]:
        """Which keys are shown, exactly: the noisy weight where it is a count, else 1; None for those that are not."""
        from sordino.exact.sampler import draw_many
        from sordino.lattice import Lattice
        from sordino.noise.gaussian.sampler import GaussianRecipe

        if not len(amounts):
            return []
        noisy = draw_many(
            GaussianRecipe(),
            locations=np.asarray(amounts, np.int64),
            scales=self.sigma,
            grid=Lattice(),
            bits=bits,
        )
        return [
            (value if self.counts else 1) if value > self.above and weight > 0 else None
            for value, weight in zip(noisy.tolist(), amounts, strict=True)
        ]

    def half_width(self, miss: float) -> int:
        """How far a noisy count that is surely shown is from the count."""
        from scipy.special import ndtri

        return math.ceil(float(self.sigma) * -float(ndtri(miss / 2)) * (1 + 1e-9) + 0.5)

    def limits(self, value: int, miss: float) -> tuple[int, int]:
        """A bar for the number of people of a key: exact where the key was sure to be shown."""
        half = self.half_width(miss)
        return max(1, value - half), value + half


def gaussian_logs(centre: int, least: int, sigma: float, top: int | None) -> tuple[dict[int, float], float]:
    """Log probabilities of a whole number around a centre if it is at least something, and of a smaller one.

    Args:
        centre: What the noise is added to.
        least: The smallest number that is told.
        sigma: Deviation of the Gaussian noise, which is rounded to whole numbers.
        top: Numbers far above this are one outcome; without it all that are told are one, called 1.
    """
    from scipy.special import log_ndtr

    hidden = float(log_ndtr((least - 0.5 - centre) / sigma))
    if top is None:
        return {1: float(log_ndtr((centre - least + 0.5) / sigma))}, hidden
    values = np.arange(least, max(least, top) + math.ceil(6 * sigma) + 2)
    above = log_ndtr((centre - values + 0.5) / sigma)
    below = log_ndtr((values - 0.5 - centre) / sigma)
    with np.errstate(divide="ignore"):
        right = above[:-1] + np.log(-np.expm1(above[1:] - above[:-1]))
        left = below[1:] + np.log(-np.expm1(below[:-1] - below[1:]))
    each = np.where(values[:-1] > centre, right, left)  # from the nearer tail, so that nothing cancels
    return dict(zip(values.tolist(), [*each.tolist(), float(above[-1])], strict=True)), hidden


@lru_cache(maxsize=256)
def for_concentrated(rho: Fraction, delta: Fraction, most: int, *, replaced: bool) -> WeightThreshold:
    """Noise and threshold of one pass: rho-concentrated outside an event of probability delta."""
    longer = 2 if replaced else 1
    sigma = upper(evaluate(lambda: 1 / (2 * ball(rho) / longer).sqrt()))
    return with_noise(sigma, delta, most)


@lru_cache(maxsize=256)
def for_counts(rho: Fraction, delta: Fraction, most: int, *, replaced: bool) -> WeightThreshold:
    """Counts of people with up to so many keys each: one person moves them by ``sqrt(most)`` in the Euclidean norm."""
    longer = (2 if replaced else 1) * most
    sigma = upper(evaluate(lambda: 1 / (2 * ball(rho) / longer).sqrt()))
    return WeightThreshold(sigma, _above(sigma, delta, (1,) * most), counts=True)


def with_noise(sigma: Fraction, delta: Fraction, most: int) -> WeightThreshold:
    """The lowest threshold above which keys of one person alone are shown with probability at most delta in all."""
    if most == 1:
        return WeightThreshold(sigma, _above(sigma, delta, (1,)), counts=True)
    noise = round_up(sigma * UNIT)
    return WeightThreshold(noise, _above(noise, delta, weights(most)))


def _above(sigma: Fraction, delta: Fraction, amounts: Sequence[int]) -> int:
    """``max_t w_t + sigma z(1 - (1 - delta)^(1/t))`` in whole units; each candidate is checked in balls."""
    from scipy.special import ndtri

    least = 0
    for t, amount in enumerate(amounts, start=1):
        each = -math.expm1(math.log1p(-float(delta)) / t)
        guess = math.floor(amount + float(sigma) * -float(ndtri(each)) - 0.5)
        if guess + 2 <= least:
            continue
        place = max(guess - 1, least, amount)
        while not _small(sigma, delta, amount, t, place):
            place += max(1, math.floor(float(sigma) * 1e-9))
        least = place
    return least


def _small(sigma: Fraction, delta: Fraction, amount: int, t: int, above: int) -> bool:
    """Whether t keys of weight ``amount`` are all hidden with probability at least 1 - delta, for certain."""

    def hidden() -> Any:
        away = (ball(Fraction(2 * above + 1, 2) - amount)) / (ball(sigma) * ball(Fraction(2)).sqrt())
        return (1 - away.erfc() / 2) ** t

    return bool(lower(evaluate(hidden), 40) >= 1 - delta)


@lru_cache(maxsize=256)
def for_approx(
    epsilon: Fraction, delta: Fraction, most: int, passes: int, *, replaced: bool
) -> tuple[tuple[WeightThreshold, Concentrated, Fraction], ...]:
    """Noise and thresholds of the passes, each with the concentrated price of its noise and its part of delta.

    Half of delta is for the noise and half for keys that one person alone has. In the direction in which the person is
    missing, what was conditioned on has probability at least 1 - delta/2: epsilon pays for that too.
    """
    from sordino.noise.gaussian import Gaussian

    rest = lower(evaluate(lambda: ball(epsilon) + (1 - ball(delta) / 2).log()), 40)
    sigma = Gaussian.calibrate(Approx(rest, delta / 2), smoothing=0).scale
    found = []
    for share in shares(passes):
        longer = 2 if replaced else 1
        wide = upper(evaluate(lambda: ball(sigma) * (longer / ball(share)).sqrt()))  # noqa: B023
        part = share * delta / 2
        found.append((with_noise(wide, part, most), Concentrated(share / (2 * sigma * sigma)), part))
    return tuple(found)
