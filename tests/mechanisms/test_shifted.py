"""The shifted inverse: its score has sensitivity one on all small worlds, and upward reaches do not matter."""

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
