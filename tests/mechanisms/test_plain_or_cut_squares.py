"""Variances, deviations and second moments, plain or cut: safe where bounds fit, adaptive where they are too wide."""

import math
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.lattice import Lattice
from sordino.lattice import RowLattice as Codes
from sordino.mechanisms.choose import choose, output_grid
from sordino.mechanisms.clip.column import SortedColumn
from sordino.mechanisms.clip.plain_or_cut_error import outcome_errors
from sordino.mechanisms.clip.plain_or_cut_plan import mean_part
from sordino.mechanisms.clip.plain_or_cut_squares import PlainOrCutSquares
from sordino.privacy import Approx, Concentrated, Neighbors, Pure
from sordino.statistics.second_moment import SecondMoment
from sordino.statistics.standard_deviation import StandardDeviation
from sordino.statistics.variance import Variance
from sordino.testing.forced import ForcedDraws
from tests.support.mean_shapes import shapes, widened
from tests.support.plain_or_cut_worlds import check_errors

REPLACE, ADD = Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE
FINE = Lattice.dyadic(-25)


def column(rows, low, high):
    codes = Codes(low, high)
    return SortedColumn(codes.codes(np.asarray(rows, dtype=float)), codes)


def truth_of(rows, *, root=False, about=None):
    if about is not None:
        return float(np.mean((rows - about) ** 2))
    return float(rows.std() if root else rows.var())


def ratio(rows, low, high, price, **fields):
    """Exact RMSE over that of Laplace or Gaussian noise for the squared bounds."""
    mechanism = PlainOrCutSquares(price=price, rows=len(rows), low=low, high=high, **fields)
    truth = truth_of(rows, root=fields.get("root", False), about=fields.get("about"))
    found = outcome_errors(mechanism, column(rows, low, high), FINE, Fraction(truth), 1).mean_square
    times = 1 if price.gaussian else math.sqrt(2)
    return math.sqrt(found) / (times * (high - low) ** 2 / len(rows) / price.strength)


@pytest.mark.few(2)
@pytest.mark.sampled(5)
@pytest.mark.statistical
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize(
    ("price", "fields", "wider"),
    [
        (Pure(1), {}, 1), (Pure(1), {}, 40), (Concentrated(0.5), {}, 1), (Concentrated(0.5), {}, 40),
        (Pure(1), {"root": True}, 40), (Pure(1), {"about": 30}, 40), (Concentrated(0.5), {"about": 30}, 1),
        (Pure(1), {"loose": True}, 40), (Approx(1, 1e-6), {"root": True}, 1),
    ],
    ids=str,
)  # fmt: skip
def test_answers_have_the_errors_of_the_exact_law(price, relation, fields, wider):
    rows = np.random.default_rng(11).gamma(4, 10, 1500)
    high = 150 * wider
    data = column(rows, 0, high)
    mechanism = PlainOrCutSquares(price=price, rows=1500, low=0, high=high, neighbors=relation, **fields)
    truth = truth_of(rows, root=fields.get("root", False), about=fields.get("about"))
    check_errors(mechanism, data, FINE, truth, draws=120)


@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("about", [None, 3.0])
def test_the_parts_of_every_outcome_cost_the_price(relation, about):
    """The mean that comes first, and then a cut, its value and the count, or the whole range and its value."""
    for rows in (60, 200, 1500, 10**5):
        for epsilon, contribution in ((Fraction(1), 1), (Fraction(1, 10), 3), (Fraction(3), 2)):
            mechanism = PlainOrCutSquares(
                price=Pure(epsilon), rows=rows, low=-1, high=9, about=about, neighbors=relation
            )
            data = column(np.linspace(0, 1, 50), -1, 9)
            plan = mechanism.family(data.grid, contribution).plan
            first = mechanism.mean_part(contribution) * epsilon
            slope = plan.slope * contribution
            for rest, charged in ((plan.whole, slope * plan.share.part), (plan.cut, slope)):
                sums = data.clipped(0, data.grid.last, squares=True)
                part = mechanism.summand(sums, rest, contribution)
                count = part.counting.epsilon if part.counting is not None else 0
                if plan.searches:
                    assert part.price.epsilon >= slope
                    assert first + part.price.epsilon + count + charged == epsilon


def test_a_mean_comes_first_where_it_is_cheap():
    assert mean_part(900, Pure(1)) == 0
    assert mean_part(900, Pure(1), tight=True) > 0
    assert mean_part(2000, Pure(1), contribution=4) == 0
    assert (
        0
        < mean_part(10_000, Concentrated(0.5))
        < mean_part(10_000, Pure(1))
        < mean_part(1000, Pure(1))
        <= 0.1
    )


# Accuracy -------------------------------------------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("size", "price"),
    [(201, Pure(1)), (1001, Pure(0.1)), (1001, Pure(1)), (4001, Pure(1)), (1001, Concentrated(0.5))],
)
def test_bounds_that_fit_cost_at_most_a_fifth(size, price):
    for name, rows in shapes(size, np.random.default_rng(size)):
        assert ratio(rows, *widened("fit", rows), price) <= 1.2 + 1e-3, name


@pytest.mark.parametrize("size", [201, 1001])
def test_two_clusters_and_top_codes_do_not_collapse(size):
    random = np.random.default_rng(size)
    some = random.random(size)
    clusters = np.where(some < 0.5, random.random(size), 20 + random.random(size))
    codes = np.where(some < 0.05, 300, random.lognormal(3, 0.5, size).clip(0, 100))
    assert ratio(clusters, 0, 21.2, Pure(1)) <= 1.2
    assert ratio(codes, 0, 300, Pure(1)) <= 1.2


def test_a_private_number_of_rows_costs_at_most_a_third_more():
    for name, rows in shapes(1001, np.random.default_rng(3)):
        assert ratio(rows, *widened("fit", rows), Pure(1), neighbors=ADD) <= 1.37, name


def test_wide_bounds_are_found():
    rows = np.random.default_rng(2).gamma(4, 10, 1001)
    for wider, most in ((10, 0.2), (1000, 1e-3), (1e6, 1e-6)):
        for price in (Pure(1), Concentrated(0.5)):
            assert ratio(rows, 0, 100 * wider, price) < most
            assert ratio(rows, 0, 100 * wider, price, about=0) < most
        assert ratio(rows, 0, 100 * wider, Pure(1), neighbors=ADD) < most
    assert ratio(rows, 0, 1e5, Pure(1), root=True) < ratio(rows, 0, 1e5, Pure(1), root=True, tight=True) / 10


def test_loose_finds_what_the_guard_keeps():
    """A column that is nearly all one value gets plain noise by default, and that value when bounds are loose."""
    rows = np.where(np.arange(1001) % 100 == 0, 41.0, 40.0)
    assert ratio(rows, 0, 1e4, Pure(1)) > 0.5
    assert ratio(rows, 0, 1e4, Pure(1), loose=True) < 1e-3


def test_few_rows_and_tight_bounds_take_what_suits_them():
    statistic = Variance("x", low=0, high=1)
    assert choose(statistic, Pure(Fraction(1, 10)), rows=201).name == "additive"
    assert choose(statistic, Pure(1), rows=1001).name == "plain-or-cut-squares"
    assert choose(statistic, Pure(1), rows=1001, loose=True).loose
    assert choose(statistic, Pure(1), rows=10_001, tight=True).name == "additive"
    deviation = choose(StandardDeviation("x", low=0, high=1), Pure(1), rows=1001, tight=True)
    assert (deviation.name, deviation.tight, deviation.label) == (
        "plain-or-cut-squares", True, "plain-or-cut-squares (tight=True)",
    )  # fmt: skip
    moment = SecondMoment("x", centre=1, low=0, high=9)
    assert choose(moment, Pure(1), rows=1001).name == "plain-or-cut-squares"
    assert choose(moment, Pure(1), rows=1001, tight=True).name == "additive"
    assert choose(moment, Pure(1), rows=1001, interval=0.9).name == "plain-or-cut-squares"


def test_squares_are_taken_about_the_mean_and_not_about_the_nearest_code():
    """Of a column of zeros and ones no code is near the mean: about 0 the squares would average 0.3, not 0.21."""
    rows = np.arange(4000) % 10 < 3
    for relation in (REPLACE, ADD):
        statistic = Variance("x", low=0, high=1, step=1, neighbors=relation)
        mechanism = PlainOrCutSquares(price=Pure(2), rows=4000, low=0, high=1, step=1, neighbors=relation)
        source, bits = Memory({"x": rows.astype(float)}), SeededBits(3)
        values = [
            float(
                mechanism.answer(
                    statistic, lambda ask: source.summary(ask)[0], Lattice.dyadic(-30), bits=bits
                )
            )
            for _ in range(15)
        ]
        assert np.median(values) == pytest.approx(0.21, abs=0.01)


def test_the_noise_of_the_mean_is_taken_off():
    """Along a forced path: noise in the released mean makes squares about it too large, never too small."""
    statistic = Variance("x", low=0, high=100, step=1)
    mechanism = PlainOrCutSquares(price=Pure(4), rows=50, low=0, high=100, step=1, tight=True)
    source, grid = Memory({"x": np.linspace(0, 100, 50)}), Lattice.dyadic(0)
    path = (50, 900)  # a mean of 50 and a mean of squares of 900, in steps of their grids
    answer = mechanism.answer(statistic, lambda r: source.summary(r)[0], grid, bits=ForcedDraws(path).bits)
    assert 700 <= answer.value < 900
    assert answer.public["mean"] == 50


def test_a_release_says_to_what_rows_were_clipped():
    session = sd.open({"x": np.random.default_rng(6).gamma(4, 10, 2001)}, budget=Pure(20))
    wide = session.release(sd.Variance("x", low=0, high=1e5), Pure(2))
    assert not wide.public["whole"]
    assert wide.public["high"] < 1e4
    assert "fewer than" in " ".join(wide.explain().split())
    fitting = session.release(sd.StandardDeviation("x", low=0, high=60), Pure(2))
    assert fitting.public["whole"]
    assert 0 < fitting.public["mean"] < 60
    groups = sd.open(
        {"x": np.r_[np.linspace(0, 40, 1000), np.linspace(0, 1e5, 1000)], "g": ["a", "b"] * 1000},
        budget=Pure(9),
    )
    found = groups.release_by("g", ["a", "b", "c"], sd.Variance("x", low=0, high=1e5), Pure(3))
    assert len(found.value) == 3


@pytest.mark.parametrize("contribution", [1, 3])
def test_several_rows_per_person_get_noise_for_all_of_them(contribution):
    mechanism = PlainOrCutSquares(price=Pure(1), rows=4000, low=0, high=10)
    sums = column(np.linspace(0, 10, 4000), 0, 10).clipped(0, 10, squares=True)
    part = mechanism.summand(sums, Pure(1), contribution)
    assert part.sensitivity == contribution * mechanism.summand(sums, Pure(1), 1).sensitivity


def test_the_output_lattice_is_that_of_squares():
    statistic = Variance("x", low=0, high=100, step=1)
    mechanism = choose(statistic, Pure(1), rows=1001)
    grid = output_grid(statistic)
    assert mechanism.lattices(statistic, grid)["value"].step == grid.step**2
    assert mechanism.refusal(SecondMoment("x", centre=1, low=0, high=100, step=1)) is not None
