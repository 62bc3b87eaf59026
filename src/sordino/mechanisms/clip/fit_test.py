"""Do the declared bounds fit? A noisy threshold on the rows at both ends, with one price for each outcome.

Rows in the lowest and in the highest third of the range say that no short interval holds the column. The noise falls
faster above the threshold than below it, so "loose" costs next to nothing and "fits" a little.
Proof: docs/proofs/mechanism_auto_clip.md. The mean that asks is auto_clip.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sordino.exact.bits import Bits
from sordino.exact.compare import NoisyReal
from sordino.exact.exponential import ExponentialRecipe

if TYPE_CHECKING:
    from sordino.lattice import RowLattice


@dataclass(frozen=True, slots=True)
class FitTest:
    """The data-free half of the test: count plus noise against a public threshold.

    The noise is positive with probability ``below / (above + below)``, and then exponential of rate ``above``;
    otherwise negative and exponential of rate ``below``.

    Attributes:
        threshold: Public number of rows.
        above: Nats per row of the outcome "fits": what that outcome costs.
        below: Nats per row of the outcome "loose": what that outcome costs.

    Example:
        >>> test = FitTest(Fraction(100), Fraction(3, 10), Fraction(1, 10))
        >>> [round(test.probability(count), 6) for count in (50, 100, 150)]
        [0.0, 0.25, 0.994947]
    """

    threshold: Fraction
    above: Fraction
    below: Fraction

    def probability(self, count: int) -> float:
        """Probability of "fits" when so many rows lie at either end."""
        return self.chances(count)[1]

    def chances(self, count: int) -> tuple[float, float]:
        """Probabilities of "loose" and of "fits", each accurate however small."""
        above, below = float(self.above), float(self.below)
        gap = float(count - self.threshold)
        if gap < 0:
            fits = below / (above + below) * math.exp(above * gap)
            return 1 - fits, fits
        loose = above / (above + below) * math.exp(-below * gap)
        return loose, 1 - loose

    def passes(self, count: int, *, bits: Bits | None = None) -> bool:
        """Draw the outcome, exactly; the count is private, the outcome is released.

        Example:
            >>> from sordino.exact.bits import SeededBits
            >>> FitTest(Fraction(100), Fraction(1), Fraction(1)).passes(500, bits=SeededBits(1))
            True
        """
        source = Bits() if bits is None else bits
        gap = count - self.threshold
        part = self.below / (self.above + self.below)
        upwards = source.below(part.denominator) < part.numerator
        rate = self.above if upwards else self.below
        beyond = NoisyReal(ExponentialRecipe(), location=Fraction(0), scale=1 / rate, bits=source).exceeds(
            abs(gap)
        )
        if upwards:
            return gap >= 0 or beyond
        return gap >= 0 and not beyond


def end_cuts(grid: RowLattice) -> tuple[int, int]:
    """Codes that cut off the lowest and the highest third of a range."""
    third = grid.last // 3
    return third + 1, grid.last - third


def rows_at_ends(below: tuple[int, int], rows: int) -> int:
    """The smaller of the numbers of rows in the two outer thirds, from the counts below `end_cuts`; private."""
    return min(below[0], rows - below[1])
