"""The intervals among which plain-or-cut chooses, and how far the rows of a column are from filling each of them.

For every level l the family has intervals of length ``range / 2^(l/2)``, or ``/4`` where rows are many, that start on a
lattice of an eighth of it.
What an interval is charged moves by at most one when a row changes: docs/proofs/mechanism_plain_or_cut.md. The choice
among them is whole_or_interval.py, the constants are in plain_or_cut_plan.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.clip.flat_top import top_weight
from sordino.mechanisms.clip.long_codes import shifted_product
from sordino.mechanisms.clip.plain_or_cut_plan import PLACES, STARTS, STEEP_SHARE
from sordino.mechanisms.tuned_means import ForCut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sordino.mechanisms.clip.plain_or_cut_plan import CutPlan

PARTS = 6  # a heap is looked for in parts of 2^-3 of the length, on a lattice of 2^-6 of it
ANCHORED = (0, -8, -4)  # starts, in eighths, of the intervals beside and about the anchor: they have prior 1
ROOTS = (
    431,
    181,
    609,
)  # over 2^(8, 7, 9): the powers 3/4, 1/2 and 1/4 of two, for lengths between two halvings
_PLACES = (8, 7, 9)
ONE = 1 << 40  # stands for a prior of 1


@dataclass(frozen=True, slots=True, repr=False)
class Ends:
    """The lowest and the highest codes of a column, in order, and how many rows it has; private.

    Where the two overlap they are the whole column. Between them only "many rows on either side" is known, and no
    interval is charged for more.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    rows: int

    @classmethod
    def of(cls, first: Any, last: Any, rows: int) -> Ends:
        """From two windows of ranks at the ends; what is in both is kept once."""
        common = len(first) + len(last) - rows
        return cls(np.asarray(first, np.int64), np.asarray(last, np.int64)[max(common, 0) :], rows)

    @property
    def both(self) -> NDArray[np.int64]:
        """All codes that are known, in order."""
        return self.first if not len(self.last) else np.concatenate([self.first, self.last])

    def below(self, codes: Any, *, side: Any = "left") -> Any:
        """The number of rows with a smaller code (``right``: a smaller or the same one)."""
        known = self.both
        place = known.searchsorted(codes, side)
        if len(known) == self.rows:
            return place
        return np.where(place < len(self.first), place, place + (self.rows - len(known)))

    def at(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The codes at ranks, counted from 1, that lie in one of the windows."""
        known = self.both
        return known[np.where(ranks <= len(self.first), ranks - 1, ranks - 1 - self.rows + len(known))]


@dataclass(frozen=True, slots=True, repr=False)
class Weighed:
    """Intervals and their exact weights on one column, against a whole range of weight 1; private.

    Cell i has the weight ``counts[i] exp(-exponents[i] / unit) / one``; the intervals that it names are equally likely.

    Attributes:
        level: The level of each cell.
        places: The starts of its intervals, in eighths of a length from the anchor; None for all others of the level,
            which are as likely as their priors say.
        counts: Priors as integers, added up over the cell.
        exponents: Integers.
        unit: Their common denominator.
        one: The integer that stands for a prior of 1.
        charges: What the rows charge each cell, in nats times `unit`: the noise of its value is flat so far.
        border: ``p0 / (1 - p0)``: beyond it the whole range pays with a flat top of its noise.
    """

    level: list[int]
    places: list[NDArray[np.int64] | None]
    counts: list[int]
    exponents: list[int]
    unit: int
    one: int
    charges: list[int]
    border: Fraction = STEEP_SHARE.border

    def add(self, level: int, places: NDArray[np.int64] | None, prior: int, lead: int, charge: int) -> None:
        """One more cell: of the weight ``prior exp(lead - charge)``, times that of its noise in a joint draw."""
        self.level.append(level)
        self.places.append(places)
        self.counts.append(prior)
        self.exponents.append(charge - lead)
        self.charges.append(charge)

    def taken(self, level: int) -> set[int]:
        """The starts of a level that are in a cell by name."""
        cells = [places for j, places in zip(self.level, self.places, strict=True) if j == level]
        return {int(place) for places in cells if places is not None for place in places}


@dataclass(frozen=True, slots=True)
class Family:
    """All intervals of a search; public.

    Args:
        plan: Levels and slopes.
        top: The largest code of the column.
        anchor: The code at which lattices begin.
        anchored: Only the three intervals at the anchor (a sum under add/remove is cut about zero).
        centre: The code of a hinted centre: at every level the interval about it has prior 1 too.
    """

    plan: CutPlan
    top: int
    anchor: int
    anchored: bool = False
    centre: int | None = None

    def scale(self, level: int) -> tuple[int, int]:
        """The length of a level as a part of the range: a whole number over a power of two."""
        halvings, between = divmod(level * (4 // self.plan.steps), 4)
        if between:
            return ROOTS[between - 1], halvings + 1 + _PLACES[between - 1]
        return 1, halvings

    def favoured(self, level: int) -> NDArray[np.int64]:
        """Starts of the intervals with prior 1: beside and about the anchor, and about a hinted centre beyond them."""
        starts = list(ANCHORED)
        away = 0 if self.centre is None or self.anchored else self.centre - self.anchor
        times, shift = self.scale(level)
        if abs(away) << shift > self.top * times:
            starts.append((away << (shift + STARTS)) // (self.top * times) - (1 << STARTS) // 2)
        return np.unique(np.array(starts, dtype=np.int64))

    @staticmethod
    def distant(places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Priors as parts of `ONE` by the distance from the anchor: halved with every doubling."""
        lengths = np.abs(places + (1 << STARTS) // 2) >> STARTS
        found: NDArray[np.int64] = (ONE >> ForCut.NEAR) >> np.ceil(np.log2(lengths + 1.0)).astype(np.int64)
        return found

    def priors(self, level: int, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same, and 1 for those that are favoured."""
        return self._priors(self.favoured(level), places)

    def _priors(self, favoured: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
        first = (places[:, None] == favoured).any(axis=1)
        found: NDArray[np.int64] = np.where(first, ONE, self.distant(places))
        return found

    def priors_of(self, level: int, low: int, high: int) -> tuple[bool, ...]:
        """Whether an interval of these codes has prior 1; both answers where codes are coarse and one of each has them.

        Example:
            >>> from sordino.mechanisms.clip.plain_or_cut_plan import plan_cut
            >>> from sordino.privacy import Pure
            >>> family = Family(plan_cut(rows=1000, price=Pure(1), cells=40), top=40, anchor=0)
            >>> family.interval(8, 0), family.interval(8, 1), family.interval(8, 9)
            ((0, 2), (1, 2), (3, 5))
            >>> family.priors_of(8, 0, 2), family.priors_of(8, 3, 5)
            ((True, False), (False,))
        """
        favoured = set(self.favoured(level).tolist())
        first, last = self.places(level)
        times, shift = self.scale(level)
        # Starts near that of the codes: rounding moves it by a code at either end, which may be many eighths.
        around = 2 * ((1 << (shift + STARTS)) // (self.top * times) + 2)
        start = ((low - self.anchor) << (shift + STARTS)) // (self.top * times)
        near = set(range(max(start - around, first), min(start + around, last) + 1)) | favoured
        cut = {
            place
            for place in near | set(range(first, min(first + (1 << STARTS) + 1, last + 1)))
            if self.interval(level, place) == (low, high)
        }
        found = tuple(sorted({place in favoured for place in cut}, reverse=True))
        return found or (False,)

    def rings(self, level: int) -> list[tuple[int, int, int]]:
        """All starts by distance: the first, the last and the prior of each, as if none were favoured."""
        first, last = self.places(level)
        half, eight, ring, found = (1 << STARTS) // 2, 1 << STARTS, 0, []
        while ring == 0 or eight << (ring - 1) <= max(last + half, -first - half):
            prior, nearest = (ONE >> ForCut.NEAR) >> ring, eight << (ring - 1) if ring else 0
            farthest = (eight << ring) - 1
            sides = ((nearest, farthest), (-farthest, -nearest)) if ring else ((-farthest, farthest),)
            for near, far in sides:
                low, high = max(near - half, first), min(far - half, last)
                if low <= high:
                    found.append((low, high, prior))
            ring += 1
        return found

    def all_priors(self, level: int) -> int:
        """The sum of the priors of all intervals of a level."""
        first, last = self.places(level)
        favoured = self.favoured(level)
        favoured = favoured[(favoured >= first) & (favoured <= last)]
        others = sum((high - low + 1) * prior for low, high, prior in self.rings(level))
        return others + ONE * len(favoured) - int(self.distant(favoured).sum())

    @property
    def reach(self) -> int:
        """How many rows at either end of the column have to be looked at; public."""
        return 2 * self.plan.enough(self.plan.finest) + 2 if self.plan.searches else 0

    def interval(self, level: int, place: int) -> tuple[int, int]:
        """First and last code of an interval, cut to the range; at least two codes.

        Example:
            >>> from sordino.mechanisms.clip.plain_or_cut_plan import plan_cut
            >>> from sordino.privacy import Pure
            >>> family = Family(plan_cut(rows=1000, price=Pure(1), cells=800), top=800, anchor=0)
            >>> family.interval(6, 0), family.interval(6, -4), family.interval(8, 1), family.interval(7, 0)
            ((0, 100), (0, 50), (7, 56), (0, 70))
        """
        low, high = self._ends(level, np.array([place], dtype=np.int64), STARTS, 1 << STARTS)
        bottom, top = max(int(low[0]), 0), min(int(high[0]), self.top)
        if bottom == top:  # a single code is not a range to clip to
            return (bottom, top + 1) if top < self.top else (bottom - 1, top)
        return bottom, top

    def places(self, level: int) -> tuple[int, int]:
        """The first and the last start of a level whose interval meets the range, in eighths of a length."""
        times, shift = self.scale(level)
        eighth = self.top * times  # over 2^(shift + 3)
        first = -((self.anchor << (shift + STARTS)) // eighth) - (1 << STARTS)
        return first, ((self.top - self.anchor) << (shift + STARTS)) // eighth

    def _ends(self, level: int, places: Any, lattice: int, length: int) -> tuple[Any, Any]:
        """First and last codes of closed intervals: ``length`` cells of a lattice of 2^-lattice of a level's length."""
        times, shift = self.scale(level)
        shift, unit = shift + lattice, self.top * times
        low = self.anchor - shifted_product(-places, unit, shift)
        return low, self.anchor + shifted_product(places + length, unit, shift)

    def charges(self, level: int, places: NDArray[np.int64], ends: Ends) -> tuple[Any, Any]:
        """Rows outside each interval of a level, and the rows that it holds away from its fullest part.

        Args:
            level: One of the plan's.
            places: Starts, in order, none twice.
            ends: The ends of the column.
        """
        from sordino.mechanisms.clip.levels import levels_of

        return levels_of(self).charges(np.full(len(places), self.plan.levels.index(level)), places, ends)

    @property
    def unit(self) -> int:
        """The common denominator of leads and charges."""
        return math.lcm(self.plan.slope.denominator, 2 ** (PLACES + 1))

    def weigh(self, ends: Ends) -> Weighed:
        """Weigh every interval: ``w = prior exp(lead - B - x)`` with the charge ``x = slope max(N, T - A)``, exactly.

        In a joint draw the value's noise has a top that is flat so far, which weighs ``1 + x`` times as much, of two
        values ``1 + x + x^2 / 2``. Intervals that miss ``C_j`` rows or more are charged ``C_j``: one cell per level.
        """
        from sordino.mechanisms.clip.levels import levels_of

        return levels_of(self).weigh(ends)


def exact_chances(
    weighed: Weighed, *, numbers: int, exponent: Fraction
) -> tuple[float, float, Sequence[float]]:
    """The probability of the whole range, how flat its law is, and the probability of each cell; for laws and plans.

    The second number is ``r v``: 0 where the whole range is drawn with plain noise. So many numbers are drawn together
    with the outcome, or none.
    """
    logs = np.array([float(Fraction(-e, weighed.unit)) for e in weighed.exponents])
    logs += np.log(np.array([float(Fraction(count, weighed.one)) for count in weighed.counts]))
    best = max(float(logs.max()), 0.0)
    total = float(np.exp(logs - best).sum())
    shares = np.exp(logs - best) / total
    log_total = np.log(total) + best
    lost = log_total - math.log(weighed.border)  # -h
    if not numbers or lost <= 0:
        whole = float(1 / (1 + np.exp(min(log_total, 700.0))))
        return whole, 0.0, (shares * (1 - whole)).tolist()
    flat = float(exponent) * lost
    whole = top_weight(flat, numbers) * math.exp(-flat) / (1 + float(weighed.border))
    return whole, flat, (shares * (1 - whole)).tolist()
