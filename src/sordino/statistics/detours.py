"""Spanning trees of a weighted graph, and how high the ways around each of its edges are.

For an edge and a number k: the smallest height at which its ends stay connected by other edges whichever k of them
fail, that is at which k + 1 edge-disjoint ways of other edges exist. No statistic lives here.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def spanning_tree(edges: Sequence[tuple[int, int]], weights: Sequence[int], vertices: int) -> list[int]:
    """The edges of a minimum spanning forest (Kruskal), as places in the list.

    Example:
        >>> spanning_tree([(0, 1), (1, 2), (0, 2)], [4, 3, 8], 3)
        [1, 0]
    """
    parent = list(range(vertices))

    def root(vertex: int) -> int:
        while parent[vertex] != vertex:
            parent[vertex] = parent[parent[vertex]]
            vertex = parent[vertex]
        return vertex

    chosen = []
    for edge in sorted(range(len(edges)), key=weights.__getitem__):
        one, other = (root(vertex) for vertex in edges[edge])
        if one != other:
            parent[one] = other
            chosen.append(edge)
    return chosen


class Detours:
    """The ways around the edges of a graph with weights between 0 and ``top``."""

    def __init__(
        self, edges: Sequence[tuple[int, int]], weights: Sequence[int], vertices: int, top: int
    ) -> None:
        self._edges = edges
        self._weights = weights
        self._vertices = vertices
        self._top = top
        self._levels = sorted(set(weights))

    def heights(self, k: int) -> list[int]:
        """For each edge the least height with k + 1 edge-disjoint ways of other edges, ``top`` when there is none.

        Example:
            >>> Detours([(0, 1), (1, 2), (0, 2)], [4, 3, 8], 3, 9).heights(0)
            [8, 8, 4]
        """
        return [self._height(edge, k + 1) for edge in range(len(self._edges))]

    def _height(self, edge: int, ways: int) -> int:
        """Search the level by halving; the number of ways grows with it."""
        low, high = 0, len(self._levels)
        while low < high:
            middle = (low + high) // 2
            if self._flow(edge, self._levels[middle], ways):
                high = middle
            else:
                low = middle + 1
        return self._levels[low] if low < len(self._levels) else self._top

    def _flow(self, edge: int, height: int, ways: int) -> bool:
        """Whether that many edge-disjoint ways exist: augmenting paths in an undirected unit-capacity graph."""
        near: list[list[int]] = [[] for _ in range(self._vertices)]
        head: list[int] = []
        room: list[int] = []
        for other, (a, b) in enumerate(self._edges):
            if other != edge and self._weights[other] <= height:
                near[a].append(len(head))
                near[b].append(len(head) + 1)
                head += [b, a]
                room += [1, 1]
        source, sink = self._edges[edge]
        if min(len(near[source]), len(near[sink])) < ways:
            return False
        for _ in range(ways):
            via = [-1] * self._vertices
            queue = deque([source])
            via[source] = -2
            while queue and via[sink] == -1:
                vertex = queue.popleft()
                for arc in near[vertex]:
                    if room[arc] and via[head[arc]] == -1:
                        via[head[arc]] = arc
                        queue.append(head[arc])
            if via[sink] == -1:
                return False
            vertex = sink
            while vertex != source:
                arc = via[vertex]
                room[arc] -= 1
                room[arc ^ 1] += 1
                vertex = head[arc ^ 1]
        return True
