"""The plan of a ladder of intervals around a quantile: radii, slopes and target, from public numbers alone.

The ladder itself is ladder.py, who climbs it quantile_interval.py. Proof: docs/proofs/quantile_interval.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.coverage import Population
from sordino.mechanisms.quantile.crossing import Crossing
from sordino.mechanisms.quantile.ladder import Weighing, on_target_lattice, population_rows
from sordino.mechanisms.tuned import ForQuantileBar
from sordino.privacy import Neighbors

if TYPE_CHECKING:
    from sordino.coverage import Coverage
    from sordino.privacy import Guarantee


@dataclass(frozen=True, slots=True)
class LadderPlan:
    """What is decided beforehand; public.

    Attributes:
        spent: Share of the price for what a rank is worth.
        mass: Rows within the radius that tells what a rank is worth; None where that is not asked.
        weight: Nats per row of that question.
        choice: How a rung is chosen.
        target: Rows to spare at which a rung passes, in units.
        first: How many rows the first rung should hold on each side.
        spacing: How many more each of the next few should.
        rungs: How many there are at most, beside the innermost and the outermost.
        open_low: Too few rows lie below the quantile: the lower end is the bound.
        open_high: The same above.
    """

    spent: Fraction
    mass: int | None
    weight: Fraction
    choice: Crossing | Weighing
    target: Fraction
    first: Fraction
    spacing: Fraction
    rungs: int
    open_low: bool = False
    open_high: bool = False

    def __post_init__(self) -> None:
        # Worth and rung share the price; both the lemma and the theorem want rungs that do not shrink.
        asked = self.mass is not None
        if not 0 <= self.spent < 1 or asked is not (self.spent > 0) or asked is not (self.weight > 0):
            raise AssertionError(f"what a rank is worth has a part of the price where it is asked: {self!r}")
        if min(self.target, self.first, self.spacing) < 0 or self.rungs < 1:
            raise AssertionError(f"rungs lie one around the other: {self!r}")

    def radii(self, inner: Fraction, last: int) -> tuple[int, ...]:
        """Radii of the rungs in codes, from the point alone to everything, given that of the first; public.

        Args:
            inner: What the first rung is wide, in codes.
            last: The last code.
        """
        step = inner * self.spacing / self.first
        wide = [inner + step * place for place in range(ForQuantileBar.EVEN if self.spacing else 1)]
        while len(wide) < self.rungs:
            wide.append(wide[-1] * 2)
        if self.spacing:  # from the last of them to everything a few rungs, however many octaves there are
            left = (last // max(math.ceil(wide[-1]), 1)).bit_length()
            parts = ForQuantileBar.FAR
            wide += [wide[-1] * 2 ** (left * place // parts) for place in range(1, parts)]
        return (0, *(min(math.ceil(one), last) for one in wide), last)


def row_unit(statistic: Any) -> Fraction:
    """How far one row moves the rows to spare: less than one where a row comes or goes."""
    q = Fraction(statistic.q)
    return Fraction(1) if statistic.neighbors is Neighbors.REPLACE_ONE else max(q, 1 - q)


def plan_ladder(
    statistic: Any, *, rows: int | None, last: int, price: Guarantee, answered: Guarantee, coverage: Coverage,
    contribution: int,
) -> LadderPlan:  # fmt: skip
    """Decide on a ladder beforehand.

    Args:
        statistic: The quantile.
        rows: The public number of rows, or a declared rough one.
        last: The last code.
        price: What worth and rung may cost together.
        answered: What the answer cost.
        coverage: What is to be covered.
        contribution: How many rows one person may move.
    """
    q, unit = Fraction(statistic.q), row_unit(statistic)
    sides = None
    if rows is not None:
        rank = min(max(math.ceil(q * rows), 1), rows)
        sides = (rank, rows - rank + 1)
    spent, mass, weight = _worth(price, rows, sides, contribution)
    part = price.share(1 - spent) if mass is not None else price
    if mass is not None and sides is not None:
        choice, rungs = choice_with_worth(part, float(min(sides) / unit), float(rows or 0), contribution)
    else:
        choice, rungs = _choice_without(
            part, last, None if sides is None else max(sides) / unit, contribution
        )
    target = least = _sample_target(statistic, coverage, choice)
    if isinstance(coverage, Population):
        target = _population_target(statistic, coverage, rows, choice)
    usual = contribution / answered.slope
    crossed = isinstance(choice, Crossing)
    inside = ForQuantileBar.FIRST[crossed] * (least + usual)
    first = (inside + target - least) * unit
    spacing = ForQuantileBar.SPACING * choice.gap * unit if isinstance(choice, Crossing) else Fraction(0)
    beyond = target + 2 / part.slope * contribution
    opened = (False, False) if sides is None else tuple(side / unit < beyond for side in sides)
    if all(opened):  # then nothing but everything is left: keep both ends, and let the rows decide
        opened = (False, False)
    return LadderPlan(spent, mass, weight, choice, target, first, spacing, rungs, *opened)


def choice_with_worth(
    price: Guarantee, side: float, rows: float, contribution: int
) -> tuple[Crossing | Weighing, int]:
    """How a rung is chosen, and how many there are, where it is known what a rank is worth.

    Args:
        price: What the rung costs.
        side: Units of rows on the side of the quantile where there are fewer.
        rows: The public number of rows, or a declared rough one.
        contribution: How many rows one person may move.
    """
    if price.pointwise:
        choice = Crossing.of(float(price.bounded_range), contribution=contribution, gap=ForQuantileBar.GAP)
        # Rungs in a row without a row between them are pushed down by a gap each: no more than the rows bear.
        borne = math.floor(side / 2 / float(choice.gap)) - ForQuantileBar.FAR
        wanted = ForQuantileBar.EVEN + max(math.ceil(math.log2(max(rows / float(choice.gap), 1) / 4)), 0)
        return choice, max(min(wanted, borne, ForQuantileBar.MOST), 2)
    slope = price.slope / contribution
    nats = float(slope) * max(side, 1)
    rungs = max(min(ForQuantileBar.MOST, math.floor(nats / 2 / float(ForQuantileBar.GROWTH))), 2)
    return Weighing(slope, ForQuantileBar.GROWTH, rungs, flip=False), rungs - 1


def _choice_without(
    price: Guarantee, last: int, side: Fraction | None, contribution: int
) -> tuple[Weighing, int]:
    """The same where it is not known: rungs double from far inside the range, and offsets never outbid the rows."""
    slope = price.slope / contribution
    rungs = min(ForQuantileBar.FINE, last.bit_length()) + 2
    growth = Fraction(1, 2)
    if side is not None:
        nats = float(slope) * max(float(side), 1)
        growth = min(ForQuantileBar.GROWTH, Fraction(max(math.floor(128 * 0.4 * nats / rungs), 8), 128))
    return Weighing(slope, growth, rungs, flip=price.pointwise), rungs - 1


def _worth(
    price: Guarantee, rows: int | None, sides: tuple[int, int] | None, contribution: int
) -> tuple[Fraction, int | None, Fraction]:
    """Share, rows and slope of the question what a rank is worth; no rows where there are too few to ask it."""
    if rows is None or sides is None:
        return Fraction(0), None, Fraction(0)
    # As many rows as are still all alike: the more they are, the less the question costs.
    mass = min(rows // ForQuantileBar.FEW, 2 * min(sides))
    whole = price.slope / contribution  # nats per row at the whole price
    least, most = ForQuantileBar.SCALES
    if not mass or ForQuantileBar.MASS[0] / (mass * whole) > most:
        return Fraction(0), None, Fraction(0)
    share = min(max(Fraction(math.ceil(1000 * ForQuantileBar.MASS[1] / (mass * whole)), 1000), least), most)
    return share, mass, price.share(share).slope / contribution


def _sample_target(statistic: Any, coverage: Coverage, choice: Crossing | Weighing) -> Fraction:
    """Rows to spare, in units, at which a miss of the sample's quantile is as rare as was asked."""
    # A rung that misses spares at most -1 row where the number of rows is fixed, and at most 0 units otherwise.
    one = 1 if statistic.neighbors is Neighbors.REPLACE_ONE else 0
    return max(choice.target(coverage.miss) - one, Fraction(0))


def _population_target(
    statistic: Any, coverage: Coverage, rows: int | None, choice: Crossing | Weighing
) -> Fraction:
    """The same for the quantile of the population."""
    assert rows is not None
    pieces = statistic.weights(rows).pieces
    ranks = (pieces[0][0], pieces[-1][0])
    q = Fraction(statistic.q)
    return on_target_lattice(population_rows(coverage.miss, choice, rows=rows, quantile=q, ranks=ranks))


def margins(statistic: Any, rows: int) -> tuple[Fraction, Fraction]:
    """How many rows may lie below the lower end, and how many must lie up to the upper one, of a covering interval.

    With a fixed number of rows these are ranks; with a private one they are linear in it, so that one row moves both
    by as much as its share.
    """
    if statistic.neighbors is Neighbors.REPLACE_ONE:
        pieces = statistic.weights(max(rows, 1)).pieces
        return Fraction(pieces[0][0] - 1), Fraction(pieces[-1][0])
    q = Fraction(statistic.q)
    if statistic.rule == "interpolated":  # between the ranks floor(q (n - 1)) + 1 and one more
        return q * rows - q, q * rows + 1 - q
    return q * rows, q * rows
