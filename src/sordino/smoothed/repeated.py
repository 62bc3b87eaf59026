"""What publishing several independent tallies of the same records costs: a certified bracket.

The losses of the releases add. Their law is put on a grid, once so that it can only grow (each loss is split between
its two neighbours on the grid) and once rounded down, tilted so that the part around epsilon is the large one, and
raised to the power by Fourier transform. What was left out is bounded and added. docs/proofs/smoothed_repeated.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sordino.smoothed.histogram import log_pairs, moves
from sordino.smoothed.loss_law import FINE, ROUGH, LossLaw, loss_law
from sordino.smoothed.mass import Floats, log_sum

_LARGEST_GRID = 1 << 20
_REACH = 20.0
_DEPTH = 80.0
Tilted = tuple[LossLaw, float, float]


def log_repeated_pair(
    n: int, u: int, v: int, T: int, times: int, epsilon: float, *, start: Tilted | None = None
) -> tuple[float, float]:
    """Bracket ln of the divergence when one of u records changes to a type that has v, over ``times`` releases.

    Example:
        >>> exact = log_pairs(1000, 900, np.array([300]), np.array([200]), 0.5)[0]
        >>> low, high = log_repeated_pair(1000, 300, 200, 900, 1, 0.5)
        >>> bool(low <= exact <= high)
        True
    """
    if u < 1:
        return -math.inf, -math.inf
    if times == 1:
        exact = float(log_pairs(n, T, np.asarray([u]), np.asarray([v]), epsilon)[0])
        return exact, exact
    L = n - T
    depth = _DEPTH
    law, tilt, chernoff = start or _tilted_law(n, u, v, L, times, epsilon, depth)
    for _ in range(6):
        if law.certain >= 0.0:
            return 0.0, 0.0
        need = -chernoff + 45.0
        if depth >= need:
            break
        depth = need + 15.0
        law, tilt, chernoff = _tilted_law(n, u, v, L, times, epsilon, depth)
    if u + v < n:
        law, tilt, _ = _tilted_law(n, u, v, L, times, epsilon, depth, points=FINE)
    surely, rare = _any(law.certain, times), law.missing + math.log(times)
    high = float(np.logaddexp.reduce([_tail(law, times, epsilon, tilt, up=True), surely, rare]))
    below = (
        law
        if u + v == n
        else loss_law(n, u, v, L, depth=depth + 30.0, up=False).without_extremes(times, depth)
    )
    low = float(np.logaddexp(_tail(below, times, epsilon, tilt, up=False), _any(below.certain, times)))
    return min(low, 0.0), min(high, 0.0)


def _tilted_law(
    n: int, u: int, v: int, L: int, times: int, epsilon: float, depth: float, *, points: float = ROUGH
) -> Tilted:
    """Return the law of the loss without what is rarer than e^-depth, a tilt for it, and its Chernoff bound."""
    law = loss_law(n, u, v, L, depth=depth + 30.0, up=True, points=points)
    if law.certain >= 0.0 or law.loss.size == 0:
        return law, 0.0, 0.0
    law = law.without_extremes(times, depth)
    tilt = _tilt(law, times, epsilon)
    tail = times * float(log_sum(law.mass + tilt * law.loss)) - tilt * epsilon
    return law, tilt, max(tail, _any(law.certain, times))


def log_repeated_divergence(n: int, K: int, T: int, times: int, epsilon: float) -> tuple[float, float]:
    """Bracket ln of the divergence of K against K - 1 of two types when ``times`` samples of T records are tallied.

    Example:
        >>> from sordino.smoothed.single import log_divergence_one
        >>> low, high = log_repeated_divergence(1000, 400, 900, 1, 0.5)
        >>> low - 1e-12 <= log_divergence_one(1000, 400, 100, 0.5) <= high + 1e-12
        True
    """
    return log_repeated_pair(n, K, n - K, T, times, epsilon) if 1 <= K <= n else (-math.inf, -math.inf)


def log_repeated_counts(counts: Sequence[int], T: int, times: int, epsilon: float) -> tuple[float, float]:
    """Bracket ln delta(epsilon; x) of ``times`` independent samples of T records of a tally of any number of types.

    Moves that cannot be the worst, by their Chernoff bounds, are not computed.

    Example:
        >>> low, high = log_repeated_counts([60_000, 40_000], 98_000, 16, 1.0)
        >>> 8.8e-10 < math.exp(low) < math.exp(high) < 9.7e-10
        True
    """
    n = sum(counts)
    lose, gain = moves(counts)
    pairs = sorted(set(zip(lose.tolist(), gain.tolist(), strict=True)))
    if times == 1:
        exact = float(log_pairs(n, T, lose, gain, epsilon).max())
        return exact, exact
    laws = {pair: _tilted_law(n, *pair, n - T, times, epsilon, _DEPTH) for pair in pairs}
    bounds = {pair: _chernoff(law, times) for pair, law in laws.items()}
    low = high = -math.inf
    for pair in sorted(pairs, key=lambda pair: -bounds[pair]):
        if bounds[pair] < low:
            break
        one_low, one_high = log_repeated_pair(n, *pair, T, times, epsilon, start=laws[pair])
        low, high = max(low, one_low), max(high, one_high)
    return low, high


def _chernoff(start: Tilted, times: int) -> float:
    """Bound ln of the divergence over all releases from above, loosely."""
    law, _, tail = start
    if law.certain >= 0.0:
        return 0.0
    return min(
        0.0, float(np.logaddexp.reduce([tail, _any(law.certain, times), law.missing + math.log(times)]))
    )


def _any(log_chance: float, times: int) -> float:
    """Return ln of the chance that something of the given ln chance happens at least once."""
    if log_chance > -700.0:
        return math.log(-math.expm1(times * math.log1p(-math.exp(log_chance))))
    return log_chance + math.log(times)


def _tilt(law: LossLaw, times: int, epsilon: float) -> float:
    """Return about the exponent at which ``times`` tilted losses have mean epsilon, at least 0; any value is safe."""

    def mean(theta: float) -> float:
        logs = law.mass + theta * law.loss
        return times * float(np.exp(logs - log_sum(logs)) @ law.loss)

    if law.loss.size == 0 or mean(0.0) >= epsilon:
        return 0.0
    low, high = 0.0, 1.0
    while mean(high) < epsilon and high < 1e6:
        low, high = high, high * 4.0
    for _ in range(12):
        middle = (low + high) / 2.0
        low, high = (middle, high) if mean(middle) < epsilon else (low, middle)
    return low


def _tail(law: LossLaw, times: int, epsilon: float, tilt: float, *, up: bool) -> float:
    """Return ln of a bound on the sum over total losses s > eps of P(s) (1 - e^(eps - s)), from above or below."""
    loss, mass = law.loss, law.mass
    if loss.size == 0:
        return -math.inf
    logs = mass + tilt * loss
    scale = float(log_sum(logs))
    weights = np.exp(logs - scale)
    mean = float(weights @ loss) * times
    spread = math.sqrt(max(0.0, float(weights @ loss**2) - (mean / times) ** 2) * times)
    # everything the total can be, or what lies within twenty deviations of the tilted mean and of epsilon
    finest = 2e-4 / ((1.0 + tilt) * times)
    least, most = times * float(loss.min()), times * float(loss.max())
    floor = max(least, min(mean, epsilon) - _REACH * spread)
    ceiling = min(most, max(mean, epsilon) + _REACH * spread)
    step = max(finest, (ceiling - floor) / _LARGEST_GRID)
    floor, ceiling = floor - (times + 2) * step, ceiling + (times + 2) * step
    size = 1 << math.ceil(math.log2((ceiling - floor) / step + 2 * times + 4))
    index = np.floor(loss / step).astype(np.int64)
    if up:
        # a loss between two grid points is a mixture of both that keeps its probability under either database
        share = np.expm1(index * step - loss) / math.expm1(-step)
        share = np.clip(share, 0.0, 1.0)
        tilted = [np.exp(mass + tilt * (index + i) * step - scale) for i in (0, 1)]
        grid = np.bincount(index % size, weights=tilted[0] * (1.0 - share), minlength=size)
        grid += np.bincount((index + 1) % size, weights=tilted[1] * share, minlength=size)
    else:
        grid = np.bincount(index % size, weights=np.exp(mass + tilt * index * step - scale), minlength=size)
    total = np.fft.irfft(np.fft.rfft(grid) ** times, size)
    first = max(math.floor(epsilon / step) + 1, math.floor(floor / step))
    places = np.arange(first, math.ceil(ceiling / step) + 1)
    values = np.maximum(total[places % size], 0.0)
    weight = np.exp(-tilt * (places * step - epsilon)) * -np.expm1(epsilon - places * step)
    found = float(values @ weight)
    whole = float(grid.sum()) ** times
    # rounding of the transform, and what lies beyond the grid and was folded into it
    slack = 1e-15 * times * float(weight.sum()) * whole + 1e-9 * found
    for beyond, theta in (
        (ceiling - (times + 2) * step < most, 1.0),
        (floor + (times + 2) * step > least, -1.0),
    ):
        if beyond and spread > 0.0:
            edge = ceiling if theta > 0.0 else floor
            bounds = (_outside(logs - scale, loss, times, theta * k / spread, edge) for k in (2, 3, 4, 6, 10))
            slack += math.exp(min(0.0, *bounds))
    found = found + slack if up else found - slack
    return math.log(found) + times * scale - tilt * epsilon if found > 0.0 else -math.inf


def _outside(logs: Floats, loss: Floats, times: int, theta: float, edge: float) -> float:
    """Bound ln of the chance that the tilted total lies beyond an edge of the grid, with room for its rounding."""
    return times * float(log_sum(logs + theta * loss)) - theta * edge + 1e-3
