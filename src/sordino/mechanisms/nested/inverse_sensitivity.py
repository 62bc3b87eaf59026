"""Inverse sensitivity and staircase on a public lattice of answers, with any public base measure.

The exponential mechanism on the number of rows that must change; tied values keep their atoms. Theorem: nested.py.
How measures are chosen for quantiles is quantile_plan.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sordino import checks
from sordino.errors import Unsupported
from sordino.mechanisms import Answer
from sordino.mechanisms.nested.intervals import Intervals, lattice_cells
from sordino.mechanisms.nested.nested import STAIRCASE, Nested
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.law import LatticeLaw
from sordino.mechanisms.parts.measure import Measure
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Opened, Reading
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class InverseSensitivity(Nested):
    """The exponential mechanism on the number of rows that must change, over a public lattice of answers.

    Tied data keep their atom: on a constant column the answer is the constant. With ``threshold`` between 0 and 1 the
    inner part of each interval counts as one row nearer (the staircase, a little better than the plain form).

    Args:
        threshold: Where the staircase steps; 0 is the plain inverse sensitivity.
        measure: Public base measure over lattice points ``0..last`` from the bottom of the range; uniform if None.

    Example:
        >>> from sordino.privacy import Pure
        >>> InverseSensitivity(price=Pure(1)).threshold
        Fraction(1, 2)
    """

    threshold: Fraction = Fraction(1, 2)
    measure: Measure | None = None

    name: ClassVar[str] = "inverse-sensitivity"

    @classmethod
    def preferred(cls, price: Guarantee) -> bool:
        """Where the price is high the staircase is better."""
        return price.bounded_range > STAIRCASE

    def __post_init__(self) -> None:
        Nested.__post_init__(self)
        object.__setattr__(
            self, "threshold", checks.between(self.name, 0, 1, closed=True, threshold=self.threshold)
        )

    def refusal(self, statistic: Statistic) -> str | None:
        """A base measure of one's own must cover the answers of the statistic, known before the data are read."""
        reason = Nested.refusal(self, statistic)
        if reason or self.measure is None:
            return reason
        fits = Trait.COLUMN in statistic.traits and self.measure.last == statistic.grid.last  # type: ignore[attr-defined]
        return None if fits else "Its base measure does not cover the lattice of the statistic."

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:  # noqa: ARG002
        """The lattice of the statistic."""
        return {"value": statistic.units}

    def law(self, reading: Reading) -> LatticeLaw:
        """Probabilities of the lattice points."""
        opened = reading.open()
        return lattice_law(self._intervals(opened), opened, self.threshold, self.slope, self.measure)

    def draw(self, reading: Reading, grid: Lattice, *, bits: Bits | None = None) -> Answer:  # noqa: ARG002
        """Draw a lattice point; the lattice of the data is the grid."""
        from sordino.mechanisms.parts.rings import Rings

        opened, draws = reading.open(), Draws.of(bits)
        family, first, measure = on_lattice(self._intervals(opened), self.measure)
        rings = Rings.of(family, self.threshold)
        if rings is None:  # a lattice beyond 64 bits: cell by cell
            cells = lattice_cells(family, self.threshold)
            point = draws.cells(cells, measure, self.slope, price=self.price)
        else:
            (point,) = draws.lattice(rings, measure, self.slope, price=self.price)
        return Answer(opened.units.real(first) + opened.units.step * point)


def on_lattice(family: Intervals, measure: Measure | None) -> tuple[Intervals, int, Measure]:
    """The family counted from the first lattice point of its range, that point, and the base measure over the range."""
    first = math.ceil(family.first)
    last = max(math.floor(family.last) - first, 0)
    moved = family
    if first:
        moved = Intervals(
            tuple(end - first for end in family.low),
            tuple(end - first for end in family.high),
            family.first - first,
            family.last - first,
        )
    base = Measure.uniform(last) if measure is None else measure
    if base.last != last:
        raise Unsupported(
            "inverse sensitivity",
            "the base measure must cover the lattice of the statistic",
            got={"measure": base, "points": last + 1},
        )
    return moved, first, base


def lattice_law(
    family: Intervals, opened: Opened, threshold: Fraction, slope: Fraction, measure: Measure | None
) -> LatticeLaw:
    """The law on lattice points ``0..last`` counted from the bottom of the range."""
    moved, first, base = on_lattice(family, measure)
    return LatticeLaw(
        lattice_cells(moved, threshold), base, slope, low=opened.units.real(first), step=opened.units.step
    )
