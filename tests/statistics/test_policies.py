"""Whatever the rows hold there is an answer: missing, infinite, out of range, empty, one row, all equal."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from sordino.data.memory import Memory
from sordino.errors import ParameterError
from sordino.privacy import Neighbors
from sordino.statistics import Numeric, kinds
from sordino.statistics.count import Count
from sordino.statistics.count_above import CountAbove
from sordino.statistics.histogram import Histogram
from sordino.statistics.maximum import Maximum
from sordino.statistics.mean import Mean
from sordino.statistics.median import Median
from sordino.statistics.minimum_spanning_tree import MinimumSpanningTree
from sordino.statistics.output_trimmed_mean import OutputTrimmedMean
from sordino.statistics.quantile import Quantile
from sordino.statistics.quantiles import Quantiles
from sordino.statistics.sum import Sum
from sordino.statistics.trimmed_mean import TrimmedMean
from sordino.statistics.variance import Variance
from sordino.statistics.vector import Vector

NAN, INF = math.nan, math.inf
HOSTILE = {
    "empty": [],
    "one": [2.0],
    "equal": [1.0] * 7,
    "nothing": [NAN, NAN, NAN],
    "infinite": [INF, -INF, INF],
    "mixed": [NAN, INF, -INF, 1e308, -1e308, 0.0, -0.0, 5e-324, 2.0],
}


def real(statistic, rows, depth=3):
    """The value in real units."""
    source = Memory({"x": np.array(rows, float)})
    opened = statistic.read(*source.summary(statistic.request(depth=depth))).open()
    return float(statistic.units.real(opened.value))


def worlds():
    """One example of every statistic and relation."""
    for name, kind in kinds().items():
        seen = set()
        for case in kind.cases():
            if case.statistic.neighbors not in seen:
                seen.add(case.statistic.neighbors)
                yield pytest.param(case, id=f"{name}-{case.statistic.neighbors.value}")
                if (
                    isinstance(case.statistic, Numeric)
                    and case.statistic.neighbors is Neighbors.ADD_REMOVE_ONE
                ):
                    drop = dataclasses.replace(case.statistic, missing="drop")
                    case = dataclasses.replace(case, statistic=drop)  # noqa: PLW2901
                    yield pytest.param(case, id=f"{name}-{case.statistic.neighbors.value}-drop")


@pytest.mark.parametrize("case", list(worlds()))
@pytest.mark.parametrize("column", HOSTILE)
def test_every_statistic_answers_on_hostile_columns(case, column):
    """No value raises; the reading has a value, a profile and, for one number, a reach that holds it."""
    statistic = case.statistic
    columns = {name: [float(value) for value in HOSTILE[column]] for name in case.columns}
    source = Memory(columns)
    for depth in (0, 1, 9):
        opened = statistic.read(*source.summary(statistic.request(depth=depth))).open()
        assert opened.profile.at(0) >= 0
        if opened.reach is not None:
            low, high = opened.reach.at(0)
            assert low <= opened.value <= high
        if opened.bottom is not None:
            assert opened.bottom <= opened.value <= opened.top


def test_missing_rows_count_as_declared():
    """By default as zero or the bound nearer to it, as a number, or not at all."""
    rows = [4.0, NAN, 8.0]
    assert real(Mean("x", low=0, high=10, step=1), rows) == 4
    assert real(Mean("x", low=2, high=10, step=1), rows) == pytest.approx(14 / 3)
    assert real(Mean("x", low=0, high=10, step=1, missing=6), rows) == 6
    assert (
        real(Mean("x", low=0, high=10, step=1, missing="drop", neighbors=Neighbors.ADD_REMOVE_ONE), rows) == 6
    )
    assert real(Count("x"), rows) == 2
    assert real(CountAbove("x", threshold=-5), rows) == 2
    assert real(CountAbove("x", threshold=4), rows) == 1
    assert real(Sum("x", low=0, high=10, step=1), rows) == 12


def test_rows_out_of_range_count_as_the_bounds():
    """Infinities too."""
    assert real(Sum("x", low=-1, high=10, step=1), [-INF, INF, 50, -50]) == 18
    assert real(Maximum("x", low=0, high=10, step=1), [3, INF]) == 10
    histogram = Histogram("x", edges=(0, 1, 2))
    opened = histogram.read(*Memory({"x": [-INF, 0.5, 1, 9.0, NAN]}).summary(histogram.request())).open()
    assert opened.value == (2, 2)


@pytest.mark.parametrize("relation", [Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE])
def test_an_empty_column_has_the_declared_value(relation):
    """The lower bound for values of rows, zero for sums and spreads."""
    common = {"low": 3, "high": 10, "step": 1, "neighbors": relation}
    for kind in (Median, Mean, Maximum):
        assert real(kind("x", **common), []) == 3
    assert real(TrimmedMean("x", trim=0.1, **common), []) == 3
    assert real(Sum("x", **common), []) == 0
    assert real(Variance("x", **common), []) == 0


@pytest.mark.parametrize("trim", [0, 0.1, 0.499])
def test_trimming_always_leaves_a_row(trim):
    """Also of one and of two rows."""
    for rows in ([5.0], [5.0, 7.0]):
        assert 5 <= real(TrimmedMean("x", trim=trim, low=0, high=10, step=1), rows) <= 7


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (Quantile, {"q": 1.5}), (Quantile, {"q": -0.1}), (Quantile, {"q": 0.5, "rule": "nearest"}),
        (Quantile, {"q": 0.5, "rule": "interpolated", "shift": 1}), (Quantile, {"q": 0.5, "shift": 0.5}),
        (Median, {"q": 0.4}), (Maximum, {"shift": -1}), (Maximum, {"rule": "upper"}),
        (TrimmedMean, {"trim": 0.5}), (TrimmedMean, {"trim": -0.1}), (Variance, {"bits": 40}),
        (Variance, {"envelope": "best"}), (Quantiles, {"qs": ()}), (Quantiles, {"qs": (0.5, 0.5)}),
        (OutputTrimmedMean, {"trim": 0.1, "answer_low": 3, "answer_high": 2}),
        (OutputTrimmedMean, {"trim": 0.1, "answer_low": -3, "answer_high": 2}),
        (Mean, {"low": 5, "high": 5}), (Mean, {"missing": "ignore"}),
    ],
)  # fmt: skip
def test_parameters_outside_their_domain_are_refused(kind, wrong):
    """Before any data are seen."""
    with pytest.raises(ParameterError):
        kind("x", **{"low": 0, "high": 10, **wrong})


def test_a_wrong_range_is_told_in_the_words_of_the_statistic():
    """Subject, rule, what was given; why; something to paste."""
    with pytest.raises(ParameterError) as caught:
        Median("income", low=10, high=10)
    first, why, hint = str(caught.value).splitlines()
    assert first == "median: high must be greater than low, got low=10, high=10."
    assert "public" in why
    assert "high=500000" in hint
    for wrong in ([1], "a", True, None):
        with pytest.raises(ParameterError):
            Median("income", low=wrong, high=10)


def test_bounds_have_no_default():
    """A statistic of values cannot be described without its range."""
    for kind in (Median, Mean, Sum, Variance, Maximum):
        with pytest.raises(ParameterError, match="low and high must be given"):
            kind("x")


@pytest.mark.parametrize(
    "build",
    [
        lambda: Histogram("x", edges=(1,)),
        lambda: Histogram("x", edges=(1, 1)),
        lambda: Histogram("x", edges=(0, 1e-14, 1)),
        lambda: MinimumSpanningTree(topology=((0, 1),), vertices=3, high=1),
        lambda: MinimumSpanningTree(topology=((0, 1), (1, 0)), vertices=2, high=1),
        lambda: Vector((), order=2),
        lambda: Vector((Median("x", low=0, high=1),), order=3),
        lambda: Vector(
            (Median("x", low=0, high=1), Median("x", low=0, high=1, neighbors=Neighbors.ADD_REMOVE_ONE)),
            order=1,
        ),
    ],
)
def test_descriptions_that_make_no_sense_are_refused(build):
    """Edges, topologies and norms are checked when they are written down."""
    with pytest.raises(ParameterError):
        build()
