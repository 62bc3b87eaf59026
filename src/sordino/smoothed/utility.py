"""The adversary's utility: how well somebody who knows all records but one can guess that one.

Eq. (3) of Liu, Wang and Xia 2023 at the threshold t = e^eps / (1 + e^eps), for the sampled tally of two types, and the
inequalities that hold: Lemma 2 is false for three or more types and strictness fails. docs/proofs/smoothed_utility.md.
"""

from __future__ import annotations

import math

import numpy as np

from sordino.smoothed.mass import log_hypergeometric_one
from sordino.smoothed.single import _terms, threshold_one


def _side(n: int, K: int, L: int, epsilon: float) -> tuple[float, float]:
    """Return ln of two sums over the outcomes where K beats K - 1 by e^eps, with r = P_{K-1} / P_K.

    The first is sum P_K (1 - e^eps r) / (1 + r), the gain when K is true; the second the same times r, when it is not.
    """
    if not 1 <= K <= n:
        return -math.inf, -math.inf
    first, fraction = threshold_one(n, K, L, epsilon)
    least = max(0, K - (n - L))
    if first < least:
        return -math.inf, -math.inf
    start = log_hypergeometric_one(first, n, K, L)
    if first == 0:
        return start, -math.inf  # r = 0: this outcome is impossible without the record
    length = min(first - least + 1, 2 * _terms(epsilon, n, K, L, first - least))
    j = np.arange(length, dtype=np.float64)
    b = first - j
    room = L + 1 - b
    ratios = b[:-1] * (b[:-1] + (n - L - K)) / ((K + 1 - b[:-1]) * room[:-1])
    law = np.concatenate([[1.0], np.cumprod(ratios)])
    weight = (fraction + j) / (first + fraction) * ((L + 1) / room)
    r = b / room * ((n - K + 1) / K)
    true, false = law @ (weight / (1.0 + r)), law @ (weight * r / (1.0 + r))
    return start + math.log(true), start + (math.log(false) if false > 0.0 else -math.inf)


def log_utility_pair(n: int, K: int, T: int, epsilon: float) -> float:
    """Return ln u for an adversary who knows n - 1 records, K - 1 of them of type 1.

    Example:
        >>> round(math.exp(log_utility_pair(16, 11, 13, 0.01)), 12)
        0.431328478045
    """
    L = n - T
    true_one, false_one = _side(n, K, L, epsilon)  # outcomes that speak for type 1
    true_two, false_two = _side(n, n - K + 1, L, epsilon)  # outcomes that speak for type 2
    return float(max(np.logaddexp(true_one, false_two), np.logaddexp(true_two, false_one)))


def log_utility_two(n: int, K: int, T: int, epsilon: float) -> float:
    """Return ln u(t, x) for a tally with K of n records of type 1: the worst missing record.

    Example:
        >>> round(math.exp(log_utility_two(10, 1, 7, 2.0)), 12)  # the only record of its type: seen when published
        0.7
    """
    pairs = [count for count in (K, K + 1) if 1 <= count <= n]
    return max(log_utility_pair(n, count, T, epsilon) for count in pairs)


def utility_bound(delta: float, *, epsilon: float, types: int = 2) -> float:
    """Bound u(t, x) by delta(epsilon; x), for any anonymous mechanism: u <= (1 + (m-1) / (1 + e^eps)) delta.

    Where another type than the true one is guessed, the true one has posterior at most 1 / (1 + e^eps); the sets of
    outputs for different guesses are disjoint. For two types this improves 2 delta (Corollary 3); for more it is what
    is proved.

    Example:
        >>> utility_bound(1e-6, epsilon=0.0)
        1.5e-06
    """
    return (1.0 + (types - 1) / (1.0 + math.exp(epsilon))) * delta
