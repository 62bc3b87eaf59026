"""All levels of plain-or-cut's family side by side: which intervals are named on a column, and what its rows charge.

A search has up to a hundred levels with a dozen named intervals each. Arrays over all of them cost what one level
would: the work is in the calls and not in the numbers. Definitions and proof: docs/proofs/mechanism_plain_or_cut.md.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.clip.family import ONE, PARTS, Ends, Family, Weighed
from sordino.mechanisms.clip.flat_top import unit_weight, whole_top_weight
from sordino.mechanisms.clip.long_codes import shifted_products, shifted_quotients
from sordino.mechanisms.clip.plain_or_cut_plan import STARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

EIGHTS = 1 << STARTS
"""Starts per length, and parts that begin in each eighth of it."""

FINER = PARTS - STARTS

CODES = 256
"""Levels are taken together until they name the intervals about so many codes: short columns name them about each."""

_AROUND = np.arange(-EIGHTS - 1, 2)  # starts of the intervals that may hold a code
_EIGHTHS = np.arange(EIGHTS)
_FEWER = np.arange(EIGHTS - 1)


@lru_cache(maxsize=128)
def levels_of(family: Family) -> Levels:
    """All levels of a family, remembered by its public parameters."""
    return Levels(family)


class Levels:
    """What is known of the intervals of every length before any row is seen; public. A row of each array is a level.

    Leads and charges are in nats times `Family.unit`.
    """

    def __init__(self, family: Family) -> None:
        plan, unit = family.plan, family.unit
        self.family, self.numbers = family, plan.levels
        scales = [family.scale(level) for level in plan.levels]
        self._times = np.array([family.top * times for times, _ in scales], np.int64)
        self._shifts = np.array([shift for _, shift in scales], np.int64)
        places = np.array([family.places(level) for level in plan.levels], np.int64).reshape(-1, 2)
        self._first, self._last = places[:, 0], places[:, 1]
        self._favoured = [family.favoured(level) for level in plan.levels]
        self._all_priors = [family.all_priors(level) for level in plan.levels]
        self.priors = dict(zip(plan.levels, self._all_priors, strict=True))
        self._enough = np.array([plan.enough(level) for level in plan.levels], np.int64)
        self._needed = np.array([math.ceil(plan.needed(level)) for level in plan.levels], np.int64)
        self._margin = np.array(
            [int(plan.needed(level) * plan.slope * unit) for level in plan.levels], np.int64
        )
        self._leads = [int(plan.lead(level) * unit) for level in plan.levels]

    def weigh(self, ends: Ends) -> Weighed:
        """Every interval's weight, as `Family.weigh` says: level by level, in each by charge and then by prior."""
        family, plan, unit = self.family, self.family.plan, self.family.unit
        slope, start = int(plan.slope * unit), int(plan.head_start * unit)
        found = Weighed([], [], [], [], unit, ONE * unit_weight(unit, plan.drawn), [], plan.share.border)
        for some in self._together(ends.rows):
            which, places, favoured = self._named(some, ends)
            priors = np.where(favoured, ONE, family.distant(places))
            outside, away = self.charges(which, places, ends)
            enough = self._enough[which]
            charged = np.maximum(
                slope * np.minimum(outside, enough), self._margin[which] - slope * np.minimum(away, enough)
            )
            order = np.lexsort((priors, charged, which))
            which, places, charged, priors = which[order], places[order], charged[order], priors[order]
            new = np.ones(len(order) + 1, bool)
            new[1:-1] = (np.diff(which) != 0) | (np.diff(charged) != 0) | (np.diff(priors) != 0)
            edges = np.flatnonzero(new)
            heads = edges[:-1]
            cells = np.searchsorted(which[heads], np.arange(some.start, some.stop + 1)).tolist()
            sums = np.zeros(len(order) + 1, np.int64)
            np.cumsum(priors, out=sums[1:])
            named = sums[edges].tolist()
            bounds, sizes, shares = edges.tolist(), charged[heads].tolist(), priors[heads].tolist()
            for at in some:
                level, lead = self.numbers[at], self._leads[at] - start
                first, last = cells[at - some.start], cells[at - some.start + 1]
                for cell in range(first, last):
                    low, high, size = bounds[cell], bounds[cell + 1], sizes[cell]
                    prior = shares[cell] * (high - low)
                    times = whole_top_weight(size, unit, plan.numbers) if plan.joint else 1
                    found.add(level, places[low:high], prior * times, lead, size)
                others = self._all_priors[at] - (named[last] - named[first])
                if others > 0 and not family.anchored:
                    size = max(slope * min(ends.rows, int(self._enough[at])), int(self._margin[at]))
                    times = whole_top_weight(size, unit, plan.numbers) if plan.joint else 1
                    found.add(level, None, others * times, lead, size)
        return found

    def _together(self, rows: int) -> Iterator[range]:
        """Levels whose intervals are weighed at once."""
        codes = rows // np.maximum(rows - self._enough + 1, 1)
        first = taken = 0
        for at, many in enumerate(codes.tolist()):
            if at > first and taken + many > CODES:
                yield range(first, at)
                first, taken = at, 0
            taken += many
        if len(codes):
            yield range(first, len(codes))

    def _named(self, some: range, ends: Ends) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
        """Intervals at the anchor and all that miss fewer than ``enough`` rows: levels, starts, which are favoured.

        They are sorted by level and start.
        """
        which = np.repeat(np.arange(some.start, some.stop), [len(self._favoured[at]) for at in some])
        places = np.concatenate([self._favoured[at] for at in some])
        ours = len(which)
        if not self.family.anchored and ends.rows:
            held = np.maximum(ends.rows - self._enough[some.start : some.stop] + 1, 1)
            many = ends.rows // held
            owner = np.repeat(np.arange(some.start, some.stop), many)
            nth = np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many) + 1
            # Whoever holds `held` consecutive rows holds one of these.
            codes = ends.at(nth * np.repeat(held, many)) - self.family.anchor
            floors = shifted_quotients(codes, self._shifts[owner] + STARTS, self._times[owner])
            which = np.concatenate([which, np.repeat(owner, len(_AROUND))])
            places = np.concatenate([places, (floors[:, None] + _AROUND).ravel()])
        inside = (places >= self._first[which]) & (places <= self._last[which])
        order = np.lexsort((places, which))  # stable: of two equal ones the favoured comes first
        order = order[inside[order]]
        which, places = which[order], places[order]
        new = np.ones(len(order), bool)
        new[1:] = (np.diff(which) != 0) | (np.diff(places) != 0)
        return which[new], places[new], (order < ours)[new]

    def charges(self, which: Numbers, places: Numbers, ends: Ends) -> tuple[Numbers, Numbers]:
        """Rows outside each interval, and the rows that it holds away from its fullest part.

        Args:
            which: The number of each interval's level in the family.
            places: Starts, in order within every level, none twice.
            ends: The ends of the column.
        """
        outside = self._outside(which, places, STARTS, EIGHTS, ends)
        away = np.full(len(places), np.iinfo(np.int64).max // 4)
        near = np.flatnonzero(outside < self._needed[which])
        if len(near):
            # The parts of an interval: all that begin in one of its first seven eighths, and the last one. Neighbouring
            # intervals have most of them in common, so they are counted by the eighth in which they begin: an interval
            # adds the eighths up to the start of the next one, and finds its others behind them.
            level, start = which[near], places[near]
            adds = np.full(len(near), EIGHTS)
            adds[:-1] = np.where(np.diff(level) != 0, EIGHTS, np.minimum(np.diff(start), EIGHTS))
            at = np.cumsum(adds) - adds
            eighths = np.repeat(start - at, adds) + np.arange(int(adds.sum()))
            parts = (eighths[:, None] << FINER) + np.arange(1 << FINER)
            missed = self._outside(np.repeat(level, adds)[:, None], parts, PARTS, 1 << FINER, ends)
            fewest = missed.min(axis=1)
            within = fewest[at[:, None] + _FEWER].min(axis=1)
            away[near] = np.minimum(within, missed[at + EIGHTS - 1, 0]) - outside[near]
        return outside, away

    def _outside(self, which: Numbers, places: Numbers, lattice: int, length: int, ends: Ends) -> Any:
        """Rows outside closed intervals: ``length`` cells of a lattice of 2^-lattice of the length of a level."""
        times, shifts = self._times[which], self._shifts[which] + lattice
        anchor = self.family.anchor
        before = ends.below(anchor - shifted_products(-places, times, shifts))
        until = ends.below(anchor + shifted_products(places + length, times, shifts), side="right")
        return before + ends.rows - np.maximum(until, before)
