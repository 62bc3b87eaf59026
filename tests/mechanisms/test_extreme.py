"""Minimum and maximum by rows beyond the answer: promise by brute force, law by draws, accuracy in closed form."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanism_worlds import SMALL, add_remove_world, replace_world

from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.exact.grid import Grid
from sordino.mechanisms.choose import choose
from sordino.mechanisms.extreme import Extreme
from sordino.mechanisms.extreme_plan import plan_extreme
from sordino.mechanisms.leaning import leaning
from sordino.mechanisms.loss import loss_range
from sordino.mechanisms.price import bounded_range
from sordino.mechanisms.quantile_plan import Lattice
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.statistics.maximum import Maximum
from sordino.statistics.minimum import Minimum

TOP = 7
LATTICE = Lattice(Fraction(0), Fraction(1), TOP)
WORLDS = {
    Neighbors.REPLACE_ONE: replace_world(SMALL, 3),
    Neighbors.ADD_REMOVE_ONE: add_remove_world(SMALL, (1, 2, 3)),
}


def statistic_of(upper, relation=Neighbors.REPLACE_ONE, low=0, high=TOP, step=1):
    kind = Maximum if upper else Minimum
    return kind("x", low=low, high=high, step=step, neighbors=relation)


def read(statistic, rows, depth):
    (summary,) = Memory({"x": np.asarray(rows, dtype=float)}).summary(statistic.request(depth=depth))
    return statistic.read(summary)


@pytest.mark.parametrize("relation", WORLDS, ids=lambda relation: relation.value)
@pytest.mark.parametrize("upper", [True, False], ids=["maximum", "minimum"])
@pytest.mark.parametrize("price", [Pure(1), Pure(0.3), Concentrated(0.5)], ids=str)
@pytest.mark.parametrize("options", [{}, {"tight": True}, {"centre": 3, "spread": 2}], ids=str)
def test_no_answer_leaks_more_than_the_price(relation, upper, price, options):
    mechanism = Extreme(price=price, lattice=LATTICE, upper=upper, rows=40, **options)
    statistic = statistic_of(upper, relation)
    sets, near = WORLDS[relation]
    laws = {rows: mechanism.law(read(statistic, rows, 6)) for rows in sets}
    allowed = float(bounded_range(price))
    worst = 0.0
    for one in sets:
        for other in near[one]:
            low, high = loss_range(laws[one], laws[other])
            worst = max(worst, high - low)
            assert high - low <= allowed * (1 + 1e-9)
            assert max(high, -low) <= allowed * (1 + 1e-9)
    spared = mechanism.plan.spared  # with every row spared nothing is left to leak
    assert worst > 0.9 * allowed or spared >= 3


@pytest.mark.parametrize("upper", [True, False], ids=["maximum", "minimum"])
def test_people_with_two_rows_are_protected_and_the_full_slope_would_not_do(upper):
    """Two rows may move in opposite directions: half the slope is needed, and the whole one is refuted."""
    sets, near = replace_world(SMALL, 4)
    mechanism = Extreme(price=Pure(1), lattice=LATTICE, upper=upper, rows=40)
    statistic = statistic_of(upper)
    readings = {rows: read(statistic, rows, 8).by(2) for rows in sets}
    halved = {rows: mechanism.law(reading, contribution=2) for rows, reading in readings.items()}
    whole = {rows: mechanism.law(reading, contribution=1) for rows, reading in readings.items()}
    pairs = [(one, two) for one in sets for other in near[one] for two in near[other]]
    spread = {"halved": 0.0, "whole": 0.0}
    for name, laws in (("halved", halved), ("whole", whole)):
        for one, two in pairs:
            low, high = loss_range(laws[one], laws[two])
            spread[name] = max(spread[name], high - low, high, -low)
    assert spread["halved"] <= 1 + 1e-9
    assert spread["whole"] > 1.5


@pytest.mark.parametrize("upper", [True, False], ids=["maximum", "minimum"])
@pytest.mark.parametrize("spared", [0, 1])
def test_levels_count_the_rows_beyond(upper, spared):
    mechanism = Extreme(price=Pure(1) if not spared else Pure(0.6), lattice=LATTICE, upper=upper, rows=40,
                        tight=bool(spared))  # fmt: skip
    assert mechanism.plan.spared == spared
    for rows in replace_world(SMALL, 4)[0]:
        law = mechanism.law(read(statistic_of(upper), rows, 9))
        for point in range(TOP + 1):
            beyond = sum(row > point if upper else row < point for row in rows)
            assert law.level(point) == max(beyond - spared, 0)


@pytest.mark.parametrize("upper", [True, False], ids=["maximum", "minimum"])
def test_draws_follow_the_law_and_not_another(upper):
    rows = [1, 2, 2, 4, 6]
    statistic = statistic_of(upper)
    mechanism = Extreme(price=Pure(1), lattice=LATTICE, upper=upper, rows=40)
    source, bits = Memory({"x": np.asarray(rows, dtype=float)}), SeededBits(5)
    draws = [
        int(mechanism.answer(statistic, lambda ask: source.summary(ask)[0], Grid(0), bits=bits).value)
        for _ in range(1500)
    ]
    observed = np.bincount(draws, minlength=TOP + 1)

    def distance(price):
        law = Extreme(price=price, lattice=LATTICE, upper=upper, rows=40).law(read(statistic, rows, 9))
        expected = np.array([law.probability(point) for point in range(TOP + 1)]) * len(draws)
        return float(np.sum((observed - expected) ** 2 / np.maximum(expected, 1e-9)))

    assert distance(Pure(1)) < 24.3  # 99.9 % of chi-square with 7 degrees of freedom
    assert distance(Pure(1.3)) > 24.3


def error(upper, rows, price, low, high, **options):
    statistic = statistic_of(upper, low=low, high=high, step=None)
    mechanism = choose(statistic, price, rows=len(rows), **options)
    reading = read(statistic, rows, mechanism.depth)
    truth = max(rows) if upper else min(rows)
    return math.sqrt(mechanism.law(reading).mean_squared_error(Fraction(float(truth))))


def test_loose_bounds_cost_little():
    """The overshoot is a share of the maximum itself, however wide the bounds are."""
    rows = np.random.default_rng(77).normal(size=1001)
    near = error(True, rows, Pure(1), -50, 1050)
    far = error(True, rows, Pure(1), -5000, 105_000)
    assert near < 2.5
    assert far < 1.3 * near
    assert error(False, rows, Pure(1), -50, 1050) < 2.5


def test_tight_bounds_are_used():
    rows = np.random.default_rng(78).uniform(size=1001)
    assert error(True, rows, Pure(1), 0, 1, tight=True) < 0.002
    assert error(False, rows, Pure(1), 0, 1, tight=True) < 0.002
    assert error(True, rows, Pure(1), 0, 1) < 0.003


def test_an_edge_far_inside_the_bounds_is_found():
    rows = 1 + np.random.default_rng(79).pareto(2.5, 1001)
    assert error(False, rows, Pure(1), 0, 1e6) < 0.55  # uniform below the smallest row would be 0.58


def test_a_column_below_zero_has_a_maximum_below_zero():
    rows = -20 + 3 * np.random.default_rng(80).normal(size=1001)
    assert error(True, rows, Pure(1), -100, 1000) < 7


def test_few_rows_are_not_trusted_and_do_not_collapse():
    lattice = Lattice(Fraction(0), Fraction(1, 2**20), 100 * 2**20)
    plan = plan_extreme(lattice, upper=True, strength=Fraction(1, 10), rows=201)
    assert not plan.trusted
    # All rows at the upper end outbid the lean towards zero.
    law = Extreme(price=Pure(0.1), lattice=lattice, upper=True, rows=201).law(
        read(statistic_of(True, high=100, step=Fraction(1, 2**20)), [90.0] * 201, 500)
    )
    assert law.cdf(80) < 0.01


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 2**40), st.integers(0, 2**40), st.integers(1, 2**20),
    st.fractions(-4, 4, max_denominator=16), st.fractions(-4, 4, max_denominator=16),
)  # fmt: skip
def test_a_lean_is_positive_and_follows_its_powers(last, anchor, core, below, above):
    anchor = min(anchor, last)
    measure = leaning(last=last, anchor=anchor, core=core, below=below, above=above)
    assert min(measure.densities) > 0
    for side, power in ((1, above), (-1, below)):
        inner, outer = 4 * core, 8 * core
        if inner < 2**6 or not 0 <= anchor + side * 2 * outer <= last:
            continue

        def mass(a, b):
            ends = sorted((anchor + side * a, anchor + side * (b - 1)))
            return measure.mass(*ends)

        assert mass(inner, outer) / mass(inner // 2, inner) == pytest.approx(2.0 ** float(power), rel=1e-3)
