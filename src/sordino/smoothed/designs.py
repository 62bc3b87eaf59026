"""Sampling designs beyond one simple random sample: every record by its own coin, and strata with samples of their own.

With coins of chance r (Bernoulli sampling) the records of two types that are held back are binomial, and given how many
they are the question is the same as before. With strata whose tallies are published, a record stays in its public
stratum, so the stratum that is worst decides. docs/proofs/smoothed_designs.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sordino.checks import between, non_negative
from sordino.errors import ParameterError
from sordino.smoothed.counts import published_of, tally
from sordino.smoothed.divergence import log_divergence
from sordino.smoothed.histogram import log_delta_counts, moves
from sordino.smoothed.leak import Leak
from sordino.smoothed.mass import log_binomial_share, log_sum
from sordino.smoothed.tally import log_worst_case


def log_pair_bernoulli(u: int, v: int, rate: float, epsilon: float) -> float:
    """Return ln of the divergence when one of u records changes to a type with v, each published with chance rate.

    Example:
        >>> round(math.exp(log_pair_bernoulli(1, 0, 0.7, 2.0)), 12)   # the only record: seen when published
        0.7
    """
    if u < 1:
        return -math.inf
    both = u + v
    mean, spread = both * (1.0 - rate), math.sqrt(both * rate * (1.0 - rate))
    # D falls with the number held back, so only what lies below the mean can outweigh it
    high = min(both, math.ceil(mean + 13.0 * spread + 60.0))
    best, parts = -math.inf, []
    for stop in range(high, -1, -65536):
        s = np.arange(max(0, stop - 65535), stop + 1)
        logs = log_binomial_share(s, both, 1.0 - rate) + log_divergence(
            np.asarray(both), np.asarray(u), s, epsilon
        )
        parts.append(float(log_sum(logs)))
        best = max(best, parts[-1])
        if float(log_binomial_share(s[:1], both, 1.0 - rate)[0]) + math.log(both + 1.0) < best - 40.0:
            break
    return float(log_sum(np.asarray(parts)))


def bernoulli(records: Any, *, rate: float, epsilon: float) -> Leak:
    """Return delta of a tally of which every record is published with the same chance, independently.

    Args:
        records: Counts by category.
        rate: The chance that a record is published.
        epsilon: The privacy parameter.

    Example:
        >>> found = bernoulli({"yes": 520, "no": 480}, rate=0.9, epsilon=1.0)
        >>> found.text, round(found.worst_case, 6), found.method
        ('7.73e-08', 0.9, 'exact, each with chance 0.9')
    """
    _, counts = tally(records)
    price = float(non_negative("bernoulli", epsilon=epsilon))
    chance = float(between("bernoulli", 0, 1, rate=rate))
    lose, gain = moves(counts)
    pairs = set(zip(lose.tolist(), gain.tolist(), strict=True))
    found = max(log_pair_bernoulli(u, v, chance, price) for u, v in pairs)
    n, worst = sum(counts), math.log(chance)
    words = f"exact, each with chance {chance:g}"
    log_delta = min(found, worst)
    return Leak(price, log_delta, worst, n, round(n * chance), "this tally", words, log_delta)


def stratified(
    strata: Mapping[str, Any], *, epsilon: float, published: Any = None, held_back: Any = None
) -> dict[str, Leak]:
    """Return delta of every stratum when each has a sample of its own and its tally is published.

    A record's stratum is public, so delta of the whole is the largest of them; publishing only the sums leaks no more.

    Args:
        strata: For every stratum, counts by category.
        epsilon: The privacy parameter.
        published: How much of each is published: a share, or a number for every stratum.
        held_back: The other way to say it.

    Example:
        >>> found = stratified({"north": [600, 400], "south": [90, 30]}, published=0.9, epsilon=1.0)
        >>> max(found, key=lambda name: found[name].log_delta)
        'south'
    """
    price = float(non_negative("stratified", epsilon=epsilon))
    if not strata:
        raise ParameterError(
            "stratified",
            "there are no strata",
            why="There is nothing to publish.",
            hint='{"north": [600, 400]}',
        )
    result: dict[str, Leak] = {}
    for name, records in strata.items():
        _, counts = tally(records, subject=f"stratum {name}")
        n = sum(counts)
        amount = published[name] if isinstance(published, Mapping) else published
        kept = held_back[name] if isinstance(held_back, Mapping) else held_back
        T = published_of(n, published=amount, held_back=kept, subject=f"stratum {name}")
        worst = log_worst_case(n, T)
        log_delta = min(log_delta_counts(counts, T, price), worst)
        result[str(name)] = Leak(
            price, log_delta, worst, n, T, "this tally", "exact, a stratum of its own", log_delta
        )
    return result
