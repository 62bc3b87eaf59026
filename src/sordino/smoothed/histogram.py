"""The privacy profile of a tally with any number of types, and of a table split by precinct.

Moving one record from type i to type j changes only those two counts. Given how many of the two types together were
held back, the question is the two-type question for a population of K_i + K_j, so one sum over that number answers
it. The same sum answers a precinct: its population is the precinct. docs/proofs/smoothed_many_types.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sordino.smoothed.divergence import log_divergence, log_divergence_with_replacement
from sordino.smoothed.mass import Floats, Integers, log_binomial, log_hypergeometric
from sordino.smoothed.two_types import log_delta_two

if TYPE_CHECKING:
    from collections.abc import Sequence

_PEAK = 42.0  # e^-42 = 6e-19: what is further below the largest summand changes nothing
_SHORT = 160  # ranges up to this length are summed whole
_PLACES = 41
_MANY = 1 << 21  # elements in flight
ALL_PAIRS = 2_000
"""Up to this many ordered pairs of distinct counts, every pair is computed; beyond it, those with a rare type."""


def log_pairs(
    n: int, T: int, lose: Integers, gain: Integers, epsilon: float, *, replacement: bool = False
) -> Floats:
    """Return, for each pair, ln of the divergence when a type with ``lose`` records gives one to one with ``gain``.

    Example:
        >>> np.exp(log_pairs(10, 7, np.array([1]), np.array([0]), 1.0)).round(12).tolist()
        [0.7]
    """
    pairs = np.stack([np.asarray(lose, dtype=np.int64), np.asarray(gain, dtype=np.int64)])
    distinct, back = np.unique(pairs, axis=1, return_inverse=True)
    u, v = distinct
    both = u + v
    low = np.zeros_like(both) if replacement else np.maximum(0, both - T)
    high = np.full_like(both, T) if replacement else np.minimum(both, n - T)
    low, high = _narrowed(n, T, u, v, low, high, epsilon, replacement=replacement)
    length = high - low + 1
    result = np.full(u.shape, -np.inf)
    chosen = np.flatnonzero((u >= 1) & (length >= 1))
    start = 0
    while start < chosen.size:  # as many pairs as fit into memory at once
        stop = start + max(1, int(np.searchsorted(np.cumsum(length[chosen[start:]]), _MANY)))
        part = chosen[start:stop]
        result[part] = _flat(
            n, T, u[part], v[part], low[part], length[part], epsilon, replacement=replacement
        )
        start = stop
    return result[back.reshape(-1)]


def _summands(
    n: int, T: int, u: Integers, v: Integers, s: Integers, epsilon: float, *, replacement: bool
) -> Floats:
    """Return ln P(s of the two types drawn) + ln D(two types, s drawn); drawn means held back, or published."""
    size, both = np.asarray(n), u + v
    if replacement:
        return log_binomial(s, np.asarray(T), both, size) + log_divergence_with_replacement(
            both, u, s, epsilon
        )
    return log_hypergeometric(s, size, both, np.asarray(n - T)) + log_divergence(both, u, s, epsilon)


def _flat(
    n: int,
    T: int,
    u: Integers,
    v: Integers,
    low: Integers,
    length: Integers,
    epsilon: float,
    *,
    replacement: bool,
) -> Floats:
    """Sum whole ranges of many pairs in one pass."""
    owner = np.repeat(np.arange(u.size), length)
    first = np.cumsum(length) - length
    s = np.arange(owner.size) - first[owner] + low[owner]
    logs = _summands(n, T, u[owner], v[owner], s, epsilon, replacement=replacement)
    top = np.maximum.reduceat(logs, first)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total: Floats = np.log(np.add.reduceat(np.exp(logs - shift[owner]), first)) + shift
    return total


def _narrowed(
    n: int,
    T: int,
    u: Integers,
    v: Integers,
    low: Integers,
    high: Integers,
    epsilon: float,
    *,
    replacement: bool,
) -> tuple[Integers, Integers]:
    """Cut every pair's range to where its summands are not negligible, all pairs together.

    Without replacement D falls with s, so beyond twelve deviations above the mean of s nothing matters beside the mean
    itself; with replacement s counts what is published, and the same holds below. The rest is found by looking at a
    few places of each range, again and again.
    """
    both = (u + v).astype(np.float64)
    drawn = float(T if replacement else n - T)
    mean = both * drawn / n
    reach = 12.0 * np.sqrt(mean) + 60.0  # the variance is at most the mean
    if replacement:
        low = np.maximum(low, np.floor(mean - reach).astype(np.int64))
    else:
        high = np.minimum(high, np.ceil(mean + reach).astype(np.int64))
    low, high = low.copy(), high.copy()
    active = np.flatnonzero(high - low > _SHORT)
    for _ in range(12):
        if active.size == 0:
            break
        span = high[active] - low[active]
        places = low[active][:, None] + (span[:, None] * np.arange(_PLACES)) // (_PLACES - 1)
        logs = _summands(
            n, T, u[active][:, None], v[active][:, None], places, epsilon, replacement=replacement
        )
        top = logs.max(axis=1)
        seen = np.isfinite(top)
        near = logs > np.where(seen, top, 0.0)[:, None] - _PEAK
        first = np.maximum(near.argmax(axis=1) - 1, 0)
        last = np.minimum(_PLACES - near[:, ::-1].argmax(axis=1), _PLACES - 1)
        rows = np.arange(active.size)
        left, right = places[rows, first], places[rows, last]
        low[active[seen]], high[active[seen]] = left[seen], right[seen]
        high[active[~seen]] = low[active[~seen]] - 1  # nothing leaks at any place: the sum is empty
        again = seen & (right - left < 0.8 * span) & (right - left > _SHORT)
        active = active[again]
    return low, high


def moves(counts: Sequence[int], *, rarest: int | None = None) -> tuple[Integers, Integers]:
    """List the divergences that make up delta(x): all one-record moves out of x, and into x.

    Only distinct counts matter. With ``rarest`` only pairs that touch one of that many smallest counts are listed.

    Example:
        >>> lose, gain = moves([3, 0])
        >>> sorted(zip(lose.tolist(), gain.tolist()))
        [(1, 2), (3, 0)]
    """
    values, times = np.unique(np.asarray(counts, dtype=np.int64), return_counts=True)
    lose, gain = (part.ravel() for part in np.meshgrid(values, values, indexing="ij"))
    repeated = np.repeat(times >= 2, values.size)  # a type of the same size to move to must exist
    keep = (lose >= 1) & ((lose != gain) | repeated)
    if rarest is not None:
        limit = values[min(rarest, values.size) - 1]
        keep &= (lose <= limit) | (gain <= limit)
    lose, gain = lose[keep], gain[keep]
    return np.concatenate([lose, gain + 1]), np.concatenate([gain, lose - 1])


def log_delta_counts(
    counts: Sequence[int], T: int, epsilon: float, *, replacement: bool = False, all_pairs: bool | None = None
) -> float:
    """Return ln delta(epsilon; x) for a tally of two or more types, T of its records published.

    Args:
        counts: Records of each type; types with no record count, because a neighbour may have one.
        T: Records published.
        epsilon: The privacy parameter.
        replacement: Whether the published records are drawn with replacement.
        all_pairs: Whether every pair of types is computed. By default up to 2,000 of them; beyond that, the pairs
            with one of the three smallest counts. That these contain the worst one was checked, not proved.

    Example:
        >>> round(float(np.exp(log_delta_counts([32, 5, 18], 46, 0.0))), 12)
        0.437269143117
    """
    counts = [int(count) for count in counts]
    n = sum(counts)
    if len(counts) == 2:
        return log_delta_two(n, counts[0], T, epsilon, replacement=replacement)
    lose, gain = moves(counts)
    if all_pairs is False or (all_pairs is None and lose.size > ALL_PAIRS):
        lose, gain = moves(counts, rarest=3)
    return float(log_pairs(n, T, lose, gain, epsilon, replacement=replacement).max())


def log_delta_precinct(
    counts: Sequence[int], n: int, T: int, epsilon: float, *, replacement: bool = False
) -> float:
    """Return ln delta for one precinct of a table: its voters may change their vote, not their precinct.

    Args:
        counts: The precinct's records by type.
        n: Records in the whole table, of which T are published at random.
        T: Records published.
        epsilon: The privacy parameter.
        replacement: Whether with replacement.

    Example:
        >>> round(float(np.exp(log_delta_precinct([53, 17], 364, 215, 0.0))), 12)
        0.133395640914
    """
    lose, gain = moves(counts)
    return float(log_pairs(n, T, lose, gain, epsilon, replacement=replacement).max())
