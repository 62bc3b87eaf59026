"""`calibrate`: the least noise whose certified price is within a target, over shift and shape.

Searches use quick lower bounds (`estimate`); what is returned has been certified at exactly the numbers
returned. The shipped table (`table`) supplies starting points, never a price.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from sordino.certification.certificate import Certificate, certify, estimate, make_shape
from sordino.certification.shape import shape_class
from sordino.certification.table import starting_point
from sordino.checks import non_negative, positive

if TYPE_CHECKING:
    from sordino.checks import Number

#: How far below the target the certified price may stay.
_SHORTFALL = 4e-4
_DIGITS = 6


class Calibrated(NamedTuple):
    """A shape, a shift and the certificate made at exactly these numbers."""

    shape: Fraction
    shift: Fraction
    certificate: Certificate


def calibrate(family: str, rho: Number, smoothing: Number, shape: Number | None = None) -> Calibrated | None:
    """Find the smallest noise (S/shift) Z that is certified to cost at most rho under a smoothing-smooth bound S.

    Args:
        family: Catalogue name of the noise family.
        rho: The concentrated price.
        smoothing: The smoothness of S; 0 for a public scale.
        shape: The shape parameter; the one with the smallest standard deviation is sought when it is not given.

    Returns:
        Shape, shift and certificate, with certificate.rho_hi <= rho; None when the dilation alone costs more.

    Example:
        >>> found = calibrate("student-t", 0.5, 0.1, shape=14)
        >>> float(found.shift) > 1.076 and found.certificate.rho_hi <= 0.5
        True
    """
    name = shape_class(family).family
    target, gamma = positive(name, rho=rho), non_negative(name, smoothing=smoothing)
    if shape is None:
        return _best(name, target, gamma)
    chosen = positive(name, shape=shape)
    return _fit(name, chosen, target, gamma, None)


@functools.lru_cache(maxsize=512)
def _best(family: str, rho: Fraction, smoothing: Fraction) -> Calibrated | None:
    """Optimise the shape, starting from the shipped table where it reaches."""
    start = starting_point(family, float(rho), float(smoothing))
    if start is not None:
        shape, shift = start
        found = _fit(family, _decimal(shape), rho, smoothing, shift)
        if found is not None:
            return found
    searched = search(family, float(rho), float(smoothing))
    if searched is None:
        return None
    shape, shift = searched
    return _fit(family, _decimal(shape), rho, smoothing, shift)


def search(
    family: str, rho: float, smoothing: float, *, near: tuple[float, float] | None = None
) -> tuple[float, float] | None:
    """The shape of smallest std(Z)/shift, and its shift, by lower values of the price (not certified).

    Args:
        family: Catalogue name.
        rho: The price.
        smoothing: The smoothness.
        near: A shape and a shift to start from; else the whole range is scanned.
    """
    from scipy.optimize import minimize_scalar

    kind = shape_class(family)
    low, high = kind.search_limits(rho, smoothing)
    last_shift = [near[1] if near is not None else None]
    aim = rho * kind.search_aim
    seen: dict[float, float] = {}

    def cost(log_shape: float) -> float:
        law = make_shape(family, math.exp(log_shape))
        shift = quick_shift(family, law.parameter, aim, smoothing, last_shift[0])
        if shift is None:
            return 1e6 + (log_shape if kind.bounded else -log_shape)
        last_shift[0] = shift
        seen[log_shape] = shift
        return math.log(law.std() / shift)

    if near is None:
        grid = [math.log(low) + k / 11 * math.log(high / low) for k in range(12)]
        costs = [cost(point) for point in grid]
        best = min(range(12), key=costs.__getitem__)
        if costs[best] >= 1e6:
            return None
        bracket = (grid[max(best - 1, 0)], grid[min(best + 1, 11)])
    else:
        middle = math.log(near[0])
        bracket = (max(math.log(low), middle - 0.25), min(math.log(high), middle + 0.25))
    minimize_scalar(cost, bounds=bracket, method="bounded", options={"xatol": kind.search_precision})
    if not seen:
        return None
    best_point = min(seen, key=lambda point: make_shape(family, math.exp(point)).std() / seen[point])
    return math.exp(best_point), seen[best_point]


def settle(family: str, rho: float, smoothing: float, shape: float, shift: float) -> Calibrated | None:
    """Certify a searched shape and shift, both rounded to short decimals."""
    exact = (positive(family, rho=rho), non_negative(family, smoothing=smoothing))
    return _fit(family, _decimal(shape), *exact, shift)


def quick_shift(
    family: str, parameter: float, rho: float, smoothing: float, start: float | None = None
) -> float | None:
    """The shift whose estimated price is rho, to about a permille; None when even tiny shifts cost more."""
    law = make_shape(family, parameter)

    def excess(shift: float) -> float:
        return math.log(estimate(law, smoothing, shift).rho / rho)

    # a price behaves like shift^2 * I/2 plus that of the dilation
    guess = start if start is not None else math.sqrt(2 * rho) * law.core() * 0.7
    x0, f0 = guess, excess(guess)
    x1 = guess * math.exp(-f0 / 2)
    if f0 > 1 and excess(1e-3 * guess) > 0:
        return None
    below = x0 if f0 <= 0 else None
    above = x0 if f0 > 0 else None
    for _ in range(14):
        if x1 < 1e-4 * guess and below is None:
            return None
        f1 = excess(x1)
        if f1 <= 0:
            below = x1 if below is None else max(below, x1)
        else:
            above = x1 if above is None else min(above, x1)
        if abs(f1) < 1e-3:
            return x1
        slope = (f1 - f0) / math.log(x1 / x0) if x1 != x0 else 2.0
        slope = min(max(slope, 0.02), 60.0)
        x0, f0 = x1, f1
        x1 = x1 * math.exp(min(max(-f1 / slope, -1.0), 1.0))
        if below is not None and above is not None and not below < x1 < above:
            x1 = math.sqrt(below * above)
        elif below is None and above is not None and x1 >= above:
            x1 = above / 2
    return below


def _fit(
    family: str, shape: Fraction, rho: Fraction, smoothing: Fraction, start: float | None
) -> Calibrated | None:
    """Certify at shifts that close in on the target from both sides; the best one within it is returned."""
    parameter, gamma = float(shape), _up(smoothing)
    target = float(rho)
    guess = start if start is not None else quick_shift(family, parameter, target, gamma)
    if guess is None:
        return None
    best: Calibrated | None = None
    below = above = None
    slope = 2.0
    for attempt in range(10):
        shift = _decimal(guess, down=True)
        certificate = certify(family, parameter, smoothing=gamma, shift=_up(shift))
        price = certificate.rho_hi
        if Fraction(price) <= rho:
            if best is None or shift > best.shift:
                best = Calibrated(shape, shift, certificate)
            if price >= target * (1 - _SHORTFALL):
                return best
        point = (math.log(float(shift)), math.log(price / target))
        if point[1] <= 0:
            below = point if below is None or point[0] > below[0] else below
        else:
            above = point if above is None or point[0] < above[0] else above
        if below is not None and above is not None and above[0] > below[0]:
            slope = min(max((above[1] - below[1]) / (above[0] - below[0]), 0.01), 200.0)
        elif attempt > 2:
            slope *= 0.6  # the price reacts less than thought: step further
        step = -(point[1] + 0.4 * _SHORTFALL) / slope
        guess = math.exp(point[0] + min(max(step, -0.7), 0.7))
        if below is not None and above is not None and not below[0] < math.log(guess) < above[0]:
            guess = math.exp(0.5 * (below[0] + above[0]))
        if best is None and guess < 1e-5 * float(shift):
            return None
        if attempt == 5 and best is None:  # lost: start again from a search
            again = quick_shift(family, parameter, target * 0.99, gamma)
            if again is None:
                return None
            guess = again
    return best


def _up(value: Fraction) -> float:
    """The next float above: a larger smoothing or shift only enlarges the set of pairs."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def _decimal(value: float, *, down: bool = False) -> Fraction:
    """A short decimal near a number: what people see is what was certified."""
    digits = _DIGITS - 1 - math.floor(math.log10(value))
    scaled = Fraction(value) * Fraction(10) ** digits
    whole = math.floor(scaled) if down else round(scaled)
    return Fraction(whole) / Fraction(10) ** digits
