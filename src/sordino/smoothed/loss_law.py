"""The law of the privacy loss of one published tally, for a record that moves between two types.

Of the u + v records of the two types together s are held back, and b of them are of the losing type. The loss of that
outcome is ln( u (s - b + 1) / (b (v + 1)) ), infinite at b = 0. With more than two types s varies; neighbouring s are
taken together, once with the least of them (more is seen: an upper bound) and once with the largest (a lower bound),
because holding back more is post-processing. docs/proofs/smoothed_repeated.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sordino.smoothed.mass import Floats, Integers, log_hypergeometric, log_hypergeometric_one, log_sum

FINE, ROUGH = 6e6, 5e5
"""Outcomes that are looked at for the final figure, and for finding out which moves and tails matter."""


@dataclass(frozen=True, slots=True)
class LossLaw:
    """Losses with the logarithms of their probabilities.

    Attributes:
        loss: The finite losses.
        mass: ln of their probabilities.
        certain: ln of the probability of an outcome that gives the record away.
        missing: ln of a bound on the probability of outcomes that were left out as too rare.
    """

    loss: Floats
    mass: Floats
    certain: float
    missing: float

    def without_extremes(self, times: int, depth: float) -> LossLaw:
        """Count the largest losses, so rare that in all releases none occurs but with e^-depth, as giving it away.

        An exponential tilt would run off to them and lose everything else.
        """
        order = np.argsort(-self.loss, kind="stable")
        rarer = np.logaddexp.accumulate(self.mass[order]) + math.log(times)
        cut = min(int(np.searchsorted(rarer, -depth)), order.size - 1)
        if cut <= 0:
            return self
        kept = np.sort(order[cut:])
        missing = float(np.logaddexp(self.missing, rarer[cut - 1] - math.log(times)))
        return LossLaw(self.loss[kept], self.mass[kept], self.certain, missing)


def _edges(n: int, K: int, L: int, depth: float) -> tuple[int, int]:
    """Return the outcomes of a hypergeometric law whose probability is above e^-depth, by bisection on both sides."""
    least, most = max(0, K - (n - L)), min(K, L)
    mode = min(most, max(least, math.floor((K + 1) * (L + 1) / (n + 2))))

    def deep(b: int) -> bool:
        return log_hypergeometric_one(b, n, K, L) < -depth

    ends = []
    for far in (least, most):
        inside, outside = mode, far
        if not deep(far):
            ends.append(far)
            continue
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            inside, outside = (inside, middle) if deep(middle) else (middle, outside)
        ends.append(inside)
    return ends[0], ends[1]


def _buckets(n: int, both: int, L: int, depth: float, most: float) -> tuple[Integers, Integers, Floats]:
    """Cut the values of s into about ``most`` ranges: short ones near the mean, longer ones further out.

    Returns the first and the last s of each range and ln of its probability.
    """
    low, high = _edges(n, both, L, depth)
    s = np.arange(low, high + 1)
    logs = log_hypergeometric(s, np.asarray(n), np.asarray(both), np.asarray(L))
    mean = both * L / n
    spread = math.sqrt(max(1.0, mean * (1.0 - both / n) * (1.0 - L / n)))
    # two thirds of the ranges within fourteen deviations of the mean, the rest further out
    near = max(1, math.ceil(28.0 * spread / (0.7 * most)), round(spread / 16.0))
    far = max(near, math.ceil(s.size / (0.3 * most)), round(spread / 3.0))
    widths = np.where(np.abs(s - mean) < 14.0 * spread, near, far)
    starts = [0]
    while starts[-1] + widths[starts[-1]] < s.size:
        starts.append(starts[-1] + int(widths[starts[-1]]))
    first = np.asarray(starts)
    last = np.append(first[1:], s.size) - 1
    top = np.maximum.reduceat(logs, first)
    sums = np.add.reduceat(np.exp(logs - np.repeat(top, np.diff(np.append(first, s.size)))), first)
    return s[first], s[last], top + np.log(sums)


def loss_law(n: int, u: int, v: int, L: int, *, depth: float, up: bool, points: float = FINE) -> LossLaw:
    """Return the law of the loss when one of u records changes to a type that has v, L of n held back.

    Args:
        n: Records.
        u: Records of the type that loses one.
        v: Records of the type that gains one, before.
        L: Records held back.
        depth: Outcomes below e^-depth are left out and reported as missing.
        up: Whether the law is to be an upper bound or a lower bound, where s is taken in ranges.
        points: How many outcomes may be looked at; with fewer of them the bounds are looser.

    Example:
        >>> law = loss_law(10, 4, 6, 3, depth=50.0, up=True)
        >>> round(float(np.exp(law.mass).sum() + np.exp(law.certain)), 12)
        1.0
    """
    both = u + v
    if both == n:
        first = last = np.asarray([L])
        weights = np.zeros(1)
    else:
        low, high = _window(both, u, round(both * L / n), depth)
        first, last, weights = _buckets(n, both, L, depth, max(30.0, points / (high - low + 1.0)))
    chosen = first if up else last
    # with many values of s, outcomes near each other are taken together as well
    wide = 1 if first.size == 1 else max(1, round(math.sqrt(u * (L / n) * (v / both)) / 40.0))
    losses, masses, certain = [], [], []
    for s, weight in zip(chosen.tolist(), weights.tolist(), strict=True):
        if depth + weight <= 0.0:
            continue
        a, z = _window(both, u, s, depth + weight)
        b = np.arange(a, z + 1, dtype=np.float64)
        mass = _log_masses(both, u, s, a, z) + weight
        if a == 0:
            certain.append(float(mass[0]))
            b, mass = b[1:], mass[1:]
        if b.size == 0:
            continue
        loss = np.log(u * (s - b + 1.0) / (b * (v + 1.0)))
        if wide > 1:
            loss, mass = _split(loss, mass, wide) if up else _merged(loss, mass, wide)
        losses.append(loss)
        masses.append(mass)
    # outside the range of s nothing is above e^-depth, and outside each window lies at most 2 e^-depth
    outcomes = min(both, L) + 1.0 + 2.0 * first.size
    everything = both == n and sum(map(len, masses)) + len(certain) >= min(u, L) - max(0, u - (both - L)) + 1
    missing = -math.inf if everything else math.log(outcomes) - depth
    return LossLaw(
        np.concatenate([np.empty(0), *losses]),
        np.concatenate([np.empty(0), *masses]),
        float(log_sum(np.asarray(certain))) if certain else -math.inf,
        missing,
    )


def _window(n: int, K: int, L: int, depth: float) -> tuple[int, int]:
    """Return a range of b outside of which lies at most 2 e^-depth: Bernstein's inequality (Hoeffding 1963)."""
    mean = K * L / n
    reach = depth / 3.0 + math.sqrt(depth * depth / 9.0 + 2.0 * depth * mean * (1.0 - K / n))
    low, high = max(0, K - (n - L)), min(K, L)
    return max(low, math.floor(mean - reach)), min(high, math.ceil(mean + reach))


def _log_masses(n: int, K: int, L: int, low: int, high: int) -> Floats:
    """Return ln of the hypergeometric probabilities of low..high: one of them in full, the others by their ratios."""
    mode = min(high, max(low, math.floor((K + 1) * (L + 1) / (n + 2))))
    start = log_hypergeometric_one(mode, n, K, L)
    b = np.arange(low, high, dtype=np.float64)
    steps = np.log((K - b) * (L - b) / ((b + 1.0) * (n - K - L + b + 1.0)))
    total = np.concatenate([[0.0], np.cumsum(steps)])
    return total - total[mode - low] + start


def _ranges(loss: Floats, mass: Floats, wide: int) -> tuple[Integers, Floats, Floats]:
    """Return where ranges of outcomes start, and ln of their probabilities under both databases."""
    first = np.arange(0, loss.size, wide)
    top = np.repeat(np.maximum.reduceat(mass, first), wide)[: loss.size]
    one = np.add.reduceat(np.exp(mass - top), first)
    low = np.repeat(np.minimum.reduceat(loss, first), wide)[: loss.size]
    other = np.add.reduceat(np.exp(mass - top + low - loss), first)
    return first, top[first] + np.log(one), top[first] + np.log(other) - low[first]


def _split(loss: Floats, mass: Floats, wide: int) -> tuple[Floats, Floats]:
    """Replace every range by its two extreme outcomes, keeping both probabilities: it can only tell more."""
    first, own, other = _ranges(loss, mass, wide)
    last = np.minimum(first + wide, loss.size) - 1
    high, low = loss[first], loss[last]  # the loss falls with b
    with np.errstate(divide="ignore", invalid="ignore"):
        # a share of the own probability goes to the higher loss: (1 - e^(low - r)) / (1 - e^(low - high))
        share = np.expm1(low - (own - other)) / np.expm1(low - high)
    share = np.where(high > low, np.clip(share, 0.0, 1.0), 0.0)
    with np.errstate(divide="ignore"):
        masses = np.concatenate([own + np.log(share), own + np.log1p(-share)])
    losses = np.concatenate([high, low])
    keep = masses > -np.inf
    return losses[keep], masses[keep]


def _merged(loss: Floats, mass: Floats, wide: int) -> tuple[Floats, Floats]:
    """Replace every range by one outcome, which is post-processing: it can only tell less."""
    _, own, other = _ranges(loss, mass, wide)
    return own - other, own
