"""Smoothed privacy: exact figures against direct sums, sweeps against a compiled Algorithm 1, large brackets.

Both sides of every ratio run in this process, alternating, best of three by process CPU time. Without numba the
compiled column is left out with a note; install it beside the package to get it.
"""

from __future__ import annotations

import math
import time

import numpy as np

from sordino.smoothed.bracket import bracket
from sordino.smoothed.casteljau import log_means
from sordino.smoothed.two_types import log_delta_all, log_delta_two

DEMOCRATIC, REPUBLICAN, EPSILON = 81_283_501, 74_223_975, math.log(0.51 / 0.49)
VERTICES = (0.6, 0.45)


def seconds(function, repeats=1):
    """Return the CPU seconds of one call, and its result."""
    start = time.process_time()
    for _ in range(repeats):
        result = function()
    return (time.process_time() - start) / repeats, result


def duel(slow, fast, fast_repeats):
    """Alternate the two and return their best times and last results."""
    best = [math.inf, math.inf]
    results = [None, None]
    for _ in range(3):
        for side, (function, repeats) in enumerate(((slow, 1), (fast, fast_repeats))):
            spent, results[side] = seconds(function, repeats)
            best[side] = min(best[side], spent)
    return best, results


def direct_scipy(n, K, T, epsilon):
    """Sum (P - e^eps Q)_+ over every possible tally, both neighbours, both directions."""
    from scipy.stats import hypergeom

    laws = {}
    for count in (K - 1, K, K + 1):
        held = np.arange(n - T + 1)  # outcomes aligned by what is published: K - held
        laws[count] = hypergeom(n, count, n - T).pmf(held + (count - K))
    factor = math.exp(epsilon)
    sums = []
    for other in (K - 1, K + 1):
        sums.append(np.maximum(laws[K] - factor * laws[other], 0.0).sum())
        sums.append(np.maximum(laws[other] - factor * laws[K], 0.0).sum())
    return max(sums)


def forty_digits(n, K, T, epsilon):
    """Sum the same, from log-gammas of forty digits; only the outcomes that matter."""
    import mpmath as mp

    mp.mp.dps = 50
    L = n - T

    def divergence(count):
        weight = mp.e ** mp.mpf(epsilon)
        threshold = count * (L + 1) / (count + weight * (n - count + 1))
        b = int(mp.floor(threshold))

        def choose(a, k):
            return mp.loggamma(a + 1) - mp.loggamma(k + 1) - mp.loggamma(a - k + 1)

        mass = mp.e ** (choose(count, b) + choose(n - count, L - b) - choose(n, L))
        total = mp.mpf(0)
        for _ in range(4_000):
            total += mass * (1 - weight * b * (n - count + 1) / (mp.mpf(count) * (L + 1 - b)))
            mass *= mp.mpf(b) * (T - count + b) / (mp.mpf(count - b + 1) * (L - b + 1))
            b -= 1
        return total

    return max(divergence(count) for count in (K, K + 1, n - K, n - K + 1))


def digits(found, exact):
    """Count correct decimal digits."""
    error = abs(float((found - exact) / exact))
    return 17.0 if error == 0 else -math.log10(error)


def one_database():
    """The 2020 election."""
    import mpmath as mp

    n, K = DEMOCRATIC + REPUBLICAN, REPUBLICAN
    T = math.ceil(0.998 * n)
    (slow, fast), (direct, log_ours) = duel(
        lambda: direct_scipy(n, K, T, EPSILON), lambda: log_delta_two(n, K, T, EPSILON), 2_000
    )
    exact = forty_digits(n, K, T, EPSILON)
    ours = mp.e ** mp.mpf(log_ours)
    yield ("scipy, whole support", slow, 1.0, digits(mp.mpf(direct), exact), f"{direct:.6e}")
    yield ("sordino", fast, slow / fast, digits(ours, exact), mp.nstr(ours, 7))


def compiled_algorithm_one():
    """Algorithm 1 as written, compiled: delta of every histogram, then a convolution for every mix."""
    import numba

    @numba.njit
    def binomial(n, p):
        law = np.zeros(n + 1)
        for j in range(n + 1):
            law[j] = math.exp(
                math.lgamma(n + 1)
                - math.lgamma(j + 1)
                - math.lgamma(n - j + 1)
                + j * math.log(p)
                + (n - j) * math.log(1 - p)
            )
        return law

    @numba.njit
    def tally_law(n, K, T):
        law = np.zeros(T + 1)
        for a in range(max(0, T - (n - K)), min(K, T) + 1):
            law[a] = math.exp(
                math.lgamma(K + 1)
                - math.lgamma(a + 1)
                - math.lgamma(K - a + 1)
                + math.lgamma(n - K + 1)
                - math.lgamma(T - a + 1)
                - math.lgamma(n - K - T + a + 1)
                - math.lgamma(n + 1)
                + math.lgamma(T + 1)
                + math.lgamma(n - T + 1)
            )
        return law

    @numba.njit
    def algorithm(n, T, epsilon, p1, p2):
        factor = math.exp(epsilon)
        delta = np.zeros(n + 1)
        before = tally_law(n, 0, T)
        for K in range(n):
            after = tally_law(n, K + 1, T)
            one = two = 0.0
            for a in range(T + 1):
                one += max(0.0, before[a] - factor * after[a])
                two += max(0.0, after[a] - factor * before[a])
            worst = max(one, two)
            delta[K] = max(delta[K], worst)
            delta[K + 1] = max(delta[K + 1], worst)
            before = after
        means = np.zeros(n + 1)
        for k in range(n + 1):
            first, second = binomial(k, p1), binomial(n - k, p2)
            total = 0.0
            for i in range(k + 1):
                inner = 0.0
                for j in range(n - k + 1):
                    inner += second[j] * delta[i + j]
                total += first[i] * inner
            means[k] = total
        return means

    return algorithm


def all_mixes():
    """Smoothed delta for every mix, against the compiled Algorithm 1."""
    try:
        algorithm = compiled_algorithm_one()
    except ImportError:
        algorithm = None
    for n in (500, 1_000, 2_000):
        T = math.ceil(0.99 * n)

        def fast(n=n, T=T):
            return log_means(log_delta_all(n, T, 0.5), *VERTICES)

        fast()
        if algorithm is None:
            spent = min(seconds(fast, 20)[0] for _ in range(3))
            yield (n, "numba is not installed", spent, "-", "-")
            continue
        algorithm(20, 18, 0.5, *VERTICES)
        (slow, quick), (theirs, ours) = duel(lambda n=n, T=T: algorithm(n, T, 0.5, *VERTICES), fast, 20)
        yield (n, slow, quick, slow / quick, float(np.abs(np.exp(ours) / theirs - 1.0).max()))


def large():
    """What large populations cost."""
    n = 100_000
    spent, means = seconds(lambda: log_means(log_delta_all(n, math.ceil(0.99 * n), 0.5), *VERTICES))
    yield ("all mixes exactly", n, spent, f"10^{means.max() / math.log(10):.3f}", "0")
    for size in (100_000, 1_000_000):
        spent, found = seconds(lambda size=size: bracket(size, math.ceil(0.99 * size), 0.5, *VERTICES))
        yield ("certified bracket", size, spent, f"10^{found.upper / math.log(10):.3f}", f"{found.width:.1e}")


def tables():
    """Yield the tables for `python -m benchmarks smoothed`."""
    yield (
        "delta of one database: the 2020 election, 0.2 % of 155,507,476 votes lost, epsilon 0.04",
        ("method", "CPU s", "times faster", "correct digits", "value"),
        list(one_database()),
    )
    yield (
        "smoothed delta for all mixes, 1 % held back, epsilon 0.5",
        ("n", "Algorithm 1, numba: CPU s", "sweeps: CPU s", "times faster", "largest difference"),
        list(all_mixes()),
    )
    yield (
        "large populations, 1 % held back, epsilon 0.5",
        ("question", "n", "CPU s", "value", "relative width"),
        list(large()),
    )
