"""Logarithms of hypergeometric and binomial probabilities with all their digits, for populations to 1e9.

Loader's saddle-point form: the large parts cancel on paper, so that what is summed is a deviance (positive
terms, small relative error) and Stirling remainders of size one. Differences of log-gammas lose as many digits
as the population has. Nothing here knows about privacy.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]

LARGEST = 10**9
"""The largest population: products of two counts must be exact in 64-bit integers."""

_HALF_LOG_TWO_PI = 0.9189385332046727418  # ln(2 pi) / 2
# Stirling's series, DLMF 5.11.1; six terms reach 1e-17 from 16 upwards.
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
_TABLE_END = 16


@cache
def _table() -> tuple[float, ...]:
    """Give ln x! - (x ln x - x) for x below 16, rounded once from 40 digits; at 0 it is 0 because 0 ln 0 = 0."""
    with localcontext() as context:
        context.prec = 40
        positive = range(1, _TABLE_END)
        return (0.0, *(float(Decimal(math.factorial(x)).ln() - x * Decimal(x).ln() + x) for x in positive))


def stirling_remainder(x: Integers) -> Floats:
    """Return ln x! - (x ln x - x) for whole x >= 0.

    Example:
        >>> stirling_remainder(np.array([0, 1, 100])).round(12).tolist()
        [0.0, 1.0, 3.222356956754]
    """
    small = x < _TABLE_END
    large = np.where(small, _TABLE_END, x).astype(np.float64)
    inverse = 1.0 / large
    square = inverse * inverse
    series = np.full_like(large, _SERIES[-1])
    for coefficient in _SERIES[-2::-1]:
        series = series * square + coefficient
    value: Floats = 0.5 * np.log(large) + _HALF_LOG_TWO_PI + series * inverse
    return np.where(small, np.asarray(_table())[np.where(small, x, 0)], value)


def _remainder(x: int) -> float:
    """Do the same for one number."""
    if x < _TABLE_END:
        return _table()[x]
    inverse = 1.0 / x
    square = inverse * inverse
    a, b, c, d, e, f = _SERIES
    tail = ((((f * square + e) * square + d) * square + c) * square + b) * square + a
    return 0.5 * math.log(x) + _HALF_LOG_TWO_PI + tail * inverse


def _deviance(x: Floats, expected: Floats, gap: Floats) -> Floats:
    """Return x ln(x / M) + M - x given M and the exactly known gap x - M.

    With v = gap / (x + M), ln(x / M) = 2 artanh v, so the value is gap v + 2 x (v^3/3 + v^5/5 + ...): no
    cancellation where x is near M. Beyond |v| = 1/3 the plain form loses less than one digit.
    """
    total = x + expected
    with np.errstate(divide="ignore", invalid="ignore"):
        v = np.where(total > 0, gap / total, 0.0)
        near = np.abs(v) < 1 / 3
        inside = np.where(near, v, 0.0)
        square = inside * inside
        largest = float(square.max(initial=0.0))
        terms = 2 if largest == 0.0 else min(19, 2 + math.ceil(-41.0 / math.log(largest)))
        series = np.zeros_like(square)
        for i in range(terms, 0, -1):
            series = (series + 1.0 / (2 * i + 1)) * square
        close = gap * inside + 2.0 * x * inside * series
        far = np.where(x > 0, x * np.log(np.where(x > 0, x / expected, 1.0)), 0.0) - gap
    return np.where(near, close, far)


def _deviance_one(x: int, expected: float, gap: float) -> float:
    """Do the same for one number."""
    if x == 0:
        return expected
    v = gap / (x + expected)
    if abs(v) >= 1 / 3:
        return x * math.log(x / expected) - gap
    square = v * v
    series, i, power = 0.0, 3, square
    while True:
        step = power / i
        series += step
        if step <= 1e-17 * series or step == 0.0:
            return gap * v + 2.0 * x * v * series
        power *= square
        i += 2


def log_hypergeometric(b: Integers, n: Integers, K: Integers, L: Integers) -> Floats:
    """Return ln P(b of the K marked records are among L drawn from n without replacement).

    Example:
        >>> both = log_hypergeometric(*np.array([[1], [4], [2], [2]]))
        >>> round(float(np.exp(both[0])), 15)  # 2 * 2 / 6
        0.666666666666667
    """
    b, n, K, L = np.broadcast_arrays(b, n, K, L)
    rest = n - L - K + b
    possible = (b >= 0) & (b <= K) & (b <= L) & (rest >= 0)
    b = np.where(possible, b, np.maximum(0, K + L - n))
    rest = n - L - K + b
    population = n.astype(np.float64)
    gap = (b * n - K * L) / population  # exact integers below 2^63
    deviance = (
        _deviance(b.astype(np.float64), (K * L) / population, gap)
        + _deviance((K - b).astype(np.float64), (K * (n - L)) / population, -gap)
        + _deviance((L - b).astype(np.float64), ((n - K) * L) / population, -gap)
        + _deviance(rest.astype(np.float64), ((n - K) * (n - L)) / population, gap)
    )
    margins = (
        stirling_remainder(K)
        + stirling_remainder(n - K)
        + stirling_remainder(L)
        + stirling_remainder(n - L)
        - stirling_remainder(n)
    )
    cells = (
        stirling_remainder(b)
        + stirling_remainder(K - b)
        + stirling_remainder(L - b)
        + stirling_remainder(rest)
    )
    return np.where(possible, margins - cells - deviance, -np.inf)


def log_hypergeometric_one(b: int, n: int, K: int, L: int) -> float:
    """Do the same for one outcome that is possible, in Python numbers: a tenth of the time of a tiny array."""
    T, N = n - L, n - K
    rest = T - K + b
    gap = (b * n - K * L) / n
    deviance = (
        _deviance_one(b, K * L / n, gap)
        + _deviance_one(K - b, K * T / n, -gap)
        + _deviance_one(L - b, N * L / n, -gap)
        + _deviance_one(rest, N * T / n, gap)
    )
    margins = _remainder(K) + _remainder(N) + _remainder(L) + _remainder(T) - _remainder(n)
    return margins - (_remainder(b) + _remainder(K - b) + _remainder(L - b) + _remainder(rest)) - deviance


def log_binomial(a: Integers, T: Integers, K: Integers, n: Integers) -> Floats:
    """Return ln P(a of T draws with replacement are among the K marked of n records).

    Example:
        >>> round(float(np.exp(log_binomial(*np.array([[1], [2], [1], [2]])))[0]), 15)
        0.5
    """
    a, T, K, n = np.broadcast_arrays(a, T, K, n)
    possible = (a >= 0) & (a <= T) & ((K > 0) | (a == 0)) & ((n > K) | (a == T))
    a = np.where(possible, a, np.where(n > K, 0, T))
    population = n.astype(np.float64)
    gap = (a * n - T * K) / population
    deviance = _deviance(a.astype(np.float64), (T * K) / population, gap) + _deviance(
        (T - a).astype(np.float64), (T * (n - K)) / population, -gap
    )
    value = stirling_remainder(T) - stirling_remainder(a) - stirling_remainder(T - a) - deviance
    return np.where(possible, value, -np.inf)


def log_binomial_share(a: Integers, T: int, p: float) -> Floats:
    """Return ln P(a successes in T draws of probability p), for a p that is not a ratio of counts."""
    if p <= 0.0 or p >= 1.0:
        certain = 0 if p <= 0.0 else T
        return np.where(a == certain, 0.0, -np.inf)
    x = a.astype(np.float64)
    # T p rounds; its last digits move ln P by (a - T p) / (T p (1 - p)) times 1e-16 T p: below 1e-11 to T = 1e9.
    gap = x - T * p
    deviance = _deviance(x, np.full_like(x, T * p), gap) + _deviance(
        T - x, np.full_like(x, T * (1.0 - p)), -gap
    )
    whole = stirling_remainder(np.asarray([T]))[0]
    return whole - stirling_remainder(a) - stirling_remainder(T - a) - deviance


def log_sum(logs: Floats, axis: int | None = None) -> Any:
    """Return the logarithm of the sum of exponentials; an empty sum is minus infinity.

    Example:
        >>> float(log_sum(np.array([-1e6, -1e6 + math.log(3)])) + 1e6 - math.log(4)) < 1e-9
        True
    """
    if logs.size == 0:
        return -np.inf
    top = np.max(logs, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.sum(np.exp(logs - shift), axis=axis, keepdims=True)) + shift
    return np.squeeze(total, axis=axis) if axis is not None else total.reshape(())[()]
