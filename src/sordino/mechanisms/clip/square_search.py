"""The data-free plan of a radius for squares: how far a variance searches, and what it pays for it.

Public or released numbers only. Squares have the heavier tail, and a radius too large costs its fourth power in mean
squared error, so the prior is flatter and the table twice as fine as that of a mean (auto_clip_plan.py). The rules are
those of docs/explanation/which_mechanism.md; variance_clip.py follows the plan.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sordino.mechanisms.clip.auto_clip_plan import (
    SPARSE,
    Strength,
    affordable,
    radius_floor,
    radius_rule,
    search_margin,
)

if TYPE_CHECKING:
    from sordino.privacy import Guarantee

FLAT = 3.0  # prior exponent of squares
INNER = 32  # the smallest radius, as a part of the width of the interval in which the mean was found
NEAR = 4  # the least that is searched, in such widths
WORTH = 8  # bounds within so many widths are taken as they are when few rows carry the column
OCTAVES = 2 * 20 * math.log(2)  # of squares, when nothing is known of the scale


@dataclass(frozen=True, slots=True)
class SquarePlan:
    """Radii in codes; every field is public.

    Attributes:
        share: Of the price, for the radius; 0 takes the largest one.
        exponent: Prior of the squares, ``square^-exponent``.
        smallest: Smallest radius.
        reach: Largest radius.
    """

    share: Fraction
    exponent: Fraction
    smallest: int
    reach: int

    @classmethod
    def whole(cls, reach: int) -> SquarePlan:
        """No search."""
        return cls(Fraction(0), Fraction(FLAT), reach, reach)


def plan_squares(
    *, rows: int, price: Guarantee, farthest: int, width: int | None = None, away: Fraction | None = None
) -> SquarePlan:
    """How to search a radius around a released mean or a public point.

    Args:
        rows: Public number of rows, or a declared rough one.
        price: What radius and noise may cost together.
        farthest: Distance of the farther bound, in codes.
        width: Width of the released interval in which the mean was found, in codes; None when there is none.
        away: Released number of rows away from the centre, when there is one.

    Example:
        >>> from sordino.privacy import Pure
        >>> plan = plan_squares(rows=1001, price=Pure(1), farthest=10**9, width=10**4)
        >>> float(plan.share), float(plan.exponent), plan.smallest, plan.reach
        (0.25, 3.0, 312, 1000000000)
        >>> plan_squares(rows=1001, price=Pure(1), farthest=7 * 10**4, width=10**4, away=Fraction(70)).share
        Fraction(0, 1)
    """
    strength, count = Strength.of(price), max(rows, 1)
    margin = search_margin(count, strength)
    sparse = away is not None and away < SPARSE * rows
    if sparse and width is not None and farthest <= WORTH * width:
        return SquarePlan.whole(farthest)
    smallest = farthest * math.exp(-OCTAVES / 2) if width is None else width / INNER
    smallest = min(max(smallest, 1.0), float(farthest))
    octaves = 2 * math.log(farthest / smallest)
    near = 2 * math.log(INNER * NEAR) if width is not None else 0.35 * OCTAVES
    part, steepest = radius_rule(strength, votes=count, octaves=octaves, rows=count)
    exponent = min(steepest, FLAT)
    if not strength.concentrated:
        part = max(part, 0.25 if count * strength.nats < 5000 else 0.2)
    if sparse:
        part, exponent = max(part, 0.45), 2.0
    if not affordable(strength, rows=count, octaves=min(near, octaves), share=part):
        return SquarePlan.whole(farthest if width is None else min(farthest, NEAR * width))
    bid = count * strength.slope(part)
    # As far as the rows can pay for, and no nearer than where the mean has been found.
    payable = max((bid - margin) / exponent, min(near, octaves))
    reach = float(farthest)
    if width is not None:
        reach = min(reach, smallest * math.exp(min(payable, octaves) / 2))
    floor = radius_floor(
        Fraction(smallest) ** 2, Fraction(reach) ** 2, bid=bid, margin=margin, exponent=exponent
    )
    return SquarePlan(
        Fraction(math.ceil(part * 1024), 1024), Fraction(exponent),
        min(max(math.isqrt(math.ceil(floor)), 1), farthest), min(math.ceil(reach), farthest),
    )  # fmt: skip
