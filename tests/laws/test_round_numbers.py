"""Mass on round numbers: heaps are found with fewer rows, and columns without heaps hardly err more."""

from fractions import Fraction

import numpy as np
import pytest

from sordino.mechanisms.quantile.plan import plan_quantile
from sordino.mechanisms.tuned import ForQuantile
from sordino.privacy import Neighbors, Pure
from tests.support.true_statements import exact_error


@pytest.fixture
def ratio(monkeypatch):
    """The exact error as shipped over that without a share on round numbers."""

    def found(asked, rows, high, epsilon, low=0):
        told = (asked, rows, low, high, Pure(epsilon), Neighbors.REPLACE_ONE)
        shipped = exact_error(*told, rows=len(rows))
        monkeypatch.setattr(ForQuantile, "ROUND", Fraction(0))
        plan_quantile.cache_clear()
        without = exact_error(*told, rows=len(rows))
        monkeypatch.undo()
        plan_quantile.cache_clear()
        return shipped / without

    return found


def test_heaps_on_thousands_are_found_with_fewer_rows(ratio):
    incomes = np.rint(np.random.default_rng(5).lognormal(10.4, 0.7, 5001) / 1000) * 1000
    assert ratio("median", incomes, 500_000, 1) < 0.5


def test_heaps_on_quarters_of_an_hour_are_found_with_fewer_rows(ratio):
    minutes = np.rint(np.random.default_rng(6).gamma(1.5, 25, 1001) / 15) * 15
    assert ratio("q90", minutes, 600, 1) < 0.5


def test_a_top_code_at_the_bound_is_found(ratio):
    incomes = np.random.default_rng(6).lognormal(10.9, 0.9, 201).clip(0, 100_000)
    assert ratio("q99", incomes, 100_000, 1) < 0.2


@pytest.mark.parametrize("asked", ["q10", "median", "q90", "q99"])
@pytest.mark.parametrize("high", [100, 100_000])
def test_smooth_columns_hardly_err_more(ratio, asked, high):
    rows = np.random.default_rng(7).gamma(4, 10, 1001).clip(0, 100)
    assert ratio(asked, rows, high, 1) <= 1.03


@pytest.mark.parametrize("wider", [1, 10, 1000])
def test_a_narrow_column_beside_a_round_number_far_from_zero_hardly_errs_more(ratio, wider):
    """Parcels of about a ton in grams, with bounds beside it: all of them share their first two digits."""
    rows = np.random.default_rng(9).normal(0, 15, 1001)
    rows += 1_000_000.3 - np.median(rows)
    assert ratio("median", rows, 1_000_000 + 100 * wider, 1, low=1_000_000 - 100 * wider) <= 1.03


def test_too_much_mass_on_round_numbers_would_be_noticed(ratio, monkeypatch):
    rows = np.random.default_rng(8).normal(0, 3, 201)
    rows += 50.2 - np.median(rows)
    before = ratio("median", rows, 100, 1)
    monkeypatch.setattr(ForQuantile, "ROUND", Fraction(1, 5))
    plan_quantile.cache_clear()
    after = exact_error("median", rows, 0, 100, Pure(1), Neighbors.REPLACE_ONE, rows=201)
    monkeypatch.undo()
    plan_quantile.cache_clear()
    shipped = exact_error("median", rows, 0, 100, Pure(1), Neighbors.REPLACE_ONE, rows=201)
    assert before <= 1.03
    assert after / shipped > 1.05
