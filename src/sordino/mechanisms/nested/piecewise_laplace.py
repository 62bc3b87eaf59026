"""The piecewise Laplace mechanism of Durfee 2025: Laplace noise whose scale follows the reachable intervals.

The answer is a real number, drawn exactly and rounded to the public grid. Theorem: nested.py. On tied data the tied
value has probability zero here; inverse_sensitivity.py keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sordino.mechanisms import Answer
from sordino.mechanisms.nested.intervals import Interpolation, line_pieces
from sordino.mechanisms.nested.nested import STAIRCASE, Nested
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.law import Piece, PieceLaw

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class PiecewiseLaplace(Nested):
    """Laplace noise whose scale follows the local sensitivity, interval by interval (Durfee 2025).

    Example:
        >>> from sordino.privacy import Pure
        >>> PiecewiseLaplace(price=Pure(1)).slope
        Fraction(1, 2)
    """

    name: ClassVar[str] = "piecewise-laplace"

    @classmethod
    def preferred(cls, price: Guarantee) -> bool:
        """Up to a bounded range of three the linear form is as good as any."""
        return price.bounded_range <= STAIRCASE

    def _pieces(self, reading: Reading) -> list[Piece]:
        opened = reading.open()
        pieces = line_pieces(self._intervals(opened), Interpolation.linear())
        real, length = opened.units.real, opened.units.length
        if not pieces:  # a range of one point: nothing to choose
            point = real(opened.value)
            return [Piece(point - length(1) / 2, point + length(1) / 2, 0, 0, 0)]
        return [
            Piece(real(piece.left), real(piece.right), piece.level, piece.rise, piece.side)
            for piece in pieces
        ]

    def law(self, reading: Reading) -> PieceLaw:
        """Density of the answer before it is rounded to the grid."""
        return PieceLaw(self._pieces(reading), self.slope)

    def draw(self, reading: Reading, grid: Lattice, *, bits: Bits | None = None) -> Answer:
        """Draw a point of the line and round it to the grid."""
        pieces = self._pieces(reading)
        return Answer(grid.step * Draws.of(bits).line(pieces, self.slope, grid=grid, price=self.price))
