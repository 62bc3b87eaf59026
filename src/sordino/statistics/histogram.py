"""Counts of a numeric column over public cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import ParameterError
from sordino.lattice import FINE_BITS, RowLattice
from sordino.privacy import Neighbors
from sordino.reading.profile import Opened, Profile
from sordino.reading.requests import Request
from sordino.statistics import DEPTH, ROOT_TWO, Case, Statistic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Statistic):
    """How many rows fall into each cell ``[edge, next edge)``.

    Rows beyond the outer edges count in the outer cells, rows that are not numbers in none. The profile is in the
    sum of absolute differences: a replaced row leaves one cell and enters another.

    Args:
        column: Name of the column.
        edges: The public edges of the cells, increasing, at least two.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> Histogram("age", edges=(0, 18, 65, 120)).define([3, 20, 18, 130])
        (1, 2, 1)
    """

    name: ClassVar[str] = "histogram"
    suits: ClassVar[tuple[str, ...]] = ("additive-vector",)
    tallies: ClassVar[bool] = True
    vector: ClassVar[bool] = True

    column: str = field(kw_only=False)
    edges: tuple[float, ...]
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    def __post_init__(self) -> None:
        self.check_relation()
        edges = tuple(float(checks.exact(self.name, edge=edge)) for edge in self.edges)
        object.__setattr__(self, "edges", edges)
        rule = "edges must be at least two and increase"
        if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
            raise ParameterError(self.name, rule, got={"edges": edges}, hint="edges=(0, 18, 65, 120)")
        codes = [self.grid.code(edge) for edge in edges]
        if any(a >= b for a, b in pairwise(codes)):
            raise ParameterError(
                self.name, "edges must be farther apart", got={"edges": edges},
                why=f"The range is divided into 2^{FINE_BITS} steps.",
            )  # fmt: skip

    @property
    def grid(self) -> RowLattice:
        """From the first to the last edge."""
        return RowLattice(self.edges[0], self.edges[-1], bits=FINE_BITS, missing="drop")

    @property
    def euclidean(self) -> Fraction | None:
        """A replaced row leaves one cell and enters another: sqrt 2, rounded up."""
        return ROOT_TWO if self.neighbors is Neighbors.REPLACE_ONE else None

    @property
    def exact(self) -> tuple[str, ...]:
        """One row changes one or two cells by one."""
        return ("profile",) if len(self.edges) > 2 else ()

    def request(self, *, depth: int = DEPTH) -> Request:
        """The number of rows below each inner edge."""
        cuts = tuple(self.grid.code(edge) for edge in self.edges[1:-1])
        return Request(self.column, self.grid, cuts=cuts, depth=depth)

    def define(self, rows: Sequence[Any]) -> tuple[int, ...]:
        """Count between the edges."""
        below = [sum(row < edge for row in rows) for edge in self.edges[1:-1]]
        present = sum(row == row for row in rows)  # noqa: PLR0124  NaN differs from itself
        return tuple(b - a for a, b in pairwise([0, *below, present]))

    def open(self, summary: Summary) -> Opened:
        """Differences of the cuts."""
        counts = tuple(b - a for a, b in pairwise([0, *summary.below, summary.rows]))
        ceiling = 2 if self.neighbors is Neighbors.REPLACE_ONE else 1
        return Opened(counts, self.units, Profile.constant(ceiling), None, summary.rows, counts=counts)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Rows beyond, at and between the edges, both relations."""
        for relation in cls.relations:
            yield Case(cls("x", edges=(0, 1, 3), neighbors=relation), ((-1.0,), (0.5,), (1.0,), (9.0,)))
