"""The private searches of AutoClip, one function each: outer radius, centre, rows away, radius.

Each takes a column (private), public numbers and a part of the price, and returns one released number; composition
adds the parts. How the price is split is decided in auto_clip_plan.py; what is done with the radius in auto_clip.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sordino.mechanisms.clip.fit_test import end_cuts, rows_at_ends
from sordino.mechanisms.clip.tail_search import TailSearch
from sordino.mechanisms.nested.intervals import Intervals, lattice_cells
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.law import LatticeLaw
from sordino.mechanisms.parts.measure import Measure
from sordino.mechanisms.parts.rings import Rings
from sordino.mechanisms.tuned_means import ForLoose
from sordino.reading.requests import Rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.exact.bits import Bits
    from sordino.mechanisms.clip.column import ClippableColumn
    from sordino.privacy import Guarantee

MIDDLE = Rank(1, 2)


@lru_cache(maxsize=256)  # of public numbers: simulated answers and replays ask for the same tables again
def radius_search(
    *,
    smallest: int,
    largest: int,
    exponent: Fraction,
    price: Guarantee,
    contribution: int = 1,
    growth: Fraction = ForLoose.GROWTH,
) -> TailSearch:
    """The public table of radii, in codes; worked out once."""
    slope = price.bounded_range / contribution
    first = max(min(smallest, largest), 1)
    table = TailSearch.geometric(
        smallest=first, largest=max(largest, first), growth=growth, exponent=exponent, slope=slope
    )
    radii = tuple(Fraction(math.floor(radius)) for radius in table.radii)
    return TailSearch(radii, table.tilt, table.slope, price.pointwise, price)


def outside_and_ends(
    column: ClippableColumn, centre: int, radii: tuple[Fraction, ...]
) -> tuple[list[int], int]:
    """Rows farther than each radius from a public centre, and rows in the outer thirds of the range; private."""
    cuts = [cut for radius in radii for cut in (centre - int(radius), centre + int(radius) + 1)]
    (first, second, *below), rows = column.below([*end_cuts(column.grid), *cuts])
    outside = [left + rows - right for left, right in zip(below[::2], below[1::2], strict=True)]
    return outside, rows_at_ends((first, second), rows)


def rows_outside(column: ClippableColumn, centre: int, radii: tuple[Fraction, ...]) -> list[int]:
    """For every radius the number of rows farther than it from a public centre; private."""
    return outside_and_ends(column, centre, radii)[0]


def centre_law(
    column: ClippableColumn,
    *,
    low: int,
    high: int,
    spacing: int,
    price: Guarantee,
    rows: int,
    contribution: int = 1,
) -> LatticeLaw:
    """Law of the private median of the rows clipped to ``low..high``, on a lattice coarse enough for ties.

    The coarse lattice is a monotone map of every row, so it keeps neighbours neighbours, and a column that is nearly
    constant at its scale becomes tied and is found exactly.
    """
    slope = price.slope / contribution
    low_ends, high_ends, last = _centre_ends(column, low, high, spacing, reach=_reach(slope, rows))
    family = Intervals.of(low_ends.tolist(), high_ends.tolist(), first=0, last=last)
    return LatticeLaw(
        lattice_cells(family, ForLoose.CENTRE_STEP),
        Measure.uniform(last),
        slope,
        low=Fraction(low),
        step=Fraction(spacing),
    )


def _reach(slope: Fraction, rows: int) -> int:
    """Ranks on either side of the middle that are looked at; the rest is one last interval."""
    return min(math.ceil(40 / slope), 4 * rows + 64)


def _centre_ends(
    column: ClippableColumn, low: int, high: int, spacing: int, *, reach: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Lower and upper ends by distance on the coarse lattice, and its last point; private but for the last."""
    codes, _, _ = column.window(MIDDLE, reach)
    last = max((high - low) // spacing, 0)
    places = np.clip((np.asarray(codes, np.int64) - low + spacing // 2) // spacing, 0, last)
    return places[reach::-1], places[reach:], last


def search_centre(
    column: ClippableColumn,
    *,
    low: int,
    high: int,
    spacing: int,
    price: Guarantee,
    rows: int,
    contribution: int = 1,
    bits: Bits | None,
) -> int:
    """Release a centre, as a code."""
    slope = price.slope / contribution
    lower, upper, last = _centre_ends(column, low, high, spacing, reach=_reach(slope, rows))
    ends = (np.append(lower, 0)[None], np.append(upper, last)[None])
    rings = Rings.between(*ends, ForLoose.CENTRE_STEP)
    (point,) = Draws.of(bits).lattice(rings, Measure.uniform(last), slope, price=price)
    return min(max(low + spacing * point, low), high)


def noisy_count(
    count: int, *, price: Guarantee, contribution: int = 1, bits: Bits | None
) -> tuple[Fraction, Fraction]:
    """Release a number of rows, and the scale of its public noise."""
    return Draws.of(bits).noisy(Fraction(count), sensitivity=Fraction(contribution), price=price)
