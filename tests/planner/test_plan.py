"""`plan`: what is ranked, what is said, and that a plan is the same whenever it is made."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import sordino as sd
from sordino.errors import ParameterError, Unsupported
from sordino.planner import Shape, expected_error, plan
from sordino.planner.figures import answer_densities, error_curves, shown_names
from sordino.planner.trial import Trial

BOUNDS = {"low": 0, "high": 500_000}
MEDIAN = sd.Median("income", **BOUNDS)


@pytest.fixture(scope="module")
def found():
    return plan(MEDIAN, sd.Pure(0.5), rows=3000, tables=3)


def test_every_family_and_mechanism_that_can_answer_is_ranked(found):
    names = [option.name for option in found.options]
    assert {
        "quantile", "inverse-sensitivity", "piecewise-laplace", "polyplace", "student-t", "generalized-cauchy",
        "laplace (global)",
    } <= set(names)  # fmt: skip
    assert len(names) == len(set(names))
    errors = [option.rms for option in found.options]
    assert errors == sorted(errors)
    assert found.default.name == "quantile"
    assert errors[-1] > 100 * errors[0]


def test_concentrated_prices_have_their_own_families():
    names = {option.name for option in plan(MEDIAN, sd.Concentrated(0.1), rows=1000, tables=1).options}
    assert {"arsinh-normal", "uniform-log-normal", "laplace-log-normal", "gaussian (global)"} <= names
    assert "laplace (global)" not in names


def test_a_plan_is_the_same_whenever_it_is_made(found):
    again = plan(MEDIAN, sd.Pure(0.5), rows=3000, tables=3)
    assert str(again) == str(found)
    other = plan(MEDIAN, sd.Pure(0.5), rows=3000, tables=3, seed=1)
    assert other.default.rms != found.default.rms


@pytest.mark.thorough
def test_the_text_says_what_was_assumed_and_how_to_repeat_it(found):
    text = str(found)
    assert "no private data was read" in text
    assert "median 50000, sigma 0.7, 3,000 rows" in text
    assert "sordino plan median income --low 0 --high 500000 --epsilon 0.5 --rows 3000" in text
    again = eval(found.python, {"sd": sd})
    assert again.statistic == found.statistic
    assert (again.price, again.rows, again.assumed) == (found.price, found.rows, found.assumed)
    lines = text.splitlines()
    table = [line for line in lines if line.startswith("  ")]
    ends = {line.index("adaptive") if "adaptive" in line else line.index("fixed") for line in table[1:]}
    assert len(ends) == 1  # columns are aligned


def test_records_and_html_hold_the_table(found):
    record = json.loads(json.dumps(found.to_dict()))
    assert record["options"][0]["rms"] == found.options[0].rms
    assert record["private_data_read"] is False
    page = found._repr_html_()
    assert "<caption>" in page
    assert page.count("<tr>") == len(found.options) + 1
    assert "&lt;" not in page


def test_a_price_that_grows_and_rows_that_grow_make_the_error_smaller():
    errors = [expected_error(MEDIAN, sd.Pure(epsilon), rows=1000) for epsilon in (0.1, 0.5, 2)]
    assert errors == sorted(errors, reverse=True)
    errors = [expected_error(MEDIAN, sd.Pure(0.5), rows=rows) for rows in (300, 1000, 4000)]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.thorough
def test_known_errors_are_found():
    count = plan(sd.Count("x"), sd.Pure(0.01), rows=50, tables=1).default
    assert count.rms == pytest.approx(math.sqrt(2) / 0.01, rel=1e-3)
    assert count.median == pytest.approx(math.log(2) / 0.01, abs=1)
    assert count.most == pytest.approx(math.log(10) / 0.01, abs=1)
    mean = plan(sd.Mean("x", low=0, high=1), sd.Concentrated(0.5), rows=100, tables=1, tight=True).default
    assert mean.rms == pytest.approx(0.01, rel=1e-3)


def test_the_sampling_error_is_that_of_the_statistic():
    mean = plan(
        sd.Mean("x", low=0, high=100), sd.Pure(1), rows=400, assume="normal:centre=50,spread=8", tables=1,
        draws=2,
    )  # fmt: skip
    assert mean.sampling_error == pytest.approx(8 / 20, rel=0.3)
    assert "sampling error without privacy" in mean.verdict


def test_the_lower_bound_lies_below_every_smooth_noise(found):
    smooth = [option.rms for option in found.options if option.name in ("polyplace", "student-t")]
    assert found.lower_bound is not None
    assert 0 < found.lower_bound < min(smooth)
    assert plan(sd.Count("x"), sd.Pure(1), rows=50, tables=1).lower_bound is None


def test_hints_are_compared_with_their_absence():
    hinted = plan(
        MEDIAN, sd.Pure(0.05), rows=200, tables=2, centre=50_000, spread=40_000, assume="log-normal:sigma=0.3"
    )
    names = [option.name for option in hinted.options]
    assert "quantile, no hints" in names
    assert "centre=50000, spread=40000" in hinted.python


def test_several_answers_are_simulated_and_say_so():
    several = plan(sd.Quantiles("x", qs=(0.25, 0.5), **BOUNDS), sd.Pure(1), rows=300, tables=3, draws=20)
    assert not several.default.exact
    assert "simulated, 20 answers" in str(several)
    assert several.default.uncertainty[1] > 0
    vector = sd.Vector((sd.Mean("a", low=0, high=1), sd.Mean("b", low=0, high=1)), order=1)
    both = plan(vector, sd.Pure(1), rows=100, tables=2, draws=20)
    assert both.command is None
    assert both.default.rms > 0


@pytest.mark.thorough
def test_add_remove_and_dropped_rows_have_plans_too():
    for statistic in (
        sd.Median("x", neighbors=sd.Neighbors.ADD_REMOVE_ONE, **BOUNDS),
        sd.Median("x", missing="drop", **BOUNDS),
    ):
        found = plan(statistic, sd.Pure(1), rows=500, tables=2)
        assert found.default.name == "quantile"
        plain = plan(sd.Median("x", **BOUNDS), sd.Pure(1), rows=500, tables=2)
        assert found.default.rms > 0.4 * plain.default.rms


@pytest.mark.thorough
def test_an_error_bar_is_planned_with_its_price():
    trimmed = sd.TrimmedMean("x", trim=0.1, **BOUNDS)
    barred = plan(trimmed, sd.Pure(1), rows=500, tables=2, interval=0.95)
    plain = plan(trimmed, sd.Pure(1), rows=500, tables=2)
    assert barred.default.name == "polyplace + error bar"
    assert barred.default.rms > plain.default.rms
    assert plain.default.width is None
    assert (
        barred.default.width > 2 * barred.default.most
    )  # 95 in 100 reach farther than 9 in 10, on both sides
    assert "half of the error bars (for the sample, 95 times in 100) are narrower than" in str(barred)
    median = plan(MEDIAN, sd.Pure(1), rows=500, tables=2, interval=0.95, only_default=True).default
    assert median.width > median.median
    whole = plan(MEDIAN, sd.Pure(1), rows=500, tables=2, interval=sd.Population(0.95), only_default=True)
    assert whole.default.width > 2 * 1.9 * whole.sampling_error
    assert "without privacy such an interval would be about" in str(whole)


def test_progress_counts_to_the_end():
    steps = []
    plan(
        sd.Count("x"), sd.Pure(1), rows=50, tables=1, progress=lambda done, total: steps.append((done, total))
    )
    assert steps[-1][0] == steps[-1][1]
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "rows must be given"),
        ({"rows": 0}, "rows must be a whole number"),
        ({"rows": 10, "tables": 0}, "tables must be a whole number"),
        ({"rows": 10, "draws": 1}, "draws must be a whole number"),
        ({"rows": 10, "sprad": 3}, "has no option 'sprad'"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        plan(MEDIAN, sd.Pure(1), **options)
    with pytest.raises(ParameterError, match="the second argument is a price"):
        plan(MEDIAN, 1.0, rows=10)


def test_the_price_and_rows_that_are_needed_are_enough_and_hardly_more():
    trimmed = sd.TrimmedMean("x", trim=0.1, **BOUNDS)
    price = sd.needed_price(trimmed, error=1000, rows=1000)
    assert expected_error(trimmed, price, rows=1000) <= 1000
    less = sd.Pure(price.epsilon * 97 / 100)
    assert expected_error(trimmed, less, rows=1000) > 1000
    rho = sd.needed_price(sd.Count("x"), error=10, rows=100, like=sd.Concentrated(1))
    assert float(rho.rho) == pytest.approx(1 / 200, rel=0.01)
    rows = sd.needed_rows(trimmed, sd.Pure(1), error=1000)
    assert expected_error(trimmed, sd.Pure(1), rows=rows) <= 1000 * 1.02
    assert expected_error(trimmed, sd.Pure(1), rows=rows * 9 // 10) > 1000


def test_errors_that_nothing_gives_are_refused():
    with pytest.raises(ParameterError, match="no price up to 100"):
        sd.needed_price(sd.Mean("x", low=0, high=1e9), error=1e-3, rows=20, tight=True)
    with pytest.raises(ParameterError, match="a million rows"):
        sd.needed_rows(sd.Count("x"), sd.Pure(0.01), error=1)
    with pytest.raises(Unsupported, match="is not searched"):
        sd.needed_price(sd.Count("x"), error=1, rows=9, like=sd.Approx(1, 1e-6))


@pytest.mark.thorough
def test_pictures_show_the_default_and_a_fixed_scale(found):
    names = shown_names(found)
    assert names[0] == "quantile"
    assert "laplace (global)" in names
    middles, densities, truth = answer_densities(found)
    width = middles[1] - middles[0]
    assert 0.85 < np.sum(densities["quantile"]) * width <= 1.0001
    assert np.sum(densities["laplace (global)"]) * width < 0.2
    assert abs(middles[np.argmax(densities["quantile"])] - truth) < 3 * found.default.rms
    figure = found.plot()
    left, right = figure.axes
    assert right.get_xlabel() == "epsilon"
    assert any(line.get_label() == "this plan" for line in right.lines)
    assert len(left.lines) >= 3


@pytest.mark.thorough
def test_curves_fall_with_the_price():
    curves = error_curves(plan(sd.TrimmedMean("x", trim=0.1, **BOUNDS), sd.Pure(1), rows=300, tables=1))
    for prices, errors in curves.values():
        assert prices == sorted(prices)
        assert errors == sorted(errors, reverse=True)


def test_tables_are_fresh_and_repeatable():
    shape = Shape("normal").on(0, 500_000)
    trial, again = Trial(MEDIAN, shape, rows=100), Trial(MEDIAN, shape, rows=100)
    truths = [trial.truth(place) for place in range(70)]
    assert len(set(truths)) == 70
    assert truths == [again.truth(place) for place in range(70)]


def test_a_plan_of_a_mean_compares_its_three_modes():
    wide = sd.plan(
        sd.Mean("x", low=0, high=10**6), sd.Pure(1), rows=500, assume="log-normal:median=100", tables=2
    )
    words = " ".join(str(wide).split())
    assert "three modes, rms on this description: tight=True" in words
    assert "It suits tight=True" not in words
    fitting = sd.plan(
        sd.Mean("x", low=0, high=10), sd.Concentrated(0.05), rows=500, assume="uniform", tables=2
    )
    assert "it suits the default" in " ".join(str(fitting).split())
    assert "three modes" not in str(sd.plan(sd.Median("x", low=0, high=10), sd.Pure(1), rows=500, tables=2))


def test_the_three_modes_are_those_of_the_neighbours_that_are_planned():
    """Told beside the statistic or in it: plain noise of a mean is not noise for the worst number of rows."""
    mean, rows = sd.Mean("x", low=0, high=100), 500
    beside = sd.plan(mean, sd.Pure(1), rows=rows, tables=2, neighbors="add-remove-one")
    within = sd.plan(replace(mean, neighbors="add-remove-one"), sd.Pure(1), rows=rows, tables=2)
    told, also = (" ".join(str(one).split()) for one in (beside, within))
    assert "three modes" in told
    assert (
        told.split("three modes")[1].split("At stake")[0] == also.split("three modes")[1].split("At stake")[0]
    )
    plain = next(one for one in beside.options if one.name == "plain-or-cut (tight=True)")
    assert f"tight=True {plain.rms:.3g}" in told


def test_what_the_three_modes_may_cost_is_possible():
    """No mean errs by more than its range, no mode by more than was just seen, and each with its own mechanism."""
    few = sd.plan(sd.Mean("x", low=0, high=1000), sd.Pure(0.1), rows=200, tables=2)
    assert "loose=True can err by half of what is possible (500)" in " ".join(str(few).split())
    two = sd.plan(
        sd.Mean("x", low=0, high=1000, neighbors="add-remove-one"), sd.Pure(1), rows=60, tables=2,
        assume="bimodal:first=100,second=900,spread=10,share=0.5",
    )  # fmt: skip
    told = " ".join(str(two).split()).split("three modes")[1]
    plain, default = (
        float(told.split(f"{mode} ")[1].split(",")[0]) for mode in ("tight=True", "the default")
    )
    assert default / plain <= float(told.split("stays within ")[1].split(" times")[0]) + 0.01
    variance = sd.Variance("x", low=0, high=1000)
    both = [sd.plan(variance, sd.Pure(1), rows=1001, tables=4, **mode) for mode in ({}, {"tight": True})]
    lines = [" ".join(str(one).split()).split("three modes")[1].split("the default")[0] for one in both]
    assert lines[0] == lines[1]
    assert "however little" not in str(both[0])


def test_a_plan_is_remembered_by_its_public_parameters_and_keeps_the_spelling():
    first = sd.plan(sd.Count("x"), sd.Pure(1), rows=100)
    again = sd.plan(sd.Count("x"), sd.Pure(1), rows=100)
    assert again.options is first.options
    assert sd.plan(sd.Count("x"), sd.Pure(2), rows=100).options != first.options
    spelled = sd.plan(sd.Median("x", low=0.0, high=8.0), sd.Pure(1), rows=20, tables=1, only_default=True)
    other = sd.plan(sd.Median("x", low=0, high=8), sd.Pure(1), rows=20, tables=1, only_default=True)
    assert repr(other.statistic) != repr(spelled.statistic)
    assert other.options is spelled.options
