"""The number of triangles of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sordino.reading.profile import Opened, Profile, Reach
from sordino.statistics.graph import Graph
from sordino.statistics.shared_neighbours import shared_neighbours

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Triangles(Graph):
    """How many triples of vertices are joined to each other.

    Local sensitivity at distance s is ``max_ij min(a_ij + floor((s + min(s, b_ij)) / 2), n - 2)`` with a the
    common neighbours of a pair and b the vertices joined to exactly one of it (Nissim, Raskhodnikova and Smith
    2007). The reach uses one-sided radii: a pair that is joined must first be parted before it can gain.

    Example:
        >>> Triangles(vertices=4).define([(0, 1), (1, 2), (0, 2), (2, 3)])
        1
    """

    name: ClassVar[str] = "triangles"
    suits: ClassVar[tuple[str, ...]] = ("piecewise-laplace", "additive")

    @property
    def exact(self) -> tuple[str, ...]:
        """The profile is exact; the reach adds up radii."""
        return ("profile",)

    def define(self, rows: Sequence[tuple[int, int]]) -> int:
        """Try all triples."""
        joined = {frozenset(edge) for edge in rows}
        return sum(
            all(frozenset(pair) in joined for pair in combinations(triple, 2))
            for triple in combinations(range(self.vertices), 3)
        )

    def open(self, summary: Summary) -> Opened:
        """Count, and take the pairs that can gain or lose most at every distance."""
        assert summary.links is not None
        n, depth = self.vertices, summary.request.depth
        most = max(n - 2, 0)
        triangles, apart, joined = shared_neighbours(summary.links, n)
        lone, linked = (_gains(pairs, depth, most) for pairs in (apart, joined))
        profile = Profile.dense([max(a, b) for a, b in zip(lone, linked, strict=True)], most)
        # Up from distance l - 1: a pair that is apart joins at once, one that is joined has parted before.
        up = [max(a, b) for a, b in zip(lone, [0, *linked], strict=False)]
        down = [max(a, b) for a, b in zip([0, *lone], linked, strict=False)]
        highs = np.concatenate([[0], np.cumsum(up, dtype=object)]) + triangles
        lows = triangles - np.concatenate([[0], np.cumsum(down, dtype=object)])
        top = comb(n, 3)
        reach = Reach.dense([int(v) for v in lows], [int(v) for v in highs], bottom=0, top=top)
        return Opened(triangles, self.units, profile, reach, summary.rows, bottom=0, top=top)


def _gains(pairs: NDArray[np.int64], depth: int, most: int) -> list[int]:
    """Largest number of triangles that one pair of the list can close at distance 0..depth."""
    if not len(pairs):
        return [0] * (depth + 1)
    common, single = pairs.T
    return [int(min(most, np.max(common + (s + np.minimum(s, single)) // 2))) for s in range(depth + 1)]
