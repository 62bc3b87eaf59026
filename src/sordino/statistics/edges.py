"""The number of edges of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, ClassVar

from sordino import checks
from sordino.errors import ParameterError
from sordino.privacy import Neighbors
from sordino.reading.profile import Opened, Profile, Reach
from sordino.statistics import Case
from sordino.statistics.degree_cap import capped_edges
from sordino.statistics.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges(Graph):
    """How many pairs of vertices are joined.

    Under node privacy somebody may come or go with all of their edges, and the noise is for ``max_degree`` of them.
    Edges beyond that at one vertex do not count: what is published is the largest total of weights from 0 to 1, one
    for each edge, that add up to ``max_degree`` at most at every vertex, rounded down. Where nobody has more edges
    than that it is their number.

    Args:
        max_degree: How many edges of one vertex count; needed under node privacy. Choose it before the data are seen,
            at least as large as most people's numbers of edges.

    Example:
        >>> Edges(vertices=3).define([(0, 1), (1, 2)])
        2
        >>> Edges(vertices=4, max_degree=2, neighbors="node").define([(0, 1), (0, 2), (0, 3)])
        2
    """

    name: ClassVar[str] = "edges"
    suits: ClassVar[tuple[str, ...]] = ("geometric", "additive")
    relations: ClassVar[tuple[Neighbors, ...]] = (Neighbors.EDGE, Neighbors.NODE)

    max_degree: int | None = None

    def __post_init__(self) -> None:
        Graph.__post_init__(self)
        if self.max_degree is not None:
            checks.whole(self.name, at_least=1, max_degree=self.max_degree)
        elif self.neighbors is Neighbors.NODE:
            raise ParameterError(
                self.name,
                "needs max_degree under node privacy",
                got={"max_degree": None},
                why="One vertex may have all others as its neighbours; how many of its edges count bounds the noise.",
                hint="max_degree=20",
            )

    @property
    def exact(self) -> tuple[str, ...]:
        """One edge more or less, between none and all pairs; of capped ones only that they move no farther."""
        return () if self._cap else ("profile", "low", "high")

    @property
    def _cap(self) -> int | None:
        """How many edges of a vertex count, where that is fewer than it can have."""
        return None if self.max_degree is None or self.max_degree >= self.vertices - 1 else self.max_degree

    @property
    def _moves(self) -> int:
        """How far one step moves the answer (docs/proofs/statistics_graphs.md)."""
        most = self.vertices - 1
        return min(1, most) if self.neighbors is Neighbors.EDGE else min(self.max_degree or most, most)

    def define(self, rows: Sequence[tuple[int, int]]) -> int:
        """Count; or try all weights that are halves, of which some are the best."""
        if self._cap is None:
            return len(rows)
        most = 0
        for weights in product((0, 1, 2), repeat=len(rows)):
            loads = [0] * self.vertices
            for (left, right), weight in zip(rows, weights, strict=True):
                loads[left] += weight
                loads[right] += weight
            if max(loads) <= 2 * self._cap:
                most = max(most, sum(weights))
        return most // 2

    def open(self, summary: Summary) -> Opened:
        """One step changes the count by one, or by as many as count of one vertex."""
        cap, depth = self._cap, summary.request.depth
        top = self.vertices * (self.vertices - 1 if cap is None else cap) // 2
        if cap is None:
            value = summary.rows
        else:
            assert summary.links is not None
            value = capped_edges(summary.links, self.vertices, cap)
        lows = [max(0, value - self._moves * l) for l in range(depth + 1)]
        highs = [min(top, value + self._moves * l) for l in range(depth + 1)]
        reach = Reach.dense(lows, highs, bottom=0, top=top)
        return Opened(
            value, self.units, Profile.constant(self._moves), reach, summary.rows, bottom=0, top=top
        )

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """All graphs on three and on four vertices; caps below and above the degrees, both relations."""
        yield from Graph.cases.__func__(cls)  # type: ignore[attr-defined]
        for vertices, cap, relation in (
            (4, 1, Neighbors.EDGE),
            (4, 2, Neighbors.NODE),
            (4, 1, Neighbors.NODE),
            (3, 2, Neighbors.NODE),
        ):
            yield Case(
                cls(vertices=vertices, max_degree=cap, neighbors=relation),
                tuple(combinations(range(vertices), 2)),
                columns=("left", "right"),
            )
