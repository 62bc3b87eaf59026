"""The choice of plain-or-cut for many groups at once, drawn exactly: `draw_outcome` on arrays.

What a float with a proved error decides is decided by it; the rest is left to balls, with the same random numbers and
more bits of them, never drawn anew. Groups are independent, and each has the law of `whole_or_interval.draw_outcome`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sordino.exact import choice
from sordino.exact.balls import precision
from sordino.exact.functions import SCALARS
from sordino.exact.sampler import draw_many
from sordino.exact.uniforms import GUARD, LazyUniform
from sordino.lattice import Lattice
from sordino.mechanisms.clip.family import ONE
from sordino.mechanisms.clip.family_groups import WEIGHT_ERROR, ManyWeighed
from sordino.mechanisms.clip.flat_top import top_weight
from sordino.mechanisms.clip.levels import levels_of
from sordino.mechanisms.clip.whole_or_interval import (
    Chosen,
    Valued,
    cell_weights,
    draw_cell,
    draw_interval,
    draw_outcome,
    draw_place,
    outweighs,
    survives,
    total_ball,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.exact.bits import Bits
    from sordino.mechanisms.clip.family import Ends, Family, Weighed

    Numbers = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

SLACK = 4 * WEIGHT_ERROR
"""Relative distance from a border beyond which floats decide."""


def draw_outcomes(
    family: Family, ends: Sequence[Ends], wholes: Sequence[Valued] | None, *, bits: Bits
) -> list[tuple[Fraction, ...] | Chosen | None]:
    """One outcome per group.

    Args:
        family: All intervals; public.
        ends: The lowest and highest codes of every group; private.
        wholes: What is published with the whole range of each in a joint draw; None draws intervals alone.
        bits: A source of random words.
    """
    outcomes: list[tuple[Fraction, ...] | Chosen | None] = [None] * len(ends)
    rows = np.array([one.rows for one in ends], np.int64)
    most = heaviest(family, rows)
    few = most < float(family.plan.share.border) * (1 - SLACK)
    fits = ManyWeighed.fits(family, len(ends))
    for chosen, drawn in ((few, _few), (~few, _many if fits else _one_by_one)):
        places = np.flatnonzero(chosen).tolist()
        some = [ends[place] for place in places]
        values = None if wholes is None else [wholes[place] for place in places]
        if some:
            found = drawn(family, some, values, most[places], bits)
            for place, one in zip(places, found, strict=True):
                outcomes[place] = one
    return outcomes


def heaviest(family: Family, rows: Numbers) -> Floats:
    """What all intervals together weigh at most on a column of so few rows: no interval is filled.

    An interval that misses N rows and holds at most one less than the others away from its fullest part is charged
    ``k max(N, T - (n - N - 1))``, which is least for N = 0.
    """
    plan, found, priors = family.plan, np.zeros(len(rows)), levels_of(family).priors
    for level in plan.levels:
        lead, slope = float(plan.lead(level)), float(plan.slope)
        charge = np.maximum(float(plan.needed(level)) * slope - slope * np.maximum(rows - 1, 0), 0.0)
        weight = priors[level] / ONE * np.exp(lead - float(plan.head_start) - charge)
        found += weight * top_weight(charge, plan.numbers) if plan.joint else weight
    return found


def _one_by_one(
    family: Family, ends: Sequence[Ends], wholes: Sequence[Valued] | None, most: Floats, bits: Bits
) -> list[tuple[Fraction, ...] | Chosen | None]:
    """Columns whose numbers do not fit into 64 bits together."""
    del most
    values: Sequence[Valued | None] = [None] * len(ends) if wholes is None else wholes
    pairs = zip(ends, values, strict=True)
    return [draw_outcome(family, family.weigh(one), whole, bits=bits) for one, whole in pairs]


def _few(
    family: Family, ends: Sequence[Ends], wholes: Sequence[Valued] | None, most: Floats, bits: Bits
) -> list[tuple[Fraction, ...] | Chosen | None]:
    """Columns of so few rows that hardly anything is ever cut: weighed only where the random number is near 1."""
    words = bits.words(len(ends))
    outcomes: list[tuple[Fraction, ...] | Chosen | None] = [None] * len(ends)
    for place in np.flatnonzero((words * 2.0**-64 + 0.5) * (1 + most) >= 1 - SLACK).tolist():
        weighed = family.weigh(ends[place])
        if _above(weighed, LazyUniform(int(words[place]), bits)):
            cell = draw_cell(weighed, bits=bits)
            level, low, high = draw_interval(family, weighed, cell, bits=bits)
            outcomes[place] = Chosen(level, low, high, Fraction(weighed.charges[cell], weighed.unit))
    if wholes is not None:
        plain = [place for place, one in enumerate(outcomes) if one is None]
        for place, value in zip(plain, _plain_values([wholes[place] for place in plain], bits), strict=True):
            outcomes[place] = value
    return outcomes


def _many(
    family: Family, ends: Sequence[Ends], wholes: Sequence[Valued] | None, most: Floats, bits: Bits
) -> list[tuple[Fraction, ...] | Chosen | None]:
    """Columns that are weighed together."""
    del most
    weighed = ManyWeighed(family, ends)
    totals = weighed.totals
    heavy = _heavy(weighed) if wholes is not None else np.zeros(len(ends), bool)
    cut = _light_cuts(weighed, ~heavy, bits)
    found: list[tuple[Fraction, ...] | Chosen | None] = [None] * len(ends)
    if wholes is not None:
        plain = np.flatnonzero(~heavy & ~cut).tolist()
        for place, value in zip(plain, _plain_values([wholes[place] for place in plain], bits), strict=True):
            found[place] = value
        for place in np.flatnonzero(heavy).tolist():
            found[place] = _flattened(weighed, place, float(totals[place]), wholes[place], bits)
            cut[place] = found[place] is None
    for place in np.flatnonzero(cut).tolist():
        found[place] = _interval(weighed, place, bits)
    return found


def _heavy(weighed: ManyWeighed) -> Flags:
    """Which groups have intervals that outweigh ``p0 / (1 - p0)`` of the whole range."""
    border = float(weighed.family.plan.share.border)
    heavy: Flags = weighed.totals > border
    for place in np.flatnonzero(np.abs(weighed.totals - border) < SLACK * border).tolist():
        heavy[place] = outweighs(weighed.one(place))
    return heavy


def _light_cuts(weighed: ManyWeighed, light: Flags, bits: Bits) -> Flags:
    """Which of some groups choose an interval: those with ``U (1 + Z) >= 1``."""
    words = bits.words(len(light))
    product = (words * 2.0**-64 + 0.5) * (1 + weighed.totals)
    cut: Flags = light & (product >= 1)
    for place in np.flatnonzero(light & (np.abs(product - 1) < SLACK)).tolist():
        cut[place] = _above(weighed.one(place), LazyUniform(int(words[place]), bits))
    return cut


def _above(weighed: Weighed, uniform: LazyUniform) -> bool:
    """Decide ``U (1 + Z) >= 1`` in balls, refining the uniform."""
    wide = 128
    while True:
        with precision(wide):
            gap = (uniform.signed() + 1) / 2 * (total_ball(weighed) + 1) - 1
            if gap > 0:
                return True
            if gap < 0:
                return False
        uniform.refine(64)
        wide += 64


def _plain_values(wholes: Sequence[Valued], bits: Bits) -> list[tuple[Fraction, ...]]:
    """The values of whole ranges with plain Laplace noise."""
    from sordino.noise.laplace.sampler import LaplaceRecipe

    if not wholes:
        return []
    grid, first, many = wholes[0].grid, wholes[0], len(wholes[0].values)
    alike = all(one.sensitivity is first.sensitivity and one.rate is first.rate for one in wholes)
    scales = [first.scale] if alike else [one.scale for one in wholes]
    values = [value for one in wholes for value in one.values]
    largest = max(abs(value.numerator) // value.denominator for value in values) + 1
    if largest + 64 * max(scales) > grid.step * 2**61:  # more steps than a word counts
        return [one.plain(bits) for one in wholes]
    points = draw_many(
        LaplaceRecipe(), locations=values, grid=grid, bits=bits, size=len(values),
        scales=scales[0] if alike or len(set(scales)) == 1 else [scale for scale in scales for _ in range(many)],
    )  # fmt: skip
    drawn = Lattice(step=grid.step).reals(points.tolist())
    return [tuple(drawn[place : place + many]) for place in range(0, len(drawn), many)]


def _flattened(
    weighed: ManyWeighed, place: int, total: float, whole: Valued, bits: Bits
) -> tuple[Fraction, ...] | None:
    """The values of a whole range that survives the weight of the intervals, or None: `whole_or_interval.survives`."""
    plan = weighed.family.plan
    if bits.below(plan.share.part.denominator) < plan.share.part.numerator:
        return None
    noises = [LazyUniform(bits.word(), bits) for _ in whole.values]
    other = LazyUniform(bits.word(), bits)
    exponent = plan.flatness(whole.rate)
    sizes = [abs(one.head) * 2.0**-63 for one in (*noises, other)]
    gap = math.nan
    if min(sizes) > GUARD:
        lost = SCALARS.log(total / float(plan.share.border))
        gap = sum(map(SCALARS.log, sizes)) + lost * float(exponent)
        # 2^-43 each for unread bits, 2^-47 of a log below 28 each; the total's own error counts g times.
        if abs(gap) < 2.0**-38 + float(exponent) * SLACK * (1 + abs(lost)):
            gap = math.nan
    if gap > 0 or (math.isnan(gap) and not survives(weighed.one(place), noises, other, exponent)):
        return None
    return whole.settled(noises)


def _interval(weighed: ManyWeighed, group: int, bits: Bits) -> Chosen:
    """An interval of one group by its weights."""
    floats, uniform = weighed.floats(group), LazyUniform(bits.word(), bits)
    borders = np.cumsum(floats)
    target = (uniform.head + (1 << 63)) * 2.0**-64 * borders[-1]
    slack = SLACK * borders[-1]
    cell = int(np.searchsorted(borders, target, side="right"))
    sure = cell < len(floats) and target < borders[cell] - slack
    if not sure or (cell and target < borders[cell - 1] + slack):
        cell = choice.choose_exactly(cell_weights(weighed.one(group), whole=False), uniform)
    family = weighed.family
    level, place, charge = weighed.interval(group, cell)
    if place is None:
        taken, favoured = weighed.unnamed(group, cell)
        mass = bits.below(weighed.others_prior(group, cell))
        place = (
            favoured[mass // ONE]
            if mass < ONE * len(favoured)
            else draw_place(family, level, taken | set(favoured), bits=bits)
        )
    low, high = family.interval(level, place)
    return Chosen(level, low, high, Fraction(charge, weighed.unit))
