"""Theorems that turn one promise into another, evaluated in ball arithmetic and rounded to the safe side.

Pure functions of exact amounts; which conversion applies is decided in ``kinds.py``. Statements, proofs:
``docs/proofs/guarantees.md``. An upper bound is rounded up to 17 significant digits, never down.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DIGITS = 17
PRECISION = 200
LONGEST = 1 << 16
"""Bits after the point beyond which a number is as good as nothing: e^-45000."""


def ball(value: Fraction) -> Any:
    """Enclose a rational in an arb ball."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


def round_up(value: Fraction, digits: int = DIGITS) -> Fraction:
    """Round a rational up to so many significant decimal digits.

    Example:
        >>> round_up(Fraction(1, 3), 3)
        Fraction(167, 500)
    """
    if value == 0:
        return value
    places = digits - 1 - math.floor(_log10(abs(value)))
    unit = Fraction(10) ** -places
    return math.ceil(value / unit) * unit


def round_down(value: Fraction, digits: int = DIGITS) -> Fraction:
    """Round a rational down to so many significant decimal digits."""
    return -round_up(-value, digits)


def _log10(value: Fraction) -> float:
    """Approximate logarithm that cannot overflow; being off by one only changes the digits kept."""
    return math.log10(value.numerator) - math.log10(value.denominator)


def upper(value: Any, digits: int = DIGITS) -> Fraction:
    """Return a rational that is at least every point of a ball, with few digits."""
    return round_up(_end(evaluate(value.upper), up=True), digits)


def lower(value: Any, digits: int = DIGITS) -> Fraction:
    """Return a rational that is at most every point of a ball, with few digits."""
    return round_down(_end(evaluate(value.lower), up=False), digits)


def _end(point: Any, *, up: bool) -> Fraction:
    """Turn an exact ball (radius zero) into a Fraction; what would take ages to write down is rounded further."""
    if not point.is_finite():
        raise ArithmeticError("a bound is not finite")
    mantissa, exponent = (int(part) for part in point.mid().man_exp())
    if exponent < -LONGEST:  # between -1 and 1 times 2^-LONGEST / 2, about
        return Fraction((mantissa > 0) if up else -(mantissa < 0), 2 ** (LONGEST - mantissa.bit_length()))
    return Fraction(mantissa) * Fraction(2) ** exponent


def evaluate(formula: Callable[[], Any], more: int = 0) -> Any:
    """Evaluate a formula of balls at a precision that leaves far more digits than are kept, with more bits if asked."""
    from flint import ctx

    with ctx.workprec(PRECISION + more):
        return formula()


@lru_cache(maxsize=4096)
def pure_to_concentrated(epsilon: Fraction) -> Fraction:
    """Give the smallest rho of every epsilon-DP mechanism: epsilon * tanh(epsilon/2).

    Attained by randomised response as the order falls to 1 (corrects the epsilon^2/2 of Bun and Steinke 2016).

    Example:
        >>> round(float(pure_to_concentrated(Fraction(1))), 12)
        0.46211715726
    """
    return upper(evaluate(lambda: ball(epsilon) * (ball(epsilon) / 2).tanh()))


@lru_cache(maxsize=4096)
def bounded_range_to_concentrated(epsilon: Fraction) -> Fraction:
    """Give the tight rho of an epsilon-bounded-range mechanism: x - 1 - log x with x = eps/(1 - exp(-eps)).

    At most epsilon^2/8 (Cesar and Rogers 2021); attained by a two-point law as the order falls to 1.

    Example:
        >>> round(float(bounded_range_to_concentrated(Fraction(1))), 12)
        0.123301561482
    """

    def formula() -> Any:
        ratio = ball(epsilon) / -(-ball(epsilon)).expm1()
        return ratio - 1 - ratio.log()

    return min(upper(evaluate(formula)), round_up(epsilon * epsilon / 8))


@lru_cache(maxsize=4096)
def pure_to_approximate_epsilon(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Give the smallest epsilon' with (epsilon', delta)-DP for every epsilon-DP mechanism.

    Randomised response attains delta = (e^eps - e^eps')/(1 + e^eps).
    """

    def formula() -> Any:
        grown = ball(epsilon).exp()
        return grown - ball(delta) * (1 + grown)

    left = evaluate(formula)
    if not left > 1:
        return Fraction(0)
    return upper(evaluate(left.log))


@lru_cache(maxsize=4096)
def bounded_range_to_approximate_epsilon(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Give the smallest epsilon' for a bounded-range mechanism: eps + 2 log(1 - sqrt(delta (1 - e^-eps))).

    Inverts delta = (1 - e^{-(eps-eps')/2})^2 / (1 - e^-eps) of Dong, Durfee and Rogers 2020.
    """
    if delta == 0:
        return epsilon

    def formula() -> Any:
        spare = (ball(delta) * -(-ball(epsilon)).expm1()).sqrt()
        return ball(epsilon) + 2 * (1 - spare).log()

    return max(Fraction(0), upper(evaluate(formula)))


def _renyi_epsilon(rho: Fraction, delta: Fraction, order: Fraction) -> Any:
    """Evaluate Canonne, Kamath and Steinke 2020, Prop. 12, at one order, as a ball."""
    a = ball(order)
    return ball(rho) * a + (1 - 1 / a).log() - (ball(delta).log() + a.log()) / (a - 1)


def _renyi_log_delta(rho: Fraction, epsilon: Fraction, order: Fraction) -> Any:
    """Evaluate the logarithm of the same bound as a delta."""
    a = ball(order)
    return (a - 1) * (a * ball(rho) - ball(epsilon)) - (a - 1).log() + a * (1 - 1 / a).log()


def _best_order(cost: Callable[[float], float], omega: Fraction | None) -> Fraction:
    """Find an order near the minimum of a cost that falls, then rises; any order is valid, this one is good.

    Golden section in log(order - 1); the order found is rational, so the bound evaluated there is a theorem.
    """
    low, high = math.log(1e-9), math.log(1e12)
    if omega is not None:
        high = math.log(float(omega - 1))
        low = min(low, high - 30)
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = cost(math.exp(left)), cost(math.exp(right))
    for _ in range(120):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = cost(math.exp(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = cost(math.exp(right))
    order = 1 + Fraction(math.exp((low + high) / 2))
    return order if omega is None else min(order, omega)


@lru_cache(maxsize=4096)
def concentrated_to_epsilon(rho: Fraction, delta: Fraction, omega: Fraction | None = None) -> Fraction:
    """Give the epsilon at a delta for rho-zCDP, or for (rho, omega)-tCDP, by the optimal order.

    Example:
        >>> round(float(concentrated_to_epsilon(Fraction(1, 10), Fraction(1, 10**6))), 4)
        2.1419
    """
    if rho == 0:
        return Fraction(0)
    r, log_delta = float(rho), math.log(delta)

    def cost(gap: float) -> float:
        order = 1 + gap
        return r * order + math.log(gap / order) - (log_delta + math.log(order)) / gap

    order = _best_order(cost, omega)
    return max(Fraction(0), upper(evaluate(lambda: _renyi_epsilon(rho, delta, order))))


@lru_cache(maxsize=4096)
def concentrated_to_delta(rho: Fraction, epsilon: Fraction, omega: Fraction | None = None) -> Fraction:
    """Give the delta at an epsilon for rho-zCDP or (rho, omega)-tCDP, by the optimal order."""
    if rho == 0:
        return Fraction(0)
    r, e = float(rho), float(epsilon)

    def cost(gap: float) -> float:
        order = 1 + gap
        return gap * (order * r - e) - math.log(gap) + order * math.log(gap / order)

    order = _best_order(cost, omega)
    return min(Fraction(1), upper(evaluate(lambda: _renyi_log_delta(rho, epsilon, order).exp())))


@lru_cache(maxsize=4096)
def group_delta(epsilon: Fraction, delta: Fraction, size: int) -> Fraction:
    """Give the delta of a group: delta (e^{k eps} - 1)/(e^eps - 1)."""
    if epsilon == 0:
        return delta * size
    return upper(evaluate(lambda: ball(delta) * (size * ball(epsilon)).expm1() / ball(epsilon).expm1()))
