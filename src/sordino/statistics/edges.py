"""The number of edges of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sordino.reading.profile import Opened, Profile
from sordino.statistics.count import count_reach
from sordino.statistics.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges(Graph):
    """How many pairs of vertices are joined.

    Example:
        >>> Edges(vertices=3).define([(0, 1), (1, 2)])
        2
    """

    name: ClassVar[str] = "edges"
    suits: ClassVar[tuple[str, ...]] = ("geometric", "additive")

    @property
    def exact(self) -> tuple[str, ...]:
        """One edge more or less, between none and all pairs."""
        return "profile", "low", "high"

    def define(self, rows: Sequence[tuple[int, int]]) -> int:
        """Count."""
        return len(rows)

    def open(self, summary: Summary) -> Opened:
        """A flip changes the count by one."""
        pairs = self.vertices * (self.vertices - 1) // 2
        reach = count_reach(summary.rows, summary.request.depth, most=pairs)
        profile = Profile.constant(1 if pairs else 0)
        return Opened(summary.rows, self.units, profile, reach, summary.rows, bottom=0, top=pairs)
