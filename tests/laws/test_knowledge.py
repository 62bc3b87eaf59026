"""Telling the truth does not hurt: what each true statement does to the exact error, on random cells.

A statement raises the error by ten per cent at most. The cells are in tests/support/true_statements.py. Not held yet:
narrower bounds that are still too wide, which cannot keep it (docs/explanation/which_mechanism.md says why) and have a
law of their own for order statistics; a rough number of private rows (up to 1.15 for means and sums; not asked of
medians, variances and deviations, nor of fewer rows than a count could tell); `symmetric` for means of columns that
fill their bounds or have two clusters, and `tight` for deviations of skewed columns (up to 1.15).
"""

import numpy as np
import pytest

from sordino.mechanisms.tuned import ForCounted
from sordino.privacy import Neighbors, Pure
from tests.support.mean_shapes import widened
from tests.support.true_statements import ASKED, cells, exact_error

MOST = 1.101  # ten per cent, and the rounding of public constants
NARROWER = 3.6  # what narrower bounds cost an order statistic at most, on any cell that was tried
ORDERED = ("q10", "median", "q90", "q99", "minimum", "maximum")
ROUGH = (
    1.15  # a number of private rows that is too large by half and more makes short intervals look affordable
)
STATEMENTS = ("step", "centre", "spread", "both", "tight", "occupied", "symmetric")
NOT_YET = {("deviation", "tight"), *((one, "rows") for one in ("median", "variance", "deviation"))}


def above(found):
    """The cells in which a statement hurts, the worst first; few rows are taken at their word instead of counted."""
    allowed = {"rows": ROUGH}
    hurt = [
        cell
        for cell in found
        if cell[0] > allowed.get(cell[1][0], MOST) and not (cell[1][0] == "rows" and few(cell))
    ]
    return sorted(hurt, key=lambda cell: -cell[0])


def few(cell):
    """Whether a count of the rows would say little: less than two scales of its noise, half of which may be told."""
    _, _, _, _, size, price, _ = cell[1]
    return size * price.strength < 2 * ForCounted.FEW / ForCounted.SHARE


@pytest.mark.parametrize("asked", ["mean", "variance", "q90", "maximum"])
def test_true_statements_do_not_hurt(asked):
    found = list(cells(6, seed=1, asked=(asked,), told=STATEMENTS))
    assert len(found) >= 24
    assert not above(found)


@pytest.mark.slow
@pytest.mark.parametrize("asked", ASKED)
def test_true_statements_do_not_hurt_on_a_thousand_cells(asked):
    told = [one for one in (*STATEMENTS, "rows") if (asked, one) not in NOT_YET]
    found = list(cells(60, seed=2, asked=(asked,), told=told))
    assert len(found) >= 200
    assert not above(found)


@pytest.mark.parametrize("asked", ["q10", "q99"])
def test_narrower_bounds_hardly_ever_hurt(asked):
    found = list(cells(5, seed=3, asked=(asked,), told=("narrower",)))
    assert len(found) >= 3
    assert len(above(found)) <= 1
    assert max(ratio for ratio, _ in found) < NARROWER


@pytest.mark.slow
@pytest.mark.parametrize("asked", ORDERED)
def test_narrower_bounds_seldom_hurt_and_never_much(asked):
    """Nineteen quantiles of twenty hold ten per cent, of extremes four of five; the others less than fourfold."""
    found = list(cells(120, seed=2, asked=(asked,), told=("narrower",)))
    assert len(found) >= 80
    assert len(above(found)) <= len(found) * (0.05 if asked not in ORDERED[-2:] else 0.2)
    assert max(ratio for ratio, _ in found) < NARROWER


@pytest.mark.parametrize("rough", [25, 102])
def test_a_rough_number_of_few_private_rows_does_not_hurt(rough):
    """Planned for 25 rows, the 99 % quantile erred nineteen times as far as if nothing had been told."""
    rows = np.random.default_rng(4).exponential(1, 51)
    told = ("q99", rows, *widened("x1000", rows), Pure(3), Neighbors.ADD_REMOVE_ONE)
    assert exact_error(*told, rows=rough) <= MOST * exact_error(*told)


def test_a_declared_step_keeps_the_measure_of_a_far_quantile():
    ages = np.rint(np.random.default_rng(1).gamma(4, 10, 1001).clip(0, 95))
    without = exact_error("q99", ages, 0, 950, Pure(0.1), Neighbors.REPLACE_ONE, rows=1001)
    told = exact_error("q99", ages, 0, 950, Pure(0.1), Neighbors.REPLACE_ONE, rows=1001, step=1)
    assert told <= 1.01 * without


def test_a_false_statement_is_noticed():
    """Bounds that are called tight and are a thousand times too wide cost what they cost."""
    rows = np.random.default_rng(3).gamma(4, 10, 1001)
    bounds = widened("x1000", rows)
    without = exact_error("mean", rows, *bounds, Pure(1), Neighbors.REPLACE_ONE, rows=1001)
    false = exact_error("mean", rows, *bounds, Pure(1), Neighbors.REPLACE_ONE, rows=1001, tight=True)
    assert false > 50 * without
