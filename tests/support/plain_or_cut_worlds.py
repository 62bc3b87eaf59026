"""Tiny worlds for plain-or-cut: all columns of a few rows, exact laws of all outcomes, how far neighbours are apart."""

import itertools
import math
from fractions import Fraction

import numpy as np

from benchmarks.coverage.clipped_laws import weighed_rows
from sordino.exact.bits import SeededBits
from sordino.lattice import RowLattice
from sordino.mechanisms.clip.column import SortedColumn
from sordino.mechanisms.clip.family import exact_chances
from sordino.mechanisms.clip.flat_top import top_weight
from sordino.mechanisms.clip.plain_or_cut_error import outcome_errors
from sordino.mechanisms.clip.plain_or_cut_plan import STEEP_SHARE, CutPlan
from sordino.privacy import Neighbors, Pure

PLACES = np.linspace(-9, 15, 97)  # where densities of the whole range's value are compared, in sensitivities
PAIRED = np.linspace(-6, 10, 65)  # the same for each number of a pair
THREE = np.linspace(-6, 10, 25)  # and of three


def small_plan(
    slope, *, levels=(2, 4, 6), tilt=0.7, margin=1.0, distant=2.5, contribution=1, epsilon=1, share=STEEP_SHARE,
    steps=2, numbers=1, whole_numbers=None,
):  # fmt: skip
    """A plan for few rows: everything but the prices is free, and privacy must not depend on it."""
    spent = slope  # by one person
    return CutPlan(
        slope=slope / contribution, contribution=contribution, levels=levels, tilt=_short(tilt),
        margin=_short(margin), distant=_short(max(margin, distant)), whole=Pure(epsilon - spent * share.part),
        cut=Pure(epsilon - spent), joint=True, head_start=Fraction(3), share=share, steps=steps,
        numbers=numbers, whole_numbers=whole_numbers or numbers,
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


def outcome_laws(
    family, rows, *, relation=Neighbors.REPLACE_ONE, rate=None, inner=None, steeper=1, squares=None
):
    """Log densities of the value at public places, for the whole range and for every interval by its start.

    Rates and the flatness of the whole range are those of the plan unless a control says otherwise. With a function
    of sums for squares the values are what it says.
    """
    plan = family.plan
    rate, inner = rate or plan.whole.epsilon, inner or plan.cut.epsilon
    codes = np.array(sorted(rows), dtype=np.int64)
    weighed = weighed_rows(family, codes)
    whole, flat, cells = exact_chances(
        weighed, numbers=plan.whole_numbers, exponent=steeper * plan.flatness(rate)
    )
    free = float(1 - plan.share.part) if flat > 0 else whole
    gaps_of = _gaps if squares is None else squares_gaps(squares)
    laws = {"whole": math.log(free) - np.maximum(gaps_of(family, codes, 0, family.top, relation, rate), flat)}
    for level, places, chance, charge in zip(
        weighed.level, weighed.places, cells, weighed.charges, strict=True
    ):
        first, last = family.places(level)
        some = set(range(first, last + 1)) - weighed.taken(level) if places is None else places
        top = charge / weighed.unit
        priors = family.priors(level, np.array(sorted(some), dtype=np.int64))
        for place, prior in zip(sorted(some), (priors / priors.sum()).tolist(), strict=True):
            gaps = gaps_of(family, codes, *family.interval(level, int(place)), relation, inner)
            height = math.log(chance * prior / top_weight(top, plan.numbers)) + top
            laws[level, int(place)] = height - np.maximum(gaps, top)
    return laws


def _gaps(family, codes, low, high, relation, rate):
    """Nats from the value to the public places: of the sum, or of the rows at either end where rows come and go."""
    paired = family.plan.numbers > 1
    if high == low and not paired:
        return 0 * PLACES
    kept = np.clip(codes, low, high) - low
    value, most = int(kept.sum()), max(high - low, 1)
    if paired:
        assert relation is Neighbors.ADD_REMOVE_ONE
        return together_gaps(family, rate, (len(codes) - value / most, value / most))
    if relation is Neighbors.ADD_REMOVE_ONE:
        value, most = value - len(codes) * most / 2, most / 2
    return float(rate) * np.abs(PLACES - value / (most * family.plan.contribution))


def together_gaps(family, rate, numbers):
    """Nats from numbers that one row moves by one together to public places."""
    places = PAIRED if len(numbers) < 3 else THREE
    size = family.plan.contribution
    axes = np.meshgrid(*(np.abs(places - float(one) / size) for one in numbers), indexing="ij")
    return float(rate) * np.sum(axes, axis=0)


def squares_gaps(parts):
    """The same for squares: for what a mechanism would add noise to, and its sensitivity."""

    def gaps(family, codes, low, high, relation, rate):
        grid = RowLattice(0, family.top, step=1)
        sums = SortedColumn(codes, grid).clipped(low, high, squares=True)
        part = parts(sums, contribution=family.plan.contribution)
        if part.paired:
            return together_gaps(family, rate, part.numbers)
        per_row = max(part.rows, 1) if relation is Neighbors.REPLACE_ONE else 1
        scale = part.sensitivity * per_row
        return float(rate) * np.abs(PLACES - float(part.value * per_row / scale))

    return gaps


def worst(family, all_columns, relation, **options):
    """The largest log ratio over all neighbours: of the whole range with its value, and of an interval with its."""
    laws = {rows: outcome_laws(family, rows, relation=relation, **options) for rows in all_columns}
    whole = cut = 0.0
    for one, other in neighbours(all_columns, relation, family.plan.contribution):
        for key, law in laws[one].items():
            gap = float(np.abs(law - laws[other][key]).max())
            whole, cut = (max(whole, gap), cut) if key == "whole" else (whole, max(cut, gap))
    return whole, cut


def check_errors(mechanism, data, grid, truth, *, draws):
    """Drawn answers are as far off as the exact law says, at three levels."""
    law = outcome_errors(mechanism, data, grid, Fraction(truth), 1)
    bits = SeededBits(17)
    errors = np.array([float(mechanism.converse(data, grid, bits=bits)) - truth for _ in range(draws)])
    for level in (0.3, 0.5, 0.8):
        low, high = 0.0, 1e9
        for _ in range(70):
            middle = (low + high) / 2
            low, high = (middle, high) if law.within(middle) < level else (low, middle)
        inside = np.mean(np.abs(errors) <= high)
        assert abs(inside - level) < 4.5 * math.sqrt(level * (1 - level) / draws) + 0.01
