"""Draws follow the law: chi-square against exact cell probabilities, with the power to see a planted error."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sordino.exact import SeededBits, draw, draw_many
from sordino.lattice import Lattice
from tests.support.exact_harness import FAMILIES, RECIPES
from tests.support.exact_laws import TAILS, cell_probabilities

LOCATION = Fraction(1, 3)  # of a unit, so 8/3 lattice steps
RATIO = 8


def chi_square(k, name, *, stretch=1.0):
    """The p-value of the counts; cells with few expected draws are merged into the tails."""
    low, high = -400, 401
    ratio = RATIO / float(RECIPES[name].unit) * stretch
    p = cell_probabilities(TAILS[name], float(LOCATION * RATIO), ratio, low, high)
    counts = np.bincount(np.clip(k, low, high) - low, minlength=high - low + 1)
    keep = np.flatnonzero(p * len(k) >= 25)
    first, last = keep.min() + 1, keep.max()
    p = np.concatenate([[p[:first].sum()], p[first:last], [p[last:].sum()]])
    counts = np.concatenate([[counts[:first].sum()], counts[first:last], [counts[last:].sum()]])
    statistic = np.sum((counts - len(k) * p) ** 2 / (len(k) * p))
    return stats.chi2.sf(statistic, len(p) - 1)


def sample(name, size, seed):
    recipe = RECIPES[name]
    return draw_many(
        recipe,
        locations=LOCATION,
        scales=1 / recipe.unit,
        grid=Lattice.dyadic(-3),
        size=size,
        bits=SeededBits(seed),
    )


@pytest.mark.statistical
@pytest.mark.parametrize("name", TAILS)
def test_a_million_draws_fit_the_law_and_not_a_scale_five_percent_off(name):
    k = sample(name, 1_000_000, seed=11)
    assert chi_square(k, name) > 1e-4
    assert chi_square(k, name, stretch=1.05) < 1e-6


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("name", TAILS)
def test_ten_million_draws_fit_the_law_and_not_a_scale_two_percent_off(name):
    k = sample(name, 10_000_000, seed=12)
    assert chi_square(k, name) > 1e-4
    assert chi_square(k, name, stretch=1.02) < 1e-6


@pytest.mark.few(4)
@pytest.mark.statistical
@pytest.mark.parametrize("name", FAMILIES)
def test_scalar_draws_fit_the_law(name):
    bits = SeededBits(13)
    recipe = RECIPES[name]
    k = np.array(
        [
            draw(recipe, location=LOCATION, scale=1 / recipe.unit, grid=Lattice.dyadic(-3), bits=bits)
            for _ in range(20_000)
        ]
    )
    assert chi_square(k, name) > 1e-4
    assert chi_square(k, name, stretch=1.3) < 1e-6
