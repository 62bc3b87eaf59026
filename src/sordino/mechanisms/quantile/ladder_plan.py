"""The plan of a ladder of intervals around a quantile: radii, slopes and target, from public numbers alone.

The ladder itself is ladder.py, who climbs it quantile_interval.py. Proof: docs/proofs/quantile_interval.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.coverage import Population
from sordino.mechanisms.quantile.ladder import nats_needed, on_target_lattice, population_rows
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
        slope: Nats per row of the choice of a rung.
        growth: Nats by which a rung is favoured over the one inside it.
        rungs: How many there are at most, beside the innermost.
        target: Rows to spare at which a rung is aimed, in units.
        first: How many rows the first rung should hold on each side.
        open_low: Too few rows lie below the quantile: the lower end is the bound.
        open_high: The same above.
    """

    spent: Fraction
    mass: int | None
    weight: Fraction
    slope: Fraction
    growth: Fraction
    rungs: int
    target: Fraction
    first: Fraction
    open_low: bool
    open_high: bool


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
    slope = (price.share(1 - spent) if mass is not None else price).slope / contribution
    if mass is not None and sides is not None:
        nats = float(slope / unit) * max(min(sides), 1)
        growth, rungs = (
            ForQuantileBar.GROWTH,
            max(min(ForQuantileBar.MOST, math.floor(nats / 2 / float(ForQuantileBar.GROWTH))), 2),
        )
    else:
        rungs = min(ForQuantileBar.FINE, last.bit_length()) + 2
        growth = Fraction(1, 2)
        if sides is not None:
            nats = float(slope / unit) * max(sides)
            growth = min(ForQuantileBar.GROWTH, Fraction(max(math.floor(128 * 0.4 * nats / rungs), 8), 128))
    options: dict[str, Any] = {"growth": float(growth), "rungs": rungs, "flip": price.pointwise}
    target = least = _sample_target(statistic, coverage, slope, options)
    if isinstance(coverage, Population):
        target = _population_target(statistic, coverage, rows, slope, options)
    usual = contribution / answered.slope
    first = (ForQuantileBar.FIRST * (least + usual) + target - least) * unit
    beyond = target + 2 / slope
    opened = (False, False) if sides is None else tuple(side / unit < beyond for side in sides)
    if all(opened):  # then nothing but everything is left: keep both ends, and let the rows decide
        opened = (False, False)
    return LadderPlan(spent, mass, weight, slope, growth, rungs, target, first, *opened)


def _worth(
    price: Guarantee, rows: int | None, sides: tuple[int, int] | None, contribution: int
) -> tuple[Fraction, int | None, Fraction]:
    """Share, rows and slope of the question what a rank is worth; no rows where there are too few to ask it."""
    for share, times in zip(ForQuantileBar.SCALES, ForQuantileBar.FEW, strict=True):
        weight = price.share(share).slope / contribution
        mass = math.ceil(ForQuantileBar.MASS / weight)
        if rows is not None and sides is not None and times * mass <= rows and mass <= 2 * min(sides):
            return share, mass, weight
    return Fraction(0), None, Fraction(0)


def _sample_target(statistic: Any, coverage: Coverage, slope: Fraction, options: dict[str, Any]) -> Fraction:
    """Rows to spare, in units, at which a miss of the sample's quantile is as rare as was asked."""
    needed = nats_needed(coverage.miss, **options) / float(slope)
    # A rung that misses spares at most -1 row where the number of rows is fixed, and at most 0 units otherwise.
    one = 1 if statistic.neighbors is Neighbors.REPLACE_ONE else 0
    return on_target_lattice(max(needed - one, 0.0))


def _population_target(
    statistic: Any, coverage: Coverage, rows: int | None, slope: Fraction, options: dict[str, Any]
) -> Fraction:
    """The same for the quantile of the population."""
    assert rows is not None
    pieces = statistic.weights(rows).pieces
    ranks = (pieces[0][0], pieces[-1][0])
    q = Fraction(statistic.q)
    return on_target_lattice(
        population_rows(coverage.miss, slope=float(slope), rows=rows, quantile=q, ranks=ranks, **options)
    )


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
