"""The intervals of plain-or-cut weighed on the columns of many groups at once: `Family.weigh` on arrays.

The same candidates and charges, level by level for all groups. At a level at which no interval of a group can hold all
rows but ``enough``, every interval is charged alike, so its weight is a public number and nothing is looked at: that is
so at most levels of most columns. Weights are floats with a proved error beside the exact integers that they stand for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.exact.functions import ARRAYS
from sordino.mechanisms.clip.family import ONE, PARTS, Ends, Family, Weighed
from sordino.mechanisms.clip.flat_top import top_weight, unit_weight, whole_top_weight
from sordino.mechanisms.clip.levels import levels_of
from sordino.mechanisms.clip.plain_or_cut_plan import PLACES, STARTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Floats = NDArray[np.float64]

WEIGHT_ERROR = 2.0**-38
"""Relative error of a float weight and of a sum: `exp` and its argument cost 2^-41, a sum of n terms n 2^-52."""

_BATCH = 1 << 14  # intervals whose parts are counted at a time: some 10 MB


class ManyEnds:
    """The lowest and the highest codes of many columns, as `Ends` has them of one; private."""

    def __init__(self, ends: Sequence[Ends], top: int) -> None:
        lengths = np.array([(len(one.first), len(one.last)) for one in ends], np.int64).reshape(-1, 2)
        self.rows = np.array([one.rows for one in ends], np.int64)
        self.codes = np.concatenate([part for one in ends for part in (one.first, one.last)] or [self.rows])
        self._heads, self.lengths = lengths[:, 0], lengths.sum(axis=1)
        self.starts = np.cumsum(self.lengths) - self.lengths
        self._stride, self._top = top + 2, top
        self._keys = self.codes + np.repeat(np.arange(len(ends)) * self._stride, self.lengths)

    def below(self, group: Numbers, codes: Numbers) -> Numbers:
        """The number of rows of each group with a smaller code, where that is known exactly, as `Ends.below`."""
        inside = np.minimum(np.maximum(codes, 0), self._top + 1)
        place = np.searchsorted(self._keys, group * self._stride + inside) - self.starts[group]
        gap = self.rows[group] - self.lengths[group]  # rows between the two ends
        return np.where(place < self._heads[group], place, place + gap)

    def at(self, group: Numbers, ranks: Numbers) -> Numbers:
        """The codes at ranks, counted from 1, that lie at one of the ends."""
        gap = self.rows[group] - self.lengths[group]
        place = np.where(ranks <= self._heads[group], ranks - 1, ranks - 1 - gap)
        return self.codes[self.starts[group] + place]

    def shortest(self, group: Numbers, enough: int) -> Numbers:
        """The least distance between two codes with all rows but fewer than ``enough`` from one to the other."""
        away = np.arange(enough)
        low = self.codes[self.starts[group][:, None] + away]
        high = self.codes[(self.starts + self.lengths)[group][:, None] - enough + away]
        found: Numbers = (high - low).min(axis=1)
        return found


@dataclass(frozen=True, slots=True, repr=False)
class _Level:
    """The intervals of one level that are named, over all groups, sorted by group; and the others of each group."""

    level: int
    lead: int  # nats times unit by which it leads, less the head start
    group: Numbers
    place: Numbers
    prior: Numbers
    charge: Numbers
    others: Numbers  # priors of all that are not named
    others_charge: Numbers


class ManyWeighed:
    """Weights of all intervals on the columns of many groups, against whole ranges of weight 1; private.

    Args:
        family: All intervals; public.
        ends: The two ends of every column.
    """

    def __init__(self, family: Family, ends: Sequence[Ends]) -> None:
        self.family, self._groups, plan = family, len(ends), family.plan
        self.unit = math.lcm(plan.slope.denominator, 2 ** (PLACES + 1))
        self._all_priors = levels_of(family).priors
        many = ManyEnds(ends, family.top)
        finest = plan.enough(plan.finest)
        shortest = np.zeros(len(ends), np.int64)
        large = np.flatnonzero(many.rows >= finest)
        shortest[large] = many.shortest(large, finest)
        self._levels = [self._weighed(level, many, shortest) for level in plan.levels]

    @staticmethod
    def fits(family: Family, groups: int) -> bool:
        """Whether codes of all groups, and nats times their unit, fit into 64 bits."""
        unit = math.lcm(family.plan.slope.denominator, 2 ** (PLACES + 1))
        nats = int(family.plan.lead(family.plan.finest) + family.plan.distant) + 64
        return (family.top + 2) * (groups + 1) < 2**62 and unit * nats < 2**52

    def _weighed(self, level: int, ends: ManyEnds, shortest: Numbers) -> _Level:
        family, plan = self.family, self.family.plan
        enough, slope = plan.enough(level), int(plan.slope * self.unit)
        needed = int(plan.needed(level) * plan.slope * self.unit)
        times, shift = family.scale(level)
        length = (family.top * times) >> shift
        active = np.flatnonzero((ends.rows < enough) | (shortest <= length))
        closer = active[ends.rows[active] >= enough]
        gone = closer[ends.shortest(closer, enough) > length] if len(closer) else closer
        active = np.setdiff1d(active, gone, assume_unique=True)
        group, place = self._candidates(level, active, ends)
        prior = family.priors(level, place) if len(place) else place
        outside, away = self._charges(level, group, place, ends)
        charge = np.maximum(slope * np.minimum(outside, enough), needed - slope * np.minimum(away, enough))
        named = np.zeros(self._groups, np.int64)
        np.add.at(named, group, prior)
        others = np.zeros_like(named) if family.anchored else self._all_priors[level] - named
        rest = np.maximum(slope * np.minimum(ends.rows, enough), needed)
        if (
            family.anchored
        ):  # all intervals have names; those of groups that were not looked at are charged alike
            quiet = np.setdiff1d(np.arange(self._groups), active, assume_unique=True)
            group, place, prior, charge = self._anchored(level, quiet, rest, (group, place, prior, charge))
        lead = int(plan.lead(level) * self.unit) - int(plan.head_start * self.unit)
        return _Level(level, lead, group, place, prior, charge, others, rest)

    def _candidates(self, level: int, active: Numbers, ends: ManyEnds) -> tuple[Numbers, Numbers]:
        """As `Family.candidates`: starts at the anchor, and of all that hold all rows but fewer than ``enough``."""
        family, (first, last) = self.family, self.family.places(level)
        favoured = family.favoured(level)
        group, place = np.repeat(active, len(favoured)), np.tile(favoured, len(active))
        if not family.anchored:
            some = active[ends.rows[active] > 0]
            held = np.maximum(ends.rows[some] - family.plan.enough(level) + 1, 1)
            many = ends.rows[some] // held
            owner, step = np.repeat(some, many), np.repeat(held, many)
            nth = np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many) + 1
            times, shift = family.scale(level)
            codes: Any = ends.at(owner, nth * step) - family.anchor
            if family.top.bit_length() + shift + STARTS > 60:
                codes = codes.astype(object)
            ceilings = ((codes << (shift + STARTS)) // (family.top * times)).astype(np.int64)
            around = np.arange(-(1 << STARTS) - 1, 2)
            group = np.concatenate([group, np.repeat(owner, len(around))])
            place = np.concatenate([place, (ceilings[:, None] + around).ravel()])
        inside = (place >= first) & (place <= last)
        group, place = group[inside], place[inside]
        order = np.lexsort((place, group))
        group, place = group[order], place[order]
        new = np.ones(len(group), bool)
        new[1:] = (np.diff(group) != 0) | (np.diff(place) != 0)
        return group[new], place[new]

    def _anchored(
        self, level: int, groups: Numbers, charge: Numbers, named: tuple[Numbers, ...]
    ) -> tuple[Numbers, ...]:
        family, (first, last) = self.family, self.family.places(level)
        starts = family.favoured(level)
        starts = starts[(starts >= first) & (starts <= last)]
        more = (
            np.repeat(groups, len(starts)),
            np.tile(starts, len(groups)),
            np.full(len(groups) * len(starts), ONE),
            np.repeat(charge[groups], len(starts)),
        )
        both = [np.concatenate(pair) for pair in zip(named, more, strict=True)]
        order = np.argsort(both[0], kind="stable")
        return tuple(one[order] for one in both)

    def _outside(
        self, level: int, group: Numbers, place: Numbers, lattice: int, length: int, ends: ManyEnds
    ) -> Numbers:
        low, high = self.family._ends(level, place, lattice, length)
        first = ends.below(group, low)
        return first + ends.rows[group] - np.maximum(ends.below(group, high + 1), first)

    def _charges(self, level: int, group: Numbers, place: Numbers, ends: ManyEnds) -> tuple[Numbers, Numbers]:
        """As `Family.charges`: rows outside each interval, and those that it holds away from its fullest part."""
        outside = self._outside(level, group, place, STARTS, 1 << STARTS, ends)
        away = np.full(len(place), np.iinfo(np.int64).max // 4)
        held = ends.rows[group] - outside
        near = outside < math.ceil(self.family.plan.needed(level))
        away[near & (held <= 1)] = 0
        some = np.flatnonzero(near & (held > 1))
        steps = np.arange((1 << PARTS) - (1 << STARTS) + 1)
        for begin in range(0, len(some), _BATCH):
            these = some[begin : begin + _BATCH]
            parts = (place[these, None] << (PARTS - STARTS)) + steps
            owner = np.broadcast_to(group[these, None], parts.shape)
            missed = self._outside(level, owner, parts, PARTS, 1 << (PARTS - STARTS), ends)
            away[these] = missed.min(axis=1) - outside[these]
        return outside, away

    def _floats(self, prior: Any, charge: Any, lead: int) -> Floats:
        """Weights of intervals; those of a joint draw with the weight of their noise."""
        weights: Floats = ARRAYS.exp((lead - charge) / self.unit) * (prior / ONE)
        plan = self.family.plan
        return weights * top_weight(charge / self.unit, plan.numbers) if plan.joint else weights

    @cached_property
    def others(self) -> Floats:
        """Weights of the intervals without names: a row per level, a column per group."""
        return np.stack([self._floats(one.others, one.others_charge, one.lead) for one in self._levels])

    @cached_property
    def named(self) -> tuple[Numbers, Numbers, Numbers, Floats]:
        """Group, number of the level, number within it and weight of every interval with a name, sorted by group."""
        group = np.concatenate([one.group for one in self._levels])
        level = np.repeat(np.arange(len(self._levels)), [len(one.group) for one in self._levels])
        inner = np.concatenate([np.arange(len(one.group)) for one in self._levels])
        weight = np.concatenate([self._floats(one.prior, one.charge, one.lead) for one in self._levels])
        order = np.argsort(group, kind="stable")
        return group[order], level[order], inner[order], weight[order]

    @cached_property
    def totals(self) -> Floats:
        """Z of every group, to a relative `WEIGHT_ERROR`."""
        group, _, _, weight = self.named
        return self.others.sum(axis=0) + np.bincount(group, weight, self._groups)

    def interval(self, group: int, cell: int) -> tuple[int, int | None, int]:
        """The level of a cell of `one`, the start of its interval where it has a name, and what it is charged."""
        if cell < len(self._levels):
            one = self._levels[cell]
            return one.level, None, int(one.others_charge[group])
        at = int(np.searchsorted(self.named[0], group)) + cell - len(self._levels)
        one, inner = self._levels[self.named[1][at]], self.named[2][at]
        return one.level, int(one.place[inner]), int(one.charge[inner])

    def others_prior(self, group: int, cell: int) -> int:
        """The priors of all intervals of a level that have no name."""
        return int(self._levels[cell].others[group])

    def unnamed(self, group: int, cell: int) -> tuple[set[int], list[int]]:
        """The starts of a level that have names, and those of prior 1 that have none: they were not looked at."""
        one = self._levels[cell]
        start, stop = np.searchsorted(one.group, (group, group + 1))
        taken = set(one.place[start:stop].tolist())
        first, last = self.family.places(one.level)
        favoured = self.family.favoured(one.level).tolist()
        return taken, [place for place in favoured if first <= place <= last and place not in taken]

    def floats(self, group: int) -> Floats:
        """The weights of the cells of one group, in the order of `one`."""
        start, stop = np.searchsorted(self.named[0], (group, group + 1))
        return np.concatenate([self.others[:, group], self.named[3][start:stop]])

    def one(self, group: int) -> Weighed:
        """The exact weights of one group, a cell per named interval: those without names first, level by level."""
        plan, unit = self.family.plan, self.unit
        found = Weighed([], [], [], [], unit, ONE * unit_weight(unit, plan.drawn), [], plan.share.border)
        for one in self._levels:
            size = int(one.others_charge[group])
            times = whole_top_weight(size, unit, plan.numbers) if plan.joint else 1
            found.add(one.level, None, int(one.others[group]) * times, one.lead, size)
        start, stop = np.searchsorted(self.named[0], (group, group + 1))
        for number, inner in zip(self.named[1][start:stop], self.named[2][start:stop], strict=True):
            one = self._levels[number]
            size, prior = int(one.charge[inner]), int(one.prior[inner])
            times = whole_top_weight(size, unit, plan.numbers) if plan.joint else 1
            found.add(one.level, one.place[inner : inner + 1], prior * times, one.lead, size)
        return found
