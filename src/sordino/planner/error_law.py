"""How far an answer is from the statistic of the sample: exactly, from the law of the answer on public data.

Rounding to the public grid and clipping to the public range are counted. Simulated errors live here too, so that both
are summed up alike: `summarise` gives median, root mean square and 90 % quantile with their uncertainty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.additive.additive import AdditiveLaw
from sordino.mechanisms.additive.geometric import GeometricLaw
from sordino.mechanisms.parts.law import LatticeLaw, MixtureLaw

if TYPE_CHECKING:
    from sordino.planner.radial_error import RadialError
    from sordino.planner.squares_error import SquaresError

COARSE = 20  # a grid of more than a twentieth of the scale is summed point by point
POINTS = 20_000
DIGITS = 1e-6  # of a quantile
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


class ErrorLaw:
    """The law of the error of one answer on one public column.

    Args:
        law: The law of the answer before it is rounded and clipped.
        truth: The statistic of the column.
        step: The grid to which answers are rounded; None where the law lives on its own lattice.
        low: Answers are clipped to at least this.
        high: Answers are clipped to at most this.

    Example:
        >>> from sordino.noise.laplace import Laplace
        >>> law = ErrorLaw(AdditiveLaw(Laplace(), value=0, scale=1.0), truth=Fraction(0), step=2.0**-20)
        >>> round(law.within(math.log(2)), 4), round(law.mean_square, 4)
        (0.5, 2.0)
    """

    def __init__(
        self,
        law: Any,
        *,
        truth: Fraction,
        step: float | None,
        low: float = -math.inf,
        high: float = math.inf,
    ) -> None:
        self.law, self.truth, self.step = law, truth, step
        self.low, self.high = low, high
        inner = law.parts[0][1] if isinstance(law, MixtureLaw) else law
        self._lattice = (inner.low, inner.step) if isinstance(inner, LatticeLaw) else None

    def within(self, distance: float) -> float:
        """Probability of an error of at most this."""
        if self._lattice is not None:
            origin, step = self._lattice
            reach = Fraction(distance)
            below = math.ceil((self.truth - reach - origin) / step) - 1
            under, over = 0.0, 1.0
            if self.truth - reach > self.low:
                under = self.law.cdf(origin + step * below + step / 2)
            if self.truth + reach < self.high:
                over = self.law.cdf(self.truth + reach)
            return float(over - under)
        upper, lower = float(self.truth) + distance, float(self.truth) - distance
        return self.at_most(upper) - self.less_than(lower)

    def at_most(self, value: float) -> float:
        """Probability of an answer that is not larger."""
        if value >= self.high:
            return 1.0
        if self.step is None:
            return float(self.law.cdf(value))
        return float(self.law.cdf((math.floor(value / self.step) + 0.5) * self.step))

    def less_than(self, value: float) -> float:
        """Probability of a smaller answer."""
        if value <= self.low:
            return 0.0
        if self.step is None:
            return float(self.law.cdf(value))
        return float(self.law.cdf((math.ceil(value / self.step) - 0.5) * self.step))

    @property
    def mean_square(self) -> float:
        """Expected squared error."""
        if isinstance(self.law, GeometricLaw) and math.isfinite(self.high - self.low):
            return self._whole()
        if not isinstance(self.law, AdditiveLaw):
            rounding = 0.0 if self.step is None else self.step**2 / 12
            return float(self.law.mean_squared_error(self.truth)) + rounding
        if self.law.scale == 0:
            return (self.law.value - float(self.truth)) ** 2
        if self.step is not None and self.step > self.law.scale / COARSE:
            reach = self.law.scale * float(self.law.noise.isf(1e-12)) / self.step
            if reach <= POINTS:
                return self._summed(math.ceil(reach) + 1)
        rounding = 0.0 if self.step is None else self.step**2 / 12
        return self._integral(upward=True) + self._integral(upward=False) + rounding

    def _whole(self) -> float:
        """Point by point for whole-number noise; what lies outside the range counts at its ends."""
        law = self.law
        reach = math.ceil(40 / law.rate)
        first, last = (
            max(law.value - reach, math.ceil(self.low)),
            min(law.value + reach, math.floor(self.high)),
        )
        points = np.arange(first, last + 1)
        chances = math.tanh(law.rate / 2) * np.exp(-law.rate * np.abs(points - law.value))
        inside = float(np.sum(chances * (points - float(self.truth)) ** 2))
        ends = ((law.cdf_point(first - 1), self.low), (1 - law.cdf_point(last), self.high))
        return inside + sum(chance * (end - float(self.truth)) ** 2 for chance, end in ends)

    def _summed(self, reach: int) -> float:
        """Point by point on the grid."""
        assert self.step is not None
        law = self.law
        points = self.step * (round(law.value / self.step) + np.arange(-reach, reach + 1))
        upper = np.asarray(law.noise.cdf((points + self.step / 2 - law.value) / law.scale))
        lower = np.asarray(law.noise.cdf((points - self.step / 2 - law.value) / law.scale))
        errors = np.clip(points, self.low, self.high) - float(self.truth)
        return float(np.sum((upper - lower) * errors**2))

    def _integral(self, *, upward: bool) -> float:
        """``int 2 t P(error > t) dt`` on one side, up to where the answer is clipped."""
        law, truth = self.law, float(self.truth)
        sign = 1.0 if upward else -1.0
        bias = sign * (law.value - truth)
        limit = self.high - truth if upward else truth - self.low
        if limit <= 0:
            return 0.0
        if math.isinf(limit):
            # Both sides together are the variance and the squared bias.
            return 0.5 * (law.scale**2 * law.noise.variance + bias**2)
        sizes = law.scale * np.geomspace(1e-4, max(limit / law.scale, 1.0) * 2, 80)
        cuts = np.concatenate([[0.0, limit], sizes, bias + sizes, bias - sizes])
        cuts = np.unique(np.clip(cuts, 0.0, limit))
        half = np.diff(cuts)[:, None] / 2
        places = (cuts[:-1, None] + half) + half * NODES
        tails = np.asarray(law.noise.sf((places - bias) / law.scale))
        return float(np.sum(half * WEIGHTS * 2 * places * tails))


class ShortfallLaw:
    """The law of the error of a choice from a public list: how far the chosen one is from the best.

    Args:
        chances: Probability of every entry.
        gaps: How far each falls short.

    Example:
        >>> law = ShortfallLaw(np.array([0.75, 0.25]), np.array([0, 8]))
        >>> law.within(0), law.within(8), law.mean_square
        (0.75..., 1.0, 16.0)
    """

    def __init__(self, chances: np.ndarray[Any, Any], gaps: np.ndarray[Any, Any]) -> None:
        # A chance of one in a million million is none: nobody reads an error of 1e-23 rows.
        self.chances, self.gaps = np.where(chances < 1e-12, 0.0, chances), gaps

    def within(self, distance: float) -> float:
        """Probability of an error of at most this."""
        return min(1.0, float(self.chances[self.gaps <= distance * (1 + 1e-9)].sum()) + 1e-9)

    @property
    def mean_square(self) -> float:
        """Expected squared error."""
        return float(np.sum(self.chances * np.square(self.gaps, dtype=np.float64)))


@dataclass(frozen=True, slots=True)
class Spread:
    """Size of the error: how much it is, and how well that is known (standard errors of the figures)."""

    median: float
    rms: float
    most: float
    median_error: float
    rms_error: float
    most_error: float


def summarise(
    parts: Sequence[ErrorLaw | ShortfallLaw | RadialError | SquaresError] | np.ndarray[Any, Any],
    *,
    tables: int | None = None,
) -> Spread:
    """Sum up exact laws on several columns, or simulated errors; one column and one answer count alike.

    Args:
        parts: Laws, or one row of errors per simulated answer.
        tables: Over how many tables laws or answers went in turn; those of one table vary less than all do.

    Example:
        >>> found = summarise(np.array([1.0, -1.0, 3.0, -3.0]))
        >>> found.median, round(found.rms, 3)
        (2.0, 2.236)
    """
    if isinstance(parts, np.ndarray):
        return _simulated(np.abs(parts), tables or len(parts))
    squares = np.array([part.mean_square for part in parts])
    rms = math.sqrt(squares.mean())
    count = min(tables or len(parts), len(parts))
    median, median_error = _quantile(parts, 0.5, rms, count)
    most, most_error = _quantile(parts, 0.9, rms, count)
    rms_error = _standard_error(squares, count) / (2 * rms) if rms > 0 and math.isfinite(rms) else 0.0
    return Spread(median, rms, most, median_error, rms_error, most_error)


def _quantile(
    parts: Sequence[ErrorLaw | ShortfallLaw | RadialError | SquaresError],
    probability: float,
    rms: float,
    tables: int,
) -> tuple[float, float]:
    """A quantile of the error over all columns together, and its standard error."""
    within = _together(parts)
    if within(0.0).mean() >= probability:
        return 0.0, 0.0
    found = _invert(lambda distance: float(within(distance).mean()), probability, rms)
    here = _standard_error(within(found), tables)
    slope = (within(found * 1.05).mean() - within(found * 0.95).mean()) / (0.1 * found)
    return found, float(here / slope) if slope > 0 else 0.0


def _together(
    parts: Sequence[ErrorLaw | ShortfallLaw | RadialError | SquaresError],
) -> Callable[[float], np.ndarray[Any, Any]]:
    """Probabilities of an error of at most a distance, one per column; additive noise of one family in one call."""
    laws = [part.law for part in parts if isinstance(part, ErrorLaw) and part.step is not None]
    additive = [law for law in laws if type(law) is AdditiveLaw and law.scale > 0]
    if not additive or len(additive) < len(parts) or any(law.noise != additive[0].noise for law in additive):
        return lambda distance: np.array([part.within(distance) for part in parts])
    some: Any = parts
    noise = additive[0].noise
    truth, step, low, high = np.array(
        [[float(part.truth), part.step, part.low, part.high] for part in some]
    ).T
    value, scale = np.array([[law.value, law.scale] for law in additive]).T

    def within(distance: float) -> np.ndarray[Any, Any]:
        upper = (np.floor((truth + distance) / step) + 0.5) * step
        lower = (np.ceil((truth - distance) / step) - 0.5) * step
        over = np.where(truth + distance >= high, 1.0, noise.cdf((upper - value) / scale))
        return over - np.where(truth - distance <= low, 0.0, noise.cdf((lower - value) / scale))

    return within


def _invert(rises: Callable[[float], float], probability: float, rms: float) -> float:
    """The smallest distance, to six digits, within which the error stays with this probability.

    Secant steps on the logarithm of the distance, and a halving after three that brought little: smooth laws take
    about ten looks, whole numbers hardly more than bisection.
    """
    # Chebyshev: an error above rms / sqrt(1 - p) is rarer than 1 - p.
    high = rms / math.sqrt(1 - probability) if 0 < rms < 1e150 else 1.0
    above = rises(high) - probability
    while above < 0 and high < 1e300:
        high *= 16
        above = rises(high) - probability
    low = high / 4
    below = rises(low) - probability
    while below >= 0 and low > 1e-300:
        high, above = low, below
        low /= 4
        below = rises(low) - probability
    left, right = math.log(low), math.log(high)
    slow, before, last = 0, right - left, 0
    while right - left > DIGITS:
        guess = (left + right) / 2
        if slow < 3 and above > below:
            guess = (left * above - right * below) / (above - below)
            guess = min(max(guess, left + DIGITS / 2), right - DIGITS / 2)
        found = rises(math.exp(guess)) - probability
        side = 1 if found >= 0 else -1
        if side > 0:
            right, above = guess, found
            below = below / 2 if last == side else below  # Illinois: an end that stays counts half
        else:
            left, below = guess, found
            above = above / 2 if last == side else above
        last = side
        slow += 1
        if slow > 3 or right - left <= before / 8:
            slow, before = 0, right - left
    return math.exp(right)


def _standard_error(values: np.ndarray[Any, Any], tables: int) -> float:
    """Of the mean of values that went over the tables in turn: by the means of tables."""
    if tables < 2:
        return 0.0
    table = np.arange(len(values)) % tables
    counts = np.bincount(table)
    # A ratio of sums: with unequal numbers of values per table, their deviations from the mean are summed.
    sums = np.bincount(table, weights=values - values.mean())
    return float(math.sqrt(tables / (tables - 1) * np.sum(sums**2)) / counts.sum())


def _simulated(sizes: np.ndarray[Any, Any], tables: int) -> Spread:
    """Sizes of simulated errors, with bootstrap standard errors: whole tables are drawn again."""
    random = np.random.default_rng(20_000)
    table = np.arange(len(sizes)) % tables
    rows = [np.flatnonzero(table == one) for one in range(min(tables, len(sizes)))]
    figures = []
    for _ in range(200):
        chosen = np.concatenate([rows[one] for one in random.integers(len(rows), size=len(rows))])
        figures.append(_figures(sizes[chosen].ravel()))
    errors = np.std(figures, axis=0)
    return Spread(*_figures(sizes.ravel()), *map(float, errors))


def _figures(sizes: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    return float(np.median(sizes)), float(np.sqrt(np.mean(sizes**2))), float(np.quantile(sizes, 0.9))
