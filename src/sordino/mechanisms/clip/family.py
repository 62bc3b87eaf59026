"""The intervals among which plain-or-cut chooses, and how far the rows of a column are from filling each of them.

For every level l the family has intervals of length ``range / 2^(l/2)`` that start on a lattice of an eighth of it.
What an interval is charged moves by at most one when a row changes: docs/proofs/mechanism_plain_or_cut.md. The choice
among them is whole_or_interval.py, the constants are in plain_or_cut_plan.py.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.clip.plain_or_cut_plan import PLACES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sordino.mechanisms.clip.plain_or_cut_plan import CutPlan

STARTS = 3  # intervals start on a lattice of 2^-3 of their length
PARTS = 6  # a heap is looked for in parts of 2^-3 of the length, on a lattice of 2^-6 of it
ANCHORED = (0, -8, -4)  # starts, in eighths, of the intervals beside and about the anchor: they have prior 1
ROOT = (181, 7)  # 181 / 2^7 is the root of two by which odd levels are longer than the next
ONE = 1 << 40  # stands for a prior of 1
_AROUND = np.arange(-(1 << STARTS) - 1, 2)  # starts of the intervals that may hold a code
_LARGEST = 1 << 62
NEAR = 4  # intervals near the anchor have a prior of 2^-4, others less


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

    def below(self, codes: Any, *, side: Any = "left") -> Any:
        """The number of rows with a smaller code (``right``: a smaller or the same one)."""
        head = self.first.searchsorted(codes, side)
        if len(self.first) == self.rows:
            return head
        tail = self.last.searchsorted(codes, side) + (self.rows - len(self.last))
        return np.where(head < len(self.first), head, tail)

    def at(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The codes at ranks, counted from 1, that lie in one of the windows."""
        both = np.concatenate([self.first, self.last])
        return both[np.where(ranks <= len(self.first), ranks - 1, ranks - 1 - self.rows + len(both))]


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
    """

    level: list[int]
    places: list[NDArray[np.int64] | None]
    counts: list[int]
    exponents: list[int]
    unit: int
    one: int
    charges: list[int]

    def add(self, level: int, places: NDArray[np.int64] | None, prior: int, lead: int, charge: int) -> None:
        """One more cell: of the weight ``prior exp(lead - charge)``, or that times ``1 + charge`` in a joint draw."""
        self.level.append(level)
        self.places.append(places)
        self.counts.append(prior)
        self.exponents.append(charge - lead)
        self.charges.append(charge)

    def taken(self, level: int) -> set[int]:
        """The starts of a level that are in a cell by name."""
        cells = [places for j, places in zip(self.level, self.places, strict=True) if j == level]
        return {int(place) for places in cells if places is not None for place in places}


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """What is known of the intervals of one length before any row is seen; public.

    Leads and charges are in nats times `Family.unit`.
    """

    level: int
    scale: tuple[int, int]
    first: int
    last: int
    favoured: NDArray[np.int64]
    all_priors: int
    enough: int
    needed: Fraction
    lead: int
    charge: int


def _shifted_product(factors: NDArray[np.int64], times: int, shift: int) -> NDArray[np.int64]:
    """``factors times >> shift`` exactly where the product has more than 63 bits, in two parts of `times`.

    Example:
        >>> _shifted_product(np.array([-(3**24), 5**17]), 7**14, 30).tolist()
        [-178395051598049, 481906477637750]
        >>> -(3**24) * 7**14 >> 30, 5**17 * 7**14 >> 30
        (-178395051598049, 481906477637750)
    """
    most = max(-int(factors.min(initial=0)), int(factors.max(initial=0)))
    if most * times < _LARGEST:
        found: NDArray[np.int64] = (factors * times) >> shift
        return found
    part = min(shift, times.bit_length() // 2)
    above, below = times >> part, times & ((1 << part) - 1)
    if most * (max(above, below) + 1) >= _LARGEST:
        return ((factors.astype(object) * times) >> shift).astype(np.int64)
    return (factors * above + ((factors * below) >> part)) >> (shift - part)


def _shifted_quotient(codes: NDArray[np.int64], shift: int, divisor: int) -> NDArray[np.int64]:
    """``(codes << shift) // divisor`` exactly, by long division where the dividend has more than 63 bits.

    Example:
        >>> _shifted_quotient(np.array([-(2**30), 10**9]), 40, 3**20).tolist()
        [-338590370079, 315336855201]
        >>> -(2**30 << 40) // 3**20, (10**9 << 40) // 3**20
        (-338590370079, 315336855201)
    """
    quotient, rest = divmod(codes, divisor)
    step = 62 - divisor.bit_length()
    while shift > 0:
        more = min(step, shift)
        digits, rest = divmod(rest << more, divisor)
        quotient, shift = (quotient << more) + digits, shift - more
    return quotient


@lru_cache(maxsize=128)
def _levels(family: Family) -> tuple[Level, ...]:
    """All levels of a search, remembered by its public parameters."""
    return tuple(family.public(level) for level in family.plan.levels)


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
        if level % 2:
            return ROOT[0], (level + 1) // 2 + ROOT[1]
        return 1, level // 2

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
        """Priors as parts of `ONE` by the distance from the anchor: a sixteenth, halved with every doubling."""
        lengths = np.abs(places + (1 << STARTS) // 2) >> STARTS
        found: NDArray[np.int64] = (ONE >> NEAR) >> np.ceil(np.log2(lengths + 1.0)).astype(np.int64)
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
            prior, nearest = (ONE >> NEAR) >> ring, eight << (ring - 1) if ring else 0
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
        low = self.anchor - _shifted_product(-places, unit, shift)
        return low, self.anchor + _shifted_product(places + length, unit, shift)

    def _counted(self, level: int, places: Any, lattice: int, length: int, ends: Ends) -> Any:
        """Rows outside closed intervals."""
        low, high = self._ends(level, places, lattice, length)
        before = ends.below(low)
        return before + ends.rows - np.maximum(ends.below(high, side="right"), before)

    def candidates(self, level: Level, ends: Ends) -> NDArray[np.int64]:
        """Starts of the intervals at the anchor and of all that hold all rows but fewer than ``enough``."""
        starts = level.favoured
        if not self.anchored and ends.rows:
            held = max(ends.rows - level.enough + 1, 1)
            times, shift = level.scale
            # Whoever holds `held` consecutive rows holds one of these.
            codes = ends.at(np.arange(held, ends.rows + 1, held)) - self.anchor
            ceilings = _shifted_quotient(codes, shift + STARTS, self.top * times)
            starts = np.unique(np.concatenate([starts, (ceilings[:, None] + _AROUND).ravel()]))
        found: NDArray[np.int64] = starts[(starts >= level.first) & (starts <= level.last)]
        return found

    def charges(self, level: int, places: Any, ends: Ends) -> tuple[Any, Any]:
        """Rows outside each interval, and the rows that it holds away from its fullest part."""
        return self._charges(level, self.plan.needed(level), places, ends)

    def _charges(self, level: int, needed: Fraction, places: Any, ends: Ends) -> tuple[Any, Any]:
        outside = self._counted(level, places, STARTS, 1 << STARTS, ends)
        away = np.full(len(places), np.iinfo(np.int64).max // 4)
        some = np.flatnonzero(outside < math.ceil(needed))
        if len(some):
            # The parts of an interval: all that begin in one of its first seven eighths, and the last one. Neighbouring
            # intervals have most of them in common, so they are counted by the eighth in which they begin.
            eighths = np.unique((places[some, None] + np.arange(1 << STARTS)).ravel())
            parts = (eighths[:, None] << (PARTS - STARTS)) + np.arange(1 << (PARTS - STARTS))
            missed = self._counted(level, parts, PARTS, 1 << (PARTS - STARTS), ends)
            fewest, at = missed.min(axis=1), np.searchsorted(eighths, places[some])
            within = fewest[at[:, None] + np.arange((1 << STARTS) - 1)].min(axis=1)
            away[some] = np.minimum(within, missed[at + (1 << STARTS) - 1, 0]) - outside[some]
        return outside, away

    @property
    def unit(self) -> int:
        """The common denominator of leads and charges."""
        return math.lcm(self.plan.slope.denominator, 2 ** (PLACES + 1))

    def public(self, level: int) -> Level:
        """What a level is before any row is seen."""
        first, last = self.places(level)
        return Level(
            level, self.scale(level), first, last, self.favoured(level), self.all_priors(level),
            self.plan.enough(level), self.plan.needed(level), int(self.plan.lead(level) * self.unit),
            int(self.plan.needed(level) * self.plan.slope * self.unit),
        )  # fmt: skip

    def weigh(self, ends: Ends) -> Weighed:
        """Weigh every interval: ``w = prior exp(lead - B - x)`` with the charge ``x = slope max(N, T - A)``, exactly.

        In a joint draw the value's noise has a top that is flat so far, which weighs ``1 + x`` times as much. Intervals
        that miss ``C_j`` rows or more are charged ``C_j``: they are one cell per level.
        """
        plan = self.plan
        unit = self.unit
        slope, start = int(plan.slope * unit), int(plan.head_start * unit)
        found = Weighed([], [], [], [], unit, ONE * (unit if plan.joint else 1), [])
        for public in _levels(self):
            level, enough, lead, needed = public.level, public.enough, public.lead, public.charge
            places = self.candidates(public, ends)
            priors = self._priors(public.favoured, places)
            outside, away = self._charges(level, public.needed, places, ends)
            charged = np.maximum(
                slope * np.minimum(outside, enough), needed - slope * np.minimum(away, enough)
            )
            order = np.lexsort((priors, charged))
            sizes, shares = charged[order], priors[order]
            edges = np.flatnonzero((sizes[1:] != sizes[:-1]) | (shares[1:] != shares[:-1])) + 1
            for first, last in itertools.pairwise([0, *edges.tolist(), len(order)] if len(order) else []):
                cell = order[first:last]
                size, prior = int(charged[cell[0]]), int(priors[cell[0]])
                top = unit + size if plan.joint else 1
                found.add(level, places[cell], prior * len(cell) * top, lead - start, size)
            others = public.all_priors - int(priors.sum())
            if others > 0 and not self.anchored:
                size = max(slope * min(ends.rows, enough), needed)
                found.add(level, None, others * (unit + size if plan.joint else 1), lead - start, size)
        return found


def exact_chances(
    weighed: Weighed, *, joint: bool, exponent: Fraction
) -> tuple[float, float, Sequence[float]]:
    """The probability of the whole range, how flat its law is, and the probability of each cell; for laws and plans.

    The second number is ``r v``: 0 where the whole range is drawn with plain noise.
    """
    from sordino.mechanisms.clip.plain_or_cut_plan import WHOLE_PART

    logs = np.array([float(Fraction(-e, weighed.unit)) for e in weighed.exponents])
    logs += np.log(np.array([float(Fraction(count, weighed.one)) for count in weighed.counts]))
    best = max(float(logs.max()), 0.0)
    total = float(np.exp(logs - best).sum())
    shares = np.exp(logs - best) / total
    log_total = np.log(total) + best
    lost = log_total + float(np.log(float((1 - WHOLE_PART) / WHOLE_PART)))  # -h
    if not joint or lost <= 0:
        whole = float(1 / (1 + np.exp(min(log_total, 700.0))))
        return whole, 0.0, (shares * (1 - whole)).tolist()
    flat = float(exponent) * lost
    whole = float(1 - WHOLE_PART) * (1 + flat) * float(np.exp(-flat))
    return whole, flat, (shares * (1 - whole)).tolist()
