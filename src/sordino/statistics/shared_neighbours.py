"""Common and single neighbours of all pairs of vertices, without a matrix of all pairs.

The pairs are walked in blocks of rows of the squared adjacency matrix; per block only the pairs that can be best
at some distance are kept. No statistic lives here.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 1 << 21
"""Paths of length two per block: the memory of a block stays below some tens of megabytes."""
JOINED = 1 << 28
"""Added to the common neighbours of a pair that is joined, so that one product gives both."""


def shared_neighbours(
    links: NDArray[np.int64], vertices: int
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Count triangles, and list the (common, single) neighbour counts that matter of unjoined and joined pairs.

    Of the pairs with the same number of common neighbours only the one with most single neighbours matters.

    Example:
        >>> triangles, apart, joined = shared_neighbours(np.array([[0, 1], [0, 2], [1, 2]]), 4)
        >>> triangles, apart.tolist(), joined.tolist()
        (1, [[0, 2]], [[1, 0]])
    """
    from scipy.sparse import csr_array, eye_array

    ends = np.concatenate([links, links[:, ::-1]])
    degrees = np.bincount(ends[:, 0], minlength=vertices)
    levels = int(degrees.max(initial=0)) + 1
    best = np.full(2 * levels, -1, np.int64)  # largest single count by common count: unjoined, then joined
    shape = (vertices, vertices)
    graph = csr_array((np.ones(len(ends), np.int32), (ends[:, 0], ends[:, 1])), shape=shape)
    graph.sort_indices()
    marked = (graph + JOINED * eye_array(vertices, dtype=np.int32, format="csr")).tocsr()
    reached = np.cumsum(graph @ degrees + degrees)
    triangles = start = 0
    while start < vertices:
        before = int(reached[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(reached, before + BLOCK, side="right")))
        product = graph[start:stop] @ marked
        rows = np.repeat(np.arange(start, min(stop, vertices), dtype=np.int32), np.diff(product.indptr))
        later = product.indices > rows
        common = product.data[later]
        ends_sum = degrees[rows[later]] + degrees[product.indices[later]]
        joined = common >= JOINED
        common = np.where(joined, common - JOINED, common)
        triangles += int(common[joined].sum(dtype=np.int64))
        single = ends_sum - 2 * common - 2 * joined
        np.maximum.at(best, common + levels * joined, single)
        start = stop
    apart, together = best[:levels], best[levels:]
    _strangers(apart, graph, degrees)
    return triangles // 3, _listed(apart), _listed(together)


def _listed(best: NDArray[np.int64]) -> NDArray[np.int64]:
    """The (common, single) pairs that occur."""
    some = np.flatnonzero(best >= 0)
    return np.stack([some, best[some]], axis=1)


def _strangers(apart: NDArray[np.int64], graph: Any, degrees: NDArray[np.int64]) -> None:
    """Find the best pair that is neither joined nor has a common neighbour: the product does not hold it.

    A pair (a, b) of the list is at least as good as (0, c) at every distance when b + 2a >= c, so pairs are tried by
    falling sum of degrees until that holds; the first unjoined pair ends the search either way.
    """
    order = np.argsort(-degrees, kind="stable")
    common = np.arange(len(apart))
    threshold = int(np.max(np.where(apart >= 0, apart + 2 * common, -1)))
    heap = [(-int(degrees[order[0]] + degrees[order[1]]), 0, 1)] if len(order) > 1 else []
    while heap:
        total, i, j = heapq.heappop(heap)
        if -total <= threshold:
            return
        one, other = int(order[i]), int(order[j])
        neighbours = graph.indices[graph.indptr[one] : graph.indptr[one + 1]]
        place = np.searchsorted(neighbours, other)
        if place == len(neighbours) or neighbours[place] != other:
            # With a common neighbour the pair is in the list, and the threshold would have ended the search.
            apart[0] = max(int(apart[0]), -total)
            return
        if j + 1 < len(order):
            heapq.heappush(heap, (-int(degrees[order[i]] + degrees[order[j + 1]]), i, j + 1))
        if j == i + 1 and j + 1 < len(order):
            heapq.heappush(heap, (-int(degrees[order[i + 1]] + degrees[order[i + 2]]), i + 1, i + 2))
