"""The data-free plan for a minimum or maximum: a public base measure that leans inwards, and how many rows to spare.

Works from public numbers only: rows, price, bounds and the caller's hints. The mechanism that follows the plan is
extreme.py; what the rules gain is in docs/explanation/which_mechanism.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from sordino import checks
from sordino.mechanisms.leaning import leaning
from sordino.mechanisms.measure import Measure, mixture
from sordino.mechanisms.quantile_plan import OCTAVES, Lattice

FALL = Fraction(
    4
)  # tail of the answers beyond the data: with 3 or less the overshoot would dominate the error
RISE = Fraction(2)  # how fast answers gain towards the data on the side where the range ends
ENDS = Fraction(1, 4096)  # mass on the bound itself when the caller says that the bounds fit
FEW = 64  # rows times the bounded range below which no scale can be found


@dataclass(frozen=True, slots=True)
class ExtremePlan:
    """What the mechanism will do; every field is public.

    Attributes:
        measure: Base measure of the answers.
        spared: Rows beyond an answer that cost it nothing.
        nats: How much the measure varies over the lattice; a reading must look that much farther.
        trusted: False when rows times the price are too few to find the scale within these bounds.
    """

    measure: Measure
    spared: int
    nats: float
    trusted: bool = True


@lru_cache(maxsize=256)
def plan_extreme(
    lattice: Lattice,
    *,
    upper: bool,
    strength: Fraction,
    rows: int,
    centre: checks.Number | None = None,
    spread: checks.Number | None = None,
    tight: bool = False,
) -> ExtremePlan:
    """Choose the base measure for a maximum (``upper``) or a minimum from public numbers.

    Beyond the data nothing but the measure holds the answer, so its mass falls like the fourth power of the distance
    from the anchor there; on the other side it rises with the square. Both powers together may not outbid the rows:
    where they would, the core is widened and the rise given up.

    Args:
        lattice: The public answers.
        upper: A maximum; a minimum otherwise.
        strength: Nats per row beyond the answer.
        rows: Public number of rows, or a declared rough one.
        centre: A public guess of the middle of the column.
        spread: A public guess of its spread.
        tight: The caller vouches that the bounds fit the column.

    Example:
        >>> lattice = Lattice(Fraction(-50), Fraction(1100, 2**31), 2**31)
        >>> plan_extreme(lattice, upper=True, strength=Fraction(1), rows=1001).trusted
        True
        >>> plan_extreme(lattice, upper=True, strength=Fraction(1, 10), rows=201).trusted
        False
    """
    if tight:  # bounds that fit are often attained
        ends = Measure.at({lattice.last if upper else 0: 1}, last=lattice.last)
        flat = mixture([(1 - ENDS, Measure.uniform(lattice.last)), (ENDS, ends)])
        return ExtremePlan(flat, math.ceil(1 / (2 * strength)), math.log(lattice.last + 1.0))
    anchor = lattice.anchor if centre is None else lattice.index(centre)
    core = max(lattice.last >> OCTAVES, 1)
    hinted = centre is not None and spread is not None
    if spread is not None:
        wide = max(math.ceil(checks.positive("extreme", spread=spread) / lattice.step), 1)
        core = max(min(wide, lattice.last), 1) if hinted else core
    away, towards = (lattice.last - anchor, anchor) if upper else (anchor, lattice.last - anchor)
    bid = rows * float(strength)
    spare = bid - min(2 * math.log(max(bid, 10.0)) + 4, 0.4 * bid)

    def climb(distance: int) -> float:
        return math.log(max(distance / core, 1.0))

    if not hinted and float(FALL) * climb(away) > spare:
        core = max(math.ceil(away * math.exp(-spare / float(FALL))), 1)
    left = (
        max(spare - float(FALL) * climb(away), 0.0) / 2
    )  # the far end of the rise is where an error is largest
    rise = RISE
    if float(RISE) * climb(towards) > left:
        rise = Fraction(math.floor(16 * left / climb(towards)), 16)
    below, above = (rise, -FALL) if upper else (-FALL, rise)
    measure = leaning(last=lattice.last, anchor=anchor, core=core, below=below, above=above)
    nats = float(FALL) * climb(away) + float(rise) * climb(towards) + math.log(lattice.last + 1.0)
    return ExtremePlan(measure, 0, nats, trusted=hinted or bid >= FEW)
