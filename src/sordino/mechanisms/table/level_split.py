"""How the price of a hierarchy is split over its levels, and how wide the bars of its counts are; no data.

Amounts are precisions of Gaussian noise, one over its variance, or shares of epsilon of geometric noise: either way a
row that moves ``m`` counts of a level by one costs ``m`` times the level's amount. Proofs:
docs/proofs/mechanism_levels.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.table.pure_split import NO_NOISE, geometric_variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sordino.statistics.count_tree import CountTree

    Floats = NDArray[np.float64]

SEARCHED = 5_000
"""Nodes up to which the best split is searched; above, all levels get equal parts, within two per cent of the best."""

SIMULATED = 30_000_000
"""Simulated counts of geometric noise for bars, over all nodes."""
DRAWS = (2_000, 200_000)
"""Simulations at least and at most."""
SURE = 4.0
"""Deviations by which a simulated quantile is raised: too low in one of thirty thousand."""

Amounts = tuple[Fraction | None, ...]
"""One per level; None for a level that is not drawn."""


def noise_of(
    amounts: Sequence[float | Fraction | None], *, gaussian: bool, scale: float = 1.0
) -> list[float]:
    """The variance of the noise on each level, for somebody with so many rows.

    Example:
        >>> noise_of((Fraction(1, 4), None), gaussian=True, scale=2)
        [16.0, inf]
    """
    if gaussian:
        return [math.inf if one is None else scale**2 / float(one) for one in amounts]
    return [math.inf if one is None else geometric_variance(float(one) / scale) for one in amounts]


def loss(moves: Sequence[Sequence[int]], amounts: Amounts) -> Fraction:
    """What the worst kind of neighbour costs, in amounts."""
    return max(
        sum((many * one for many, one in zip(kind, amounts, strict=True) if one is not None), Fraction(0))
        for kind in moves
    )


@lru_cache(maxsize=64)
def split(
    tree: CountTree,
    weights: tuple[float, ...],
    budget: Fraction,
    moves: tuple[tuple[int, ...], ...],
    *,
    gaussian: bool,
) -> Amounts:
    """Amounts with the least weighted mean of the nodes' variances; the worst neighbour costs the budget at most."""
    kinds = np.array(moves, float)
    total = float(budget) if gaussian else min(float(budget), NO_NOISE)

    def amounts(logits: Floats) -> Floats:
        parts = np.exp(logits - logits.max())
        return np.asarray(total * parts / (kinds @ parts).max())

    def error(logits: Floats, drawn: Sequence[int]) -> float:
        given: list[float | None] = [None] * len(weights)
        for place, one in zip(drawn, amounts_of(logits, drawn), strict=True):
            given[place] = max(one, 1e-12 * total)
        found = tree.variances(noise_of(given, gaussian=gaussian))
        return math.log(sum(w * float(each.mean()) for w, each in zip(weights, found, strict=True)))

    def amounts_of(logits: Floats, drawn: Sequence[int]) -> list[float]:
        every = np.full(len(weights), -math.inf)
        every[list(drawn)] = logits
        return [float(amounts(every)[place]) for place in drawn]

    def best(drawn: Sequence[int]) -> tuple[float, list[float]]:
        if len(drawn) == 1 or sum(tree.sizes) > SEARCHED:
            even = np.zeros(len(drawn))
            return error(even, drawn), amounts_of(even, drawn)
        from scipy.optimize import minimize

        fine: Any = {"maxiter": 80 * len(drawn), "xatol": 1e-3, "fatol": 1e-7}
        starts = [slope * np.arange(len(drawn)) for slope in (0.0, 0.7)]
        tried = [
            minimize(error, start, args=(drawn,), method="Nelder-Mead", options=fine) for start in starts
        ]
        first = min(tried, key=lambda one: float(one.fun))
        return float(first.fun), amounts_of(first.x, drawn)

    drawn = list(range(len(weights)))
    least, chosen = best(drawn)
    while len(drawn) > 1:  # what a level would say, others may say better; the leaves are always drawn
        fewer = [[one for one in drawn if one != left] for left in drawn[:-1]]
        found_without = [(*best(some), some) for some in fewer]
        without, amounts_without, some = min(found_without, key=lambda one: one[0])
        if without > least + 1e-7:
            break
        least, chosen, drawn = without, amounts_without, some
    larger = float(budget) / total
    found: list[Fraction | None] = [None] * len(weights)
    for place, one in zip(drawn, chosen, strict=True):
        found[place] = Fraction(f"{one * larger:.12g}")
    scale = budget / loss(moves, tuple(found))  # exactly the budget, whatever was found
    return tuple(None if one is None else one * scale for one in found)


@lru_cache(maxsize=16)
def half_widths(
    tree: CountTree, amounts: Amounts, level: float, *, scale: float, simultaneous: bool
) -> list[Floats]:
    """Half widths of bars after least squares, from simulations of public geometric noise.

    Nodes of one class have the same law. For all at once it is the largest error in deviations that is simulated.
    """
    noise = noise_of(amounts, gaussian=False, scale=scale)
    deviations = [np.sqrt(one) for one in tree.variances(noise)]
    firsts = [np.unique(classes, return_index=True)[1] for classes in tree.alike]
    draws = int(np.clip(SIMULATED // sum(tree.sizes), *DRAWS))
    random = np.random.default_rng(20_200_101)  # public noise about nobody
    errors: list[list[Floats]] = [[] for _ in tree.sizes]
    batch = max(1, 2_000_000 // sum(tree.sizes))
    for start in range(0, draws, batch):
        many = min(batch, draws - start)
        drawn: list[Any] = []
        for one, size in zip(amounts, tree.sizes, strict=True):
            if one is None:
                drawn.append(None)
                continue
            rate = float(one) / scale
            up, down = (np.floor(random.standard_exponential((many, size)) / rate) for _ in range(2))
            drawn.append(up - down)
        found = tree.estimates(drawn, noise)
        if simultaneous:
            far = [
                np.max(np.abs(each) / np.maximum(own, 1e-300), axis=1)
                for each, own in zip(found, deviations, strict=True)
            ]
            errors[0].append(np.max(far, axis=0))
        else:
            for place, (each, own) in enumerate(zip(found, firsts, strict=True)):
                errors[place].append(np.abs(each[:, own]))
    if simultaneous:
        factor = _quantile(np.concatenate(errors[0])[:, None], level)[0]
        return [factor * own for own in deviations]
    return [
        _quantile(np.concatenate(each), level)[classes]
        for each, classes in zip(errors, tree.alike, strict=True)
    ]


def _quantile(errors: Floats, level: float) -> Floats:
    """An upper bound of the quantile of each column, from its simulations; half more than the largest if need be."""
    draws = len(errors)
    rank = math.ceil(draws * level + SURE * math.sqrt(draws * level * (1 - level))) + 1
    if rank > draws:
        return np.asarray(1.5 * errors.max(axis=0))
    return np.asarray(np.partition(errors, rank - 1, axis=0)[rank - 1])
