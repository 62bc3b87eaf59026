"""How far apart two neighbouring tallies are once some records are held back: the hockey-stick divergence.

Two types of records, K and n - K of them; L = n - T are held back at random, T are published. D(K) is the
divergence of "K" against "K - 1" at epsilon: sum over outcomes of (P_K - e^eps P_{K-1})_+. Elementwise over
arrays, in logarithms, every term positive. docs/proofs/smoothed_two_types.md derives each line.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.smoothed.mass import (
    Floats,
    Integers,
    log_binomial,
    log_hypergeometric,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_SPLIT = 134217729.0  # 2^27 + 1: Veltkamp's constant
_NEGLIGIBLE = 1e-18  # of the sum so far; terms fall at least geometrically behind it
_CHUNK = 8192  # elements worked on together: a dozen arrays of this length stay in the second-level cache
_BITS = 128


@lru_cache(maxsize=256)
def inverse_exponential(epsilon: float) -> tuple[int, int]:
    """Return e^-epsilon as mantissa / 2^shift with 128 significant bits."""
    with localcontext() as context:
        context.prec = 60
        value = (-Decimal(epsilon)).exp()
        shift = _BITS + math.ceil(epsilon * 1.4426950408889634)
        return int((value * (1 << shift)).to_integral_value()), shift


@lru_cache(maxsize=256)
def _inverse_exponential_pair(epsilon: float) -> tuple[float, float]:
    """Return e^-epsilon as an unevaluated sum of two doubles."""
    mantissa, shift = inverse_exponential(epsilon)
    high = mantissa / (1 << shift)
    numerator, denominator = high.as_integer_ratio()
    low = ((mantissa * denominator) - (numerator << shift)) / (denominator << shift)
    return high, low


def _two_product(x: Any, y: Any) -> tuple[Any, Any]:
    """Return the product and its rounding error (Dekker); both factors below 2^996."""
    p = x * y
    scaled = _SPLIT * x
    x_high = scaled - (scaled - x)
    x_low = x - x_high
    scaled = _SPLIT * y
    y_high = scaled - (scaled - y)
    y_low = y - y_high
    return p, ((x_high * y_high - p) + x_high * y_low + x_low * y_high) + x_low * y_low


def _threshold(n: Integers, K: Integers, L: Integers, epsilon: float) -> tuple[Integers, Floats, Floats]:
    """Return floor(b_c), b_c - floor(b_c) and b_c, with b_c = K (L+1) / (K + e^eps (n-K+1)).

    In twice double precision: rounding b_c to a double would cost n * 1e-16 of relative accuracy in D.
    """
    high, low = _inverse_exponential_pair(epsilon)
    k = K.astype(np.float64)
    others = (n - K + 1).astype(np.float64)
    a, a_low = _two_product(high, k)
    a_low = a_low + low * k
    drawn = (L + 1).astype(np.float64)
    top, top_low = _two_product(a, drawn)
    top_low = top_low + a_low * drawn
    bottom = a + others
    part = bottom - a
    bottom_low = (a - (bottom - part)) + (others - part) + a_low
    quotient = top / bottom
    back, back_low = _two_product(quotient, bottom)
    correction = (((top - back) - back_low) + top_low - quotient * bottom_low) / bottom
    whole = np.floor(quotient)
    fraction = (quotient - whole) + correction
    step = np.floor(fraction)
    fraction = fraction - step
    return (whole + step).astype(np.int64), fraction, quotient


def log_divergence(n: Integers, K: Integers, L: Integers, epsilon: float) -> Floats:
    """Return ln D(K) elementwise, for sampling without replacement; D(0) and D(n+1) are 0.

    Args:
        n: Records.
        K: Records of the type that loses one.
        L: Records held back.
        epsilon: The privacy parameter, at least 0.

    Example:
        >>> log_divergence(np.array([4]), np.array([1]), np.array([2]), 1.0).round(12).tolist()  # T/n = 1/2
        [-0.69314718056]
    """
    n, K, L = np.broadcast_arrays(n, K, L)
    shape = n.shape
    n, K, L = (part.astype(np.int64).ravel() for part in (n, K, L))
    result = np.full(n.shape, -np.inf)
    inside = np.flatnonzero((K >= 1) & (n >= K))
    for start in range(0, inside.size, _CHUNK):
        part = inside[start : start + _CHUNK]
        result[part] = _without_replacement(n[part], K[part], L[part], epsilon)
    return result.reshape(shape)


def _without_replacement(n: Integers, K: Integers, L: Integers, epsilon: float) -> Floats:
    """Sum one chunk downwards from the threshold."""
    first, fraction, threshold = _threshold(n, K, L, epsilon)
    # Only b = 0 counts: its weight is exactly 1, also where e^-eps underflows.
    alone = first == 0
    fraction = np.where(alone, 1.0, fraction)
    threshold = np.where(alone, 1.0, threshold)
    least = np.maximum(0, K - (n - L))
    result = np.full(n.shape, -np.inf)
    live = np.flatnonzero(first >= least)
    if live.size == 0:
        return result
    n, K, L, first = n[live], K[live], L[live], first[live]
    fraction, threshold = fraction[live], threshold[live]
    start = log_hypergeometric(first, n, K, L)

    b = first.astype(np.float64)
    over = (n - L - K).astype(np.float64)
    k_one = (K + 1).astype(np.float64)
    l_one = (L + 1).astype(np.float64)
    term = l_one / threshold  # P(b)/P(first) times the constant of the weight (b_c - b)/b_c (L+1)/(L+1-b)
    distance = fraction.copy()
    room = l_one - b
    total = term * distance / room

    def advance(
        term: Floats, b: Floats, over: Floats, k_one: Floats, room: Floats, distance: Floats
    ) -> Floats:
        term *= b * (over + b) / ((k_one - b) * room)
        b -= 1.0
        room += 1.0
        distance += 1.0
        return term * distance / room

    sums = _falling_series(total, [term, b, over, k_one, room, distance], advance)
    with np.errstate(divide="ignore"):
        result[live] = start + np.log(sums)
    return result


def _falling_series(total: Floats, parts: list[Floats], advance: Callable[..., Floats]) -> Floats:
    """Sum series elementwise, each until its terms are negligible.

    Args:
        total: The first term of every series; added to in place.
        parts: What a term is made of, its weight first.
        advance: Moves the parts to the next term, in place, and gives the term.
    """
    sums = np.zeros(total.size)
    rows = np.arange(total.size)
    counter = 0
    while True:
        added = advance(*parts)
        total += added
        counter += 1
        if counter % 8 == 0 or rows.size < 64:
            # a zero first term (fraction 0) is followed by larger ones: never stop on it
            running = (parts[0] > 0.0) & ((added > _NEGLIGIBLE * total) | (counter < 2))
            if not running.all():
                sums[rows[~running]] = total[~running]
                if not running.any():
                    return sums
                rows, total = rows[running], total[running]
                parts = [part[running] for part in parts]


def log_divergence_with_replacement(n: Integers, K: Integers, T: Integers, epsilon: float) -> Floats:
    """Return ln D(K) elementwise when the T published records are drawn with replacement.

    Example:
        >>> log_divergence_with_replacement(np.array([4]), np.array([1]), np.array([2]), 3.0).round(9).tolist()
        [-0.826678573]
    """
    n, K, T = np.broadcast_arrays(n, K, T)
    shape = n.shape
    n, K, T = (part.astype(np.int64).ravel() for part in (n, K, T))
    result = np.full(n.shape, -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        never = T * np.log1p(-1.0 / n)  # ln of the chance that a given record is never drawn
        alone = (K == 1) & (T > 0)
        result = np.where(alone, np.log(-np.expm1(np.where(alone, never, -1.0))), result)
        unanimous = (n == K) & (n > 1) & (T > 0)
        excess = np.where(unanimous, epsilon + never, 1.0)
        result = np.where(unanimous, np.log(np.maximum(0.0, -np.expm1(np.minimum(excess, 0.0)))), result)
    inside = np.flatnonzero((K >= 2) & (n > K) & (T > 0))
    for start in range(0, inside.size, _CHUNK):
        part = inside[start : start + _CHUNK]
        result[part] = _with_replacement(n[part], K[part], T[part], epsilon)
    return result.reshape(shape)


def _beyond_first_order(x: Floats) -> Floats:
    """Return -ln(1 - x) - x for 0 <= x <= 1/2 without cancellation: x^2/2 + x^3/3 + ..."""
    small = x < 0.05
    series = np.zeros_like(x)
    y = np.where(small, x, 0.0)
    for i in range(14, 1, -1):
        series = series * y + 1.0 / i
    plain = -np.log1p(-np.where(small, 0.0, x)) - x
    return np.where(small, series * y * y, plain)


def _with_replacement(n: Integers, K: Integers, T: Integers, epsilon: float) -> Floats:
    """Sum one chunk upwards from the threshold a_c = (eps + T h2) / (h1 + h2)."""
    k, others = K.astype(np.float64), (n - K).astype(np.float64)
    h1_rest = _beyond_first_order(1.0 / k)  # h1 = ln(K/(K-1)) = 1/K + this
    h2_rest = np.log1p(1.0 / others) - 1.0 / others  # h2 = ln((n-K+1)/(n-K)) = 1/(n-K) + this
    wide = others > 20
    x = np.where(wide, 1.0 / np.where(wide, others, 1.0), 0.0)
    series = np.zeros_like(x)
    for i in range(14, 1, -1):
        series = series * x + (1.0 if i % 2 else -1.0) / i
    h2_rest = np.where(wide, series * x * x, h2_rest)
    slope = (1.0 / k + h1_rest) + (1.0 / others + h2_rest)

    def loss(a: Integers) -> Floats:
        """Return ln(P_K(a) / P_{K-1}(a)) - eps; the leading part is an exact integer over an exact integer."""
        leading = (a * n - T * K) / (k * others)
        return (leading - epsilon) + (a * h1_rest - (T - a) * h2_rest)

    first = np.floor((epsilon + T * (1.0 / others + h2_rest)) / slope).astype(np.int64)
    first = np.clip(first, 0, T)
    first = np.where((loss(first) > 0.0) & (first > 0), first - 1, first)
    for _ in range(2):
        first = np.where((loss(first) <= 0.0) & (first <= T), first + 1, first)
    result = np.full(n.shape, -np.inf)
    live = np.flatnonzero(first <= T)
    if live.size == 0:
        return result
    first, n, K, T = first[live], n[live], K[live], T[live]
    start = log_binomial(first, T, K, n)
    lead = loss_at = (first * n - T * K) / (k[live] * others[live])
    loss_at = (lead - epsilon) + (first * h1_rest[live] - (T - first) * h2_rest[live])
    slope = slope[live]
    a = first.astype(np.float64)
    draws = T.astype(np.float64)
    odds = K / (n - K)
    term = np.ones(live.size)
    total = -np.expm1(-loss_at)

    def advance(
        term: Floats, a: Floats, draws: Floats, odds: Floats, loss_at: Floats, slope: Floats
    ) -> Floats:
        term *= (draws - a) / (a + 1.0) * odds
        a += 1.0
        loss_at += slope
        return term * -np.expm1(-loss_at)

    sums = _falling_series(total, [term, a, draws, odds, loss_at, slope], advance)
    with np.errstate(divide="ignore"):
        result[live] = start + np.log(sums)
    return result
