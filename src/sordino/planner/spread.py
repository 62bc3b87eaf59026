"""Sums up how far answers are from the statistic of the sample: exact laws on several columns, or simulated errors.

Both are summed up alike: `summarise` gives median, root mean square and 90 % quantile with their uncertainty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.additive.additive import AdditiveLaw
from sordino.mechanisms.parts.error_law import ErrorLaw

if TYPE_CHECKING:
    from sordino.mechanisms.parts.error_law import Errors

DIGITS = 1e-6  # of a quantile


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
    parts: Sequence[Errors] | np.ndarray[Any, Any],
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
    parts: Sequence[Errors],
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
    parts: Sequence[Errors],
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
