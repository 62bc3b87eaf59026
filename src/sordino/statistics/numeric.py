"""Fields that every statistic of one numeric column shares. No mathematics."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from sordino.errors import ParameterError
from sordino.privacy import Neighbors
from sordino.reading.row_lattice import BITS, RowLattice
from sordino.reading.traits import Trait
from sordino.statistics import Statistic

if TYPE_CHECKING:
    from fractions import Fraction

    from sordino.lattice import Lattice


@lru_cache(maxsize=512, typed=True)
def _grid(
    low: float, high: float, bits: int, missing: float | str | None, step: Fraction | float | None
) -> RowLattice:
    """Grids are public and immutable, and every reading asks for its own several times."""
    return RowLattice(low, high, bits=bits, missing=missing, step=step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numeric(Statistic):
    """A statistic of one numeric column with public bounds.

    Args:
        column: Name of the column.
        low: Public lower bound; rows below it are clamped to it.
        high: Public upper bound; rows above it are clamped to it.
        step: The lattice on which the data live, when they live on one (1 for ages, 0.01 for pay).
        missing: What a row that is not a number counts as: a number, or ``"drop"``. Without one it counts as 0, or as
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

    def shows(self) -> tuple[Trait, ...]:
        """Reachable intervals between public bounds."""
        return () if self.vector else (Trait.REACH, Trait.RANGE)

    def check(self) -> None:
        """Refuse parameters outside their domain; subclasses add their own."""
        self.check_relation()
        try:
            RowLattice(self.low, self.high, bits=self.bits, missing=self.missing, step=self.step)
        except ParameterError as error:  # speak of the statistic that was asked for
            raise ParameterError(
                self.name, error.rule, got=error.got, why=error.why, hint=error.hint
            ) from None

    @property
    def grid(self) -> RowLattice:
        """The public lattice of the rows."""
        return _grid(self.low, self.high, self.bits, self.missing, self.step)

    @property
    def units(self) -> Lattice:
        """Values are counted in the steps of the rows."""
        return self.grid.endless
