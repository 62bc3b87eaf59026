"""Algorithm 1 for any number of types: exact averages of delta over all databases, for small n.

A function on histograms of s records is an array over the first m - 1 counts. Drawing one record from a distribution
maps it to a function on histograms of s - 1 records; mixes of the vertices share their prefixes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.smoothed.histogram import log_pairs

if TYPE_CHECKING:
    from sordino.smoothed.mass import Floats

Table = np.ndarray[Any, np.dtype[np.float64]]


def cells(n: int, types: int) -> int:
    """Count the entries of the array for n records of so many types.

    Example:
        >>> cells(10, 3)
        121
    """
    return int((n + 1) ** (types - 1))


def cost(n: int, types: int, vertices: int) -> float:
    """Estimate the multiply-adds of :func:`largest_mean`.

    Example:
        >>> cost(40, 3, 2) < cost(80, 3, 2)
        True
    """
    mixes = math.comb(n + vertices - 2, vertices - 2) * n if vertices > 1 else 1
    return types * mixes * cells(n, types) * n / (types * max(1, vertices))


def histogram_grid(n: int, types: int) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """Return the counts of every type over the whole array; the last is negative where the sum exceeds n."""
    axes = np.meshgrid(*([np.arange(n + 1)] * (types - 1)), indexing="ij")
    return [*axes, n - np.sum(axes, axis=0)]


def delta_table(n: int, types: int, T: int, epsilon: float, *, replacement: bool = False) -> Table:
    """Return delta(epsilon; x) of the sampling histogram for every histogram of n records.

    Example:
        >>> delta_table(2, 3, 1, 1.0)[0].round(6).tolist()  # none of type 1: everything reveals
        [0.5, 0.5, 0.5]
    """
    counts = histogram_grid(n, types)
    u, v = (part.ravel() for part in np.meshgrid(np.arange(n + 2), np.arange(n + 2), indexing="ij"))
    valid = (u >= 1) & (u + v <= n)
    D = np.zeros((n + 2, n + 2))
    D[u[valid], v[valid]] = np.exp(log_pairs(n, T, u[valid], v[valid], epsilon, replacement=replacement))
    move = D.copy()  # move[u, v]: out of x and back into x
    move[1:, :-1] = np.maximum(D[1:, :-1], D[1:, :-1].T)
    result = np.zeros(counts[0].shape)
    inside = counts[-1] >= 0
    for i in range(types):
        for j in range(types):
            if i != j:
                a, b = counts[i], np.where(inside, counts[j], 0)
                a = np.where(inside, a, 0)
                result = np.maximum(result, np.where(a >= 1, move[a, b], 0.0))
    return np.where(inside, result, 0.0)


def table_of(n: int, types: int, value: Callable[[tuple[int, ...]], float]) -> Table:
    """Return any function of the histogram as an array."""
    counts = histogram_grid(n, types)
    result = np.zeros(counts[0].shape)
    for index in zip(*np.nonzero(counts[-1] >= 0), strict=True):
        result[index] = value(tuple(int(count[index]) for count in counts))
    return result


def draw(table: Table, distribution: Floats) -> Table:
    """Average over one record drawn from a distribution.

    Example:
        >>> draw(np.array([1.0, 0.5, 0.0]), np.array([0.25, 0.75])).tolist()
        [0.875, 0.375]
    """
    size = table.shape[0] - 1
    whole = tuple([slice(0, size)] * table.ndim)
    result = distribution[-1] * table[whole]
    for axis in range(table.ndim):
        shifted = list(whole)
        shifted[axis] = slice(1, size + 1)
        result += distribution[axis] * table[tuple(shifted)]
    return np.asarray(result)


def largest_mean(table: Table, vertices: Floats) -> tuple[float, tuple[int, ...]]:
    """Return the largest average over all mixes of the vertices, and how many records each vertex has in it.

    Example:
        >>> value, mix = largest_mean(np.array([1.0, 0.5, 1.0]), np.array([[0.5, 0.5], [0.25, 0.75]]))
        >>> round(value, 6), mix
        (0.8125, (0, 2))
    """

    def best(state: Table, index: int) -> tuple[float, tuple[int, ...]]:
        size = state.shape[0] - 1
        if index == len(vertices) - 1:
            for _ in range(size):
                state = draw(state, vertices[index])
            return float(state.ravel()[0]), (size,)
        found: tuple[float, tuple[int, ...]] = (-math.inf, ())
        for taken in range(size + 1):
            value, mix = best(state, index + 1)
            if value > found[0]:
                found = value, (taken, *mix)
            if taken < size:
                state = draw(state, vertices[index])
        return found

    return best(table, 0)
