"""Fields that every statistic of one numeric column shares. No mathematics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sordino.privacy import Neighbors
from sordino.source import BITS, Grid
from sordino.statistics import Statistic

if TYPE_CHECKING:
    from fractions import Fraction

    from sordino.profile import Units


@dataclass(frozen=True, slots=True, kw_only=True)
class Numeric(Statistic):
    """A statistic of one numeric column with public bounds.

    Args:
        column: Name of the column.
        low: Public lower bound; rows below it count as ``low``.
        high: Public upper bound; rows above it count as ``high``.
        step: The lattice on which the data live, when they live on one (1 for ages, 0.01 for pay).
        missing: What a row that is no number counts as: a number, or ``"drop"``. Without one it counts as 0, or as
            the bound nearer to 0. Dropping makes the number of rows private.
        bits: Resolution of the lattice when no step is declared.
        neighbors: Which two datasets are neighbours.
    """

    column: str = field(kw_only=False)
    low: float
    high: float
    step: Fraction | float | None = None
    missing: float | str | None = None
    bits: int = BITS
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Refuse parameters outside their domain; subclasses add their own."""
        self.check_relation()
        self.grid  # noqa: B018  a grid checks itself

    @property
    def grid(self) -> Grid:
        """The public lattice of the rows."""
        return Grid(self.low, self.high, bits=self.bits, missing=self.missing, step=self.step)

    @property
    def units(self) -> Units:
        """Values are counted in the steps of the rows."""
        return self.grid.units
