"""Every statistic has a default for every price; it answers, keeps its price, and never looks at data."""

import inspect
import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.data.memory import Memory
from sordino.errors import ParameterError
from sordino.exact.bits import SeededBits
from sordino.hints import Hints
from sordino.lattice import FiniteLattice
from sordino.mechanisms import Answer, Mechanism, kinds
from sordino.mechanisms.choose import FOR_BARS, choose, output_grid
from sordino.mechanisms.parts.measure import Measure
from sordino.mechanisms.quantile.plan import extreme_shift
from sordino.privacy import Approx, BoundedRange, Concentrated, Neighbors, Pure
from sordino.reading.traits import Trait
from sordino.statistics import kinds as statistics
from sordino.statistics.maximum import Maximum
from sordino.statistics.mean import Mean
from sordino.statistics.median import Median
from sordino.statistics.minimum import Minimum
from sordino.statistics.smoothing_rule import public_smoothing
from sordino.statistics.standard_deviation import StandardDeviation
from sordino.statistics.sum import Sum
from sordino.statistics.trimmed_mean import TrimmedMean
from sordino.statistics.variance import Variance
from sordino.statistics.vector import Vector

PRICES = [Pure(1), Concentrated(0.5)]


def first_cases():
    for name, kind in statistics().items():
        seen = set()
        for case in kind.cases():
            relation = case.statistic.neighbors
            if relation not in seen:
                seen.add(relation)
                yield pytest.param(case, id=f"{name}-{relation.value}")


@pytest.mark.parametrize("case", list(first_cases()))
@pytest.mark.parametrize("price", PRICES, ids=lambda price: price.kind)
def test_every_statistic_gets_an_answer(case, price):
    statistic = case.statistic
    if Trait.KEYS in statistic.traits:
        price = Approx(1, Fraction(1, 1000))
    mechanism = choose(statistic, price, rows=8)
    assert isinstance(mechanism, Mechanism)
    assert mechanism.guarantee.within(price)
    rows = [case.rows[i % len(case.rows)] for i in range(max(case.sizes))] if case.rows else []
    rows = [options[0] for options in case.places] or rows
    source = Memory({name: [row[i] for row in rows] for i, name in enumerate(case.columns)})
    answer = mechanism.answer(
        statistic, lambda ask: source.summary(ask)[0], output_grid(statistic), bits=SeededBits(3)
    )
    assert isinstance(answer, Answer)
    values = answer.value if isinstance(answer.value, tuple) else (answer.value,)
    assert all(isinstance(value, Fraction | float) and math.isfinite(value) for value in values)


@pytest.mark.parametrize("price", PRICES, ids=lambda price: price.kind)
@pytest.mark.parametrize("rows", [[], [5.0], [5.0] * 30, [math.nan] * 4, [math.inf, -math.inf, 1e300]])
def test_hostile_columns_get_an_answer(price, rows):
    source = Memory({"x": np.asarray(rows, dtype=float)})
    for relation in (Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE):
        for missing in (None, "drop") if relation is Neighbors.ADD_REMOVE_ONE else (None,):
            for kind in (Mean, Sum, Median, Maximum):
                statistic = kind("x", low=-10, high=1000, missing=missing, neighbors=relation)
                mechanism = choose(statistic, price, rows=30)
                answer = mechanism.answer(
                    statistic, lambda ask: source.summary(ask)[0], output_grid(statistic), bits=SeededBits(4)
                )
                assert isinstance(answer.value, Fraction)


def test_choosing_takes_no_data():
    assert set(inspect.signature(choose).parameters) == {"statistic", "price", "options"}
    assert all(name not in Hints.__dataclass_fields__ for name in ("data", "source", "reading", "column"))
    first = choose(Median("x", low=0, high=10), Pure(1), rows=100)
    assert first == choose(Median("x", low=0, high=10), Pure(1), rows=100)


def test_an_unknown_option_is_named():
    with pytest.raises(ParameterError, match="no option 'row'"):
        choose(Median("x", low=0, high=10), Pure(1), row=100)


def test_defaults_follow_the_table():
    wide = {"low": -50, "high": 1050}
    assert choose(Median("x", **wide), Pure(1), rows=1001).name == "quantile"
    assert choose(Mean("x", **wide), Pure(1), rows=1001).name == "plain-or-cut"
    assert choose(Mean("x", **wide), Pure(1), rows=1001, loose=True).name == "auto-clip"
    assert choose(Mean("x", **wide), Pure(1), rows=1001, tight=True).name == "additive"
    assert choose(Mean("x", **wide), Pure(1), rows=1001, symmetric=True).name == "symmetric-mean"
    assert choose(Maximum("x", **wide), Pure(1), rows=1001).name == "extreme"
    assert choose(Variance("x", **wide), Pure(1), rows=1001).name == "plain-or-cut-squares"
    assert choose(Variance("x", **wide), Pure(1), rows=1001, tight=True).calibration.noise.name == "polyplace"
    assert choose(StandardDeviation("x", **wide), Pure(1), rows=1001, tight=True).tight
    trimmed = TrimmedMean("x", trim=Fraction(58, 1001), **wide)
    assert choose(trimmed, Pure(1), rows=1001).calibration.noise.name == "polyplace"
    assert choose(trimmed, Concentrated(0.5), rows=1001).calibration.noise.name == "arsinh-normal"
    assert choose(trimmed, Pure(1), rows=1001, smoothing=Fraction(1, 5)).calibration.smoothing == Fraction(
        1, 5
    )
    barred = choose(trimmed, Pure(1), rows=1001, interval=0.95)
    assert barred.guarantee == Pure(1)
    with pytest.raises(ParameterError, match="number of rows"):
        choose(trimmed, Pure(1))
    plain = choose(Maximum("x", **wide), Pure(1), rows=1001)
    assert choose(Maximum("x", **wide), Pure(1), rows=1001, interval=0.95) == plain


def test_a_quantile_with_an_interval_spends_one_price_on_both():
    statistic = Median("x", low=-50, high=1050)
    mechanism = choose(statistic, Pure(4), rows=1001, spread=1, interval=0.9)
    assert mechanism.guarantee == Pure(4)
    assert mechanism.trusted
    data = np.random.default_rng(2).normal(size=1001)
    source = Memory({"x": data})
    answer = mechanism.answer(
        statistic, lambda ask: source.summary(ask)[0], output_grid(statistic), bits=SeededBits(9)
    )
    assert abs(float(answer) - np.median(data)) < 0.1
    assert answer.public["low"] <= Fraction(float(np.median(data))) <= answer.public["high"]
    assert answer.public["high"] - answer.public["low"] < 1


def test_the_callers_own_measure_is_used():
    statistic = Median("x", low=0, high=10, step=1)
    measure = Measure.at({3: 1, 7: 1}, last=10)
    mechanism = choose(statistic, Pure(1), rows=9, measure=measure)
    source = Memory({"x": np.full(9, 7.0)})
    answers = {
        int(
            mechanism.answer(
                statistic, lambda ask: source.summary(ask)[0], output_grid(statistic), bits=bits
            ).value
        )
        for bits in map(SeededBits, range(30))
    }
    assert answers <= {3, 7}
    assert 7 in answers


def test_smoothing_is_clipped_and_falls_with_the_distance_to_the_bounds():
    rule = [float(public_smoothing(Pure(1), decades=7, trimmed=m)) for m in (1, 20, 58, 100, 10_000)]
    assert rule == [0.45, 0.35, 0.1207, 0.07, 0.05]
    assert public_smoothing(BoundedRange(2), decades=7, trimmed=58) == public_smoothing(
        Pure(1), decades=7, trimmed=58
    )


def test_extremes_aim_inside_where_the_range_runs_away():
    loose = FiniteLattice(Fraction(-50), Fraction(1), 1100)
    positive = FiniteLattice(Fraction(0), Fraction(1), 1000)
    assert extreme_shift(loose, Pure(1), upper=True, rows=1000, loose=False) == 2
    assert extreme_shift(positive, Pure(1), upper=False, rows=1000, loose=False) == 0
    assert extreme_shift(loose, Pure(1), upper=True, rows=30, loose=False) == 0
    assert extreme_shift(loose, Pure(1), upper=True, rows=1000, loose=True) == 21
    assert choose(Maximum("x", low=-50, high=1050), Pure(1), rows=1001, loose=True).shift == 21
    assert choose(Minimum("x", low=0, high=1050), Pure(1)).shift == 0


def test_extremes_count_the_rows_beyond():
    assert choose(Maximum("x", low=-50, high=1050), Pure(1), rows=1001).upper
    assert not choose(Minimum("x", low=-50, high=1050), Pure(1), rows=1001, tight=True).upper
    assert choose(Maximum("x", low=-50, high=1050, shift=2), Pure(1), rows=1001).name == "quantile"


def test_few_rows_are_not_trusted_beforehand():
    wide = {"low": -50, "high": 1050}
    assert not choose(Mean("x", **wide), Pure(0.1), rows=201).trusted
    assert choose(Mean("x", **wide), Pure(1), rows=1001).trusted
    assert not choose(Median("x", **wide), Pure(0.1), rows=201).trusted
    assert choose(Mean("x", **wide), Pure(0.1), rows=500).trusted
    assert not choose(Mean("x", **wide), Pure(0.1), rows=500, loose=True).trusted
    assert choose(Mean("x", **wide), Pure(0.1), rows=500, centre=0, spread=1, loose=True).trusted


def test_every_mechanism_is_registered_and_names_its_proof():
    found = kinds()
    assert {"additive", "piecewise-laplace", "inverse-sensitivity", "quantile", "auto-clip"} <= set(found)
    assert all(mechanism.proof for mechanism in found.values())


def test_descriptions_are_plain():
    import json

    for statistic, options in ((Median("x", low=0, high=9), {}), (Mean("x", low=0, high=9), {"rows": 100})):
        described = choose(statistic, Pure(1), **options).to_dict()
        assert json.loads(json.dumps(described))["kind"]


def test_a_vector_is_read_as_far_as_its_volume_grows():
    rows = np.random.default_rng(5).normal(size=(501, 16))
    names = [f"x{i}" for i in range(16)]
    parts = tuple(TrimmedMean(name, trim=Fraction(1, 5), low=-50, high=1050) for name in names)
    statistic = Vector(parts, order=2)
    mechanism = choose(statistic, Pure(4), rows=501)
    source = Memory(dict(zip(names, rows.T, strict=True)))

    def distance(depth: int) -> float:
        (summary,) = source.summary(statistic.request(depth=depth))
        return mechanism.law(statistic.read(summary)).mean_squared_radius()

    assert distance(mechanism.depth) < 1.001 * distance(2 * mechanism.depth)
    assert distance(35) > 2 * distance(mechanism.depth)  # what one dimension needs is not enough


def test_what_is_left_unimported_without_a_bar_is_for_bars():
    own = {name: kind for name, kind in kinds().items() if kind.__module__.startswith("sordino.")}
    assert sorted(FOR_BARS) == sorted(name for name, kind in own.items() if kind.for_bars)


@pytest.mark.parametrize(
    ("hints", "said"),
    [
        ({"loose": True, "tight": True, "rows": 1000}, "opposite things"),
        ({"loose": True}, "needs the number of rows"),
        ({"centre": float("nan"), "rows": 1000}, "centre must be a number"),
        ({"spread": float("inf"), "rows": 1000}, "spread must be a number"),
        ({"occupied": 3.0, "rows": 1000}, "occupied"),
    ],
)
def test_hints_that_cannot_be_followed_are_refused(hints, said):
    with pytest.raises(ParameterError, match=said):
        choose(Mean("x", low=0, high=10), Pure(1), **hints)
