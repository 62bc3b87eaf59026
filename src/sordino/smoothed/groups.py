"""Protecting several people at once: the divergence when g records change their type together.

Exact for a tally of two types; the generic conversion of differential privacy beside it.
"""

from __future__ import annotations

import math

import numpy as np

from sordino.smoothed.mass import Floats, Integers, log_hypergeometric, log_sum

_PEAK = 48.0


def _loss(b: Floats, n: int, K: int, g: int, L: int) -> Floats:
    """Return ln of P_K over P_{K-g} of the same publication, b of the K held back: g logarithms of ratios near 1.

    The publication that holds back b of K holds back b - g of K - g; below b = g the smaller count cannot give it.
    """
    possible = b >= g
    total = np.zeros(b.shape)
    for i in range(g):
        parts = (K - i) * (L - b + i + 1.0) / (np.where(possible, b - i, 1.0) * (n - K + i + 1.0))
        total += np.log(parts)
    return np.where(possible, total, np.inf)


def log_group_divergence(n: int, K: int, g: int, T: int, epsilon: float) -> float:
    """Return ln of the hockey-stick divergence of K against K - g records of type 1, T of n published.

    Example:
        >>> round(math.exp(log_group_divergence(87, 5, 5, 26, 0.5)), 12)
        0.838994045363
    """
    L = n - T
    low, high = max(0, K - T), min(K, L)
    if not 1 <= g <= K <= n:
        return -math.inf
    # the loss falls as more records of the type are held back: find the last outcome above epsilon
    if _excess(low, n, K, g, L) <= epsilon:
        return -math.inf
    inside, outside = low, high + 1
    while outside - inside > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if _excess(middle, n, K, g, L) > epsilon else (inside, middle)
    total = -math.inf
    end = inside
    while end >= low:
        start = max(low, end - 4095)
        b = np.arange(start, end + 1)
        mass = log_hypergeometric(b, np.asarray(n), np.asarray(K), np.asarray(L))
        with np.errstate(divide="ignore", over="ignore"):
            weight = np.log(np.maximum(0.0, -np.expm1(epsilon - _loss_or_difference(b, n, K, g, L))))
        total = float(np.logaddexp(total, log_sum(mass + weight)))
        if float(mass[0]) < total - _PEAK and float(mass[0]) <= float(mass[-1]):
            break
        end = start - 1
    return total


def _loss_or_difference(b: Integers, n: int, K: int, g: int, L: int) -> Floats:
    """Choose the sum of g logarithms for small groups, a difference of two for large ones."""
    if g <= 512:
        return _loss(b.astype(np.float64), n, K, g, L)
    size, drawn = np.asarray(n), np.asarray(L)
    own = log_hypergeometric(b, size, np.asarray(K), drawn)
    return own - log_hypergeometric(b - g, size, np.asarray(K - g), drawn)


def _excess(b: int, n: int, K: int, g: int, L: int) -> float:
    """Return the loss of one outcome."""
    return float(_loss_or_difference(np.asarray([b]), n, K, g, L)[0])


def log_group_delta(n: int, K: int, g: int, T: int, epsilon: float) -> float:
    """Return ln delta for groups of up to g records of a two-type tally: any of them may change, both directions.

    Example:
        >>> from sordino.smoothed.two_types import log_delta_two
        >>> abs(log_group_delta(50, 20, 1, 40, 0.3) - log_delta_two(50, 20, 40, 0.3)) < 1e-12
        True
    """
    # The laws are ordered by likelihood ratio, so the divergence grows with the number that change: the largest
    # possible change in each direction decides.
    down, up = min(g, K), min(g, n - K)
    changes = [(K, down), (n - K + down, down), (n - K, up), (K + up, up)]
    return max(log_group_divergence(n, count, size, T, epsilon) for count, size in changes)


def generic_group(log_delta: float, *, epsilon: float, size: int) -> tuple[float, float]:
    """Convert a guarantee for one record into (g eps, ln delta') for a group of g, as for any private mechanism.

    delta' = delta (e^(g eps) - 1) / (e^eps - 1). It needs the guarantee at every database on the way, so it applies to
    the worst case and, with the largest delta of the databases within g records, to one database.

    Example:
        >>> epsilon, log_delta = generic_group(math.log(1e-9), epsilon=0.5, size=2)
        >>> epsilon, round(math.exp(log_delta) / 1e-9, 6)
        (1.0, 2.648721)
    """
    if epsilon == 0.0:
        return 0.0, log_delta + math.log(size)
    steps = np.arange(size, dtype=np.float64) * np.float64(epsilon)
    return size * epsilon, log_delta + float(log_sum(steps))
