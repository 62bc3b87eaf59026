"""Smoothed delta of two types for populations too large for all averages: a certified bracket.

The two ends (all records from one vertex) are sums and give a lower bound. For the upper bound a part of the draws is
applied, the least U-shaped majorant is taken, and its averages are largest at an end (docs/proofs/smoothed_sweeps.md).
The ends are not the maximum in general: the width says how much could be missing, and interior mixes are tried.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sordino.smoothed.casteljau import _LN2, _advance, _block, _steps
from sordino.smoothed.mass import Floats, log_binomial_share, log_sum
from sordino.smoothed.two_types import log_delta_some

_PEAK = 48.0
_WORK = 1e10  # entries times steps: a second or two
_ROUNDING = 2.3e-16  # of one convex combination


@dataclass(frozen=True, slots=True)
class Bracket:
    """Bounds on ln of a smoothed delta.

    Attributes:
        lower: ln of a value that is reached, at ``best`` draws of the first vertex.
        upper: ln of a value that is not exceeded by any mix.
        best: How many of the n records come from the first vertex at the best mix found.
        applied: How many draws were applied before the majorant was taken.
    """

    lower: float
    upper: float
    best: int
    applied: int

    @property
    def width(self) -> float:
        """The relative width, upper / lower - 1."""
        return math.expm1(self.upper - self.lower) if math.isfinite(self.lower) else math.inf


def log_mean_window(n: int, T: int, epsilon: float, p: float, *, replacement: bool = False) -> float:
    """Return ln E[delta(K)], K binomial, summing only where the summands are not negligible.

    Example:
        >>> from sordino.smoothed.casteljau import log_mean
        >>> from sordino.smoothed.two_types import log_delta_all
        >>> abs(log_mean_window(5000, 4900, 0.5, 0.3) - log_mean(log_delta_all(5000, 4900, 0.5), 0.3)) < 1e-12
        True
    """

    def logs(K: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
        profile = log_delta_some(n, K, T, epsilon, replacement=replacement)
        return profile + log_binomial_share(K, n, p)

    if p in (0.0, 1.0):
        return float(log_delta_some(n, np.asarray([round(p * n)]), T, epsilon, replacement=replacement)[0])
    low, high = 0, n
    for _ in range(12):
        if high - low < 4096:
            break
        mode = min(high, max(low, round(p * n)))
        K = np.unique(np.concatenate([np.linspace(low, high, 513).astype(np.int64), [mode]]))
        values = logs(K)
        near = np.flatnonzero(values > values.max() - _PEAK)
        left, right = int(K[max(0, near[0] - 1)]), int(K[min(K.size - 1, near[-1] + 1)])
        if right - left > 0.9 * (high - low):
            break
        low, high = left, right
    parts = [log_sum(logs(np.arange(a, min(a + 65536, high + 1)))) for a in range(low, high + 1, 65536)]
    return float(log_sum(np.asarray(parts)))


def log_mean_mixed(
    n: int, T: int, epsilon: float, p1: float, p2: float, k: int, *, replacement: bool = False
) -> float:
    """Return ln of a lower bound on E_k (k draws of p1, n - k of p2), tight to rounding unless E_k is below 1e-30.

    Example:
        >>> from sordino.smoothed.casteljau import log_means
        >>> from sordino.smoothed.two_types import log_delta_all
        >>> exact = log_means(log_delta_all(400, 397, 0.0), 0.64, 0.36)[200]
        >>> bool(abs(log_mean_mixed(400, 397, 0.0, 0.64, 0.36, 200) - exact) < 1e-12)
        True
    """
    first, low1 = _window(k, p1)
    second, low2 = _window(n - k, p2)
    law = np.convolve(first, second)
    K = np.arange(low1 + low2, low1 + low2 + law.size)
    with np.errstate(divide="ignore"):
        return float(log_sum(np.log(law) + log_delta_some(n, K, T, epsilon, replacement=replacement)))


def _window(T: int, p: float) -> tuple[Floats, int]:
    """Return binomial probabilities within 12 standard deviations, and where they start."""
    reach = 12.0 * math.sqrt(T * p * (1.0 - p)) + 40.0
    low, high = max(0, math.floor(T * p - reach)), min(T, math.ceil(T * p + reach))
    return np.exp(log_binomial_share(np.arange(low, high + 1), T, p)), low


def _edge(n: int, p: float, need: float, side: int) -> int:
    """Return how far out n KL(a/n ; p) stays below ``need`` on one side of n p (Hoeffding's tail bound)."""

    def cost(a: float) -> float:
        x = a / n
        first = x * math.log(x / p) if x > 0 else 0.0
        second = (1 - x) * math.log((1 - x) / (1 - p)) if x < 1 else 0.0
        return n * (first + second)

    if p in (0.0, 1.0):
        return round(p * n)
    near, far = p * n, 0.0 if side < 0 else float(n)
    if cost(far) <= need:
        return int(far)
    for _ in range(80):
        middle = (near + far) / 2.0
        near, far = (middle, far) if cost(middle) < need else (near, middle)
    return max(0, math.floor(far)) if side < 0 else min(n, math.ceil(far))


def bracket(
    n: int,
    T: int,
    epsilon: float,
    p1: float,
    p2: float,
    *,
    replacement: bool = False,
    applied: int | None = None,
    tolerance: float = 1e-9,
) -> Bracket:
    """Bracket the smoothed delta of a set of two-type distributions with ends p1 and p2.

    Args:
        n: Records.
        T: Records published.
        epsilon: The privacy parameter.
        p1: P(type 1) at one end of the set.
        p2: P(type 1) at the other.
        replacement: Whether the sample is drawn with replacement.
        applied: Draws applied before the majorant; by default as many as take a second or two.
        tolerance: Relative width beyond which mixes of the two ends are tried as well.

    Example:
        >>> found = bracket(20_000, 19_800, 0.5, 0.6, 0.45)
        >>> found.best, found.width < 1e-10
        (20000, True)
    """
    ends = {n: log_mean_window(n, T, epsilon, p1, replacement=replacement)}
    ends[0] = log_mean_window(n, T, epsilon, p2, replacement=replacement)
    best = max(ends, key=lambda k: ends[k])
    lower = ends[best]
    if lower == -math.inf:
        # delta is 0 on everything the ends reach; with both strictly inside (0, 1) that is every K
        inside = 0.0 < p1 < 1.0 or 0.0 < p2 < 1.0
        return Bracket(-math.inf, -math.inf if inside or p1 == p2 else 0.0, best, 0)
    slack = 2e-12 - 1e-15 * lower  # rounding of the sums and of the logarithm itself
    if p1 == p2:
        return Bracket(lower - slack, lower + slack, n, n)
    need = -lower + 45.0
    low = _edge(n, min(p1, p2), need, -1)
    high = _edge(n, max(p1, p2), need, +1)
    K = np.arange(low, high + 1)
    profile = log_delta_some(n, K, T, epsilon, replacement=replacement)
    r = applied if applied is not None else max(1, min(n // 4, int(_WORK / 2 / max(K.size, 1))))
    r = min(r, n // 2)
    upper = -math.inf
    peaks: list[int] = []
    for p in (p1, p2):
        # entries j = low - r .. high after r draws of p; outside the window the edge value continues
        extended = np.concatenate([np.full(r, profile[0]), profile, np.full(r, profile[-1])])
        smooth = _apply(extended, p, r)[: high - low + 1 + r]
        start = low - r
        majorant = _u_shaped(smooth)
        over_ends = max(_mean_of(majorant, start, n - r, q) for q in (p1, p2))
        # an average is no more than the largest value: the better bound where the profile is a saw-tooth
        reached = smooth[max(0, -start) : n - r - start + 1]
        upper = max(upper, min(over_ends, float(reached.max())))
        reach = start + int(np.argmax(np.where(_between(start, smooth.size, n - r, p1, p2), smooth, -np.inf)))
        peaks.append(reach + round(r * p))
    upper = float(np.logaddexp(upper, math.log(2.0) - need)) + r * _ROUNDING + slack
    assert upper >= lower - slack, "an end lies above the certificate"
    if math.expm1(upper - lower) > tolerance:
        for mean in peaks:
            k = min(n, max(0, round((mean - n * p2) / (p1 - p2))))
            value = log_mean_mixed(n, T, epsilon, p1, p2, k, replacement=replacement)
            if value > lower:
                best, lower = k, value
    return Bracket(lower - slack, max(upper, lower), best, r)


def _between(
    start: int, size: int, draws: int, p1: float, p2: float
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Mark the entries that some mix of the two ends has as its mean."""
    j = np.arange(start, start + size)
    return (j >= draws * min(p1, p2) - 1) & (j <= draws * max(p1, p2) + 1)


def _apply(logs: Floats, p: float, r: int) -> Floats:
    """Return ln of the means after r steps d(j) <- (1-p) d(j) + p d(j+1), relative accuracy kept by row scaling."""
    block = max(1, min(_block(logs), r))
    rest = r % block
    if rest:
        for _ in range(rest):
            with np.errstate(divide="ignore"):
                logs = (
                    np.logaddexp(logs[:-1] + np.log1p(-p), logs[1:] + np.log(p))
                    if 0 < p < 1
                    else (logs[:-1] if p == 0 else logs[1:])
                )
    length = logs.size
    rows = -(-length // block)
    padded = np.full(rows * block, logs[-1])
    padded[:length] = logs
    table = padded.reshape(rows, block)
    top = table.max(axis=1)
    exponent = np.where(np.isfinite(top), np.floor(np.where(np.isfinite(top), top, 0.0) / _LN2), -np.inf)
    shift = np.where(np.isfinite(exponent), exponent, 0.0)[:, None] * _LN2
    table = np.exp(table - shift)
    _, band = _steps(block, p)
    for _ in range(r // block):
        table, exponent = _advance(table, exponent, band)
    with np.errstate(divide="ignore"):
        result = np.log(table) + np.where(np.isfinite(exponent), exponent, 0.0)[:, None] * _LN2
    return result.ravel()[: length - (r - rest)]


def _u_shaped(logs: Floats) -> Floats:
    """Return the least majorant that falls to the place of the minimum and rises after it."""
    bottom = int(np.argmin(logs))
    left = np.maximum.accumulate(logs[: bottom + 1][::-1])[::-1]
    right = np.maximum.accumulate(logs[bottom:])
    return np.concatenate([left, right[1:]])


def _mean_of(logs: Floats, start: int, draws: int, p: float) -> float:
    """Return ln E[u(S)], S binomial, u given from ``start`` on and continued by its edge values."""
    j = np.arange(start, start + logs.size)
    inside = (j >= 0) & (j <= draws)
    j, values = j[inside], logs[inside]
    if p in (0.0, 1.0):
        at = np.clip(round(p * draws) - j[0], 0, j.size - 1)
        return float(values[at])
    law = log_binomial_share(j, draws, p)
    total = log_sum(values + law)
    # what the window does not hold is at most its Hoeffding tail, times an edge value of at most 1
    tails = [-_tail(draws, p, int(j[0]) - 1, -1), -_tail(draws, p, int(j[-1]) + 1, +1)]
    edges = [values[0] + tails[0], values[-1] + tails[1]]
    return float(np.logaddexp(total, np.logaddexp(edges[0], edges[1])))


def _tail(draws: int, p: float, a: int, side: int) -> float:
    """Return draws KL(a/draws ; p), infinite when nothing lies beyond a."""
    if a < 0 or a > draws:
        return math.inf
    x = a / draws
    if (side < 0 and x >= p) or (side > 0 and x <= p):
        return 0.0
    first = x * math.log(x / p) if x > 0 else 0.0
    second = (1 - x) * math.log((1 - x) / (1 - p)) if x < 1 else 0.0
    return draws * (first + second)
