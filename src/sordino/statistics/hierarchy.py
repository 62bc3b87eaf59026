"""Counts of every node of a public hierarchy: region > district > place, with any number of children each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.privacy import Neighbors
from sordino.reading.combinations import Combinations
from sordino.reading.profile import Opened, Profile
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Case, Statistic
from sordino.statistics.count_tree import CountTree
from sordino.statistics.crosstab import checked_levels, column_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sordino.reading.requests import Summary

    Keys = tuple[str | int, ...]

MOST_LEAVES = 1_000_000
MOST_LEVELS = 6
MOST_COMBINATIONS = 10**15
"""Keys of all columns multiplied, at most: combinations are numbered in 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hierarchy(Statistic):
    """Counts of a public hierarchy, level by level, which add up in what is released.

    Args:
        columns: From the top down: region, district, place.
        leaves: Every path from the top to a leaf, known before the data are seen: ``[("north", "a"), ("north", "b"),
            ("south", "c")]``. Rows with another path are left out.
        margins: The levels that are asked for, each by its columns from the top, the empty one for the total; all of
            them by default.
        weights: How much the squared error of each level counts when the price is split; equally by default.
        negative: ``"kept"`` leaves counts as they are drawn, unbiased and with bars; ``"projected"`` fits the leaves
            without negative counts that are nearest to what was drawn.
        rounded: Rounds all counts to whole numbers that still add up.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> places = [("north", "a"), ("north", "b"), ("north", "c"), ("south", "d")]
        >>> counts = Hierarchy(("region", "place"), leaves=places)
        >>> counts.margins
        ((), ('region',), ('region', 'place'))
        >>> counts.define([("north", "a"), ("north", "c"), ("south", "d"), ("south", "a")])
        (3, 2, 1, 1, 0, 1, 1)
    """

    name: ClassVar[str] = "hierarchy"
    suits: ClassVar[tuple[str, ...]] = ("levels",)
    tallies: ClassVar[bool] = True
    vector: ClassVar[bool] = True

    columns: tuple[str, ...] = field(kw_only=False, metadata={"positional": True})
    leaves: tuple[tuple[str | int, ...], ...]
    margins: tuple[tuple[str, ...], ...] | str = "all"
    weights: tuple[float, ...] | None = None
    negative: str = "kept"
    rounded: bool = False
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    def __post_init__(self) -> None:
        self.check_relation()
        assign = object.__setattr__
        columns = column_names(self.columns)
        if not columns or len(set(columns)) < len(columns) or len(columns) > MOST_LEVELS:
            raise ParameterError(
                self.name, f"columns must be different, one to {MOST_LEVELS}", got={"columns": columns},
                hint='sd.Hierarchy(("region", "place"), leaves=[("north", "a"), ("south", "b")])',
            )  # fmt: skip
        assign(self, "columns", columns)
        assign(self, "leaves", _ordered(self.name, columns, self.leaves))
        assign(self, "margins", self._margins())
        checks.one_of(self.name, ("kept", "projected"), negative=self.negative)
        if self.weights is not None:
            assign(
                self, "weights", tuple(float(checks.positive(self.name, weight=one)) for one in self.weights)
            )
            if len(self.weights) != len(self.margins):
                raise ParameterError(
                    self.name, "weights must be one per level", got={"levels": len(self.margins)},
                    hint="leave weights out: all levels count alike",
                )  # fmt: skip

    def _margins(self) -> tuple[tuple[str, ...], ...]:
        given: Any = self.margins
        every = tuple(self.columns[:size] for size in range(len(self.columns) + 1))
        if given == "all":
            return every
        asked = (
            []
            if isinstance(given, str)
            else [(one,) if isinstance(one, str) else tuple(one) for one in given]
        )
        if not asked or len(set(asked)) < len(asked) or not set(asked) <= set(every):
            raise ParameterError(
                self.name, "margins must be different levels, each by its columns from the top", got={"margins": given},
                hint='margins=[(), ("region",), ("region", "place")]; the empty one is the total',
            )  # fmt: skip
        return tuple(one for one in every if one in asked)

    @property
    def axes(self) -> tuple[tuple[int, ...], ...]:
        """The levels by the numbers of their columns."""
        return tuple(tuple(range(len(margin))) for margin in self.margins)

    @property
    def tree(self) -> CountTree:
        """The levels that are asked for, as a tree."""
        return _tree(self.leaves, tuple(map(len, self.margins)))

    @property
    def traits(self) -> frozenset[Trait]:
        """A hierarchy, and nothing else: noise on every number by itself would not add up."""
        return frozenset({Trait.LEVELS})

    def moves(self) -> list[tuple[int, ...]]:
        """How many counts of every level one row moves by one, for each kind of neighbour; rows may be unlisted."""
        one = (1,) * len(self.margins)
        if self.neighbors is Neighbors.ADD_REMOVE_ONE:
            return [one]
        return [one, tuple(2 if size > 1 else 0 for size in self.tree.sizes)]

    @property
    def step_size(self) -> int:
        """How far one row moves all counts, in the sum norm."""
        return max(map(sum, self.moves()))

    @property
    def euclidean(self) -> Fraction | None:
        """The same in the Euclidean norm, rounded up."""
        return Fraction(math.isqrt(self.step_size * 10**18) + 1, 10**9)

    @property
    def _levels(self) -> tuple[Keys, ...]:
        return tuple(tuple(dict.fromkeys(column)) for column in zip(*self.leaves, strict=True))

    def request(self, *, depth: int = DEPTH) -> Combinations:
        """The occupied combinations of keys; those that are no path are left out."""
        return Combinations(self.columns, levels=self._levels, depth=depth)

    def counts(self, summary: Summary) -> list[NDArray[np.int64]]:
        """The counts of all levels; private."""
        assert summary.codes is not None
        codes, order = _codes(self.leaves, self._levels)
        found, many = summary.codes
        place = np.minimum(np.searchsorted(codes, found), len(codes) - 1)
        listed = codes[place] == found
        leaves = np.zeros(len(codes), np.int64)
        leaves[order[place[listed]]] = np.asarray(many)[listed]
        return self._by_level(leaves)

    def _by_level(self, leaves: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        deepest = len(self.margins[-1])
        if deepest < len(self.columns):
            places = _nodes(self.leaves, deepest)[1]
            leaves = np.bincount(places, leaves, int(places[-1]) + 1).astype(np.int64)
        return [np.asarray(level, np.int64) for level in self.tree.totals(leaves)]

    def define(self, rows: Sequence[Any]) -> tuple[int, ...]:
        """Count row by row."""
        places = {leaf: place for place, leaf in enumerate(self.leaves)}
        leaves = np.zeros(len(places), np.int64)
        for row in rows:
            path = tuple(row) if len(self.columns) > 1 else (row,)
            if path in places:
                leaves[places[path]] += 1
        return tuple(int(one) for level in self._by_level(leaves) for one in level)

    def open(self, summary: Summary) -> Opened:
        """The counts as they are."""
        counts = tuple(int(one) for level in self.counts(summary) for one in level)
        return Opened(counts, self.units, Profile.constant(self.step_size), None, summary.rows, counts=counts)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Two levels of unequal width, a row that is no path, both relations."""
        leaves = (("a", "u"), ("a", "v"), ("b", "w"))
        rows = (*leaves, ("b", "u"))
        for relation in cls.relations:
            statistic = cls(("x", "y"), leaves=leaves, margins=(("x",), ("x", "y")), neighbors=relation)
            yield Case(statistic, rows, (1, 2), columns=("x", "y"))


def _ordered(subject: str, columns: tuple[str, ...], given: Any) -> tuple[Keys, ...]:
    """Paths with the children of every node side by side, in the order in which they were listed first."""
    leaves = [given] if isinstance(given, str) or not hasattr(given, "__iter__") else list(given)
    if len(columns) == 1:
        leaves = [one if isinstance(one, tuple | list) else (one,) for one in leaves]
    fine = bool(leaves) and all(isinstance(one, tuple | list) and len(one) == len(columns) for one in leaves)
    paths = (
        [tuple(key.item() if hasattr(key, "item") else key for key in one) for one in leaves] if fine else []
    )
    try:
        fine = fine and len(set(paths)) == len(paths) <= MOST_LEAVES
    except TypeError:
        fine = False
    if not fine:
        raise ParameterError(
            subject, f"leaves must be different paths, one key per column, at most {MOST_LEAVES:,}",
            got={"columns": columns, "leaves": len(leaves)},
            why="A hierarchy is public: it must be known before the data are seen, never taken from them.",
            hint='leaves=[("north", "a"), ("north", "b"), ("south", "c")]',
        )  # fmt: skip
    levels = [tuple(dict.fromkeys(column)) for column in zip(*paths, strict=True)]
    if math.prod(map(len, levels)) > MOST_COMBINATIONS:
        raise ParameterError(
            subject, f"keys of all columns multiply to at most {MOST_COMBINATIONS:.0e}", got={"columns": columns},
            hint="fewer columns: a column of unique leaves needs no columns between it and the levels that are asked",
        )  # fmt: skip
    checked_levels(subject, columns, levels, other=False)
    first: dict[Keys, int] = {}
    for path in paths:
        for size in range(1, len(columns) + 1):
            first.setdefault(path[:size], len(first))
    return tuple(
        sorted(paths, key=lambda path: tuple(first[path[:size]] for size in range(1, len(path) + 1)))
    )


@lru_cache(maxsize=16)
def _nodes(leaves: tuple[Keys, ...], size: int) -> tuple[tuple[Keys, ...], NDArray[np.int64]]:
    """The nodes of a level, and for each leaf the place of its node."""
    places: dict[Keys, int] = {}
    found = [places.setdefault(leaf[:size], len(places)) for leaf in leaves]
    return tuple(places), np.array(found, np.int64)


def nodes(leaves: Iterable[Iterable[str | int]], size: int) -> tuple[Keys, ...]:
    """The nodes of a level by their keys from the top, in the order of the answer.

    Example:
        >>> nodes([("north", "a"), ("north", "b"), ("south", "c")], 1)
        (('north',), ('south',))
    """
    return _nodes(tuple(tuple(leaf) for leaf in leaves), size)[0]


@lru_cache(maxsize=16)
def _tree(leaves: tuple[Keys, ...], sizes: tuple[int, ...]) -> CountTree:
    """Children per node between the levels of some sizes."""
    levels = [nodes(leaves, size) for size in sizes]
    children = []
    for above, below, size in zip(levels, levels[1:], sizes, strict=False):
        many = dict.fromkeys(above, 0)
        for node in below:
            many[node[:size]] += 1
        children.append(tuple(many.values()))
    return CountTree(len(levels[0]), tuple(children))


@lru_cache(maxsize=16)
def _codes(leaves: tuple[Keys, ...], levels: tuple[Keys, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of the paths in mixed radix, ascending, and the leaf of each."""
    found = np.zeros(len(leaves), np.int64)
    for column, level in zip(zip(*leaves, strict=True), levels, strict=True):
        places = {key: place for place, key in enumerate(level)}
        found = found * len(level) + np.array([places[key] for key in column], np.int64)
    order = np.argsort(found, kind="stable")
    return found[order], order
