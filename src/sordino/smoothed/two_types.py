"""The database-dependent privacy profile of a tally of two types: delta(epsilon; K of n), exactly.

Definition 2 of Liu, Wang and Xia 2023, for the sampling-histogram mechanism: the worst one-record replacement, in
both directions. Arrays over all K serve the smoothed figure; one tally takes microseconds at any population.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sordino.smoothed.divergence import log_divergence, log_divergence_with_replacement
from sordino.smoothed.single import log_bound_two, log_two_divergences

if TYPE_CHECKING:
    from sordino.smoothed.mass import Floats, Integers


def log_delta_two(n: int, K: int, T: int, epsilon: float, *, replacement: bool = False) -> float:
    """Return ln delta(epsilon; x) when K of the n records are of one type and T are published.

    The neighbours of K are K - 1 and K + 1; with D of :mod:`sordino.smoothed.divergence` the four divergences are
    D(K), D(K+1), D(n-K), D(n-K+1).

    Example:
        >>> round(math.exp(log_delta_two(10, 0, 7, 5.0)), 12)   # an unanimous tally: T/n at every epsilon
        0.7
    """
    if replacement:
        moves = np.array([K, K + 1, n - K, n - K + 1])
        moves = np.where(moves > n, 0, moves)
        return float(log_divergence_with_replacement(np.asarray(n), moves, np.asarray(T), epsilon).max())
    L = n - T
    rare = min(K, n - K)
    best = max(log_two_divergences(n, rare, L, epsilon))
    if log_bound_two(n, n - rare, L, epsilon) > best:
        best = max(best, *log_two_divergences(n, n - rare, L, epsilon))
    return best


def log_ceiling(n: int, K: int, L: int, epsilon: float) -> float:
    """Bound ln D(K) from above: D(K) <= P(b < b_c) <= exp(-L KL(b0/L ; K/n)) (Hoeffding 1963, Theorem 1 and 4).

    Example:
        >>> log_ceiling(1000, 400, 100, 1.0) >= log_two_divergences(1000, 400, 100, 1.0)[0]
        True
    """
    if L == 0 or n == K:
        return 0.0
    # one more than the floor of a rounded threshold: still a bound when the rounding went the wrong way
    reached = math.floor(K * (L + 1) / (K + math.exp(min(epsilon, 700.0)) * (n - K + 1)) * (1 + 1e-12))
    x, p = reached / L, K / n
    if x >= p:
        return 0.0
    first = x * math.log(x / p) if x > 0 else 0.0
    return -L * (first + (1 - x) * math.log((1 - x) / (1 - p)))


def log_delta_all(n: int, T: int, epsilon: float, *, replacement: bool = False) -> Floats:
    """Return ln delta(epsilon; K of n) for every K = 0..n.

    Example:
        >>> np.exp(log_delta_all(3, 2, 1.0)).round(6).tolist()
        [0.666667, 0.666667, 0.666667, 0.666667]
    """
    K = np.arange(n + 2, dtype=np.int64)
    size = np.asarray(n)
    if replacement:
        K[-1] = 0  # D(n+1) = 0
        D = log_divergence_with_replacement(size, K, np.asarray(T), epsilon)
    else:
        D = log_divergence(size, K, np.asarray(n - T), epsilon)
    one = np.maximum(D[:-1], D[1:])  # D(K), D(K+1)
    return np.maximum(one, one[::-1])  # D(n-K), D(n-K+1)


def log_delta_some(n: int, K: Integers, T: int, epsilon: float, *, replacement: bool = False) -> Floats:
    """Return ln delta(epsilon; K of n) for the given K only.

    Example:
        >>> bool((log_delta_some(30, np.arange(31), 20, 0.5) == log_delta_all(30, 20, 0.5)).all())
        True
    """
    if K.size and int(K[-1]) - int(K[0]) + 1 == K.size and bool((np.diff(K) == 1).all()):
        moves = np.arange(int(K[0]), int(K[-1]) + 2)
    else:
        moves = np.unique(np.concatenate([K, K + 1]))
    one = _moves(n, moves, T, epsilon, replacement=replacement)
    mirror = n + 1 - moves[::-1]
    two = _moves(n, mirror, T, epsilon, replacement=replacement)[::-1]  # two[i] = D(n + 1 - moves[i])
    at, after = np.searchsorted(moves, K), np.searchsorted(moves, K + 1)
    best = np.maximum(np.maximum(one[at], one[after]), np.maximum(two[at], two[after]))
    return np.asarray(best)


def _moves(n: int, moves: Integers, T: int, epsilon: float, *, replacement: bool) -> Floats:
    """Return ln D at the given counts, minus infinity outside 1..n."""
    if replacement:
        inside = np.where((moves < 1) | (moves > n), 0, moves)
        return log_divergence_with_replacement(np.asarray(n), inside, np.asarray(T), epsilon)
    return log_divergence(np.asarray(n), moves, np.asarray(n - T), epsilon)
