"""The largest degree of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sordino import checks
from sordino.reading.profile import Opened, Profile, Reach
from sordino.statistics import Case
from sordino.statistics.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sordino.hints import Hints
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class MaximumDegree(Graph):
    """The number of edges at the vertex that has most.

    Args:
        envelope: ``"degrees"`` bounds the lower envelope from the degrees, in linear time; ``"exact"`` finds the
            fewest edges to remove by integer programming, for graphs of a few hundred edges.

    Example:
        >>> MaximumDegree(vertices=3).define([(0, 1), (1, 2)])
        2
    """

    name: ClassVar[str] = "maximum-degree"
    suits: ClassVar[tuple[str, ...]] = ("geometric", "additive")

    envelope: str = "degrees"

    def __post_init__(self) -> None:
        Graph.__post_init__(self)
        checks.one_of(self.name, ("degrees", "exact"), envelope=self.envelope)

    @property
    def exact(self) -> tuple[str, ...]:
        """The upper envelope always, the lower one on request."""
        return ("high", "low") if self.envelope == "exact" else ("high",)

    def define(self, rows: Sequence[tuple[int, int]]) -> int:
        """Count the edges of each vertex."""
        return max(sum(vertex in edge for edge in rows) for vertex in range(self.vertices))

    def open(self, summary: Summary) -> Opened:
        """Up by one a step; down as fast as all vertices above a level can lose edges."""
        assert summary.links is not None
        links, depth = summary.links, summary.request.depth
        degrees = np.bincount(links.ravel(), minlength=self.vertices)
        value, top = int(degrees.max()), self.vertices - 1
        lows: list[int] = []
        level = value
        for l in range(depth + 1):
            while level > 0 and self.removals(links, degrees, level - 1, at_most=l) <= l:
                level -= 1
            lows.append(level)
        highs = [min(top, value + l) for l in range(depth + 1)]
        reach = Reach.dense(lows, highs, bottom=0, top=top)
        profile = Profile.constant(1 if top else 0)
        return Opened(value, self.units, profile, reach, summary.rows, bottom=0, top=top)

    def removals(
        self, links: NDArray[np.int64], degrees: NDArray[np.int64], level: int, *, at_most: int
    ) -> int:
        """How many edges must go until no degree exceeds the level (or a lower bound of that number).

        An edge has two ends, so half of the surplus is a lower bound; it moves by at most one with a flip.
        """
        surplus = np.maximum(degrees - level, 0)
        least = -(-int(surplus.sum()) // 2)
        if self.envelope == "degrees" or least > at_most or least == 0:
            return least
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import coo_array

        count = len(links)
        ends = (links.T.ravel(), np.tile(np.arange(count), 2))
        touching = coo_array((np.ones(2 * count), ends), shape=(self.vertices, count)).tocsr()
        found = milp(
            np.ones(count),
            constraints=LinearConstraint(touching, lb=surplus),
            integrality=np.ones(count, np.int64),
            bounds=Bounds(0, 1),
        )
        return least if found.fun is None else round(found.fun)

    def smoothing(self, price: Guarantee, hints: Hints) -> Fraction:  # noqa: ARG002
        """A row moves it by one: noise for that needs no smooth bound."""
        return Fraction(0)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """All graphs on four vertices, both envelopes."""
        yield from Graph.cases.__func__(cls)  # type: ignore[attr-defined]
        for case in Graph.cases.__func__(cls):  # type: ignore[attr-defined]
            yield Case(
                cls(vertices=case.statistic.vertices, envelope="exact"), case.rows, columns=case.columns
            )
