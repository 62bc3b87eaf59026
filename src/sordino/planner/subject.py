"""`Subject`: what a statistic is asked of, so that a plan can draw something like it.

One column of numbers, several, categories, a graph, or the weights of a public graph: told by what the statistic
requests of data, so a new statistic has a plan by itself. No data and no shapes here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.errors import ParameterError, Unsupported
from sordino.reading.requests import Bundle, Cells, Columns, Combinations, Links, Request
from sordino.session.form import columns

if TYPE_CHECKING:
    from sordino.statistics import Statistic

MOST = 100_000_000  # rows of a column that fits into memory
PAIRS = 4_000  # rows of a statistic that holds all pairs of rows in memory


@dataclass(frozen=True, slots=True)
class Subject:
    """The public outline of the data that a statistic reads.

    Attributes:
        kind: ``"column"``, ``"columns"``, ``"categories"``, ``"graph"`` or ``"weights"``.
        names: The columns.
        ranges: A public range for each column of numbers.
        keys: Public categories.
        vertices: Vertices of a graph.
        topology: Public edges whose weights are private.
        paired: Whether whole rows are read, in all pairs.

    Example:
        >>> from sordino.statistics.median import Median
        >>> from sordino.statistics.edges import Edges
        >>> Subject.of(Median("age", low=0, high=120)).ranges
        ((0.0, 120.0),)
        >>> Subject.of(Edges(vertices=50)).kind
        'graph'
    """

    kind: str
    names: tuple[str, ...]
    ranges: tuple[tuple[float, float], ...] = ()
    keys: tuple[str | int, ...] = ()
    vertices: int = 0
    topology: tuple[tuple[int, int], ...] = ()
    paired: bool = False

    @classmethod
    def of(cls, statistic: Statistic) -> Subject:
        """Read the outline from the request of a statistic."""
        request = statistic.request(depth=1)
        names = columns(request)
        if isinstance(request, Request):
            return cls("column", names, (range_of(statistic),))
        if isinstance(request, Bundle) and all(isinstance(part, Request) for part in request.parts):
            parts: Any = statistic.parts  # type: ignore[attr-defined]
            found: dict[str, tuple[float, float]] = {}
            for part in parts:
                low, high = range_of(part)
                before = found.get(part.column, (low, high))
                found[part.column] = min(low, before[0]), max(high, before[1])
            return cls("columns", names, tuple(found[name] for name in names))
        if isinstance(request, Columns):
            ends = tuple((float(grid.low), float(grid.high)) for grid in request.grids)
            return cls("columns" if len(names) > 1 else "column", names, ends, paired=True)
        if isinstance(request, Cells):
            return cls("categories", names, keys=request.keys)
        if isinstance(request, Links):
            if request.weight is None:
                return cls("graph", names, vertices=request.vertices)
            assert request.grid is not None
            ends = ((float(request.grid.low), float(request.grid.high)),)
            return cls("weights", names, ends, vertices=request.vertices, topology=request.topology)
        if isinstance(request, Combinations):
            raise Unsupported(
                statistic.name,
                "has no plan that draws data",
                why="Its noise is public, and is told without any.",
                hint="sd.plan(statistic, price)",
            )
        raise Unsupported(
            statistic.name,
            "has no plan",
            why="It reads a mixture of columns, categories and graphs, and no shape draws such a table.",
            hint="plan its parts one by one",
        )

    def rows(self, statistic: Statistic, given: int | None) -> int | None:
        """How many rows are drawn; None where the statistic itself says how large the data are."""
        if self.kind in ("graph", "weights"):
            if given is not None:
                raise ParameterError(
                    "plan", f"rows are not asked of the {statistic.name}", got={"rows": given},
                    why="The public vertices and edges of the statistic say how large the graph is.",
                    hint="leave rows out",
                )  # fmt: skip
            return len(self.topology) if self.kind == "weights" else None
        if given is None:
            raise ParameterError(
                "plan",
                "rows must be given",
                why="How far one row moves the answer depends on how many there are.",
                hint="rows=20_000",
            )
        count = checks.whole("plan", at_least=1, rows=given)
        if count > MOST:
            raise Unsupported(
                "plan", f"is made for at most {MOST:,} rows", got={"rows": count},
                why="It draws tables of that many rows.",
                hint=f"rows={MOST}; with more rows the error falls about as 1/rows",
            )  # fmt: skip
        if self.paired and count > PAIRS:
            raise Unsupported(
                statistic.name, f"is planned for at most {PAIRS:,} rows", got={"rows": count},
                why="It works on all pairs of rows, and a plan draws many such tables.",
                hint=f"rows={PAIRS}; with more rows the error falls about as 1/rows",
            )  # fmt: skip
        return count

    def size(self, rows: int | None) -> str:
        """How large the data are, in words."""
        if self.kind == "graph":
            return f"{self.vertices:,} vertices"
        if self.kind == "weights":
            return f"{self.vertices:,} vertices, {len(self.topology):,} edges"
        return f"{rows:,} rows"


def range_of(statistic: Statistic) -> tuple[float, float]:
    """The public range in which a column is drawn: the bounds, or what takes their place.

    Example:
        >>> from sordino.statistics.count_above import CountAbove
        >>> range_of(CountAbove("x", threshold=-4))
        (-8.0, 0.0)
    """
    low, high = getattr(statistic, "low", None), getattr(statistic, "high", None)
    if low is not None and high is not None:
        return float(low), float(high)
    edges = getattr(statistic, "edges", None)
    if edges:
        return float(edges[0]), float(edges[-1])
    threshold = float(getattr(statistic, "threshold", 0.5))
    width = 2 * (abs(threshold) or 0.5)
    return (0.0, width) if threshold >= 0 else (-width, 0.0)
