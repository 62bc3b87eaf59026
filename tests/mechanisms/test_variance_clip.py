"""Variances and second moments: how far squares are searched, about which point, and what private rows cost."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.lattice import Lattice
from sordino.mechanisms.choose import choose, output_grid
from sordino.mechanisms.clip.square_search import INNER, NEAR, plan_squares
from sordino.mechanisms.clip.variance_clip import VarianceClip
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.statistics.second_moment import SecondMoment
from sordino.statistics.standard_deviation import StandardDeviation
from sordino.statistics.variance import Variance

ADD = Neighbors.ADD_REMOVE_ONE
RANDOM = np.random.default_rng(12)


def answers(statistic, mechanism, rows, *, draws=40, seed=3):
    source, grid, bits = (
        Memory({"x": np.asarray(rows, dtype=float)}),
        output_grid(statistic),
        SeededBits(seed),
    )
    return np.array(
        [
            float(mechanism.answer(statistic, lambda ask: source.summary(ask)[0], grid, bits=bits))
            for _ in range(draws)
        ]
    )


def root_mean_square(values, truth):
    return math.sqrt(np.mean((values - truth) ** 2))


def test_squares_are_searched_as_far_as_rows_can_pay():
    wide = plan_squares(rows=1001, price=Pure(1), farthest=10**9, width=10**4)
    assert wide.reach == 10**9
    assert wide.smallest == 10**4 // INNER
    some = plan_squares(rows=200, price=Pure(1), farthest=10**9, width=10**4)
    assert NEAR * 10**4 <= some.reach < 10**9
    few = plan_squares(rows=20, price=Pure(1), farthest=10**9, width=10**4)
    assert (few.share, few.reach) == (0, NEAR * 10**4)
    assert plan_squares(rows=20, price=Pure(1), farthest=10**9).reach == 10**9
    for price in (Pure(1), Concentrated(0.5)):
        plan = plan_squares(rows=1001, price=price, farthest=10**9)
        assert plan.share > 0
        assert plan.exponent > 2  # overshoots cost the square of the square
        assert plan.smallest < 10**9 / 1e5


def test_a_column_that_is_mostly_one_value_keeps_bounds_that_are_not_far_off():
    few = Fraction(100)
    assert plan_squares(rows=1001, price=Pure(1), farthest=7, width=1, away=few).share == 0
    far = plan_squares(rows=1001, price=Pure(1), farthest=10**6, width=10, away=few)
    many = plan_squares(rows=1001, price=Pure(1), farthest=10**6, width=10, away=Fraction(900))
    assert far.share > many.share > 0


@pytest.mark.parametrize("relation", [Neighbors.REPLACE_ONE, ADD], ids=lambda relation: relation.value)
def test_squares_are_taken_about_the_mean_and_not_about_the_nearest_code(relation):
    """Of a column of zeros and ones no code is near the mean: about 0 the squares would average 0.3, not 0.21."""
    rows = np.arange(2000) % 10 < 3
    statistic = Variance("x", low=0, high=1, step=1, neighbors=relation)
    mechanism = VarianceClip(price=Pure(2), rows=2000, low=0, high=1, step=1, neighbors=relation)
    assert np.median(answers(statistic, mechanism, rows)) == pytest.approx(0.21, abs=0.01)


@pytest.mark.parametrize("kind", [Variance, StandardDeviation], ids=lambda kind: kind.name)
def test_loose_bounds_hardly_matter_when_the_number_of_rows_is_private(kind):
    rows = RANDOM.normal(3, 2, 1000)
    statistic = kind("x", low=-500, high=1500, neighbors=ADD)
    mechanism = choose(statistic, Pure(1), rows=1000)
    assert mechanism.name == "variance-clip"
    truth = rows.var() if kind is Variance else rows.std()
    assert root_mean_square(answers(statistic, mechanism, rows), truth) < 0.25 * truth


@pytest.mark.parametrize("relation", [Neighbors.REPLACE_ONE, ADD], ids=lambda relation: relation.value)
def test_second_moments_with_loose_bounds_are_near(relation):
    rows = RANDOM.lognormal(2, 0.7, 2000)
    statistic = SecondMoment("x", centre=5, low=0, high=1e5, neighbors=relation)
    mechanism = choose(statistic, Pure(1), rows=2000)
    truth = np.mean((rows - 5) ** 2)
    assert root_mean_square(answers(statistic, mechanism, rows), truth) < 0.5 * truth
    # The same with the bounds as they are: a private number of rows no longer costs the whole range.
    tight = choose(statistic, Pure(1), rows=2000, tight=True)
    plain = math.sqrt(2) * 1e10 / 2000
    assert root_mean_square(answers(statistic, tight, rows), truth) < 2.5 * plain


def test_a_few_rows_at_the_end_of_the_range_are_not_cut_off():
    """Nine tenths zeros, a few rows at the bound: most of the variance lies in those few."""
    rows = np.where(RANDOM.random(5001) < 0.92, 0, np.where(RANDOM.random(5001) < 0.08, 1e5, 15e3))
    statistic = Variance("x", low=0, high=1e5)
    values = answers(statistic, choose(statistic, Pure(1), rows=5001), rows)
    plain = math.sqrt(2) * 1e10 / 5001
    assert root_mean_square(values, rows.var()) < 3 * plain


def test_few_rows_take_smooth_noise_and_more_rows_a_search():
    statistic = Variance("x", low=0, high=1)
    assert choose(statistic, Pure(Fraction(1, 10)), rows=201).name == "additive"
    assert choose(statistic, Pure(Fraction(1, 10)), rows=1001).name == "variance-clip"
    assert choose(statistic, Pure(1), rows=10_001, tight=True).name == "additive"


def test_the_noise_of_the_mean_is_subtracted():
    rows = np.full(400, 7.0)
    statistic = Variance("x", low=0, high=10, step=1)
    mechanism = VarianceClip(price=Pure(1), rows=400, low=0, high=10, step=1, tight=True)
    answer = mechanism.answer(
        statistic, lambda ask: Memory({"x": rows}).summary(ask)[0], Lattice.dyadic(-30), bits=SeededBits(8)
    )
    assert 0 <= answer.value < 1
    assert answer.public["mean"] == pytest.approx(7, abs=2)


def test_the_noise_of_the_mean_is_taken_off():
    """Along a forced path: noise in the released mean makes squares about it too large, never too small."""
    from sordino.data.memory import Memory
    from sordino.lattice import Lattice
    from sordino.privacy import Pure
    from sordino.statistics.variance import Variance
    from sordino.testing.forced import ForcedDraws

    statistic = Variance("x", low=0, high=100, step=1)
    mechanism = VarianceClip(price=Pure(4), rows=50, low=0, high=100, step=1, tight=True)
    source, grid = Memory({"x": np.linspace(0, 100, 50)}), Lattice.dyadic(0)
    path = (50, 900)  # a mean of 50 and a mean of squares of 900, in steps of their grids
    answer = mechanism.answer(statistic, lambda r: source.summary(r)[0], grid, bits=ForcedDraws(path).bits)
    assert 900 / 2 <= answer.value < 900
