"""The same promise where the default mechanism is another one: few rows, many rows, hints, high prices, error bars.

Every mechanism that `choose` takes by itself is the default of some case here or in test_agreement.py.
"""

import numpy as np
import pytest

import sordino as sd
from sordino.catalogue import mechanisms
from sordino.planner import plan
from sordino.planner.assumed import assumed
from sordino.planner.subject import Subject
from sordino.planner.table import drawn
from tests.support.planner_releases import Precision, check, defined

BOUNDS = {"low": 0, "high": 500_000}
REPLACE, ADD, EDGE = sd.Neighbors.REPLACE_ONE, sd.Neighbors.ADD_REMOVE_ONE, sd.Neighbors.EDGE
ROUGH = {"centre": 50_000, "spread": 30_000}
MEAN, MEDIAN = sd.Mean("x", **BOUNDS), sd.Median("x", **BOUNDS)
TRIMMED = sd.TrimmedMean("x", trim=0.1, **BOUNDS)
VARIANCE, DEVIATION = sd.Variance("x", **BOUNDS), sd.StandardDeviation("x", **BOUNDS)
QUARTERS = sd.InterquantileRange("x", lower=0.25, upper=0.75, **BOUNDS)
THREE = sd.Quantiles("x", qs=(0.2, 0.5, 0.8), **BOUNDS)
KEYS = ("a", "b", "c", "d")
REGIONS = sd.Categories("c", keys=KEYS)
TAILS = sd.TailCounts("x", centre=60_000.0, radii=(20_000, 80_000), **BOUNDS)
LOG, PURE, RHO = "log-normal", sd.Pure(1), sd.Concentrated(0.125)
REGIMES = [
    # what is asked, price, relation, rows, shape, hints, the option that a release takes
    (MEDIAN, PURE, REPLACE, 12, LOG, {}, "quantile"),
    (MEDIAN, PURE, REPLACE, 40, "uniform", {"tight": True}, "quantile"),
    (MEDIAN, PURE, REPLACE, 24, "normal", {"interval": 0.9}, "quantile + error bar"),
    (sd.Quantile("x", q=0.9, **BOUNDS), PURE, ADD, 160, LOG, {}, "counted"),
    (sd.Quantile("x", q=0.99, **BOUNDS), PURE, REPLACE, 400, LOG, {}, "anchored"),
    (MEAN, PURE, REPLACE, 12, LOG, {}, "plain-or-cut"),
    (MEAN, PURE, ADD, 160, LOG, {"tight": True}, "plain-or-cut (tight=True)"),
    (MEAN, PURE, REPLACE, 160, "heaped-pay", {"loose": True}, "auto-clip (loose=True)"),
    (MEAN, PURE, REPLACE, 160, "uniform", {"tight": True}, "laplace (global)"),
    (MEAN, RHO, REPLACE, 160, "uniform", {"tight": True}, "gaussian (global)"),
    (MEAN, PURE, REPLACE, 160, "normal", {"symmetric": True}, "symmetric-mean"),
    (VARIANCE, RHO, REPLACE, 12, LOG, {}, "arsinh-normal"),
    (DEVIATION, PURE, REPLACE, 160, "uniform", {"tight": True}, "plain-or-cut-squares (tight=True)"),
    (DEVIATION, sd.Pure(6), ADD, 20, LOG, {"tight": True}, "inverse-sensitivity"),
    (TRIMMED, PURE, REPLACE, 160, LOG, {"interval": 0.9}, "polyplace + error bar"),
    (QUARTERS, sd.Pure(8), REPLACE, 80, LOG, {}, "inverse-sensitivity"),
    (sd.Maximum("x", **BOUNDS), PURE, REPLACE, 400, LOG, {"loose": True}, "quantile"),
    (sd.Maximum("x", **BOUNDS), PURE, REPLACE, 160, "uniform", {"tight": True}, "extreme"),
    (sd.Minimum("x", **BOUNDS), PURE, REPLACE, 160, LOG, ROUGH, "extreme"),
    (THREE, PURE, REPLACE, 60, "uniform", {"tight": True}, "recursive-quantiles"),
    (sd.Count("x"), sd.Pure(0.1), ADD, 160, "uniform", {}, "geometric"),
    (sd.Count("x"), sd.Concentrated(0.001), ADD, 160, "uniform", {}, "gaussian (global)"),
    (REGIONS, sd.Pure(0.1), REPLACE, 160, "weights:a=5,d=1", {}, "additive-vector"),
    (REGIONS, sd.Concentrated(0.001), REPLACE, 160, "zipf", {}, "additive-vector"),
    (sd.Mode("c", keys=KEYS), sd.Pure(0.03), ADD, 160, "zipf", {}, "selection"),
    (TAILS, sd.Concentrated(0.01), ADD, 60, LOG, {}, "radial-laplace"),
    (sd.MaximumDegree(vertices=24), sd.Pure(0.1), EDGE, None, "scale-free", {}, "geometric"),
    (sd.Triangles(vertices=18), sd.Concentrated(0.02), EDGE, None, "random-graph", {}, "piecewise-laplace"),
]
LONG = [
    # further regimes of an option that has one above
    (MEDIAN, RHO, REPLACE, 160, "normal", {}, "quantile"),
    (sd.Median("x", missing="drop", **BOUNDS), sd.Approx(1, 1e-6), REPLACE, 160, LOG, {}, "quantile"),
    (MEDIAN, PURE, REPLACE, 40, LOG, ROUGH, "quantile"),
    (MEAN, RHO, REPLACE, 500, LOG, {}, "plain-or-cut"),
    (MEAN, PURE, REPLACE, 160, "uniform", {"interval": 0.9, "tight": True}, "laplace (global)"),
    (TRIMMED, RHO, REPLACE, 160, LOG, {}, "arsinh-normal"),
    (sd.Minimum("x", **BOUNDS), PURE, REPLACE, 24, LOG, {}, "extreme"),
    # searches with many steps: ten to forty seconds each
    (VARIANCE, PURE, REPLACE, 400, LOG, {}, "plain-or-cut-squares"),
    (DEVIATION, PURE, ADD, 400, LOG, {}, "plain-or-cut-squares"),
    (MEAN, PURE, REPLACE, 160, "heaped-pay", {}, "plain-or-cut"),
]
VARIED = {"interquantile-range", "maximum", "minimum", "mean-normal"}
"""Errors of these vary most between tables, and tables are cheap: more of them on both sides."""
MORE = Precision(plan=0.013, answers=0.018, more=10)
TABLES = {
    "cube",
    "discovery",
    "high-pass",
    "levels",
    "margins",
}  # of keys, for which no generated column stands
ASKED_FOR = {"box-means", "order-interval", "propose-test-release"}  # never the default
INSIDE = {
    "additive",
    "error-bar",
    "mean-interval",
    "quantile-interval",
    "quantiles-interval",
}  # go by the name of what answers


@pytest.mark.few(2)
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("statistic", "price", "relation", "rows", "shape", "hints", "name"),
    [*REGIMES, *(pytest.param(*case, marks=pytest.mark.slow) for case in LONG)],
    ids=[
        "-".join([case[0].name, case[1].kind, str(case[3]), case[6], *case[5]]).replace(" ", "")
        for case in [*REGIMES, *LONG]
    ],
)
def test_predicted_errors_are_those_of_real_answers(statistic, price, relation, rows, shape, hints, name):
    precision = MORE if VARIED & {statistic.name, f"{statistic.name}-{shape}"} else None
    option = check(statistic, price, relation, rows=rows, shape=shape, hints=hints, precision=precision)
    assert option.name == name


def test_every_default_mechanism_has_a_regime():
    assert (
        set(mechanisms()) - {"blocks", *TABLES} - {case[6].split(" (")[0] for case in REGIMES}
        == ASKED_FOR | INSIDE
    )


@pytest.mark.thorough
@pytest.mark.statistical
def test_a_session_has_the_errors_of_its_plan():
    option = plan(MEDIAN, PURE, rows=400, tables=60, only_default=True).default
    random = np.random.default_rng(99)
    source, subject, errors = assumed(LOG, MEDIAN), Subject.of(MEDIAN), []
    for _ in range(300):
        data = drawn(subject, source, 400, random)
        people = sd.open(data, budget=PURE)
        errors.append(people.release(MEDIAN, PURE).value - defined(MEDIAN, data)[0])
        people.ledger.close()
    # Fresh random words: a probability of about one in a million to fail.
    inside = np.mean(np.abs(errors) <= option.median)
    assert 0.5 - 0.15 < inside < 0.5 + 0.15
    assert np.mean(np.abs(errors) <= option.most) > 0.8
