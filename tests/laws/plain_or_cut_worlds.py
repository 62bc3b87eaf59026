"""Tiny worlds for plain-or-cut: all columns of a few rows, exact laws of every outcome, and how far neighbours are apart."""

import itertools
import math
from fractions import Fraction

import numpy as np

from sordino.mechanisms.clip.family import Ends, Family, exact_chances
from sordino.mechanisms.clip.plain_or_cut_plan import CutPlan
from sordino.mechanisms.clip.whole_or_interval import flatness
from sordino.privacy import Neighbors, Pure

PLACES = np.linspace(-9, 15, 97)  # where densities of the whole range's value are compared, in sensitivities


def small_plan(slope, *, levels=(1, 2, 3), tilt=0.7, margin=1.0, distant=2.5, contribution=1, epsilon=1):
    """A plan for few rows: everything but the prices is free, and privacy must not depend on it."""
    spent = slope  # by one person
    return CutPlan(
        slope=slope / contribution, contribution=contribution, levels=levels, tilt=_short(tilt), margin=_short(margin),
        distant=_short(max(margin, distant)), whole=Pure(epsilon - spent / 4), cut=Pure(epsilon - 2 * spent), joint=True,
    )  # fmt: skip


def _short(value):
    return Fraction(math.ceil(value * 1024), 1024)


def columns(values, sizes):
    """All multisets."""
    return [rows for size in sizes for rows in itertools.combinations_with_replacement(values, size)]


def neighbours(all_columns, relation, contribution=1):
    """Pairs that differ in at most so many rows."""
    known = set(all_columns)
    for one in all_columns:
        if relation is Neighbors.ADD_REMOVE_ONE:
            for kept in set(itertools.combinations(one, len(one) - contribution)):
                if kept in known:
                    yield one, kept
            continue
        values = sorted({value for column in all_columns for value in column})
        for kept in set(itertools.combinations(one, len(one) - contribution)):
            for new in itertools.combinations_with_replacement(values, contribution):
                other = tuple(sorted((*kept, *new)))
                if other > one and other in known:
                    yield one, other


def outcome_laws(family, rows, *, rate, charged=True, too_flat=1):
    """Log density of the whole range's value at public places, and log probabilities of all intervals by their start."""
    plan = family.plan
    codes = np.array(sorted(rows), dtype=np.int64)
    reach = family.reach + 1
    weighed = family.weigh(Ends.of(codes[:reach], codes[-reach:] if len(codes) else codes, len(codes)))
    slope = plan.slope * plan.contribution
    whole, flat, cells = exact_chances(weighed, joint=True, exponent=too_flat * flatness(rate, slope))
    per_row = Fraction(1, family.top * plan.contribution)
    shift = Fraction(0) if charged != "centred" else Fraction(len(rows), 2)
    value = float((sum(rows) * per_row * (2 if charged == "centred" else 1)) - 2 * shift / plan.contribution)
    free = 3 / 4 if flat > 0 else whole
    density = math.log(free) - np.maximum(float(rate) * np.abs(PLACES - value), flat)
    starts = {}
    for level, places, chance in zip(weighed.level, weighed.places, cells, strict=True):
        if places is None:
            first, last = family.places(level)
            places = [place for place in range(first, last + 1) if place not in weighed.taken(level)]
        for place in places:
            starts[level, int(place)] = math.log(chance / len(places))
    return density, np.array([starts[key] for key in sorted(starts)])


def worst(family, all_columns, relation, *, rate, **options):
    """The largest log ratios of the whole range (with its value) and of an interval, over all neighbours."""
    laws = {rows: outcome_laws(family, rows, rate=rate, **options) for rows in all_columns}
    whole = cut = 0.0
    for one, other in neighbours(all_columns, relation, family.plan.contribution):
        whole = max(whole, float(np.abs(laws[one][0] - laws[other][0]).max()))
        cut = max(cut, float(np.abs(laws[one][1] - laws[other][1]).max()))
    return whole, cut
