"""The divergence of one tally in microseconds, at any population: Python integers for the threshold, one short sum.

The same sums as :mod:`sordino.smoothed.divergence`, which works on whole arrays; each checks the other. The threshold
is exact, so that no digit is lost at a billion records.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from sordino.smoothed.divergence import inverse_exponential
from sordino.smoothed.mass import Floats, log_hypergeometric_one

_TAIL = 4e-17  # a remainder of this share of the sum, itself known to a few percent, does not matter
_LOOSE = 1e-5  # slack of a bound that is computed with plain logarithms of numbers to 1e9


def threshold_one(n: int, K: int, L: int, epsilon: float) -> tuple[int, float]:
    """Return floor(b_c) and b_c - floor(b_c) for b_c = K (L+1) / (K + e^eps (n-K+1)), from exact integers.

    Example:
        >>> threshold_one(100, 50, 20, 0.0)  # 50 * 21 / 101
        (10, 0.39603960396039606)
    """
    mantissa, shift = inverse_exponential(epsilon)
    weighted = mantissa * K
    below = weighted + ((n - K + 1) << shift)
    first, remainder = divmod(weighted * (L + 1), below)
    return first, remainder / below


def log_divergence_one(n: int, K: int, L: int, epsilon: float) -> float:
    """Return ln D(K) for one tally of two types, sampled without replacement.

    Args:
        n: Records.
        K: Records of the type that loses one.
        L: Records held back.
        epsilon: The privacy parameter, at least 0.

    Example:
        >>> round(log_divergence_one(155_507_476, 74_223_975, 311_014, 0.04) / math.log(10), 2)
        -31.91
    """
    return log_two_divergences(n, K, L, epsilon, second=False)[0]


def log_two_divergences(
    n: int, K: int, L: int, epsilon: float, *, second: bool = True
) -> tuple[float, float]:
    """Return ln D(K) and ln D(K+1); the second from the probabilities of the first, at a third of its price.

    P_{K+1}(b) / P_K(b) = (K+1) (T-K+b) / ((K+1-b) (n-K)), so one list of probabilities serves both sums.

    Example:
        >>> one, two = log_two_divergences(1000, 300, 50, 0.5)
        >>> abs(two - log_divergence_one(1000, 301, 50, 0.5)) < 1e-13
        True
    """
    T = n - L
    over = T - K
    least = max(0, -over)
    if not 1 <= K <= n:
        return -math.inf, log_divergence_one(n, K + 1, L, epsilon) if second and n > K else -math.inf
    first, fraction = threshold_one(n, K, L, epsilon)
    simple = first <= max(least, 0) or n == K
    if first < least:
        own = -math.inf
    else:
        start = log_hypergeometric_one(first, n, K, L)
        if first == 0:
            own = start
    if simple:
        if first > 0 and first >= least:
            own = (
                start + math.log(fraction / (first + fraction) * (L + 1) / (L + 1 - first))
                if fraction
                else -math.inf
            )
        return own, log_divergence_one(n, K + 1, L, epsilon) if second and n > K else -math.inf

    length = _terms(epsilon, n, K, L, first - least)
    steps = _ramp(length)
    ratios = first - steps  # b
    moved = (first + over) - steps  # (T-K+b) / (K+1-b)
    moved /= (K + 1 - first) + steps
    room = 1.0 / ((L + 1 - first) + steps)
    ratios *= moved
    ratios *= room
    products = np.empty(length)
    products[0] = 1.0
    products[1:] = ratios[:-1]
    np.multiply.accumulate(products, out=products)
    shares = products * room
    ones = _ones(length)
    total = float(shares @ steps) + fraction * float(shares @ ones)
    rest = _remainder(
        float(products[-1]), float(ratios[-1]), fraction, length, L + length - first, first - least, total
    )
    total += rest if rest is not None else _further(n, K, L, first, fraction, products, ratios, length)
    own = start + math.log(total * (L + 1) / (first + fraction)) if total > 0.0 else -math.inf
    if not second or n == K:
        return own, -math.inf
    other, part = threshold_one(n, K + 1, L, epsilon)
    if rest is None or other - first not in (0, 1):
        return own, log_divergence_one(n, K + 1, L, epsilon)
    # terms of K + 1 at the same b; when its set reaches one higher, that term comes first
    shares *= moved
    shift = part + (other - first)
    total = float(shares @ steps) + shift * float(shares @ ones)
    total += rest * float(moved[-1])
    if other > first:
        above = (K - first) * (L - first) / ((first + 1) * (first + 1 + over))
        total += part * above / (L - first) * (over + first + 1) / (K - first)
    scale = (L + 1) / (other + part) * ((K + 1) / (n - K))
    return own, start + math.log(total * scale) if total > 0.0 else -math.inf


def _terms(epsilon: float, n: int, K: int, L: int, most: int) -> int:
    """Guess how many terms matter: they fall at least like e^(-eps j), and like e^(-j^2 / (2 variance))."""
    variance = max(1.0, K * L * (n - K) * (n - L) / (float(n) ** 3))
    spread = 9.0 * math.sqrt(variance)
    guess = spread if epsilon * spread < 34.0 else 34.0 / epsilon
    return max(2, min(most + 1, math.ceil(guess) + 8, 1 << 16))


def _remainder(
    product: float, ratio: float, fraction: float, length: int, room: int, most: int, total: float
) -> float | None:
    """Return the sum beyond the terms taken, as a geometric series; None when it is not negligible enough.

    It is an upper bound and right to a few percent, so a share of 1e-12 of the total leaves an error below 1e-13.
    """
    if length > most:
        return 0.0
    if ratio >= 1.0:
        return None
    gap = 1.0 - ratio
    rest = product * ratio / (room + 1.0) * ((fraction + length) / gap + ratio / gap**2)
    return rest if rest <= 1e-12 * total else None


def _further(
    n: int, K: int, L: int, first: int, fraction: float, products: Floats, ratios: Floats, offset: int
) -> float:
    """Sum the terms after the first block, block by block."""
    total, scale = 0.0, float(products[-1] * ratios[-1])
    least = max(0, K - (n - L))
    while offset <= first - least and scale > 0.0:
        steps = _ramp(4096) + offset
        b = first - steps
        room = (L + 1 - first) + steps
        ratios = b * (b + (n - L - K)) / (((K + 1 - first) + steps) * room)
        products = scale * np.concatenate([[1.0], np.cumprod(ratios[:-1])])
        added = products * (fraction + steps) / room
        added[steps > first - least] = 0.0
        total += float(added.sum())
        scale = float(products[-1] * ratios[-1])
        offset += 4096
        if float(added[-1]) <= _TAIL * total * (1.0 - float(ratios[-1])):
            break
    return total


@lru_cache(maxsize=64)
def _ramp(length: int) -> Any:
    """Return 0, 1, ..., kept because every sum needs it."""
    ramp = np.arange(length, dtype=np.float64)
    ramp.setflags(write=False)
    return ramp


@lru_cache(maxsize=64)
def _ones(length: int) -> Any:
    """Return ones: a dot product with them is the fastest sum of a short array."""
    ones = np.ones(length)
    ones.setflags(write=False)
    return ones


def log_bound_two(n: int, K: int, L: int, epsilon: float) -> float:
    """Bound both ln D(K) and ln D(K+1) from above in a few microseconds, a little loosely; 0 where it does not apply.

    Both sums run over b up to floor(b_c) + 1 at most and their weights are at most (b_c + 1 - b) (L+1) / (b_c (L+1-b)),
    when the threshold of K + 1 is less than one higher. Ratios of successive terms fall with b, so a geometric sum with
    the first ratio bounds them; Robbins' inequality for the factorial, 1/(12x+1) < remainder < 1/(12x), bounds the
    first probability. docs/proofs/smoothed_two_types.md.

    Example:
        >>> both = max(log_two_divergences(10_000, 3_000, 400, 0.5))
        >>> 0.0 <= log_bound_two(10_000, 3_000, 400, 0.5) - both < 1.5
        True
    """
    T, others = n - L, n - K
    if not 1 <= K < n or L < 1 or epsilon > 600.0:
        return 0.0
    factor = math.exp(epsilon)
    threshold = K * (L + 1) / (K + factor * (others + 1))
    following = (K + 1) * (L + 1) / (K + 1 + factor * others)
    b = math.floor(threshold) + 1
    rest = T - K + b
    if b < 3 or rest < 1 or b >= K or b >= L or following > threshold + 0.999:
        return 0.0
    ratio = b * rest / ((K + 1.0 - b) * (L + 1.0 - b))
    if ratio >= 1.0:
        return 0.0
    log = math.log
    deviance = (
        b * log(b * n / (K * L))
        + (K - b) * log((K - b) * n / (K * T))
        + (L - b) * log((L - b) * n / (others * L))
        + rest * log(rest * n / (others * T))
    )
    root = 0.5 * log(K / (6.283185307179586 * b * (K - b)) * (L / (L - b)) * (T / n) * (others / rest))
    gap = 1.0 - ratio
    # K + 1 instead of K multiplies a probability by at most its ratio at the highest b
    larger = max(1.0, (K + 1) * rest / ((K + 1 - b) * others))
    total = (
        larger * ((threshold + 1.0 - b + 1e-9) / gap + ratio / gap**2) * (L + 1) / (threshold * (L + 1 - b))
    )
    slack = (1 / K + 1 / others + 1 / L + 1 / T) / 12.0 + _LOOSE
    return root - deviance + slack + log(total)
