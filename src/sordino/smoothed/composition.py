"""What several releases about the same records cost together.

Proposition 5 of Liu, Wang & Xia 2023 (epsilons add, deltas add) holds when the releases are fixed beforehand. When a
later release is chosen after seeing an earlier one it fails for smoothed privacy, and badly:
docs/proofs/smoothed_claims.md has an example where 0.13 becomes 1. So adaptive use is refused here.
For independent tallies of one database the cost is also bracketed, from the law of the privacy loss.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sordino.errors import Unsupported
from sordino.smoothed.mass import Floats, log_hypergeometric, log_sum
from sordino.smoothed.single import log_divergence_one

if TYPE_CHECKING:
    from collections.abc import Iterable

_LARGEST_GRID = 1 << 20


def compose(releases: Iterable[tuple[float, float]], *, adaptive: bool = False) -> tuple[float, float]:
    """Add up (epsilon, delta) pairs of releases that were fixed beforehand (Proposition 5).

    Example:
        >>> compose([(0.5, 1e-6), (0.25, 1e-6)])
        (0.75, 2e-06)
        >>> compose([(0.5, 1e-6)], adaptive=True)
        Traceback (most recent call last):
        ...
        sordino.errors.Unsupported: smoothed composition: adaptive releases are not covered.
            Smoothed delta is an average over databases; a release that reacts to an earlier one can wait for the bad...
            Hint: fix all releases beforehand, or use ordinary differential privacy for the adaptive part
    """
    if adaptive:
        raise Unsupported(
            "smoothed composition",
            "adaptive releases are not covered",
            why="Smoothed delta is an average over databases; a release that reacts to an earlier one can wait for "
            "the bad databases. Training by gradient steps is adaptive.",
            hint="fix all releases beforehand, or use ordinary differential privacy for the adaptive part",
        )
    pairs = list(releases)
    return math.fsum(epsilon for epsilon, _ in pairs), min(1.0, math.fsum(delta for _, delta in pairs))


def log_repeated_divergence(n: int, K: int, T: int, times: int, epsilon: float) -> tuple[float, float]:
    """Bracket ln of the divergence of K against K - 1 when ``times`` independent samples of T records are tallied.

    The losses of the releases add; their law is put on a grid, once rounding down and once up, tilted so that the part
    around epsilon is the large one, and raised to the power by Fourier transform.

    Example:
        >>> from sordino.smoothed.single import log_divergence_one
        >>> low, high = log_repeated_divergence(1000, 400, 900, 1, 0.5)
        >>> low <= log_divergence_one(1000, 400, 100, 0.5) <= high
        True
    """
    if not 1 <= K <= n:
        return -math.inf, -math.inf
    if times == 1:
        exact = log_divergence_one(n, K, n - T, epsilon)
        return exact, exact
    L = n - T
    least, most = max(0, K - T), min(K, L)
    mean, spread = K * L / n, math.sqrt(max(1.0, K * L / n * (n - K) / n * (T / max(1, n - 1))))
    b = np.arange(max(least, math.floor(mean - 60 * spread)), min(most, math.ceil(mean + 60 * spread)) + 1)
    mass = log_hypergeometric(b, np.asarray(n), np.asarray(K), np.asarray(L))
    keep = mass > -2000.0
    b, mass = b[keep], mass[keep]
    certain = float(mass[0]) if b[0] == 0 else -math.inf  # an outcome that K - 1 cannot give
    if certain >= 0.0:
        return 0.0, 0.0
    if b[0] == 0:
        b, mass = b[1:], mass[1:]
    if b.size == 0:
        return _any(certain, times), _any(certain, times)
    loss = np.log(K * (L + 1.0 - b) / (b * (n - K + 1.0)))  # falls with b
    # Outcomes so rare that even one of them in all releases is negligible are counted as giving everything away;
    # without this the exponential tilt would run off to them.
    rarer = np.logaddexp.accumulate(mass) + math.log(times)
    cut, depth = 0, 80.0
    for _ in range(6):
        cut = min(int(np.searchsorted(rarer, -depth)), b.size - 1)
        tilt = _tilt(loss[cut:], mass[cut:], times, epsilon)
        chernoff = times * float(log_sum(mass[cut:] + tilt * loss[cut:])) - tilt * epsilon
        if cut == 0 or depth > -chernoff + 30.0:
            break
        depth = -chernoff + 40.0
    surely = _any(certain, times)
    rare = float(rarer[cut - 1]) if cut else -math.inf
    low, high = (_tail(loss[cut:], mass[cut:], times, epsilon, tilt, up=up) for up in (False, True))
    # what was cut off below e^-2000, and the rounding of the transform
    return (
        float(np.logaddexp(low - 1e-9, surely)),
        min(0.0, float(np.logaddexp.reduce([high + 1e-9, surely, rare, math.log(times) - 1990.0]))),
    )


def _any(log_chance: float, times: int) -> float:
    """Return ln of the chance that something of the given ln chance happens at least once."""
    if log_chance > -700.0:
        return math.log(-math.expm1(times * math.log1p(-math.exp(log_chance))))
    return log_chance + math.log(times)


def _tilt(loss: Floats, mass: Floats, times: int, epsilon: float) -> float:
    """Return the exponent at which ``times`` tilted losses have mean epsilon, at least 0."""

    def mean(theta: float) -> float:
        logs = mass + theta * loss
        return times * float(np.exp(logs - log_sum(logs)) @ loss)

    if mean(0.0) >= epsilon:
        return 0.0
    low, high = 0.0, 1.0
    while mean(high) < epsilon and high < 1e6:
        high *= 2.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if mean(middle) < epsilon else (low, middle)
    return low


def _tail(loss: Floats, mass: Floats, times: int, epsilon: float, tilt: float, *, up: bool) -> float:
    """Return ln of sum over total losses s > eps of P(s) (1 - e^(eps - s)), with losses rounded one way."""
    logs = mass + tilt * loss
    scale = float(log_sum(logs))
    law = np.exp(logs - scale)
    mean = float(law @ loss) * times
    spread = math.sqrt(max(0.0, float(law @ loss**2) - (mean / times) ** 2) * times)
    # everything the total can be, or what lies within twenty deviations of the tilted mean and of epsilon
    finest = 2e-4 / ((1.0 + tilt) * times)
    floor = max(times * float(loss.min()), min(mean, epsilon) - 20.0 * spread) - (times + 2) * finest
    ceiling = min(times * float(loss.max()), max(mean, epsilon) + 20.0 * spread) + (times + 2) * finest
    step = max(finest, (ceiling - floor) / _LARGEST_GRID)
    size = 1 << math.ceil(math.log2((ceiling - floor) / step + 2 * times + 4))
    index = (np.ceil(loss / step) if up else np.floor(loss / step)).astype(np.int64)
    # rounding moves the tilt too: weigh with the rounded loss
    weights = np.exp(mass + tilt * index * step - scale)
    grid = np.bincount(index % size, weights=weights, minlength=size)
    total = np.fft.irfft(np.fft.rfft(grid) ** times, size)
    first = max(math.floor(epsilon / step) + 1, math.floor(floor / step) - times)
    places = np.arange(first, math.ceil(ceiling / step) + times + 2)
    values = np.maximum(total[places % size], 0.0)
    weight = np.exp(-tilt * (places * step - epsilon)) * -np.expm1(epsilon - places * step)
    found = float(values @ weight)
    return math.log(found) + times * scale - tilt * epsilon if found > 0.0 else -math.inf


def log_repeated_delta(n: int, K: int, T: int, times: int, epsilon: float) -> tuple[float, float]:
    """Bracket ln delta(epsilon; x) of ``times`` independent samples of T of n records, K of them of type 1.

    Example:
        >>> low, high = log_repeated_delta(100_000, 40_000, 98_000, 16, 1.0)
        >>> 8.8e-10 < math.exp(low) < math.exp(high) < 9.7e-10
        True
    """
    pairs = [
        log_repeated_divergence(n, count, T, times, epsilon)
        for count in (K, K + 1, n - K, n - K + 1)
        if 1 <= count <= n
    ]
    return max(low for low, _ in pairs), max(high for _, high in pairs)
