"""Fields that every statistic of a simple undirected graph shares. No mathematics.

Vertices are public, edges are private, and neighbours differ in one edge, or in the edges of one vertex.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

from sordino import checks
from sordino.privacy import Neighbors
from sordino.reading.requests import Links
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Case, Statistic

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph(Statistic):
    """A statistic of a graph on the vertices 0..vertices-1, given as a table of edges.

    Loops, repeated edges (in either direction) and vertices that do not exist are dropped.

    Args:
        vertices: Number of vertices, public.
        left: Name of the column with one end of each edge.
        right: Name of the column with the other end.
        neighbors: Edge privacy, or node privacy where the statistic has it.
    """

    relations: ClassVar[tuple[Neighbors, ...]] = (Neighbors.EDGE,)

    vertices: int
    left: str = "left"
    right: str = "right"
    neighbors: Neighbors = Neighbors.EDGE

    def __post_init__(self) -> None:
        self.check_relation()
        checks.whole(self.name, at_least=1, vertices=self.vertices)

    def shows(self) -> tuple[Trait, ...]:
        """A count of parts of a graph with so many vertices."""
        return Trait.REACH, Trait.RANGE, Trait.WHOLE

    def request(self, *, depth: int = DEPTH) -> Links:
        """The canonical edges."""
        return Links(self.left, self.right, self.vertices, depth=depth)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """All graphs on three and on four vertices."""
        for vertices in (3, 4):
            rows = tuple(combinations(range(vertices), 2))
            yield Case(cls(vertices=vertices), rows, columns=("left", "right"))
