"""Shifted and asymmetric intervals: their scores have sensitivity one on all small worlds."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.data.memory import Memory
from sordino.errors import SordinoError
from sordino.mechanisms.nested.intervals import Intervals
from sordino.mechanisms.nested.nested import intervals_of
from sordino.mechanisms.nested.piecewise_laplace import PiecewiseLaplace
from sordino.reading.profile import Profile, Reach


def score(family, y):
    """The score by its definition: the level of the first interval that holds y, minus one, plus how far out."""
    for level, (low, high) in enumerate(zip(family.low, family.high, strict=True)):
        if low <= y <= high:
            if level == 0:
                return Fraction(0)
            inner_low, inner_high = family.low[level - 1], family.high[level - 1]
            if y < inner_low:
                return level - 1 + Fraction(inner_low - y) / (inner_low - low)
            return level - 1 + Fraction(y - inner_high) / (high - inner_high)
    raise AssertionError(y)


def family_of(statistic, rows, shift, depth=6):
    (summary,) = Memory({"x": np.asarray(rows, dtype=float)}).summary(statistic.request(depth=depth + shift))
    return intervals_of(statistic.read(summary).open()).shifted(shift)


@pytest.mark.few(2)
@pytest.mark.parametrize("shift", [1, 2])
@pytest.mark.parametrize(
    "statistic",
    [
        sd.Maximum("x", low=0, high=4, step=1),
        sd.Median("x", low=0, high=4, step=1),
        sd.Sum("x", low=0, high=4, step=1),
    ],
    ids=lambda statistic: statistic.name,
)
def test_the_score_moves_by_at_most_one_between_neighbours(statistic, shift):
    largest = Fraction(0)
    domain = (0, 1, 4)
    for rows in itertools.product(domain, repeat=4):
        own = family_of(statistic, rows, shift)
        for place, new in itertools.product(range(4), domain):
            other = family_of(statistic, (*rows[:place], new, *rows[place + 1 :]), shift)
            assert (own.first, own.last) == (other.first, other.last)
            width = own.last - own.first
            for k in range(17):
                y = own.first + Fraction(k * width, 16)
                largest = max(largest, abs(score(own, y) - score(other, y)))
    assert Fraction(1, 2) < largest <= 1


def test_a_shift_in_the_wrong_direction_is_noticed():
    # ends taken one step too far apart between neighbours break the law: the test above would see it
    family = Intervals.of([5, 3, 2], [5, 9, 20], first=0, last=20)
    moved = Intervals.of([7, 5, 3], [7, 20, 20], first=0, last=20)
    assert abs(score(family.shifted(1), Fraction(3)) - score(moved.shifted(1), Fraction(3))) <= 1
    assert abs(score(family.shifted(2), Fraction(2)) - score(moved.shifted(0), Fraction(2))) > 1


def test_one_row_that_could_be_anything_costs_little_with_a_shift():
    rows = np.random.default_rng(2).uniform(0, 10, 400)
    wide = sd.Maximum("x", low=0, high=10**6, step=1)
    errors = {}
    for shift in (0, 90):  # (2 / epsilon) ln of the range over a step, and some more
        mechanism = PiecewiseLaplace(price=sd.Pure(1), shift=shift)
        (summary,) = Memory({"x": rows}).summary(wide.request(depth=mechanism.depth))
        reading = wide.read(summary)
        errors[shift] = mechanism.law(reading).mean_squared_error(Fraction(10))
    assert errors[90] < 20 < errors[0] / 10**9  # biased by some ninety rows of four hundred, and that is all
    with pytest.raises(SordinoError, match="shift"):
        PiecewiseLaplace(price=sd.Pure(1), shift=-1)


DOMAIN = (0, 1, 4)
WORLD = tuple(itertools.combinations_with_replacement(DOMAIN, 3))
OWN = {
    "largest": max,
    "second": lambda rows: sorted(rows)[-2],
    "spread": lambda rows: max(rows) - min(rows),
    "zeros": lambda rows: rows.count(0),
}


def nearby(rows):
    """Every dataset with one row changed."""
    return {tuple(sorted((*rows[:place], new, *rows[place + 1 :]))) for place in range(3) for new in DOMAIN}


def sides(f, rows):
    """By distance, how far one changed row lowers and raises f at most, by enumeration."""
    near, fall, rise = {rows}, [], []
    for _ in range(4):
        steps = [f(other) - f(one) for one in near for other in nearby(one)]
        fall.append(max(0, -min(steps)))
        rise.append(max(0, *steps))
        near |= {other for one in near for other in nearby(one)}
    return Profile.dense(fall, fall[-1]), Profile.dense(rise, rise[-1])


def own_family(f, rows, *, late=False, symmetric=False):
    fall, rise = sides(f, rows)
    if symmetric:
        fall = rise = Profile.dense([max(fall.at(k), rise.at(k)) for k in range(4)], 4)
    if late:  # a planted error: the first radius is left out
        rise = Profile.dense([0, *(rise.at(k) for k in range(3))], 4)
    reach = Reach.from_sides(f(rows), fall, rise, bottom=0, top=4)
    ends = [reach.at(level) for level in range(reach.distance[-1] + 1)]
    return Intervals.of([low for low, _ in ends], [high for _, high in ends], first=0, last=4)


def largest_move(f, **options):
    families = {rows: own_family(f, rows, **options) for rows in WORLD}
    return max(
        abs(score(families[rows], y) - score(families[other], y))
        for rows in WORLD
        for other in nearby(rows)
        for y in (Fraction(k, 4) for k in range(17))
    )


@pytest.mark.parametrize("name", OWN)
def test_asymmetric_radii_move_the_score_by_at_most_one(name):
    assert Fraction(1, 2) < largest_move(OWN[name]) <= 1
    for rows in WORLD:  # and are never wider than equal ones
        narrow, wide = own_family(OWN[name], rows), own_family(OWN[name], rows, symmetric=True)
        levels = zip(
            narrow.low[:-1], wide.low, narrow.high[:-1], wide.high, strict=False
        )  # the last is the range
        assert all(low >= lower and high <= higher for low, lower, high, higher in levels)


def test_a_side_that_is_late_breaks_the_law():
    assert largest_move(max, late=True) > 1
