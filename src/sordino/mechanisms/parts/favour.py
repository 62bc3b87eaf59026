"""What a caller knows of where a column lies, as a factor on base measures: large about a hinted centre, one far away.

A measure that has been multiplied has the same shape as before wherever the factor is flat, and is nowhere heavier far
away than it was: a true hint takes mass from far answers only (docs/proofs/hints.md). Public numbers only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sordino import checks
from sordino.mechanisms.tuned import ForHints

if TYPE_CHECKING:
    from sordino.lattice import FiniteLattice
    from sordino.mechanisms.parts.measure import Measure


@dataclass(frozen=True, slots=True)
class Favour:
    """A step function of whole numbers on the points ``0..last``: highest on a plateau, falling by octaves to one.

    Attributes:
        starts: First points of its steps; ``starts[0]`` is 0.
        factors: Its values there.

    Example:
        >>> from sordino.lattice import FiniteLattice
        >>> from sordino.mechanisms.parts.measure import Measure
        >>> lattice = FiniteLattice(Fraction(0), Fraction(1), 1000)
        >>> favour = Favour.about(lattice, centre=40, spread=1, quantile=0.5)
        >>> measure = favour.on(Measure.uniform(1000))
        >>> measure.mass(40, 40) == measure.mass(35, 35) > measure.mass(60, 60) > measure.mass(999, 999) == 1
        True
    """

    starts: tuple[int, ...]
    factors: tuple[int, ...]

    @classmethod
    def about(
        cls, lattice: FiniteLattice, *, centre: checks.Number, spread: checks.Number, quantile: float
    ) -> Favour:
        """Where a quantile of a column with this mean and deviation must lie, both wrong by a factor of three.

        By Cantelli's inequality the quantile is at most ``sqrt(q / (1 - q))`` deviations above the mean and at most
        ``sqrt((1 - q) / q)`` below it.

        Args:
            lattice: The public answers.
            centre: A guess of the mean, wrong by a deviation at most.
            spread: A guess of the deviation, wrong threefold at most.
            quantile: Which quantile, from 0 to 1.
        """
        unit = ForHints.WRONG * checks.positive("hints", spread=spread) / lattice.step
        place = (Fraction(centre) - lattice.origin) / lattice.step
        odds = [q / (1 - q) if q < 1 else math.inf for q in (1 - quantile, quantile)]
        below, above = (unit * Fraction(1 + min(math.sqrt(odd), ForHints.FARTHEST)) for odd in odds)
        steps = [
            (math.ceil(place - below * 2**ring), math.floor(place + above * 2**ring))
            for ring in range(ForHints.FALLS)
        ]
        ends = {end for low, high in steps for end in (low, high + 1)}
        starts = sorted({0, *(end for end in ends if 0 < end <= lattice.last)})
        rings = [sum(not low <= start <= high for low, high in steps) for start in starts]
        return cls(tuple(starts), tuple(1 << ForHints.FALL * (ForHints.FALLS - ring) for ring in rings))

    @property
    def nats(self) -> float:
        """How much it varies."""
        return math.log(max(self.factors) / min(self.factors))

    def on(self, measure: Measure) -> Measure:
        """A measure times this."""
        return measure.times(self.starts, self.factors)
