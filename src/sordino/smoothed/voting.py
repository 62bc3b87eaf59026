"""Voting rules and learners by name, as what is published of a random part of the records.

Each is a function of the sampled tally, so its delta is at most that of the tally (Proposition 4); for small
electorates the exact delta of the outcome alone is enumerated. A record of plurality is a candidate; a record of the
other rules is a ranking, one type per order of the candidates.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from functools import cache

from sordino.checks import one_of, whole
from sordino.smoothed.anonymous import Anonymous, Counts, sampled_tally

RULES = ("plurality", "borda", "copeland", "stv", "majority-label")
"""The names: four voting rules, and the simplest learner of a training part (cross-validation)."""


@cache
def rankings(candidates: int) -> tuple[tuple[int, ...], ...]:
    """Return the types of a ranked ballot in order: every order of the candidates, best first.

    Example:
        >>> rankings(3)[:3]
        ((0, 1, 2), (0, 2, 1), (1, 0, 2))
    """
    return tuple(itertools.permutations(range(whole("voting", at_least=2, candidates=candidates))))


def types_of(rule: str, candidates: int) -> int:
    """Return how many types of records a rule knows."""
    return candidates if rule in ("plurality", "majority-label") else len(rankings(candidates))


def winner(rule: str, counts: Counts, candidates: int) -> int:
    """Return the winner of a tally; ties go to the candidate that comes first, as a deterministic rule must decide.

    Args:
        rule: One of :data:`RULES`.
        counts: Ballots per candidate (plurality, majority-label) or per ranking in the order of :func:`rankings`.
        candidates: How many.

    Example:
        >>> votes = (4, 0, 0, 3, 2, 0)   # 012: 4, 120: 3, 201: 2
        >>> [winner(rule, votes, 3) for rule in ("borda", "copeland", "stv")]
        [0, 0, 0]
        >>> winner("plurality", (3, 5, 1), 3)
        1
    """
    one_of("voting", RULES, rule=rule)
    if rule in ("plurality", "majority-label"):
        return max(range(candidates), key=lambda c: (counts[c], -c))
    ballots = [(order, count) for order, count in zip(rankings(candidates), counts, strict=True) if count]
    if rule == "borda":
        scores = [
            sum(count * (candidates - 1 - order.index(c)) for order, count in ballots)
            for c in range(candidates)
        ]
        return max(range(candidates), key=lambda c: (scores[c], -c))
    if rule == "copeland":
        return _copeland(ballots, candidates)
    return _transferable(ballots, candidates)


def _copeland(ballots: list[tuple[tuple[int, ...], int]], candidates: int) -> int:
    """Most pairwise victories, a tie counting half."""
    points = [0] * candidates
    for a, b in itertools.combinations(range(candidates), 2):
        margin = sum(count if order.index(a) < order.index(b) else -count for order, count in ballots)
        points[a] += 1 + (margin > 0) - (margin < 0)
        points[b] += 1 + (margin < 0) - (margin > 0)
    return max(range(candidates), key=lambda c: (points[c], -c))


def _transferable(ballots: list[tuple[tuple[int, ...], int]], candidates: int) -> int:
    """Drop the candidate with the fewest first places, the last of them first, until one is left."""
    standing = list(range(candidates))
    while len(standing) > 1:
        first = dict.fromkeys(standing, 0)
        for order, count in ballots:
            first[next(c for c in order if c in first)] += count
        standing.remove(min(standing, key=lambda c: (first[c], -c)))
    return standing[0]


def voting(rule: str, *, candidates: int, published: int) -> Anonymous:
    """Return the mechanism that publishes only the outcome of a rule on a random part of the ballots.

    For small electorates: its exact delta, utility and smoothed delta by enumeration. For large ones the delta of the
    tally bounds it.

    Args:
        rule: plurality, borda, copeland, stv; or majority-label, a learner of the training part in cross-validation.
        candidates: How many candidates, or labels.
        published: Ballots counted, or training records, drawn without replacement.

    Example:
        >>> outcome = voting("borda", candidates=3, published=5)
        >>> whole = sampled_tally(6, 5)
        >>> votes = (2, 0, 1, 2, 1, 0)
        >>> 0 < outcome.delta(votes, epsilon=0.5) < whole.delta(votes, epsilon=0.5)
        True
    """
    name = one_of("voting", RULES, rule=rule)
    many = types_of(name, candidates)
    drawn = sampled_tally(many, whole("voting", at_least=1, published=published))
    return drawn.then(lambda counts: winner(name, counts, candidates), name=f"{name} on {published} records")


def trained(
    learn: Callable[[Counts], Hashable], *, types: int, published: int, name: str = "cross-validation"
) -> Anonymous:
    """Return the mechanism that publishes what is learnt from a random training part, a function of its tally.

    Example:
        >>> share = trained(lambda counts: counts[0] > 2 * counts[1], types=2, published=6)
        >>> share.delta((5, 4), epsilon=0.0) <= sampled_tally(2, 6).delta((5, 4), epsilon=0.0)
        True
    """
    return sampled_tally(types, published).then(learn, name=name)
