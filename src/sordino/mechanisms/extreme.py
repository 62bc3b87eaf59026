"""Minimum and maximum: the exponential mechanism on the number of rows beyond the answer.

That number moves in one direction only when a row changes, so a row counts a whole bounded range instead of half of
one, as in tail_search.py. The base measure is planned without data (extreme_plan.py).
Proof: docs/proofs/mechanism_extreme.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from sordino import checks
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.extreme_plan import ExtremePlan, plan_extreme
from sordino.mechanisms.law import Cell, LatticeLaw
from sordino.mechanisms.nested_mechanism import NATS, intervals_of
from sordino.mechanisms.price import bounded_range

if TYPE_CHECKING:
    from fractions import Fraction

    from sordino.exact.bits import Bits
    from sordino.exact.grid import Grid
    from sordino.mechanisms import Asking
    from sordino.mechanisms.quantile_plan import Lattice
    from sordino.privacy import Guarantee
    from sordino.profile import Opened, Reading
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme(Mechanism):
    """The smallest or largest row, on a public lattice.

    Args:
        price: What the answer costs.
        lattice: The public answers.
        upper: The largest row; the smallest otherwise.
        rows: Public number of rows, or a declared rough one (it steers the measure, not the promise).
        centre: Public guess of the middle of the column.
        spread: Public guess of its spread.
        tight: The caller vouches that the bounds fit the column.

    Example:
        >>> from fractions import Fraction
        >>> from sordino.mechanisms.quantile_plan import Lattice
        >>> from sordino.privacy import Pure
        >>> lattice = Lattice(Fraction(0), Fraction(1), 120)
        >>> Extreme(price=Pure(1), lattice=lattice, upper=True, rows=1001).trusted
        True
    """

    price: Guarantee
    lattice: Lattice
    upper: bool
    rows: int
    centre: float | None = None
    spread: float | None = None
    tight: bool = False

    name: ClassVar[str] = "extreme"
    needs: ClassVar[tuple[str, ...]] = ("reach",)
    proof: ClassVar[str] = "mechanism_extreme"

    def __post_init__(self) -> None:
        checks.whole(self.name, rows=self.rows)
        bounded_range(self.price)

    @property
    def guarantee(self) -> Guarantee:
        """The price: the slope was chosen to spend all of it."""
        return self.price

    @property
    def plan(self) -> ExtremePlan:
        """Measure and spared rows; public."""
        return plan_extreme(
            self.lattice, upper=self.upper, strength=bounded_range(self.price), rows=self.rows,
            centre=self.centre, spread=self.spread, tight=self.tight,
        )  # fmt: skip

    @property
    def trusted(self) -> bool:
        """False when rows times the price are too few to find the scale of the column within these bounds."""
        return self.plan.trusted

    @property
    def depth(self) -> int:
        """Rows beyond which the mass does not matter; more than all rows there is nothing to see."""
        plan = self.plan
        enough = plan.spared + math.ceil((NATS + plan.nats) / self.slope(1))
        return min(enough, 2 * self.rows + 64)

    def slope(self, contribution: int) -> Fraction:
        """Nats per row, or per person with several rows: these may move in both directions, which costs twice."""
        once = bounded_range(self.price)
        return once if contribution == 1 else once / 2

    def cells(self, opened: Opened, contribution: int = 1) -> list[Cell]:
        """Lattice points by the number of rows beyond them, the spared ones not counted.

        Nothing lies beyond an answer once all rows are gone. The reach of a minimum under add/remove takes one step
        more there (the empty table counts as the lower bound), which would not move in one direction only.
        """
        family, spared = intervals_of(opened), self.plan.spared
        first, last = math.ceil(family.first), math.floor(family.last)
        # family.low[l] is the largest row once l rows are gone; the family closes with the range itself.
        if self.upper:
            ends = [last + 1, *(int(low) for low in family.low[spared:]), first]
            cells = [Cell(start, after - 1, level) for level, (after, start) in enumerate(pairwise(ends))]
            cells.reverse()
        else:
            highs = [int(high) for high in family.high]
            if contribution == 1:
                highs[opened.rows :] = [last]
            ends = [first - 1, *highs[spared:], last]
            cells = [Cell(before + 1, end, level) for level, (before, end) in enumerate(pairwise(ends))]
        moved = [Cell(cell.first - first, cell.last - first, cell.level) for cell in cells]
        return [cell for cell in moved if cell.first <= cell.last]

    def law(self, reading: Reading, *, contribution: int = 1) -> LatticeLaw:
        """The exact law of the answer."""
        opened = reading.open()
        return LatticeLaw(
            self.cells(opened, contribution), self.plan.measure, self.slope(contribution),
            low=self.lattice.low, step=self.lattice.step,
        )  # fmt: skip

    def draw(
        self,
        reading: Reading,
        grid: Grid,  # noqa: ARG002
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Answer:
        """Draw a lattice point; the lattice of the data is the grid."""
        from sordino.mechanisms.drawing import draw_lattice

        cells = self.cells(reading.open(), contribution)
        point = draw_lattice(cells, self.plan.measure, self.slope(contribution), bits=bits)
        return Answer(self.lattice.value(point))

    def answer(
        self,
        statistic: Statistic,
        ask: Asking,
        grid: Grid,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Answer:
        """Ask for the outermost rows, then draw. A dropped row makes a replacement two rows, which may part."""
        persons = contribution * (2 if statistic.rows_private else 1)
        summary = ask(statistic.request(depth=self.depth * persons))
        return self.draw(statistic.read(summary).by(contribution), grid, contribution=persons, bits=bits)
