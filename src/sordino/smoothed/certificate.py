"""Certified upper bounds on smoothed delta for hundreds of millions of records and any number of types.

A bound on delta(x) that falls with every count is averaged under the fewest records that the electorates allow: that is
the worst mix, because more records of a type can only lower the bound. With two types the bound is the divergence
itself, taken over short ranges of the count, and the majorant is U-shaped, so that only the two ends matter.
docs/proofs/smoothed_certificate.md.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from sordino.smoothed.bracket import _edge
from sordino.smoothed.chernoff import log_pair_ceiling
from sordino.smoothed.mass import Floats, Integers, log_binomial_share, log_hypergeometric

_CELLS = 140  # of each count, with three or more types
_FINE, _COARSE = 3000, 400  # of the count, with two types
_SPREADS = 12.0


def log_range_divergence(n: int, K0: Integers, K1: Integers, L: int, epsilon: float) -> Floats:
    """Bound ln D(K) for all K0 <= K <= K1 at once: sum over b of P_K0(b) w_K1(b).

    For a fixed number b held back, P_K(b) falls with K as long as b <= (K+1) L / (n+1), and the weight grows with K; so
    the first at K0 and the second at K1 bound every K between. 0 where the threshold of K1 is too high for that.

    Example:
        >>> from sordino.smoothed.divergence import log_divergence
        >>> bound = log_range_divergence(5000, np.array([900]), np.array([910]), 100, 0.5)[0]
        >>> exact = log_divergence(np.array(5000), np.arange(900, 911), np.array(100), 0.5)
        >>> bool(exact.max() <= bound < exact.max() + 0.3)
        True
    """
    k0, k1 = K0.astype(np.float64), K1.astype(np.float64)
    threshold = k1 * (L + 1) / (k1 + math.exp(min(epsilon, 600.0)) * (n - k1 + 1.0)) * (1.0 + 1e-12)
    first = np.minimum(np.floor(threshold), L)
    usable = (first <= (k0 + 1.0) * L / (n + 1.0)) & (K0 >= 1) & (n >= K1)
    result = np.zeros(K0.shape)
    live = np.flatnonzero(usable & (first >= np.maximum(0, K0 - (n - L))))
    result[usable] = -np.inf
    if live.size == 0:
        return result
    b, k, edge = first[live].copy(), k0[live], threshold[live]
    start = log_hypergeometric(b.astype(np.int64), np.asarray(n), K0[live], np.asarray(L))
    term = np.ones(live.size)
    total = np.zeros(live.size)
    over = n - L - k
    for step in range(200_000):
        weight = np.clip((edge - b) / np.maximum(edge, 1e-300) * ((L + 1.0) / (L + 1.0 - b)), 0.0, 1.0)
        total += term * np.where(b == 0.0, 1.0, weight)
        term *= np.maximum(b, 0.0) * np.maximum(over + b, 0.0) / ((k - b + 1.0) * (L - b + 1.0))
        b -= 1.0
        if step % 16 == 15 and bool((term * (1.0 + step) <= 1e-13 * total).all()):
            break
    # terms fall faster than geometrically, so what is left is below the last term times the number of steps
    with np.errstate(divide="ignore"):
        result[live] = np.minimum(start + np.log(total) + 1e-9, 0.0)
    return result


def log_certificate_two(n: int, T: int, epsilon: float, p1: float, p2: float, *, lower: float) -> float:
    """Bound ln of the smoothed delta of a set of two-type distributions with ends p1 and p2 from above.

    Args:
        n: Records.
        T: Records published, without replacement.
        epsilon: The privacy parameter.
        p1: P(type 1) at one end of the set.
        p2: P(type 1) at the other.
        lower: ln of a value that is reached, which says how far out the count matters.

    Example:
        >>> from sordino.smoothed.bracket import log_mean_window
        >>> lower = max(log_mean_window(100_000, 99_000, 0.5, p) for p in (0.3, 0.6))
        >>> bool(lower <= log_certificate_two(100_000, 99_000, 0.5, 0.3, 0.6, lower=lower) < lower + 0.1)
        True
    """
    return max(_log_end(n, n - T, epsilon, min(p, 1.0 - p), -lower + 45.0) for p in {p1, p2})


def _log_end(n: int, L: int, epsilon: float, p: float, need: float) -> float:
    """Bound ln E[u(K)], K binomial of chance p <= 1/2 and u the U-shaped majorant."""
    worst = math.log((n - L) / n)
    if p <= 0.0 or L == 0:
        return worst
    middle, mean, spread = n // 2, int(n * p), math.sqrt(n * p * (1.0 - p))
    edge = max(1, _edge(n, p, need, -1))
    coarse = np.unique(np.linspace(edge, min(mean, middle), _COARSE).astype(np.int64))
    ranges = log_range_divergence(n, coarse, coarse + 1, L, epsilon)
    centre = int(coarse[np.argmax(ranges + log_binomial_share(coarse, n, p))])
    near = np.linspace(centre - _SPREADS * spread, centre + _SPREADS * spread, _FINE)
    places = np.unique(np.concatenate([coarse, np.clip(near.astype(np.int64), edge, min(mean, middle))]))
    falling = _log_range(n, places[:-1], places[1:] - 1, L, epsilon)
    beyond = _log_beyond(n, int(places[-1]), middle, L, epsilon, max(1.0, spread / 100.0))
    majorant = np.maximum.accumulate(np.append(falling, beyond)[::-1])[::-1]
    majorant = np.minimum(majorant, worst)
    left = _log_mean(majorant, _log_below(places[1:] - 1, n, p), worst + _log_below(places[:1] - 1, n, p)[0])
    # the other half: no more than the first by symmetry, and no more than its probability
    return float(min(worst, np.logaddexp(left, min(left, -_edge_cost(n, p)))))


def _edge_cost(n: int, p: float) -> float:
    """Return n KL(1/2 ; p)."""
    return -0.5 * n * math.log(4.0 * p * (1.0 - p)) if p < 0.5 else 0.0


def _log_range(n: int, first: Integers, last: Integers, L: int, epsilon: float) -> Floats:
    """Bound ln delta(K) for first <= K <= last <= n/2: both types may lose a record, both ways."""
    small = log_range_divergence(n, first, last + 1, L, epsilon)
    large = log_range_divergence(n, n - last, n - first + 1, L, epsilon)
    return np.maximum(small, large)


def _log_beyond(n: int, start: int, middle: int, L: int, epsilon: float, width: float) -> float:
    """Bound ln delta(K) for all start <= K <= middle by ranges that grow with the distance, cut where too high."""
    stack: list[tuple[int, int]] = []
    at = start
    while at <= middle:
        end = min(middle, at + max(0, int(width)))
        stack.append((at, end))
        at, width = end + 1, width * 1.25
    first, last = (np.asarray(side) for side in zip(*stack, strict=True))
    values = _log_range(n, first, last, L, epsilon)
    limit = float(values[0])
    for _ in range(24):
        high = (values > limit) & (last > first)
        if not high.any():
            break
        half = (first[high] + last[high]) // 2
        first, last = (
            np.concatenate([first[~high], first[high], half + 1]),
            np.concatenate([last[~high], half, last[high]]),
        )
        old = np.count_nonzero(~high)
        values = np.concatenate([values[~high], _log_range(n, first[old:], last[old:], L, epsilon)])
    return float(values.max())


def _log_below(k: Integers, n: int, p: float) -> Floats:
    """Bound ln P(K <= k) for a binomial K: the last term and a geometric series; 0 at and above the mean."""
    ratio = k * (1.0 - p) / ((n - k + 1.0) * p)
    inside = (ratio < 1.0) & (k >= 0)
    usable = np.where(inside, k, 0)
    bound = log_binomial_share(usable, n, p) - np.log1p(-np.where(inside, ratio, 0.0))
    return np.where(k < 0, -np.inf, np.where(inside, np.minimum(bound + 1e-9, 0.0), 0.0))


def _log_mean(values: Floats, below: Floats, least: float) -> float:
    """Bound ln E[v(K)] of a falling v: values[a] on range a, below[a] >= ln P(K in the ranges up to a)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        drops = values[:-1] + np.log(-np.expm1(np.minimum(values[1:] - values[:-1], 0.0)))
    drops = np.where(values[:-1] > values[1:], drops, -np.inf)
    return float(np.logaddexp.reduce([*(drops + below), values[-1], least]))


def log_certificate_many(n: int, T: int, epsilon: float, distributions: Floats) -> float:
    """Bound ln of the smoothed delta of a set of distributions over any number of types from above.

    Args:
        n: Records.
        T: Records published, without replacement.
        epsilon: The privacy parameter.
        distributions: The vertices of the set, one per row.

    Example:
        >>> bound = log_certificate_many(160_000_000, 159_680_000, 1.0, np.array([[0.5, 0.46, 0.04]]))
        >>> -3500 < bound < -3000
        True
    """
    worst = math.log(T / n)
    fewest = distributions.min(axis=0)
    if n == T or epsilon <= 0.0 or bool((fewest <= 0.0).any()):
        return worst
    parts = [
        _log_pair_mean(n, n - T, epsilon, float(fewest[i]), float(fewest[j]))
        for i, j in itertools.permutations(range(fewest.size), 2)
    ]
    return min(worst, float(np.logaddexp.reduce(parts)), _log_silent(n, T, epsilon, fewest))


def _log_silent(n: int, T: int, epsilon: float, fewest: Floats) -> float:
    """Bound ln E[delta] by the chance that any type can leak at all, which needs K_i (1 - e^-eps) < T.

    The largest loss is ln K_i / (K_i - T), so E[delta] <= (T/n) sum_i P(K_i <= T / (1 - e^-eps)): the better bound for
    small samples. Hoeffding bounds each tail.
    """
    x = T / -math.expm1(-epsilon) / n
    if x >= float(fewest.min()):
        return 0.0
    p = fewest.astype(np.float64)
    cost = n * (x * np.log(x / p) + (1.0 - x) * np.log((1.0 - x) / (1.0 - p)))
    return math.log(T / n) + float(np.logaddexp.reduce(-cost))


def _log_pair_mean(n: int, L: int, epsilon: float, p: float, q: float) -> float:
    """Bound ln E[ceiling(K_i, K_j - 1)] when every record is of type i with chance p, of type j with chance q."""
    worst = math.log((n - L) / n)
    centre = float(log_pair_ceiling(n, L, np.asarray([n * p]), np.asarray([n * q]), epsilon)[0])
    need = -centre + 45.0
    rest = q / (1.0 - p)
    own = np.unique(np.linspace(_edge(n, p, need, -1), int(n * p), _CELLS).astype(np.int64))
    other = np.unique(np.linspace(_edge(n, q, need, -1), int(n * q), _CELLS).astype(np.int64))
    values = log_pair_ceiling(n, L, own[:, None], np.maximum(other - 1, 0)[None, :], epsilon)
    values = np.minimum(values, worst)
    rows = np.empty(own.size)
    for a in range(own.size):
        # given K_i below the next edge, at least so many records remain, of which each is of type j with chance rest
        size, chance, extra = (
            n,
            q,
            math.log(2.0),
        )  # the last range: at least half of the law, so at most twice the mean
        if a + 1 < own.size:
            size, chance, extra = n - int(own[a + 1]) + 1, rest, 0.0
        below, least = (
            _log_below(other[1:] - 1, size, chance),
            float(_log_below(other[:1] - 1, size, chance)[0]),
        )
        rows[a] = _log_mean(values[a], below, least) + extra
    rows = np.maximum.accumulate(rows[::-1])[::-1]
    lowest = float(_log_below(own[:1] - 1, n, p)[0])
    return min(worst, _log_mean(np.minimum(rows, worst), _log_below(own[1:] - 1, n, p), lowest))
