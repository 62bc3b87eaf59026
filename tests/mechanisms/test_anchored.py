"""A middle released first: promise by brute force, draws against the law, groups, where it is taken, what it brings."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.hints import Hints
from sordino.lattice import FiniteLattice
from sordino.mechanisms.choose import choose, output_grid
from sordino.mechanisms.quantile.anchored import Anchored
from sordino.mechanisms.quantile.anchored_plan import anchor_share, measure_from, middle_measure
from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
from sordino.mechanisms.tuned import ForAnchored
from sordino.privacy import Approx, BoundedRange, Concentrated, Neighbors, Pure, TruncatedConcentrated
from sordino.statistics.maximum import Maximum
from sordino.statistics.quantile import Quantile
from tests.support.mechanism_worlds import SMALL, add_remove_world, replace_world

TOP = 7
REPLACE, ADD = Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE
WORLDS = {REPLACE: replace_world(SMALL, 3), ADD: add_remove_world(SMALL, (1, 2, 3))}
KINDS = {"q90": (Fraction(9, 10), 36), "q10": (Fraction(1, 10), 4)}
FAR = Quantile("x", q=Fraction(99, 100), low=10**6 - 40_000, high=10**6 + 80_000)


def asking(column):
    source = Memory({"x": np.asarray(column, float)})
    return lambda request: source.summary(request)[0]


def built(kind, relation, price, share=Fraction(1, 4), **more):
    q, rank = KINDS[kind]
    statistic = Quantile("x", q=q, low=0, high=TOP, step=1, neighbors=relation)
    mechanism = Anchored(
        price=price,
        share=share,
        lattice=statistic.grid.answers,
        rows=40,
        rank=rank,
        neighbors=relation,
        **more,
    )
    assert mechanism.refusal(statistic) is None
    return statistic, mechanism


def joint(statistic, mechanism, rows, contribution=1):
    """Log probabilities of all pairs of anchor and answer."""
    ask = asking(rows)
    first = mechanism.first.known_law(mechanism.middle(statistic), ask, contribution)
    found = {}
    for anchor in range(TOP + 1):
        law = mechanism.second(anchor).known_law(statistic, ask, contribution)
        for value in range(TOP + 1):
            found[anchor, value] = first.logpdf(anchor) + law.logpdf(value)
    return found


@pytest.mark.parametrize("relation", WORLDS, ids=lambda relation: relation.value)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hinted", [{}, {"centre": 3.0, "spread": 2.0}], ids=["untold", "hinted"])
def test_anchor_and_answer_together_keep_the_price(kind, relation, hinted):
    statistic, mechanism = built(kind, relation, Pure(1), **hinted)
    sets, near = WORLDS[relation]
    laws = {rows: joint(statistic, mechanism, rows) for rows in sets}
    worst = max(
        abs(laws[one][pair] - laws[other][pair]) for one in sets for other in near[one] for pair in laws[one]
    )
    assert 0.6 < worst <= 1 + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_people_with_two_rows_are_protected_and_the_whole_slope_would_not_do(kind):
    statistic, mechanism = built(kind, REPLACE, Pure(1))
    sets, near = replace_world(SMALL, 4)
    pairs = [(one, two) for one in sets for other in near[one] for two in near[other]]
    worst = {}
    for rows in (2, 1):
        laws = {table: joint(statistic, mechanism, table, rows) for table in sets}
        worst[rows] = max(abs(laws[one][at] - laws[two][at]) for one, two in pairs for at in laws[one])
    assert worst[2] <= 1 + 1e-9 < worst[1]


@pytest.mark.parametrize(
    "price", [Pure(1), Concentrated(0.5), Approx(1, 0.001), TruncatedConcentrated(0.5, 12)], ids=str
)
def test_both_steps_compose_to_the_price(price):
    (mechanism,) = Anchored.offers(FAR, price, Hints(rows=1001))
    first, rest = mechanism.parts
    assert (first + rest).within(price)
    assert mechanism.first.guarantee == first
    assert mechanism.second(2**30).guarantee == rest
    assert not list(Anchored.offers(FAR, BoundedRange(1), Hints(rows=5001)))  # it pays for one draw


@pytest.mark.statistical
@pytest.mark.parametrize("kind", KINDS)
def test_draws_follow_the_law_and_not_another(kind):
    statistic, mechanism = built(kind, ADD, Pure(2))
    rows, bits, grid = (1, 2, 2, 4, 6), SeededBits(5), output_grid(statistic)
    drawn = mechanism.answers(statistic, [asking(rows)] * 3000, grid, bits=bits)
    seen = Counter((int(one.public["anchor"]), int(one.value)) for one in drawn)

    def worst(law):
        chances = {pair: math.exp(log) for pair, log in law.items()}
        assert math.isclose(sum(chances.values()), 1, abs_tol=1e-9)
        return max(
            abs(seen[pair] - 3000 * chance) / math.sqrt(3000 * max(chance * (1 - chance), 1e-3))
            for pair, chance in chances.items()
        )

    assert worst(joint(statistic, mechanism, rows)) < 4.5
    assert worst(joint(statistic, replace(mechanism, share=Fraction(3, 4)), rows)) > 6


@pytest.mark.parametrize("kind", KINDS)
def test_groups_are_answered_in_their_order_as_one_by_one(kind):
    """At a high price every group's answer is its own, each after its own anchor."""
    random, (q, _) = np.random.default_rng(3), KINDS[kind]
    columns = [
        random.uniform(100 * place, 100 * place + 1, size) for place, size in enumerate((40, 400, 41, 900))
    ]
    statistic = Quantile("x", q=q, low=0, high=1000, neighbors=ADD)
    _, mechanism = built(kind, ADD, Pure(400))
    mechanism = replace(mechanism, lattice=statistic.grid.answers)
    asks, grid = [asking(one) for one in columns], output_grid(statistic)
    together = mechanism.answers(statistic, asks, grid, bits=SeededBits(1))
    alone = [mechanism.answer(statistic, ask, grid, bits=SeededBits(2)) for ask in asks]
    for column, one, other in zip(columns, together, alone, strict=True):
        right = float(
            statistic.grid.endless.real(statistic.define([int(c) for c in statistic.grid.codes(column)]))
        )
        assert abs(float(one) - right) < 0.5 > abs(float(other) - right)
        assert column.min() <= one.public["anchor"] <= column.max()


def test_it_is_taken_for_far_quantiles_of_many_rows():
    bounds = {"low": 0, "high": 10**6}

    def name(kind, price=1, relation=REPLACE, **options):
        rows = options.pop("rows")
        return choose(kind("x", neighbors=relation, **bounds, **options), Pure(price), rows=rows).name

    assert name(Quantile, q=0.99, rows=1001) == "anchored"
    assert name(Quantile, q=0.01, rows=1001) == "anchored"
    assert name(Quantile, q=0.9, rows=201) == name(Quantile, q=0.5, rows=1001) == "quantile"
    assert name(Quantile, q=0.9, rows=10_001) == "quantile"  # many rows hold it from either side
    assert name(Maximum, rows=1001) == name(Maximum, rows=201) == "extreme"
    assert not list(Anchored.offers(Maximum("x", neighbors=ADD, **bounds), Pure(1), Hints(rows=1001)))
    assert list(Anchored.offers(Quantile("x", q=0.99, neighbors=ADD, **bounds), Pure(1), Hints(rows=600)))
    assert not list(Anchored.offers(Quantile("x", q=0.99, neighbors=ADD, **bounds), Pure(1), Hints(rows=500)))
    assert not list(Anchored.offers(Quantile("x", q=0.99, **bounds), Pure(1), Hints(rows=1001, loose=True)))
    assert not list(
        Anchored.offers(Quantile("x", q=0.99, **bounds), Pure(1), Hints(rows=1001, interval=0.95))
    )


@pytest.mark.parametrize("relation", [REPLACE, ADD], ids=lambda one: one.value)
def test_the_price_of_an_anchor_is_bounded_and_falls_with_the_rows(relation):
    shares = [
        anchor_share(Pure(1), rows=n, rank=n - n // 100, neighbors=relation) for n in (1001, 2001, 4001)
    ]
    assert ForAnchored.DEAREST >= shares[0] >= shares[1] >= shares[2] > 0


def test_measures_are_those_of_a_fine_lattice_and_even_beside_the_anchor():
    """A declared step changes nothing, and a round number far from the anchor does not have the mass about it."""
    coarse = FiniteLattice(Fraction(0), Fraction(1), 4000)
    told = {"anchor": 1975, "between": 60.0, "weak": 25.0, "upwards": True}
    fine = measure_from(coarse.finer(32), **{**told, "anchor": 1975 << 32}).rounded(32).measure
    rough = measure_from(coarse, **told).measure
    assert rough.mass(1990, 2010) / rough.total == pytest.approx(fine.mass(1990, 2010) / fine.total)
    assert rough.mass(2000, 2000) < 2 * rough.mass(2001, 2025)
    assert rough.mass(3000, 4000) < rough.mass(2200, 2400)
    assert middle_measure(coarse).measure.last == 4000


def error(mechanism, statistic, column):
    right = statistic.grid.endless.real(
        statistic.define([int(code) for code in statistic.grid.codes(column)])
    )
    (law,) = mechanism.error_laws(statistic, asking(column), output_grid(statistic), right)
    return math.sqrt(law.mean_square)


def test_it_finds_columns_far_from_zero_and_keeps_those_near_it():
    """Exact laws of the 99 % quantile; weights of a million, and a column that fits its bounds from zero on."""
    random = np.random.default_rng(8)
    far, near = random.normal(10**6, 15, 1001), random.gamma(4, 10, 1001)
    mechanism = choose(FAR, Pure(1), rows=1001)
    blind = PrivateQuantile.point(FAR, Pure(1), Hints(rows=1001))
    assert mechanism.name == "anchored"
    assert error(mechanism, FAR, far) < 0.01 * error(blind, FAR, far)
    fitting = Quantile("x", q=Fraction(99, 100), low=0, high=120)
    before = PrivateQuantile.point(fitting, Pure(1), Hints(rows=1001))
    assert error(choose(fitting, Pure(1), rows=1001), fitting, near) < 1.25 * error(before, fitting, near)
