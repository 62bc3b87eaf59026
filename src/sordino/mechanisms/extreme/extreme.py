"""Minimum and maximum: the exponential mechanism on the number of rows beyond the answer.

That number moves in one direction only when a row changes, so a row counts a whole bounded range instead of half of
one, as in tail_search.py. Where rows are many an anchor inside the data is found first (anchor_search.py), and the
base measure falls from there; otherwise it leans around zero or a hint. Both are planned without data
(extreme_plan.py). Proof: docs/proofs/mechanism_extreme.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino import checks
from sordino.mechanisms import Answer, Mechanism, lacking, other_lattice
from sordino.mechanisms.extreme.plan import ExtremePlan, anchored_measure, plan_extreme
from sordino.mechanisms.nested.intervals import Intervals, lattice_cells
from sordino.mechanisms.nested.nested import NATS, intervals_of
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.law import LatticeLaw, MixtureLaw
from sordino.mechanisms.parts.rings import CELLS, Rings
from sordino.reading.summaries import everyone
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.lattice import FiniteLattice, Lattice
    from sordino.mechanisms import Asking, Asks, Words
    from sordino.mechanisms.extreme.anchor_search import AnchorSearch
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.mechanisms.parts.measure import Measure
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading
    from sordino.statistics import Statistic

    Codes = NDArray[np.int64]

POINTS = 64  # lattices with at most so many points have an exact law
TAILS = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01)
STRATA = (*TAILS, *(i / 20 for i in range(1, 20)), *(1 - tail for tail in reversed(TAILS)))
"""Probabilities between which one anchor stands for all, where a lattice has more points: rare ones count too."""

_NESTED = Fraction(0)  # a point between two intervals has the level of the outer one


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
        search: How to look for an anchor, instead of the planned way.

    Example:
        >>> from fractions import Fraction
        >>> from sordino.lattice import FiniteLattice
        >>> from sordino.privacy import Pure
        >>> lattice = FiniteLattice(Fraction(0), Fraction(1), 120)
        >>> Extreme(price=Pure(1), lattice=lattice, upper=True, rows=1001).trusted
        True
    """

    price: Guarantee
    lattice: FiniteLattice
    upper: bool
    rows: int
    centre: float | None = None
    spread: float | None = None
    tight: bool = False
    search: AnchorSearch | None = None

    name: ClassVar[str] = "extreme"
    answers_tried: ClassVar[int] = 80
    needs: ClassVar[tuple[str, ...]] = ("reach",)
    together: ClassVar[bool] = True
    proof: ClassVar[str] = "mechanism_extreme"

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Where rows are known and the caller neither aims inside the data nor brings a measure."""
        if hints.rows and not hints.loose and hints.measure is None and not statistic.shift:
            yield cls(
                price=price, lattice=statistic.grid.answers, upper=statistic.q == 1, rows=hints.rows,
                centre=hints.centre, spread=hints.spread, tight=hints.tight,
            )  # fmt: skip

    def error_laws(
        self,
        statistic: Any,
        ask: Asking,
        grid: Lattice,
        truth: Any,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Sequence[Errors] | None:
        """From the outermost rows; the reading is of rows, not of people."""
        del bits
        reading = statistic.read(ask(statistic.request(depth=self.depth * contribution)))
        return self._error_laws(reading, grid, truth, contribution=contribution)

    def __post_init__(self) -> None:
        checks.whole(self.name, rows=self.rows)
        self.price.bounded_range  # noqa: B018 - refuses prices that no theorem covers

    @property
    def no_bar(self) -> str:
        """No limit beyond the answer is possible."""
        return (
            "A minimum or maximum has no interval: one row at the bound would have to be covered. A quantile near the "
            "end has one, such as q=0.99 or q=0.01."
        )

    def refusal(self, statistic: Statistic) -> str | None:
        """The smallest or the largest row, which a row moves in one direction only, on its own lattice."""
        side = Trait.LARGEST if self.upper else Trait.SMALLEST
        reason = lacking(statistic, side) or self._other_relation(statistic)
        return reason or other_lattice(statistic, self.lattice)

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:  # noqa: ARG002
        """Answer and anchor are points of the lattice."""
        return {"value": self.lattice.endless, "anchor": self.lattice.endless}

    @property
    def plan(self) -> ExtremePlan:
        """Search, measure and spared rows; public."""
        if self.search is not None:
            return ExtremePlan(self.search.measure, 0, self.search.nats, search=self.search)
        return plan_extreme(
            self.lattice, upper=self.upper, strength=self.price.bounded_range, rows=self.rows,
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
        enough = plan.spared + self._levels
        if plan.search is not None:
            enough = max(enough, plan.search.depth(self.price))
        return min(enough, 2 * self.rows + 64)

    @property
    def _levels(self) -> int:
        """Rows that outbid the measure; public."""
        return math.ceil((NATS + self.plan.nats) / self.slope(1))

    def slope(self, contribution: int) -> Fraction:
        """Nats per row: those of one person together move all weights by one bounded range."""
        search = self.plan.search
        once = (self.price if search is None else self.price.share(1 - search.share)).bounded_range
        return once / contribution

    # Private: the rows from the outermost inwards ------------------------------------------------------

    def _outermost(self, low: Codes, high: Codes, rows: Codes) -> Codes:
        """Per group the codes of the rows, the outermost first, closed by the inner end of the range.

        The largest row once l rows are gone is the lower end of what a maximum can reach in l steps. No row is left
        once all are gone; the reach of a minimum under add/remove takes one step more there (the empty table counts as
        the lower bound), which would not move in one direction only.
        """
        if self.upper:
            return low
        return np.where(np.arange(high.shape[1]) >= rows[:, None], self.lattice.last, high)

    def _of(self, reading: Reading) -> Codes:
        opened = reading.open()
        family = intervals_of(opened)
        first = math.ceil(family.first)
        low, high = (np.array([[int(end) - first for end in side]]) for side in (family.low, family.high))
        return self._outermost(low, high, np.array([opened.rows]))

    def _ends(self, outermost: Codes, contribution: int) -> tuple[Codes, Codes]:
        """First and last points of level at most l: those with l rows beyond them, the spared ones not counted."""
        spared = min(self.plan.spared * contribution, outermost.shape[1] - 1)
        levels, bound = self._levels * contribution, self.lattice.last
        inner = outermost[:, spared : spared + levels + 1].copy()
        inner[:, -1] = 0 if self.upper else bound
        return (inner, np.full_like(inner, bound)) if self.upper else (np.zeros_like(inner), inner)

    def _measure(self, anchor: int | None) -> Measure:
        """The base measure of the answer, once an anchor has been released where there is one; public."""
        plan = self.plan
        if plan.search is None or anchor is None:
            return plan.measure
        found = anchored_measure(
            self.lattice, plan.search, anchor=anchor, upper=self.upper, slope=self.slope(1)
        )
        return found if plan.favour is None else plan.favour.on(found)

    # The contract -------------------------------------------------------------------------------------

    def _law(self, ends: tuple[Codes, Codes], measure: Measure, slope: Fraction) -> LatticeLaw:
        low, high = (side[0].tolist() for side in ends)
        cells = lattice_cells(Intervals.of(low, high, first=0, last=self.lattice.last), _NESTED)
        return LatticeLaw(cells, measure, slope, low=self.lattice.origin, step=self.lattice.step)

    def anchor_law(self, reading: Reading, *, contribution: int = 1) -> LatticeLaw | None:
        """The exact law of the anchor; None where none is looked for."""
        search = self.plan.search
        if search is None:
            return None
        ends = search.by(contribution).ends(self._of(reading), last=self.lattice.last, upper=self.upper)
        return self._law(ends, search.measure, search.slope(self.price, contribution))

    def law_at(self, reading: Reading, *, anchor: int | None = None, contribution: int = 1) -> LatticeLaw:
        """The exact law of the answer once an anchor has been released, or without one."""
        ends = self._ends(self._of(reading), contribution)
        return self._law(ends, self._measure(anchor), self.slope(contribution))

    def law(self, reading: Reading, *, contribution: int = 1) -> LatticeLaw | MixtureLaw:
        """The law of the answer: exact without an anchor, and on lattices of up to 64 points.

        On longer ones a few dozen anchors, some of them very improbable, stand for all.
        """
        first = self.anchor_law(reading, contribution=contribution)
        if first is None:
            return self.law_at(reading, contribution=contribution)
        if self.lattice.last < POINTS:
            anchors = [(first.probability(point), point) for point in range(self.lattice.last + 1)]
        else:
            anchors = [
                (over - under, first.quantile_point((under + over) / 2)) for under, over in pairwise(STRATA)
            ]
        known = self.law_at(reading, contribution=contribution)
        return MixtureLaw([(chance, known.on(self._measure(at))) for chance, at in anchors])

    def _draw(self, outermost: Codes, contribution: int, bits: Bits | None) -> list[Answer]:
        """One answer per group: the anchors of all groups at once, then each answer."""
        search, slope, value = self.plan.search, self.slope(contribution), self.lattice.real
        draws = Draws.of(bits)
        rings = Rings.between(*self._ends(outermost, contribution), _NESTED)
        if search is None:
            points = draws.lattice(rings, self._measure(None), slope, price=self.price)
            return [Answer(value(point)) for point in points]
        ends = search.by(contribution).ends(outermost, last=self.lattice.last, upper=self.upper)
        around = Rings.between(*ends, _NESTED)
        first, rest = self.price.share(search.share), self.price.share(1 - search.share)
        anchors = draws.lattice(around, search.measure, search.slope(self.price, contribution), price=first)
        answers = []
        for group, anchor in enumerate(anchors):
            one = Rings(rings.low[group : group + 1], rings.high[group : group + 1])
            (point,) = draws.lattice(one, self._measure(anchor), slope, price=rest)
            answers.append(Answer(value(point), {"anchor": value(anchor)}))
        return answers

    def draw(self, reading: Reading, grid: Lattice, *, contribution: int = 1, bits: Words = None) -> Answer:
        """Draw a lattice point; the lattice of the data is the grid, and the reading is of rows, not of people."""
        del grid
        (answer,) = self._draw(self._of(reading), contribution, bits)
        return answer

    def answers(
        self, statistic: Any, asks: Asks, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> list[Answer]:
        """The same for many groups."""
        del grid
        depth = self.depth * contribution
        request, found = statistic.request(depth=depth), []
        size = max(1, CELLS // (depth + 2))
        for start in range(0, len(asks), size):
            reaches = statistic.reaches(everyone(asks[start : start + size], request))
            outermost = self._outermost(reaches.low, reaches.high, reaches.rows)
            found += self._draw(outermost, contribution, bits)
        return found
