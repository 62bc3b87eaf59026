"""Slow, obvious forms of everything, in exact fractions: they share no code with the package."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction


def databases(n: int, types: int):
    """Yield every histogram of n records."""
    if types == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in databases(n - first, types - 1):
            yield (first, *rest)


def tally_law(counts, T, replacement=False):
    """Enumerate samples as tuples of positions; give the law of the published histogram."""
    records = [kind for kind, count in enumerate(counts) for _ in range(count)]
    types = len(counts)
    law = {}
    draws = itertools.product(records, repeat=T) if replacement else itertools.combinations(records, T)
    total = 0
    for draw in draws:
        total += 1
        key = tuple(draw.count(kind) for kind in range(types))
        law[key] = law.get(key, 0) + 1
    return {key: Fraction(count, total) for key, count in law.items()}


def hockey(first, second, epsilon):
    factor = math.exp(epsilon)
    return math.fsum(max(0.0, float(p) - factor * float(second.get(key, 0))) for key, p in first.items())


def neighbours(counts):
    for i, j in itertools.permutations(range(len(counts)), 2):
        if counts[i]:
            moved = list(counts)
            moved[i] -= 1
            moved[j] += 1
            yield tuple(moved)


def delta(counts, T, epsilon, replacement=False):
    own = tally_law(counts, T, replacement)
    worst = 0.0
    for other in neighbours(counts):
        law = tally_law(other, T, replacement)
        worst = max(worst, hockey(own, law, epsilon), hockey(law, own, epsilon))
    return worst


def multinomial(counts, distribution):
    n = sum(counts)
    ways = math.factorial(n)
    for count in counts:
        ways //= math.factorial(count)
    return ways * math.prod(p**c for p, c in zip(distribution, counts, strict=True))


def mixed_law(mix, vertices):
    """Give the law of the histogram when mix[v] records come from vertex v, by enumerating record by record."""
    types = len(vertices[0])
    law = {(0,) * types: 1.0}
    for vertex, count in zip(vertices, mix, strict=True):
        for _ in range(count):
            fresh = {}
            for histogram, mass in law.items():
                for kind, p in enumerate(vertex):
                    key = tuple(c + (k == kind) for k, c in enumerate(histogram))
                    fresh[key] = fresh.get(key, 0.0) + mass * p
            law = fresh
    return law
