"""Counts of every combination of public levels, and the sums over some of its axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.privacy import Neighbors
from sordino.reading.combinations import Combinations
from sordino.reading.formula import Formula, column_name, own_groups
from sordino.reading.profile import Opened, Profile
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Case, Statistic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sordino.reading.requests import Summary

LARGEST = 4_000_000
"""Cells of a table that is drawn whole; larger ones are for `SparseTable`."""

MOST_AXES = 6
OTHER = "(other)"


def column_names(given: Any) -> tuple[str, ...]:
    """One column by its name, or several; derived ones by what they are written as.

    Example:
        >>> column_names("region"), column_names(["region", "sex"])
        (('region',), ('region', 'sex'))
    """
    one = isinstance(given, str | Formula)
    return (column_name(given),) if one else tuple(map(column_name, given))


def different_columns(name: str, given: Any, hint: str) -> tuple[str, ...]:
    """The names of columns, or an error: at least one, and none twice."""
    columns = column_names(given)
    if not columns or len(set(columns)) < len(columns):
        raise ParameterError(
            name, "columns must be different, and at least one", got={"columns": columns}, hint=hint
        )
    return columns


def checked_levels(
    subject: str, columns: tuple[str, ...], levels: Any, *, other: bool
) -> tuple[tuple[str | int, ...], ...]:
    """The levels of every column: each a list of different texts or of different whole numbers, known beforehand.

    Derived columns of bins and mappings have levels of their own: a mapping may leave them out.
    """
    if isinstance(levels, Mapping):
        named = {column_name(name): level for name, level in levels.items()}
        listed = (
            [] if set(named) - set(columns) else [named.get(name) or own_groups(name) for name in columns]
        )
    else:
        listed = list(levels)
    rule = "levels must name, for every column, different texts or different whole numbers"
    found = []
    for level in listed:
        if level is None or isinstance(level, str) or not hasattr(level, "__iter__"):
            break
        keys = tuple(one.item() if hasattr(one, "item") else one for one in level)
        checks.texts("levels", keys)
        same = len({type(one) for one in keys}) == 1 and len(set(keys)) == len(keys)
        if not same or not all(isinstance(one, str | int) and not isinstance(one, bool) for one in keys):
            break
        if other and OTHER in keys:
            break
        found.append(keys)
    if len(found) != len(columns):
        raise ParameterError(
            subject, rule, got={"columns": columns},
            why="Levels are public: they must be known before the data are seen, never taken from them.",
            hint='levels={"region": ["north", "south"], "sex": ["f", "m"]}',
        )  # fmt: skip
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosstab(Statistic):
    """A table of counts over public levels with its margins, which add up in what is released.

    Args:
        columns: The axes.
        levels: Public keys of each axis: a mapping from columns, or a list in their order. Rows with other keys are
            left out, unless ``other`` is set.
        margins: The sets of axes whose sums are asked for, the empty one for the total; all of them by default.
        weights: How much the squared error of each margin counts when the price is split; equally by default.
        negative: ``"kept"`` leaves cells as they are drawn, unbiased and with bars; ``"projected"`` fits the table
            without negative cells that is nearest to what was drawn.
        other: Adds a level ``(other)`` to every axis, for all rows with a key that is not listed: then every row is in
            the table, and under replace-one its total is public and exact.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> table = Crosstab(("region", "sex"), levels={"region": ["n", "s"], "sex": ["f", "m"]})
        >>> table.margins
        ((), ('region',), ('sex',), ('region', 'sex'))
        >>> table.define([("n", "f"), ("n", "m"), ("s", "f")])
        (3, 2, 1, 2, 1, 1, 1, 1, 0)
    """

    name: ClassVar[str] = "crosstab"
    suits: ClassVar[tuple[str, ...]] = ("margins",)
    tallies: ClassVar[bool] = True
    vector: ClassVar[bool] = True

    columns: tuple[str, ...] = field(kw_only=False, metadata={"positional": True})
    levels: tuple[tuple[str | int, ...], ...]
    margins: tuple[tuple[str, ...], ...] | str = "all"
    weights: tuple[float, ...] | None = None
    negative: str = "kept"
    other: bool = False
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    def __post_init__(self) -> None:
        self.check_relation()
        assign = object.__setattr__
        columns = column_names(self.columns)
        if not columns or len(set(columns)) < len(columns) or len(columns) > MOST_AXES:
            raise ParameterError(
                self.name, f"columns must be different, one to {MOST_AXES}", got={"columns": columns},
                hint='sd.Crosstab(("region", "sex"), levels={...})',
            )  # fmt: skip
        assign(self, "columns", columns)
        assign(self, "levels", checked_levels(self.name, columns, self.levels, other=bool(self.other)))
        assign(self, "margins", self._margins())
        checks.one_of(self.name, ("kept", "projected"), negative=self.negative)
        if self.weights is not None:
            assign(
                self, "weights", tuple(float(checks.positive(self.name, weight=one)) for one in self.weights)
            )
            if len(self.weights) != len(self.margins):
                raise ParameterError(
                    self.name, "weights must be one per margin", got={"margins": len(self.margins)},
                    hint="leave weights out: all margins count alike",
                )  # fmt: skip
        if math.prod(self.sizes) > LARGEST:
            raise ParameterError(
                self.name, f"a table has at most {LARGEST:,} cells", got={"cells": math.prod(self.sizes)},
                why="All of them are drawn and added up.",
                hint="sd.SparseTable(...) lists the cells that stand out of any number of cells",
            )  # fmt: skip

    def _margins(self) -> tuple[tuple[str, ...], ...]:
        given: Any = self.margins
        if given == "all":
            places = range(len(self.columns))
            return tuple(
                tuple(self.columns[place] for place in chosen)
                for size in range(len(self.columns) + 1)
                for chosen in itertools.combinations(places, size)
            )
        asked = (
            []
            if isinstance(given, str)
            else [(one,) if isinstance(one, str) else tuple(one) for one in given]
        )
        sets = [frozenset(one) for one in asked]
        fine = all(
            one <= set(self.columns) and len(one) == len(axes) for one, axes in zip(sets, asked, strict=True)
        )
        if not asked or not fine or len(set(sets)) < len(sets):
            raise ParameterError(
                self.name, "margins must be different sets of the columns, or 'all'", got={"margins": given},
                hint='margins=[(), ("region",), ("region", "sex")]; the empty one is the total',
            )  # fmt: skip
        return tuple(tuple(name for name in self.columns if name in one) for one in sets)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Levels per axis, with the one for all others."""
        return tuple(len(level) + int(self.other) for level in self.levels)

    @property
    def axes(self) -> tuple[tuple[int, ...], ...]:
        """The margins by the numbers of their axes."""
        return tuple(tuple(self.columns.index(name) for name in margin) for margin in self.margins)

    @property
    def traits(self) -> frozenset[Trait]:
        """A table with margins, and nothing else: noise on every number by itself would not add up."""
        return frozenset({Trait.MARGINS})

    @property
    def step_size(self) -> int:
        """How far one row moves all margins, in the sum norm."""
        many = len(self.margins)
        if self.neighbors is Neighbors.ADD_REMOVE_ONE:
            return many
        moving = sum(any(self.sizes[axis] > 1 for axis in axes) for axes in self.axes)
        return 2 * moving if self.other else max(2 * moving, many)

    @property
    def euclidean(self) -> Fraction | None:
        """The same in the Euclidean norm, rounded up."""
        return Fraction(math.isqrt(self.step_size * 10**18) + 1, 10**9)

    def request(self, *, depth: int = DEPTH) -> Combinations:
        """The occupied cells."""
        return Combinations(self.columns, levels=self.levels, other=self.other, depth=depth)

    def counts(self, summary: Summary) -> NDArray[np.int64]:
        """The whole table; private."""
        assert summary.codes is not None
        table = np.zeros(math.prod(self.sizes), np.int64)
        table[summary.codes[0]] = summary.codes[1]
        return table.reshape(self.sizes)

    def flat(self, table: NDArray[Any]) -> list[Any]:
        """All cells of the margins that are asked for, in their order."""
        found: list[Any] = []
        for axes in self.axes:
            others = tuple(axis for axis in range(len(self.sizes)) if axis not in axes)
            found += np.asarray(table.sum(axis=others)).reshape(-1).tolist()
        return found

    def define(self, rows: Sequence[Any]) -> tuple[int, ...]:
        """Count row by row."""
        table = np.zeros(self.sizes, np.int64)
        for row in rows:
            keys = row if len(self.columns) > 1 else (row,)
            places = [
                level.index(key) if key in level else len(level)
                for level, key in zip(self.levels, keys, strict=True)
            ]
            if self.other or all(
                place < len(level) for place, level in zip(places, self.levels, strict=True)
            ):
                table[tuple(places)] += 1
        return tuple(self.flat(table))

    def open(self, summary: Summary) -> Opened:
        """The counts as they are."""
        counts = tuple(self.flat(self.counts(summary)))
        return Opened(counts, self.units, Profile.constant(self.step_size), None, summary.rows, counts=counts)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Two axes, a row outside, both relations, open and closed."""
        levels = (("a", "b"), ("u", "v", "w"))
        rows = (("a", "u"), ("a", "v"), ("b", "w"), ("b", "?"))
        for relation in cls.relations:
            for other in (False, True):
                statistic = cls(("x", "y"), levels=levels, other=other, neighbors=relation)
                yield Case(statistic, rows, (1, 2), columns=("x", "y"))
