"""How far the noise of plain-or-cut may reach at a pure price: one public number for each of its outcomes.

The noise of a joint draw has a flat top whose width is private. An interval that is charged much is rarely drawn, and
both together have a density that no data can raise above plain noise times the weight of the interval. So a bar that is
wide enough for all data follows from what is published. Proof: docs/proofs/mean_bars.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from sordino.mechanisms.clip.flat_top import top_weight
from sordino.mechanisms.clip.plain_or_cut_plan import STARTS
from sordino.mechanisms.tuned_means import ForCut, ForMeanBar

if TYPE_CHECKING:
    from sordino.mechanisms.clip.family import Family
    from sordino.mechanisms.clip.plain_or_cut_plan import CutPlan

CLUSTER = 9
"""Starts of a level whose intervals meet a given one from the right, itself included."""


@dataclass(frozen=True, slots=True)
class _Class:
    """Intervals of one level and prior: ``ln`` of their weight without rows, how many can matter, their part."""

    weight: float
    many: int
    part: float
    remote: float  # what all others of the level add, at most


@dataclass(frozen=True, slots=True)
class CutTails:
    """How many scales of its own noise each outcome may be off, so that a miss is rare on every column; public.

    Attributes:
        whole: For the whole range.
        favoured: For the intervals with prior 1, by level.
        others: For all others, by level.
    """

    whole: float
    favoured: dict[int, float]
    others: dict[int, float]

    @classmethod
    def of(cls, family: Family, miss: float) -> CutTails:
        """The reach of every outcome for a probability of a miss.

        Example:
            >>> from sordino.mechanisms.clip.family import Family
            >>> from sordino.mechanisms.clip.plain_or_cut_plan import plan_cut
            >>> from sordino.privacy import Pure
            >>> family = Family(plan_cut(rows=2000, price=Pure(1), cells=2**31), top=2**31, anchor=0)
            >>> tails = CutTails.of(family, 0.05)
            >>> [round(tails.whole, 2), round(tails.favoured[6], 1), round(tails.others[6], 1)]
            [3.28, 8.9, 10.5]
        """
        found = _reaches(family.plan, _meeting(family), family.anchored, miss)
        return found or _sure(_reaches(*_everything(family), family.anchored, miss))


@dataclass(frozen=True, slots=True)
class Rarity:
    """How rarely an outcome can be drawn with noise that is flat for x nats, on every column; public.

    Attributes:
        weight: At most ``weight (1 + x) exp(-x)``, and at most 1; of a pair with ``x^2 / 2`` more in the bracket.
        allowed: What it may add to the probability of a miss beyond the usual one.
    """

    weight: float
    allowed: float

    @classmethod
    def of(cls, family: Family, level: int | None, *, favoured: bool, slack: float) -> Rarity:
        """Of the whole range (no level) or of an interval; all outcomes together may add ``slack``.

        Example:
            >>> from sordino.mechanisms.clip.family import Family
            >>> from sordino.mechanisms.clip.plain_or_cut_plan import plan_cut
            >>> from sordino.privacy import Pure
            >>> family = Family(plan_cut(rows=2000, price=Pure(1), cells=2**31), top=2**31, anchor=0)
            >>> found = Rarity.of(family, 6, favoured=True, slack=0.015)
            >>> round(found.weight, 2), round(found.allowed, 5)
            (10.47, 0.00022)
        """
        if level is None:
            return cls(float(1 - family.plan.share.part), slack * ForMeanBar.WHOLE_FLAT)
        likeliest, most = max(family.plan.share.likeliest, 1.0), slack * (1 - ForMeanBar.WHOLE_FLAT)
        classes, remote = _classes(family.plan, _meeting(family), family.anchored, slack)
        if likeliest * remote >= ForMeanBar.MOST_REMOTE * most:
            classes, remote = _classes(*_everything(family), family.anchored, slack)
        left = most - likeliest * remote
        (each,) = (one for at, liked, one in classes if at == level and liked == favoured)
        return cls(likeliest * math.exp(each.weight), each.part * left / each.many)


def _meeting(family: Family) -> int:
    """How many favoured intervals of a level can be filled: those that are not cut to less than a part."""
    first = family.plan.levels[0]
    if not family.plan.guarded:
        return len(family.favoured(first))
    return sum(1 for place in family.favoured(first).tolist() if _longer_than_a_part(family, first, place))


def _everything(family: Family) -> tuple[CutPlan, int]:
    """The plan and the number of favoured intervals if no interval is left out for being drawn by hardly anybody.

    A miss that is rarer than all of those together leaves them no part of its own; every interval of a level then
    counts with the prior of them all, whatever fills it.
    """
    return replace(family.plan, guarded=False), len(family.favoured(family.plan.levels[0]))


def _sure(found: CutTails | None) -> CutTails:
    """Without anything left out there is a reach for every miss."""
    assert found is not None
    return found


def _longer_than_a_part(family: Family, level: int, place: int) -> bool:
    """Whether an interval, cut to the range, is longer than an eighth of its length: otherwise its rows are a heap."""
    low, high = family.interval(level, place)
    times, shift = family.scale(level)
    return (high - low) << (shift + STARTS) > family.top * times + (2 << (shift + STARTS))


@lru_cache(maxsize=256)
def _classes(
    plan: CutPlan,
    meeting: int,
    anchored: bool,
    miss: float,
) -> tuple[list[tuple[int, bool, _Class]], float]:
    """The levels, each with its favoured intervals and the others, and what all the rest adds."""
    classes: list[tuple[int, bool, _Class]] = []
    for place, level in enumerate(plan.levels):
        level_part = ForMeanBar.NEXT ** (2 * place / plan.steps)
        lead, margin = float(plan.lead(level)), float(plan.margin)
        weight = lead - float(plan.head_start)
        part = level_part * (1.0 if anchored else ForMeanBar.FAVOURED)
        heap = 0.0
        if plan.guarded:  # an interval within one part: A = 0
            heap = math.exp(weight - lead - margin) * top_weight(lead + margin, plan.numbers)
        classes.append((level, True, _Class(weight, meeting, part, 2 * heap)))
        if not anchored:
            prior = -ForCut.NEAR * math.log(2)  # the largest of the others
            total = plan.all_priors(level)
            part = level_part * (1 - ForMeanBar.FAVOURED)
            if not plan.guarded:  # anybody may be charged little: the prior of the level stands for them
                classes.append((level, False, _Class(weight + math.log(total), 1, part, 0.0)))
                continue
            many, remote = _clusters(
                weight + math.log(total),
                lead + margin,
                ForMeanBar.REMOTE * (1 - ForMeanBar.NEXT) * part * miss,
                plan.numbers,
            )
            classes.append((level, False, _Class(weight + prior, many, part, remote)))
    size = math.fsum(each.part for _, _, each in classes)
    shared = [(level, one, replace(each, part=each.part / size)) for level, one, each in classes]
    return shared, math.fsum(each.remote for _, _, each in classes)


@lru_cache(maxsize=256)
def _reaches(plan: CutPlan, meeting: int, anchored: bool, miss: float) -> CutTails | None:
    """Share the miss: the whole range first, then the levels; None where what is left out is no rarer than a miss."""
    classes, remote = _classes(plan, meeting, anchored, miss)
    low, high = 0.0, miss
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _rare(plan, classes, middle, remote, miss) else (low, middle)
    if not low:
        return None
    found: tuple[dict[int, float], dict[int, float]] = ({}, {})
    for level, favoured, each in classes:
        found[0 if favoured else 1][level] = _reach(each, low, plan.numbers)
    return CutTails(_far(-math.log(ForMeanBar.WHOLE * miss), plan.whole_numbers), *found)


def _far(nats: float, numbers: int) -> float:
    """The u with ``exp(-u)``, or ``(1 + u) exp(-u)`` for a pair, as rare as so many nats."""
    found = nats
    for _ in range(100 if numbers > 1 and nats > 0 else 0):  # a contraction: 1 / (1 + u) at a time
        found = nats + math.log1p(found)
    return found * (1 + 1e-12)


def _reach(each: _Class, total: float, numbers: int = 1) -> float:
    """The u with ``many weight exp(-u) = part total``, or ``(1 + u) exp(-u)`` for a pair."""
    return _far(max(each.weight - math.log(each.part * total / each.many), 0.0), numbers)


def _rare(
    plan: CutPlan, classes: list[tuple[int, bool, _Class]], total: float, remote: float, miss: float
) -> bool:
    """Whether both bounds on the probability of a miss are kept: Z above and below ``p0 / (1 - p0)``."""
    if total <= 0:
        return False
    sums = below = 0.0
    for _, _, each in classes:
        if plan.numbers > 1:  # nothing is taken off for what the noise of an interval holds
            sums, below = sums + each.part * total, below + each.part * total
            continue
        reach = _reach(each, total)
        sums += each.many * math.exp(each.weight - reach)
        below += each.many * math.exp(each.weight - reach / (1 - miss)) * (1 - miss)
    whole = float(1 - plan.share.part) * ForMeanBar.WHOLE * miss
    above = whole + plan.share.likeliest * (sums + remote)
    return above <= miss and below + remote <= (1 - ForMeanBar.WHOLE) * miss


def _clusters(weight: float, needed: float, allowed: float, numbers: int) -> tuple[int, float]:
    """How many intervals of a level can be charged little at a time, and what the others add together.

    ``g + 1`` disjoint intervals that are charged less than X have ``X > g / (g + 1)`` of what fills one (k T_j).
    """
    groups, remote = 1, math.inf
    while groups < 64:
        charge = groups / (groups + 1) * needed
        remote = top_weight(charge, numbers) * math.exp(weight - charge)
        if remote <= allowed:
            break
        groups += 1
    return CLUSTER * groups, remote
