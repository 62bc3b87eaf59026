"""The integer log-grid: an upper bound, smooth with the full parameter, decided exactly."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import ParameterError
from sordino.exact import LogGrid
from sordino.exact.balls import precision

GRID = LogGrid(gamma=Fraction(1, 8), m=64)


def exact_exponent(values, grid):
    """The definition, in balls of 400 bits."""
    best = None
    with precision(400):
        for j, value in enumerate(values):
            if value:
                ratio = arb(Fraction(value).numerator) / arb(Fraction(value).denominator)
                height = ratio.log() / (arb(grid.step.numerator) / grid.step.denominator)
                ceiling = 0 if value == 1 else int(height.ceil().unique_fmpz())
                best = ceiling - grid.m * j if best is None else max(best, ceiling - grid.m * j)
    return best


@given(st.lists(st.integers(0, 2**60), min_size=1, max_size=12).filter(any))
def test_the_exponent_is_the_definition(values):
    scale = GRID.bound(values)
    assert scale.exponent == exact_exponent(values, GRID)
    assert scale.step == Fraction(1, 512)


@given(
    st.lists(st.integers(1, 10**30), min_size=1, max_size=5),
    st.fractions(min_value=Fraction(1, 10**9), max_value=10**9),
    st.fractions(min_value=Fraction(1, 1000), max_value=3),
    st.integers(1, 200),
)
def test_any_unit_smoothing_and_fineness(values, unit, gamma, m):
    grid = LogGrid(gamma=gamma, m=m)
    assert grid.bound(values, unit=unit).exponent == exact_exponent([v * unit for v in values], grid)


def test_the_bound_covers_and_is_at_most_one_step_too_large():
    values = [3, 5, 9, 1000]
    scale = GRID.bound(values)
    smooth = max(v * math.exp(-j / 8) for j, v in enumerate(values))
    bound = math.exp(float(scale.step) * scale.exponent)
    assert smooth <= bound * (1 + 1e-12)
    assert bound <= smooth * math.exp(1 / 512) * (1 + 1e-12)


def test_a_value_next_to_a_lattice_point_is_decided_by_balls():
    # A rational that agrees with exp(512 kappa) = e to more than float accuracy, from both sides.
    with precision(200):
        e = arb(1).exp()
        for shift, expected in ((-1, 512), (1, 513)):
            near = Fraction(int((e * 2**120).floor().unique_fmpz()) + (shift > 0), 2**120)
            assert GRID.bound([near]).exponent == expected
    assert GRID.bound([1]).exponent == 0
    assert GRID.bound([Fraction(1, 3), 1]).exponent == max(GRID.ceiling(Fraction(1, 3)), -64)


def test_distances_may_have_gaps_and_zeros_are_skipped():
    assert GRID.bound([0, 7], [0, 5]).exponent == GRID.ceiling(Fraction(7)) - 5 * 64
    assert not GRID.bound([0, 0])
    assert not GRID.bound([])


def median_sensitivities(x, top):
    """LS at distance j of the median of an odd number of integers, over replacements (all j)."""
    x = sorted(x)
    n, r = len(x), len(x) // 2
    at = lambda i: 0 if i < 0 else top if i >= n else x[i]  # noqa: E731
    return [max(at(r + t) - at(r + t - j - 1) for t in range(j + 2)) for j in range(n + 1)]


def test_neighbours_never_differ_by_more_than_m_and_sometimes_by_exactly_m():
    top, n = 6, 3
    grid = LogGrid(gamma=Fraction(1, 2), m=16)
    bound = {x: grid.bound(median_sensitivities(x, top)) for x in itertools.product(range(top + 1), repeat=n)}
    worst = 0
    for x, mine in bound.items():
        for i in range(n):
            for v in range(top + 1):
                other = bound[(*x[:i], v, *x[i + 1 :])]
                worst = max(worst, abs(mine.exponent - other.exponent))
    assert worst == grid.m


def test_impossible_parameters_are_refused():
    with pytest.raises(ParameterError, match="gamma"):
        LogGrid(gamma=0)
    with pytest.raises(ParameterError, match="m must"):
        LogGrid(gamma=1, m=0)


def test_many_distances_are_fast_enough_to_be_vectorised():
    values = np.arange(1, 100_001)
    assert GRID.bound(values).exponent == exact_exponent(values[:400].tolist(), GRID)
