"""The means of several columns of the same rows, as one answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.errors import ParameterError
from sordino.privacy import Neighbors
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Case, Statistic
from sordino.statistics.crosstab import different_columns
from sordino.statistics.mean import Mean
from sordino.statistics.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from sordino.lattice import RowLattice
    from sordino.reading.profile import Opened
    from sordino.reading.requests import Bundle, Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Means(Statistic):
    """The means of several columns: one row moves all of them at once, each by at most its width over the rows.

    A vector of d means with noise for that costs less than d means with a part of the price each.

    Args:
        columns: The columns.
        low: Public lower bound of each column, or one for all.
        high: Public upper bound of each column, or one for all.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> asked = Means(("age", "hours"), low=0, high=(100, 60))
        >>> asked.high, len(asked.parts)
        ((100.0, 60.0), 2)
    """

    name: ClassVar[str] = "means"
    suits: ClassVar[tuple[str, ...]] = ("box-means", "cube")
    vector: ClassVar[bool] = True
    norm: ClassVar[float] = math.inf

    columns: tuple[str, ...] = field(kw_only=False, metadata={"positional": True})
    low: tuple[float, ...]
    high: tuple[float, ...]
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    def __post_init__(self) -> None:
        self.check_relation()
        columns = different_columns(
            self.name, self.columns, 'sd.Means(("age", "income"), low=0, high=(100, 500_000))'
        )
        object.__setattr__(self, "columns", columns)
        for name in ("low", "high"):
            given = getattr(self, name)
            ends = tuple(given) if isinstance(given, tuple | list) else (given,) * len(columns)
            if len(ends) == 1:
                ends = ends * len(columns)
            if len(ends) != len(columns):
                raise ParameterError(
                    self.name, f"{name} must be one number, or one per column", got={name: given},
                    hint="low=0, high=(100, 500_000)",
                )  # fmt: skip
            object.__setattr__(self, name, ends)
        parts = [Mean(c, low=a, high=b) for c, a, b in zip(columns, self.low, self.high, strict=True)]
        object.__setattr__(self, "low", tuple(part.grid.low for part in parts))
        object.__setattr__(self, "high", tuple(part.grid.high for part in parts))

    @property
    def parts(self) -> tuple[Mean, ...]:
        """The means one by one."""
        return tuple(
            Mean(column, low=low, high=high, neighbors=self.neighbors)
            for column, low, high in zip(self.columns, self.low, self.high, strict=True)
        )

    @property
    def grids(self) -> tuple[RowLattice, ...]:
        """The lattice of each column."""
        return tuple(part.grid for part in self.parts)

    @property
    def dimension(self) -> int:
        """How many numbers it is."""
        return len(self.columns)

    def shows(self) -> tuple[Trait, ...]:
        """One row moves every mean at once."""
        return (Trait.CUBE,)

    @property
    def _vector(self) -> Vector:
        return Vector(self.parts, order=math.inf)

    def request(self, *, depth: int = DEPTH) -> Bundle:
        """The requests of the means."""
        return self._vector.request(depth=depth)

    def define(self, rows: Sequence[Any]) -> tuple[Fraction, ...]:
        """Each mean by itself, in real units."""
        return self._vector.define([row if self.dimension > 1 else (row,) for row in rows])

    def open(self, summary: Summary) -> Opened:
        """Values in real units, and the largest of the bounds."""
        return self._vector.open(summary)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Two columns of different widths, both relations."""
        rows = tuple((a, b) for a in (0.0, 1.0, 4.0) for b in (-1.0, 1.0))
        for relation in cls.relations:
            yield Case(
                cls(("u", "v"), low=(0, -1), high=(4, 1), neighbors=relation),
                rows,
                (1, 2),
                columns=("u", "v"),
            )
