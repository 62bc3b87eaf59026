"""The questions back: which trim, how wide bounds, what add/remove costs; and the least error of any mechanism."""

import json
import math
import shlex

import numpy as np
import pytest

import sordino as sd
from sordino.cli import main
from sordino.errors import Unsupported
from sordino.planner import add_remove_cost, best_trim, expected_error, plan, widest_bounds
from sordino.planner.limit import confusion

BOUNDS = {"low": 0, "high": 500_000}
TRIMMED = sd.TrimmedMean("x", trim=0.1, **BOUNDS)


def test_the_best_trim_has_the_smallest_error_of_privacy_and_sampling():
    found = best_trim(TRIMMED, sd.Pure(1), rows=300, trims=(0.01, 0.1, 0.45), tables=3)
    together = found.columns["together"]
    assert found.value == found.values[int(np.argmin(together))]
    assert together[0] == pytest.approx(
        math.hypot(found.columns["privacy rms"][0], found.columns["sampling"][0])
    )
    assert found.columns["privacy rms"][1] == expected_error(TRIMMED, sd.Pure(1), rows=300, tables=3)
    shifts = found.columns["from the mean"]
    assert 0 > shifts[0] > shifts[1] > shifts[2]  # a skewed column: trimming lowers it
    assert "no private data was read" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["best"] == found.value
    with pytest.raises(Unsupported, match="has no trim"):
        best_trim(sd.Count("x"), sd.Pure(1), rows=300)


def test_bounds_may_be_as_wide_as_the_error_allows():
    fixed = sd.Mean("x", low=0, high=1)
    found = widest_bounds(fixed, sd.Pure(1), rows=2000, factor=10, assume="uniform", tight=True, tables=1)
    assert found.value == 10
    errors = found.columns["privacy rms"]
    assert errors[3] / errors[0] == pytest.approx(10, rel=1e-3)
    adaptive = widest_bounds(TRIMMED, sd.Pure(1), rows=1000, tables=2)
    assert adaptive.value >= 100
    assert adaptive.columns["high"][1] == 1_000_000
    both = widest_bounds(sd.Mean("x", low=-1, high=1), sd.Pure(1), rows=100, tight=True, tables=1)
    assert (both.columns["low"][1], both.columns["high"][1]) == (-2, 2)
    none = widest_bounds(fixed, sd.Pure(1), rows=100, error=1e-6, tight=True, tables=1)
    assert none.value is None
    assert "too wide" in none.answer
    with pytest.raises(Unsupported, match="has no bounds"):
        widest_bounds(sd.Count("x"), sd.Pure(1), rows=100)


def test_add_remove_is_set_beside_replace_one():
    found = add_remove_cost(sd.Histogram("x", edges=(0, 1, 2)), sd.Pure(1), rows=50, tables=2, draws=200)
    replace, add, strict, ratios = found.columns.values()
    assert ratios[2] == add[2] / replace[2]
    assert 0.4 < ratios[2] < 0.62  # a replaced row changes two cells
    assert strict[2] == pytest.approx(replace[2], rel=0.2)
    assert "times the error of replace-one" in found.answer
    with pytest.raises(Unsupported, match="one neighbour relation only"):
        add_remove_cost(sd.Edges(vertices=9), sd.Pure(1), rows=9)


@pytest.mark.thorough
def test_sweeps_are_drawn_and_asked_on_the_command_line(capsys, tmp_path):
    base = "plan trimmed-mean --trim 0.1 --low 0 --high 1000 --epsilon 1 --rows 200 --tables 1"
    for option, words in (
        ("--best-trim", "has the smallest error"),
        ("--widest-bounds 2", "times as wide"),
        ("--add-remove-cost", "times the error of replace-one"),
    ):
        main(shlex.split(f"{base} {option} --plot {tmp_path}/{option.split()[0]}.svg"))
        assert words in capsys.readouterr().out
        assert (tmp_path / f"{option.split()[0]}.svg").read_text().count("<path") > 10
    main(shlex.split(f"{base} --best-trim --json"))
    assert json.loads(capsys.readouterr().out)["along"] == "trim"


def best_pair(ratio):
    """The least larger mean squared error of two laws within a ratio, by brute force over laws on a grid.

    Randomised response between two points at distance 1 of each other, moved inwards: the optimum is known to have two
    answers, so all pairs of answers and all flips within the ratio are tried.
    """
    best = math.inf
    keep = ratio / (1 + ratio)
    for low in np.linspace(-0.2, 0.6, 161):
        high = 1 - low
        best = min(best, keep * low**2 + (1 - keep) * high**2)
    return best


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_the_least_error_of_two_datasets_is_attained(epsilon):
    found = confusion(sd.Pure(epsilon), 1)
    assert found == pytest.approx(math.sqrt(best_pair(math.exp(epsilon))), rel=1e-3)
    assert confusion(sd.Pure(epsilon), 2) == pytest.approx(confusion(sd.Pure(2 * epsilon), 1))
    assert confusion(sd.Approx(epsilon, 0.19), 1) == pytest.approx(0.9 * found)


def test_the_least_error_is_below_every_mechanism_on_both_datasets():
    # A count of ones among rows: the worse of two neighbouring tables bounds every mechanism from below.
    for price in (sd.Pure(0.5), sd.Concentrated(0.1), sd.Approx(0.5, 1e-6)):
        found = plan(sd.CountAbove("x", threshold=0.5), price, rows=60, tables=2)
        assert found.limit is not None
        assert 0 < found.limit.error < min(option.rms for option in found.options)
        assert "any mechanism at this price errs by at least" in str(found)
    # Gaussian noise of variance 1 / (2 rho) on values k apart: its error is the same on both, so the bound is below it.
    for rho in (0.01, 0.1, 1):
        noise = math.sqrt(1 / (2 * rho))
        assert max(k * confusion(sd.Concentrated(rho), k) for k in range(1, 64)) < noise


def test_a_statistic_of_single_rows_says_so():
    found = plan(
        sd.Minimum("x", low=-500, high=500), sd.Pure(1), rows=200, tables=2, draws=20, only_default=True
    )
    assert "depends on single rows" in found.floor
    assert plan(sd.Quantiles("x", qs=(0.5,), **BOUNDS), sd.Pure(1), rows=50, tables=2, draws=4,
                only_default=True).limit is None  # fmt: skip
