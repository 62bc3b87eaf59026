"""The cost of a minimum spanning tree over a public topology with private weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.lattice import BITS, RowLattice
from sordino.privacy import Neighbors
from sordino.reading.profile import Opened, Profile, Reach
from sordino.reading.requests import Links
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Case, Statistic
from sordino.statistics.detours import Detours, spanning_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from sordino.lattice import Lattice
    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimumSpanningTree(Statistic):
    """The least total weight of edges that connect all vertices of a public graph.

    Weights lie between 0 and ``high``; neighbours differ in the weight of one edge. An edge without a row, or whose
    weight is not a number, weighs ``high``; an edge with several rows takes the smallest.

    Args:
        topology: The public edges (pairs of vertices) of a connected graph.
        vertices: Number of vertices of the public graph.
        high: Public upper bound of a weight.
        left: Name of the column with one end of each edge.
        right: Name of the column with the other end.
        weight: Name of the column with the weights.
        step: The lattice on which weights live, when they live on one.
        bits: Resolution of the lattice when no step is declared.
        flows: Largest distance at which detours are worked out; beyond it the bound ``high`` is used.

    Example:
        >>> tree = MinimumSpanningTree(topology=((0, 1), (1, 2), (0, 2)), vertices=3, high=9, step=1)
        >>> tree.define([(0, 1, 4), (1, 2, 3), (0, 2, 8)])
        7
    """

    name: ClassVar[str] = "minimum-spanning-tree"
    suits: ClassVar[tuple[str, ...]] = ("additive",)
    relations: ClassVar[tuple[Neighbors, ...]] = (Neighbors.EDGE,)

    topology: tuple[tuple[int, int], ...]
    vertices: int
    high: float
    left: str = "left"
    right: str = "right"
    weight: str = "weight"
    step: Fraction | float | None = None
    bits: int = BITS
    flows: int = 8
    neighbors: Neighbors = Neighbors.EDGE

    def __post_init__(self) -> None:
        self.check_relation()
        checks.whole(self.name, at_least=2, vertices=self.vertices)
        checks.whole(self.name, flows=self.flows)
        topology = tuple((int(min(edge)), int(max(edge))) for edge in self.topology)
        object.__setattr__(self, "topology", topology)
        fine = all(0 <= a < b < self.vertices for a, b in topology) and len(set(topology)) == len(topology)
        if not fine or len(spanning_tree(topology, [0] * len(topology), self.vertices)) < self.vertices - 1:
            raise ParameterError(
                self.name, "topology must be a connected simple graph", got={"vertices": self.vertices},
                why="Otherwise no tree connects all vertices.",
            )  # fmt: skip
        self.grid  # noqa: B018  a grid checks itself

    def shows(self) -> tuple[Trait, ...]:
        """Reachable intervals between public bounds."""
        return Trait.REACH, Trait.RANGE

    @property
    def grid(self) -> RowLattice:
        """The lattice of the weights."""
        return RowLattice(0, self.high, bits=self.bits, missing=self.high, step=self.step)

    @property
    def units(self) -> Lattice:
        """Steps of the weights."""
        return self.grid.endless

    @property
    def exact(self) -> tuple[str, ...]:
        """The lower envelope, and the profile where no detour is cut off; the upper envelope adds up radii."""
        return ("profile", "low") if self.flows >= len(self.topology) else ("low",)

    def request(self, *, depth: int = DEPTH) -> Links:
        """The code of every public edge."""
        return Links(self.left, self.right, self.vertices, self.weight, self.grid, self.topology, depth)

    def define(self, rows: Sequence[tuple[int, int, float]]) -> int:
        """Join vertices by the lightest edges."""
        codes = {(min(a, b), max(a, b)): self.grid.code(float(w)) for a, b, w in rows}
        weights = [codes[edge] for edge in self.topology]
        return sum(weights[edge] for edge in spanning_tree(self.topology, weights, self.vertices))

    def open(self, summary: Summary) -> Opened:
        """Detours bound how much one weight matters; the lightest trees lose their heaviest edges."""
        assert summary.codes is not None
        depth, top = summary.request.depth, self.grid.last
        weights = [int(code) for code in summary.codes]
        tree = [weights[edge] for edge in spanning_tree(self.topology, weights, self.vertices)]
        value, most = sum(tree), (self.vertices - 1) * top
        detours = Detours(self.topology, weights, self.vertices, top)
        bounds: list[int] = []
        before = [0] * len(weights)
        for k in range(min(depth, self.flows) + 1):
            paths = detours.heights(k)
            bounds.append(
                max(max(t - min(w, t), min(w, t), p) for w, t, p in zip(weights, paths, before, strict=True))
            )
            before = paths
            if bounds[-1] >= top:
                break
        profile = Profile.dense(bounds, top)
        heaviest = sorted(tree, reverse=True)
        lost = np.concatenate([[0], np.cumsum(np.array(heaviest[:depth], object))])
        lows = [value - int(lost[min(l, len(lost) - 1)]) for l in range(depth + 1)]
        radii = [profile.at(k) for k in range(depth)]
        highs = [value, *(value + int(r) for r in np.cumsum(np.array(radii, object)))] if depth else [value]
        reach = Reach.dense(lows, highs, bottom=0, top=most)
        return Opened(value, self.units, profile, reach, len(weights), bottom=0, top=most)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """A tree, a triangle, a square with a diagonal."""
        topologies = (((0, 1), (1, 2)), ((0, 1), (1, 2), (0, 2)), ((0, 1), (1, 2), (2, 3), (0, 3), (0, 2)))
        for topology in topologies:
            vertices = 1 + max(max(edge) for edge in topology)
            weights = (0, 1, 3) if len(topology) < 5 else (0, 3)
            places = tuple(tuple((a, b, w) for w in weights) for a, b in topology)
            for flows in (8, 1):
                statistic = cls(topology=topology, vertices=vertices, high=3, step=1, flows=flows)
                yield Case(
                    statistic, (), (len(topology),), columns=("left", "right", "weight"), places=places
                )
