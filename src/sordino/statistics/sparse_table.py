"""Which cells of a large public table have people, and how many: of any number of cells, few of them filled."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.privacy import Neighbors
from sordino.reading.combinations import Combinations
from sordino.reading.profile import Opened, Profile
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Case, Statistic
from sordino.statistics.crosstab import checked_levels, different_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.reading.requests import Summary

LARGEST = 10**15
"""Cells whose numbers are exact in every engine."""

READ_WHOLE = 10**6
"""Cells of a table that may be read as one vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseTable(Statistic):
    """The cells of a public table that stand out of the noise.

    Args:
        columns: The axes.
        levels: Public keys of each axis: a mapping from columns, or a list in their order. Rows with other keys are
            left out.
        false_cells: How many empty cells are shown on average; with it the threshold is fixed beforehand. Without it
            (the default, for up to a million cells) the threshold is the one with the least estimated squared error,
            found from the noisy table itself.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> SparseTable(("x", "y"), levels=((1, 2), (5, 6))).define([(1, 5), (1, 5), (2, 6), (3, 5)])
        (2, 0, 0, 1)
    """

    name: ClassVar[str] = "sparse-table"
    suits: ClassVar[tuple[str, ...]] = ("high-pass",)
    tallies: ClassVar[bool] = True
    vector: ClassVar[bool] = True

    columns: tuple[str, ...] = field(kw_only=False, metadata={"positional": True})
    levels: tuple[tuple[str | int, ...], ...]
    false_cells: float | None = None
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    def __post_init__(self) -> None:
        self.check_relation()
        columns = different_columns(self.name, self.columns, 'sd.SparseTable(("zip", "code"), levels={...})')
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "levels", checked_levels(self.name, columns, self.levels, other=False))
        if self.false_cells is not None:
            checks.positive(self.name, hint="false_cells=1", false_cells=self.false_cells)
            object.__setattr__(self, "false_cells", float(self.false_cells))
        if self.cells > LARGEST:
            raise ParameterError(
                self.name, f"a table has at most {LARGEST:.0e} cells", got={"cells": self.cells},
                hint="fewer columns, or coarser levels",
            )  # fmt: skip

    @property
    def sizes(self) -> tuple[int, ...]:
        """Levels per axis."""
        return tuple(len(level) for level in self.levels)

    @property
    def cells(self) -> int:
        """Cells of the public table."""
        return math.prod(self.sizes)

    @property
    def traits(self) -> frozenset[Trait]:
        """A table too large for noise on every cell."""
        return frozenset({Trait.CELLS})

    def named(self, cell: int) -> tuple[str | int, ...]:
        """The keys of a cell.

        Example:
            >>> SparseTable(("x", "y"), levels=((1, 2), ("a", "b", "c"))).named(4)
            (2, 'b')
        """
        keys: list[str | int] = []
        for level in reversed(self.levels):
            cell, place = divmod(cell, len(level))
            keys.append(level[place])
        return tuple(reversed(keys))

    def request(self, *, depth: int = DEPTH) -> Combinations:
        """The occupied cells."""
        return Combinations(self.columns, levels=self.levels, depth=depth)

    def define(self, rows: Sequence[Any]) -> tuple[int, ...]:
        """Count row by row."""
        table = np.zeros(self.sizes, np.int64)
        for row in rows:
            keys = row if len(self.columns) > 1 else (row,)
            if all(key in level for key, level in zip(keys, self.levels, strict=True)):
                table[tuple(level.index(key) for key, level in zip(keys, self.levels, strict=True))] += 1
        return tuple(table.reshape(-1).tolist())

    def open(self, summary: Summary) -> Opened:
        """The counts as they are, of a table that is not too large."""
        assert summary.codes is not None
        if self.cells > READ_WHOLE:
            raise ParameterError(self.name, "is too large to be read as a vector", got={"cells": self.cells})
        table = np.zeros(self.cells, np.int64)
        table[summary.codes[0]] = summary.codes[1]
        counts = tuple(table.tolist())
        ceiling = 2 if self.neighbors is Neighbors.REPLACE_ONE else 1
        return Opened(counts, self.units, Profile.constant(ceiling), None, summary.rows, counts=counts)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Filled and empty cells and a row outside, both relations, both ways to find the threshold."""
        rows = (("a", "u"), ("a", "v"), ("b", "v"), ("b", "?"))
        for relation in cls.relations:
            for false in (None, 0.5):
                world = cls(
                    ("x", "y"), levels=(("a", "b"), ("u", "v")), false_cells=false, neighbors=relation
                )
                yield Case(world, rows, (1, 2), columns=("x", "y"))
