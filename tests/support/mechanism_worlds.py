"""Tiny worlds: every dataset, every neighbour, envelopes by brute force, independent of the library."""

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

DOMAIN = (0, 1, 4, 6, 13)
SMALL = (0, 2, 3, 7)


def median(rows):
    return Fraction(sorted(rows)[(len(rows) + 1) // 2 - 1])


def largest(rows):
    return Fraction(max(rows))


def mean(rows):
    return Fraction(sum(rows), len(rows))


def trimmed(rows):
    inner = sorted(rows)[1:-1] if len(rows) > 2 else sorted(rows)
    return Fraction(sum(inner), len(inner))


STATISTICS = (median, largest, mean, trimmed)


@cache
def replace_world(domain, size):
    """Datasets of one size and their replace-one neighbours."""
    sets = list(combinations_with_replacement(domain, size))
    near = {
        rows: {tuple(sorted((*rows[:i], value, *rows[i + 1 :]))) for i in range(size) for value in domain}
        - {rows}
        for rows in sets
    }
    return sets, near


@cache
def add_remove_world(domain, sizes):
    """Datasets of several sizes and their add/remove-one neighbours inside the family."""
    sets = [rows for size in sizes for rows in combinations_with_replacement(domain, size)]
    family = set(sets)
    near = {rows: set() for rows in sets}
    for rows in sets:
        for value in domain:
            more = tuple(sorted((*rows, value)))
            if more in family:
                near[rows].add(more)
                near[more].add(rows)
    return sets, near


@cache
def envelopes(statistic, world, domain, size):
    """Lower and upper envelopes by distance, by breadth-first search."""
    sets, near = replace_world(domain, size) if world == "replace" else add_remove_world(domain, size)
    found = {}
    for rows in sets:
        seen, frontier = {rows}, {rows}
        low = high = statistic(rows)
        lows, highs = [low], [high]
        while True:
            frontier = {other for known in frontier for other in near[known]} - seen
            if not frontier:
                break
            seen |= frontier
            values = [statistic(other) for other in frontier]
            low, high = min(low, *values), max(high, *values)
            lows.append(low)
            highs.append(high)
        found[rows] = (lows, highs)
    return sets, near, found


WORLDS = [("replace", DOMAIN, 3), ("replace", SMALL, 4), ("add-remove", SMALL, (2, 3, 4))]
