"""Mechanisms that ask several times: AutoClip, variance, intervals, propose-test-release, error bars."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.data.memory import Memory
from sordino.errors import ParameterError
from sordino.exact.bits import SeededBits
from sordino.lattice import FiniteLattice, Lattice
from sordino.lattice import RowLattice as Rows
from sordino.mechanisms.additive.additive import Additive
from sordino.mechanisms.additive.error_bar import WithErrorBar, pivot_quantile
from sordino.mechanisms.additive.propose_test_release import ProposeTestRelease
from sordino.mechanisms.clip.auto_clip import AutoClip
from sordino.mechanisms.clip.column import AskedColumn, SortedColumn
from sordino.mechanisms.clip.plain_or_cut_squares import PlainOrCutSquares
from sordino.mechanisms.clip.search import centre_law, radius_search, rows_outside
from sordino.mechanisms.clip.symmetric_mean import SymmetricMean
from sordino.mechanisms.parts.loss import loss_range
from sordino.mechanisms.quantile.order_interval import OrderInterval
from sordino.noise.laplace import Laplace
from sordino.noise.polyplace import PolyPlace
from sordino.privacy import Approx, BoundedRange, Concentrated, Neighbors, Pure
from sordino.reading.requests import Rank
from sordino.statistics.mean import Mean
from sordino.statistics.median import Median
from sordino.statistics.second_moment import SecondMoment
from sordino.statistics.trimmed_mean import TrimmedMean
from sordino.statistics.variance import Variance
from tests.support.mechanism_worlds import replace_world

GAUSS = np.random.default_rng(8).normal(size=1001)
WIDE = {"low": -50, "high": 1050}


def asking(rows):
    source = Memory({"x": np.asarray(rows, dtype=float)})
    return lambda request: source.summary(request)[0]


def test_columns_answer_alike_from_a_source_and_from_codes():
    grid = Rows(-5, 5)
    asked = AskedColumn("x", grid, asking(GAUSS))
    codes = [grid.code(float(value)) for value in GAUSS]
    known = SortedColumn(codes, grid)
    cuts = [0, 1, grid.last // 3, grid.last // 2, grid.last, grid.last + 1]
    assert asked.below(cuts) == known.below(cuts)
    assert asked.window(Rank(1, 2), 5) == known.window(Rank(1, 2), 5)
    assert asked.window(Rank(0, 1, offset=1), 2) == known.window(Rank(0, 1, offset=1), 2)
    one, other = (column.clipped(grid.last // 3, grid.last // 2, squares=True) for column in (asked, known))
    assert (one.rows, one.total, one.squares, one.low, one.high) == (
        other.rows, other.total, other.squares, other.low, other.high,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [(-0.09, 0.09, Fraction(0.18) / 8192), (-50.3, 0, Fraction(50.3) / 16), (1e15, 1e15 + 1, None)],
)
def test_every_released_interval_can_be_summed_however_short_and_far_from_zero(low, high, step):
    """Its ends as floats are less than a step apart here, or equal: a release failed after it was paid for."""
    grid = Rows(low, high, step=step)
    rows = np.linspace(low, high, 50)
    asked, known = AskedColumn("x", grid, asking(rows)), SortedColumn(np.sort(grid.codes(rows)), grid)
    for first in range(0, grid.last, max(grid.last // 300, 1)):
        one, other = (column.clipped(first, first + 1) for column in (asked, known))
        assert (one.total, one.low, one.high) == (other.total, other.low, other.high)
        assert one.high - one.low == grid.step


def test_the_centre_is_private_and_its_score_has_sensitivity_one():
    values = (0, 1, 4, 6, 9)
    sets, near = replace_world(values, 3)
    grid = Rows(0, 9, step=1)
    laws = {
        rows: centre_law(SortedColumn(rows, grid), low=1, high=8, spacing=2, price=Pure(1), rows=3)
        for rows in sets
    }
    worst = 0.0
    for one in sets:
        for other in near[one]:
            low, high = loss_range(laws[one], laws[other])
            worst = max(worst, high - low)
    assert worst <= 1 + 1e-9
    assert worst > 0.3


def test_a_constant_column_has_its_centre_found():
    column = SortedColumn([400_000] * 1001, Rows(0, 1_000_000, step=1))
    law = centre_law(column, low=0, high=1_000_000, spacing=64, price=Pure(0.1), rows=1001)
    assert law.probability(round(400_000 / 64)) > 0.99


def test_rows_outside_counts_both_sides():
    column = SortedColumn([0, 2, 5, 5, 9], Rows(0, 9, step=1))
    search = radius_search(smallest=1, largest=9, exponent=Fraction(4), price=Pure(1))
    expected = [sum(abs(code - 5) > radius for code in (0, 2, 5, 5, 9)) for radius in search.radii]
    assert rows_outside(column, 5, search.radii) == expected
    assert search.slope == 1
    assert search.radii[-1] >= 9


@pytest.mark.parametrize("price", [Pure(1), Concentrated(0.5)], ids=lambda price: price.kind)
@pytest.mark.parametrize("relation", list(Neighbors)[:2], ids=lambda relation: relation.value)
def test_auto_clip_finds_the_column(price, relation):
    statistic = Mean("x", **WIDE, neighbors=relation)
    mechanism = AutoClip(price=price, rows=1001, **WIDE, neighbors=relation)
    bits, ask = SeededBits(21), asking(GAUSS)
    answers = [mechanism.answer(statistic, ask, Lattice.dyadic(-21), bits=bits) for _ in range(12)]
    errors = [abs(float(answer) - GAUSS.mean()) for answer in answers]
    assert np.median(errors) < 0.03
    assert all(-50 <= answer.public["low"] < answer.public["high"] <= 1050 for answer in answers)
    assert np.median([float(answer.public["high"] - answer.public["low"]) for answer in answers]) < 40


def test_the_shares_of_auto_clip_add_up():
    for rows in (20, 201, 1001, 100_000):
        for price in (Pure(1), Pure(0.1), Concentrated(0.5)):
            plan = AutoClip(price=price, rows=rows, **WIDE).plan
            searches = (plan.outer_share, plan.centre_share, plan.count_share, plan.radius_share)
            parts = (plan.loose_share, *searches)
            assert 0 <= plan.loose_share <= plan.fit_share < Fraction(1, 4)
            assert sum(parts) + plan.noise_share == 1
            assert min(parts) >= 0
            assert plan.noise_share >= Fraction(2, 5)


def test_sums_and_tight_bounds():
    ask, bits = asking(GAUSS + 5), SeededBits(22)
    total = AutoClip(price=Pure(1), rows=1001, **WIDE, total=True)
    answer = total.answer(Mean("x", **WIDE), ask, Lattice.dyadic(-16), bits=bits)
    assert float(answer) == pytest.approx((GAUSS + 5).sum(), rel=0.02)
    tight = AutoClip(price=Pure(1), rows=1001, low=0, high=10, tight=True, neighbors=Neighbors.ADD_REMOVE_ONE)
    statistic = Mean("x", low=0, high=10, neighbors=Neighbors.ADD_REMOVE_ONE)
    assert float(tight.answer(statistic, ask, Lattice.dyadic(-20), bits=bits)) == pytest.approx(5, abs=0.2)


def test_mostly_constant_columns_are_noticed():
    random = np.random.default_rng(5)
    rows = np.where(random.uniform(size=1001) < 0.9, 0, np.rint(random.lognormal(8.5, 1, 1001)))
    mechanism = AutoClip(price=Pure(1), rows=1001, low=0, high=1_000_000)
    bits, ask = SeededBits(23), asking(rows)
    answers = [
        mechanism.answer(Mean("x", low=0, high=1_000_000), ask, Lattice.dyadic(-12), bits=bits)
        for _ in range(15)
    ]
    assert np.median([float(answer.public["rows_away"]) for answer in answers]) == pytest.approx(100, abs=60)
    # Without the count the search collapses to zero on such columns.
    assert np.median([float(answer) for answer in answers]) > 0.5 * rows.mean()


def test_variances_and_moments_within_bounds_that_are_too_wide():
    mechanism = PlainOrCutSquares(price=Pure(1), rows=1001, **WIDE)
    root = PlainOrCutSquares(price=Pure(1), rows=1001, **WIDE, root=True)
    statistic, ask, bits = Variance("x", **WIDE), asking(GAUSS), SeededBits(24)
    values = [float(mechanism.answer(statistic, ask, Lattice.dyadic(-21), bits=bits)) for _ in range(9)]
    assert np.median(values) == pytest.approx(GAUSS.var(), rel=0.15)
    assert np.median(
        [float(root.answer(statistic, ask, Lattice.dyadic(-21), bits=bits)) for _ in range(9)]
    ) == pytest.approx(GAUSS.std(), rel=0.1)
    statistic = Variance("x", **WIDE, neighbors=Neighbors.ADD_REMOVE_ONE)
    values = [float(mechanism.answer(statistic, ask, Lattice.dyadic(-21), bits=bits)) for _ in range(9)]
    assert np.median(values) == pytest.approx(GAUSS.var(), rel=0.2)
    about = PlainOrCutSquares(price=Pure(1), rows=1001, **WIDE, about=3)
    for relation in (Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE):
        moment = SecondMoment("x", centre=3, **WIDE, neighbors=relation)
        values = [float(about.answer(moment, ask, Lattice.dyadic(-21), bits=bits)) for _ in range(9)]
        assert np.median(values) == pytest.approx(np.mean((GAUSS - 3) ** 2), rel=0.15)


def test_the_symmetric_promise_reads_a_trimmed_mean():
    mechanism = SymmetricMean.planned(price=Pure(1), rows=1001, **WIDE)
    ask, bits = asking(GAUSS), SeededBits(25)
    answers = [mechanism.answer(Mean("x", **WIDE), ask, Lattice.dyadic(-21), bits=bits) for _ in range(9)]
    assert np.median([abs(float(answer) - GAUSS.mean()) for answer in answers]) < 0.02
    assert answers[0].public["estimand"] == "centre of symmetry"


@pytest.mark.statistical
def test_the_pivot_covers_as_stated_and_not_much_more():
    statistic = TrimmedMean("x", trim=Fraction(20, 201), low=-50, high=1050)
    rows = GAUSS[:201]
    inner = Additive(calibration=PolyPlace.calibrate(Pure(0.8), smoothing=Fraction(8, 100)))
    mechanism = WithErrorBar(mechanism=inner, price=Pure(0.2), level=0.8)
    assert mechanism.guarantee == Pure(1)
    # ln S moves by the smoothing, so Laplace noise of this scale is what 0.2 buys.
    assert mechanism.ratio == Fraction(8, 100) / Fraction(2, 10)
    (summary,) = Memory({"x": rows}).summary(statistic.request(depth=mechanism.depth))
    reading = statistic.read(summary)
    truth = reading.open().units.real(reading.open().value)
    bits, draws = SeededBits(26), 1500
    inside = 0
    for _ in range(draws):
        public = mechanism.draw(reading, Lattice.dyadic(-21), bits=bits).public
        inside += public["low"] <= truth <= public["high"]
    # Four standard errors; a pivot for level 0.75 or 0.85 is outside.
    assert abs(inside / draws - 0.8) < 4 * math.sqrt(0.16 / draws)


def test_a_global_bound_needs_no_paid_scale():
    inner = Additive(calibration=Laplace.calibrate(Pure(1), smoothing=0))
    assert WithErrorBar(mechanism=inner).guarantee == Pure(1)
    smooth = Additive(calibration=PolyPlace.calibrate(Pure(1), smoothing=Fraction(1, 10)))
    with pytest.raises(ParameterError, match="needs a price"):
        WithErrorBar(mechanism=smooth)
    for price in (Concentrated(1), BoundedRange(1)):
        with pytest.raises(ParameterError, match="pure price"):
            WithErrorBar(mechanism=smooth, price=price)
    assert pivot_quantile(Laplace(), 0.0, 0.95) == pytest.approx(math.log(20), rel=1e-6)


@pytest.mark.parametrize("rows", [21, 1001])
def test_order_intervals_cover_by_their_own_law(rows):
    data = np.random.default_rng(9).normal(size=rows)
    statistic = Median("x", low=-50, high=1050, bits=20)
    units = statistic.grid.endless
    lattice = FiniteLattice(units.origin, units.step, statistic.grid.last)
    mechanism = OrderInterval(price=Pure(1), lattice=lattice, level=0.9, radius=0.05, rows=rows)
    column = AskedColumn("x", statistic.grid, asking(data))
    middle = statistic.ranks()[0]
    code = column.window(middle, 0)[0][0]
    lower = mechanism.end_law(column, Rank(middle.num, middle.den, offset=-mechanism.ranks))
    upper = mechanism.end_law(column, Rank(middle.num, middle.den, offset=mechanism.ranks))
    assert 1 - lower.cdf_point(code + mechanism.steps) <= 0.05
    assert upper.cdf_point(code - mechanism.steps - 1) <= 0.05
    answer = mechanism.answer(statistic, asking(data), Lattice.dyadic(0), bits=SeededBits(27))
    assert answer.public["low"] <= answer.value <= answer.public["high"]
    assert mechanism.trusted == (rows == 1001)


def test_propose_test_release_declines_or_answers():
    statistic = TrimmedMean("x", trim=Fraction(20, 201), low=-50, high=1050)
    rows = GAUSS[:201]
    good = ProposeTestRelease(price=Approx(2, 1e-6), bound=Fraction(1, 10), test_share=Fraction(3, 4))
    bad = ProposeTestRelease(price=Approx(2, 1e-6), bound=Fraction(1, 10**6))
    (summary,) = Memory({"x": rows}).summary(statistic.request(depth=good.depth))
    reading = statistic.read(summary)
    assert bad.distance(reading) == 0
    assert bad.release_probability(reading) <= 1e-6
    assert bad.draw(reading, Lattice.dyadic(-20), bits=SeededBits(28)).value is None
    assert 0 < good.distance(reading) <= 25
    roomy = ProposeTestRelease(price=Approx(8, 1e-4), bound=Fraction(1, 10))
    (summary,) = Memory({"x": rows}).summary(statistic.request(depth=roomy.depth))
    wide = statistic.read(summary)
    assert roomy.release_probability(wide) > 0.99
    assert float(roomy.draw(wide, Lattice.dyadic(-20), bits=SeededBits(29))) == pytest.approx(
        rows.mean(), abs=1
    )


def test_propose_test_release_keeps_its_delta():
    """On a dataset whose sensitivity exceeds the bound the test passes with probability delta at most."""
    for delta in (1e-2, 1e-6):
        mechanism = ProposeTestRelease(price=Approx(1, delta), bound=1)
        passed = 0.5 * math.exp(-mechanism.threshold * 0.5)
        assert passed <= delta
        assert passed > 0.999 * delta
