"""Pairs of tables for laws and replays: all neighbours of a tiny world, and hostile pairs of any size.

Tables are columns by name. Rows that change come last, so that both tables agree on the places of all others.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.privacy import Neighbors
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from sordino.statistics import Case

Row = tuple[Any, ...]
MIXED = 5
"""Rows of small mixed tables."""
MIXTURES = 12
"""How many of them there are."""
SPREAD = 40
"""Pairs of a world of graphs or places."""
WIDE = 100
"""A range at least so long can be filled in part."""


@dataclass(frozen=True, slots=True)
class TablePair:
    """Two tables that differ in the rows of one person.

    Attributes:
        table: Columns by name.
        neighbour: The same columns.
        contribution: How many rows the person has moved at most.
    """

    table: Mapping[str, Sequence[Any]]
    neighbour: Mapping[str, Sequence[Any]]
    contribution: int = 1


def columns(case: Case, rows: Sequence[Row]) -> dict[str, Any]:
    """Rows as columns by name; columns without rows still hold numbers or texts, as the others do."""
    if rows or not case.rows:
        return {name: [row[place] for row in rows] for place, name in enumerate(case.columns)}
    known = {
        name: [row[place] for row in case.rows if row[place] is not None]
        for place, name in enumerate(case.columns)
    }
    return {name: np.asarray(column)[:0] for name, column in known.items()}


def datasets(case: Case, most: int = 3) -> Iterator[tuple[Row, ...]]:
    """All tables of a tiny world with at most so many rows."""
    relation = case.statistic.neighbors
    if case.places:
        yield from itertools.product(*case.places)
    elif relation.of_graphs:
        for size in range(len(case.rows) + 1):
            yield from itertools.combinations(case.rows, size)
    else:
        sizes = (
            range(most + 1) if relation is Neighbors.ADD_REMOVE_ONE else [s for s in case.sizes if s <= most]
        )
        for size in sizes:
            yield from itertools.combinations_with_replacement(case.rows, size)


def fewest_vertices(edges: Collection[Row]) -> int:
    """How many vertices touch all of these edges at least: so many must change to change them all.

    Example:
        >>> fewest_vertices([(0, 1), (0, 2), (0, 3)]), fewest_vertices([(0, 1), (2, 3)]), fewest_vertices([])
        (1, 2, 0)
    """
    vertices = {vertex for edge in edges for vertex in edge}
    return next(
        size
        for size in range(len(vertices) + 1)
        for chosen in itertools.combinations(vertices, size)
        if all(set(edge) & set(chosen) for edge in edges)
    )


def neighbours(case: Case, contribution: int = 1, most: int = 3) -> Iterator[TablePair]:
    """All pairs of a tiny world that differ in at most so many rows, once each."""
    relation = case.statistic.neighbors
    # Where whole people come or go, rows of one do not come while rows of another go.
    whole = relation is Neighbors.ADD_REMOVE_ONE and Trait.BLOCKS in case.statistic.traits
    for one, other in itertools.combinations(list(datasets(case, most)), 2):
        if case.places:
            if sum(a != b for a, b in zip(one, other, strict=True)) <= contribution:
                yield TablePair(columns(case, one), columns(case, other), contribution)
            continue
        if relation is Neighbors.NODE:
            if fewest_vertices(set(one) ^ set(other)) <= contribution:
                yield TablePair(columns(case, one), columns(case, other), contribution)
            continue
        left, right = Counter(one), Counter(other)
        gone, come = list((left - right).elements()), list((right - left).elements())
        moved = max(len(gone), len(come)) if relation is Neighbors.REPLACE_ONE else len(gone) + len(come)
        if relation is Neighbors.REPLACE_ONE and len(gone) != len(come):
            continue
        if gone and come and whole:
            continue  # two people
        if moved <= contribution:
            both = list((left & right).elements())
            yield TablePair(columns(case, both + gone), columns(case, both + come), contribution)


def hostile(case: Case, rows: int, contribution: int = 1, seed: int = 0) -> Iterator[TablePair]:
    """Pairs that tell a mechanism apart: heaps, ends of the range, halves; and a person far from all of them."""
    if case.places or case.statistic.neighbors.of_graphs:
        yield from _spread(case)
        return
    values, random = list(case.rows), np.random.default_rng(seed)
    size = max(rows, contribution)
    middle = values[len(values) // 2]
    shapes = [
        [values[0]] * size,
        [values[-1]] * size,
        [values[0]] * (size // 2) + [values[-1]] * (size - size // 2),
        [values[k % len(values)] for k in range(size)],
        [middle] * size,
        [values[int(k)] for k in random.integers(0, max(len(values) // 2, 1), size)],
        *_filled(case, size),
    ]
    if len(case.columns) > 1 and case.statistic.neighbors is Neighbors.REPLACE_ONE:
        yield from _mixed(case, contribution, random)
    for shape in shapes:
        ends = (values[0], values[-1], middle)
        for person in dict.fromkeys(ends):
            if case.statistic.neighbors is Neighbors.REPLACE_ONE:
                table, other = shape, shape[: size - contribution] + [person] * contribution
            else:
                table, other = shape, [*shape, *([person] * contribution)]
            if table != other:
                yield TablePair(columns(case, table), columns(case, other), contribution)


def _spread(case: Case) -> Iterator[TablePair]:
    """Pairs of a tiny world from the smallest tables to the largest; where people are vertices, above all full ones.

    Under node privacy a vertex that knows all others comes to every graph of theirs.
    """
    pairs, many = list(neighbours(case)), SPREAD
    if case.statistic.neighbors is Neighbors.NODE:
        newcomer = min(vertex for edge in case.rows for vertex in edge)
        own = [edge for edge in case.rows if newcomer in edge]
        others = [edge for edge in case.rows if newcomer not in edge]
        for size in range(len(others) + 1):
            for graph in itertools.combinations(others, size):
                yield TablePair(columns(case, graph), columns(case, [*graph, *own]))
        many = 2
    yield from pairs[:: max(len(pairs) // many, 1)][:many]


def sparse(case: Case) -> Iterator[TablePair]:
    """Tables of no row and of one, and one row more: where a mean or a moment moves farthest."""
    if case.places or case.statistic.neighbors is not Neighbors.ADD_REMOVE_ONE:
        return
    values = list(case.rows)
    for before, person in (([], values[-1]), (values[:1], values[-1]), (values[:1], values[0])):
        yield TablePair(columns(case, before), columns(case, [*before, person]))


def _mixed(case: Case, contribution: int, random: np.random.Generator) -> Iterator[TablePair]:
    """Small tables of rows of several columns at random: a slope is told apart by rows that no heap holds."""
    values, size = list(case.rows), MIXED + contribution
    for _ in range(MIXTURES):
        drawn = [values[int(k)] for k in random.integers(0, len(values), size + contribution)]
        one, other = drawn[:size], drawn[: size - contribution] + drawn[size:]
        if one != other:
            yield TablePair(columns(case, one), columns(case, other), contribution)


def _filled(case: Case, size: int) -> list[list[Row]]:
    """Rows that fill a tenth of a wide range evenly, and nearly all of them: searches find what heaps never show."""
    low, high = (getattr(case.statistic, name, None) for name in ("low", "high"))
    if len(case.columns) != 1 or low is None or high is None or high - low < WIDE:
        return []
    short = [(float(value),) for value in np.linspace(low, low + (high - low) / 10, size).round(3)]
    few = max(size // 20, 1)
    return [short, [*short[few:], *([(float(high),)] * few)]]


def filled(case: Case, rows: int, contribution: int = 1) -> Iterator[TablePair]:
    """Pairs of long tables that fill a part of a wide range, with a person at its far end; none of narrow ones."""
    for shape in _filled(case, max(rows, 2 * contribution)):
        person = [(float(getattr(case.statistic, "high", 0)),)] * contribution
        replaced = case.statistic.neighbors is Neighbors.REPLACE_ONE
        kept = shape[contribution:] if replaced else shape  # all others keep their places
        gone = shape[:contribution] if replaced else []
        yield TablePair(columns(case, kept + gone), columns(case, kept + person), contribution)


def distance(norm: float, one: Sequence[float], other: Sequence[float]) -> float:
    """How far two vectors lie apart in a norm."""
    gaps = [abs(a - b) for a, b in zip(one, other, strict=True)]
    return max(gaps) if math.isinf(norm) else float(sum(gap**norm for gap in gaps) ** (1 / norm))
