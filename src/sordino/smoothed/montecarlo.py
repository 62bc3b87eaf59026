"""Smoothed delta beyond what can be enumerated: databases are drawn, delta(x) is exact, the mean has an interval.

Half of the draws favour databases with fewer records of one of the two rarest types, which carry more of the mean; a
tenth is drawn plainly, so that no weight exceeds ten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sordino.smoothed.histogram import log_delta_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.smoothed.mass import Floats

_PLAIN = 0.1


@dataclass(frozen=True, slots=True)
class SimulatedEstimate:
    """The mean of delta over drawn databases.

    Attributes:
        mean: ln of the estimated mean.
        low: ln of the lower end of the confidence interval (minus infinity when it reaches 0).
        high: ln of the upper end.
        confidence: Of the interval, by the normal approximation over the draws.
        samples: Databases drawn.
        mix: Records from each vertex.
    """

    mean: float
    low: float
    high: float
    confidence: float
    samples: int
    mix: tuple[int, ...]


def estimate(
    vertices: Floats,
    mix: Sequence[int],
    T: int,
    epsilon: float,
    *,
    samples: int = 400,
    seed: int = 1,
    confidence: float = 0.99,
    replacement: bool = False,
    plain: bool = False,
) -> SimulatedEstimate:
    """Estimate E[delta(epsilon; x)] when mix[v] records are drawn from vertex v.

    Example:
        >>> found = estimate(np.array([[0.5, 0.3, 0.2]]), [60], 50, 1.0, samples=50)
        >>> found.low <= found.mean <= found.high
        True
    """
    from scipy.special import ndtri

    rng = np.random.default_rng(seed)
    vertices = np.asarray(vertices, dtype=np.float64)
    mix = [int(count) for count in mix]
    expected = np.asarray(mix) @ vertices
    tilts = [] if plain else _tilts(expected, T, epsilon, replacement=replacement)
    laws = [vertices, *(_tilted(vertices, tilt)[0] for tilt in tilts)]
    shares = [1.0] if not tilts else [_PLAIN, *([(1 - _PLAIN) / len(tilts)] * len(tilts))]
    known: dict[tuple[int, ...], float] = {}
    logs = np.empty(samples)
    for index, law in enumerate(rng.choice(len(laws), size=samples, p=shares)):
        counts = sum(
            (rng.multinomial(count, laws[law][v]) for v, count in enumerate(mix) if count),
            np.zeros(vertices.shape[1], dtype=np.int64),
        )
        key = tuple(sorted(int(count) for count in counts))
        if key not in known:
            known[key] = log_delta_counts(key, T, epsilon, replacement=replacement)
        # weight = P / sum of shares times tilted laws; the ratio depends on the histogram only
        ratios = [math.log(shares[0])]
        for share, tilt in zip(shares[1:], tilts, strict=True):
            norm = float(np.asarray(mix) @ np.log(_tilted(vertices, tilt)[1]))
            ratios.append(math.log(share) + float(counts @ tilt) - norm)
        logs[index] = known[key] - float(np.logaddexp.reduce(ratios))
    top = float(logs.max())
    if top == -math.inf:
        return SimulatedEstimate(
            -math.inf, -math.inf, _silent(expected, T, epsilon, replacement), confidence, samples, tuple(mix)
        )
    values = np.exp(logs - top)
    mean = float(values.mean())
    half = float(ndtri(0.5 + confidence / 2)) * float(values.std(ddof=1)) / math.sqrt(samples)
    low = math.log(mean - half) + top if mean > half else -math.inf
    return SimulatedEstimate(
        math.log(mean) + top, low, min(0.0, math.log(mean + half) + top), confidence, samples, tuple(mix)
    )


def _silent(expected: Floats, T: int, epsilon: float, replacement: bool) -> float:
    """Bound ln E[delta] when no drawn database leaks at all.

    Without replacement, type i can only leak when K_i (1 - e^-eps) < T: the loss is at most ln K_i / (K_i - T). So
    E[delta] <= (T/n) sum_i P(K_i <= T / (1 - e^-eps)), and Hoeffding bounds each binomial-like tail by its mean. With
    replacement, or where the means are not above the threshold, only the worst case is left.
    """
    n = float(expected.sum())
    worst = math.log(min(1.0, T / n))
    if replacement or epsilon <= 0.0:
        return worst
    threshold = T / -math.expm1(-epsilon)
    logs = []
    for mean in expected:
        p, x = float(mean) / n, threshold / n
        if x >= p:
            return worst
        rest = (1 - x) * math.log((1 - x) / (1 - p)) if p < 1.0 else math.inf
        logs.append(-n * (x * math.log(x / p) + rest))
    return min(worst, worst + float(np.logaddexp.reduce(logs)))


def _tilted(vertices: Floats, tilt: Floats) -> tuple[Floats, Floats]:
    """Return the vertices reweighted by e^tilt, and their norming sums."""
    raw = vertices * np.exp(tilt)
    norm = raw.sum(axis=1)
    return raw / norm[:, None], norm


def _tilts(expected: Floats, T: int, epsilon: float, *, replacement: bool) -> list[Floats]:
    """Favour fewer records of each of the two rarest types, as steeply as delta falls with their count."""
    base = np.floor(expected).astype(np.int64)
    base[np.argmax(base)] += round(float(expected.sum())) - int(base.sum())
    rare = [int(index) for index in np.argsort(expected, kind="stable") if expected[index] > 0][:2]
    result = []
    for index in rare:
        step = max(1, round(math.sqrt(float(base[index]))))
        if base[index] <= step:
            continue
        fewer = base.copy()
        fewer[index] -= step
        fewer[np.argmax(base)] += step
        slope = (
            log_delta_counts(fewer.tolist(), T, epsilon, replacement=replacement)
            - log_delta_counts(base.tolist(), T, epsilon, replacement=replacement)
        ) / step
        if math.isfinite(slope) and slope > 0:
            tilt = np.zeros(expected.size)
            tilt[index] = -min(slope, 3.0)
            result.append(tilt)
    return result
