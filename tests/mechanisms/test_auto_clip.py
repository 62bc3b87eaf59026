"""AutoClip part by part: does a range fit, which radius, about which point; and no bad answers on awkward columns."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from sordino.exact.bits import SeededBits
from sordino.lattice import RowLattice as Rows
from sordino.mechanisms.clip.auto_clip import AutoClip
from sordino.mechanisms.clip.auto_clip_plan import Strength, fit_rule, plan_auto_clip, radius_rule
from sordino.mechanisms.clip.column import SortedColumn
from sordino.mechanisms.clip.fit_test import FitTest, end_cuts
from sordino.mechanisms.clip.interval import ClipInterval, count_part
from sordino.mechanisms.clip.search import outside_and_ends, radius_search
from sordino.mechanisms.clip.tail_search import TailSearch
from sordino.mechanisms.tuned_means import ForLoose
from sordino.privacy import Concentrated, Neighbors, Pure
from tests.support.mechanism_worlds import add_remove_world, replace_world

TEST = FitTest(Fraction(1), Fraction(9, 10), Fraction(1, 5))
DOMAIN = (0, 2, 5, 7, 9)


def worlds():
    yield replace_world(DOMAIN, 4)
    yield add_remove_world(DOMAIN, (1, 2, 3, 4))


def at_ends(rows):
    return outside_and_ends(SortedColumn(rows, Rows(0, 9, step=1)), 0, ())[1]


def losses(world, outcome):
    """Largest log ratio of the probability of one outcome over all neighbours."""
    sets, near = world
    law = {rows: TEST.probability(at_ends(rows)) for rows in sets}
    return max(abs(math.log(outcome(law[one]) / outcome(law[other]))) for one in sets for other in near[one])


def test_each_outcome_costs_its_own_slope_and_no_less():
    for world in worlds():
        fits, loose = losses(world, lambda p: p), losses(world, lambda p: 1 - p)
        assert 0.95 * 0.9 < fits <= 0.9 * (1 + 1e-12)
        assert 0.95 * 0.2 < loose <= 0.2 * (1 + 1e-12)
        # Charging the cheaper outcome for both would be refuted.
        assert fits > 2 * 0.2


@given(
    some.integers(0, 400),
    some.fractions(Fraction(1, 1000), 3, max_denominator=1000),
    some.fractions(Fraction(1, 1000), 3, max_denominator=1000),
    some.integers(0, 400),
)
def test_one_row_moves_either_outcome_by_its_slope(count, above, below, threshold):
    test = FitTest(Fraction(threshold), above, below)
    one, other = test.probability(count), test.probability(count + 1)
    assert one <= other
    assert other <= one * math.exp(above) * (1 + 1e-9)
    assert 1 - one <= (1 - other) * math.exp(below) * (1 + 1e-9) + 1e-13


def test_the_count_at_both_ends_moves_by_one_row():
    for sets, near in worlds():
        assert all(abs(at_ends(one) - at_ends(other)) <= 1 for one in sets for other in near[one])
        assert {at_ends(rows) for rows in sets} == {0, 1, 2}
    assert end_cuts(Rows(0, 9, step=1)) == (4, 6)


def test_whatever_the_outcome_the_whole_price_is_kept_and_used():
    """Noise for the rest of the price after either outcome: the joint loss is at most epsilon on every path."""
    epsilon, sets_and_near = 2.0, replace_world(DOMAIN, 4)
    cost = {True: 0.9, False: 0.2}
    sets, near = sets_and_near
    law = {rows: TEST.probability(at_ends(rows)) for rows in sets}

    def worst(charged):
        found = 0.0
        for one in sets:
            for other in near[one]:
                moved = abs(sum(one) - sum(other)) / 9  # of the sensitivity of the sum
                for fits in (True, False):
                    a, b = (law[rows] if fits else 1 - law[rows] for rows in (one, other))
                    found = max(found, abs(math.log(a / b)) + moved * (epsilon - charged[fits]))
        return found

    assert worst(cost) <= epsilon * (1 + 1e-12)
    assert worst(cost) > 0.97 * epsilon
    assert worst({True: 0.2, False: 0.2}) > 1.2 * epsilon  # one price for both outcomes: refuted


@pytest.mark.statistical
def test_outcomes_come_as_often_as_stated():
    bits, draws, counts = SeededBits(41), 3000, (0, 1, 2, 4, 7)
    test = FitTest(Fraction(3), Fraction(9, 10), Fraction(1, 5))
    passed = np.array([sum(test.passes(count, bits=bits) for _ in range(draws)) for count in counts])

    def pvalue(law):
        chances = np.array([law.probability(count) for count in counts])
        return stats.chi2.sf(
            np.sum((passed - draws * chances) ** 2 / (draws * chances * (1 - chances))), len(counts)
        )

    assert pvalue(test) > 1e-3
    for wrong in (
        replace(test, above=test.above * Fraction(13, 10)),
        replace(test, below=test.below * Fraction(13, 10)),
        replace(test, threshold=Fraction(4)),
    ):
        assert pvalue(wrong) < 1e-6


@pytest.mark.parametrize("slope", [0.1, 1, 3])
def test_flipped_searches_cost_one_slope(slope):
    search = replace(
        TailSearch.geometric(smallest=1, largest=9, growth=Fraction(3, 2), exponent=2, slope=slope),
        flips=True,
    )
    for sets, near in worlds():
        law = {
            rows: search.probabilities(
                [sum(abs(row - 2) > radius for row in rows) for radius in search.radii]
            )
            for rows in sets
        }
        assert all(sum(chances) == pytest.approx(1, abs=1e-9) for chances in law.values())
        worst = max(
            abs(math.log(a / b))
            for one in sets
            for other in near[one]
            for a, b in zip(law[one], law[other], strict=True)
        )
        assert worst <= slope * (1 + 1e-9)
        assert worst > 0.7 * slope


@pytest.mark.statistical
def test_radii_are_drawn_by_their_law_and_by_no_other():
    search = radius_search(smallest=10, largest=600, exponent=Fraction(2), price=Pure(Fraction(1, 2)))
    outside, draws, bits = [9, 8, 6, 4, 3, 2, 1, 0, 0, 0], 4000, SeededBits(77)
    assert search.flips
    assert not radius_search(smallest=1, largest=60, exponent=Fraction(2), price=Concentrated(1)).flips
    outside = (outside + [0] * len(search.radii))[: len(search.radii)]
    places = [int(radius) for radius in search.radii]
    counts = np.bincount(
        [places.index(search.draw(outside, bits=bits)) for _ in range(draws)], minlength=len(places)
    )

    def pvalue(law):
        chances = np.array(law.probabilities(outside))
        thick = chances * draws >= 8
        expected = np.append(chances[thick], chances[~thick].sum() + 1e-9) * draws
        seen = np.append(counts[thick], counts[~thick].sum())
        return stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue

    assert pvalue(search) > 1e-3
    assert pvalue(replace(search, flips=False)) < 1e-3
    assert pvalue(replace(search, slope=search.slope * Fraction(13, 10))) < 1e-6


def test_a_table_cut_from_below_keeps_its_law():
    search = radius_search(smallest=1, largest=60, exponent=Fraction(2), price=Concentrated(1))
    cut = search.from_radius(Fraction(4))
    assert cut.radii == tuple(radius for radius in search.radii if radius >= 4)
    outside = list(range(len(search.radii), 0, -1))
    whole, part = search.probabilities(outside), cut.probabilities(outside[-len(cut.radii) :])
    kept = whole[-len(part) :]
    assert part == pytest.approx([chance / sum(kept) for chance in kept])
    assert search.from_radius(Fraction(1000)).radii == search.radii[-1:]


def test_searches_cost_less_where_rows_and_price_are_many():
    shares = [
        radius_rule(Strength.of(Pure(1)), votes=rows, octaves=14, rows=rows)[0]
        for rows in (90, 100, 200, 400, 10_000)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[1] <= 0.36
    fits = [fit_rule(Strength.of(Pure(1)), rows=rows, octaves=14) for rows in (200, 1000, 10_000, 1_000_000)]
    assert fits[0] == (0, 0, 0)
    assert all(loose <= 0.02 for _, loose, _ in fits)
    # Taking the bounds wrongly costs the square of the width: its probability is smaller than that.
    for fit, _, rows in fits[1:]:
        assert math.exp(-fit * rows) < math.exp(-2 * 14 - 2.9)


def test_a_search_with_nothing_to_find_is_not_paid_for():
    plan = plan_auto_clip(rows=1001, price=Pure(1), low=0, high=1, step=1)
    assert plan.noise_share == 1
    assert plan.trusted
    assert plan_auto_clip(rows=1001, price=Pure(1), low=0, high=120, step=1).noise_share < 1


def column(values, low, high):
    grid = Rows(low, high)
    units = grid.endless
    codes = np.clip(np.rint((values - float(units.origin)) / float(units.step)), 0, grid.last)
    return SortedColumn(codes.astype(np.int64), grid)


def root_mean_square(mechanism, rows, *, draws=60, seed=5):
    """Exact given the released intervals, which are drawn: the noise is Laplace, whatever it is cut to."""
    values = np.sort(rows)
    where, bits, found = column(rows, mechanism.low, mechanism.high), SeededBits(seed), []
    for _ in range(draws):
        interval = mechanism.find_interval(where, bits=bits)
        low, high = (float(where.grid.endless.real(code)) for code in (interval.low, interval.high))
        bias = np.clip(values, low, high).mean() - values.mean()
        found.append(bias**2 + 2 * ((high - low) / (len(rows) * float(interval.rest.epsilon))) ** 2)
    return math.sqrt(np.mean(found))


RANDOM = np.random.default_rng(31)
AWKWARD = {
    "uniform": (RANDOM.uniform(0, 1, 1001), 0, 1, 1.0, 1.3),
    "uniform, few": (RANDOM.uniform(0, 1, 1001), 0, 1, 0.1, 1.62),
    "two bumps": (np.where(RANDOM.random(1001) < 0.6, 20, 80) + RANDOM.normal(0, 4, 1001), 0, 100, 1.0, 1.3),
    "u-shaped": (RANDOM.beta(0.5, 0.5, 4000), 0, 1, 0.5, 1.25),
    "mostly zero": (np.where(RANDOM.random(4000) < 0.85, 0, RANDOM.uniform(0, 9, 4000)), 0, 9, 0.5, 2.0),
    "zeros and a heap at the end": (
        np.where(RANDOM.random(5001) < 0.92, 0, np.where(RANDOM.random(5001) < 0.08, 1e5, 15e3)), 0, 1e5, 1.0, 2.2,
    ),
}  # fmt: skip


def test_every_path_spends_the_price_and_no_more():
    mechanism = AutoClip(price=Pure(1), rows=1001, low=0, high=1)
    plan, bits, paths = mechanism.plan, SeededBits(9), set()
    for rows in (RANDOM.uniform(0, 1, 1001), RANDOM.normal(0.01, 0.001, 1001)):
        found = mechanism.find_interval(column(rows, 0, 1), bits=bits)
        paths.add(found.public["fits"])
        if found.public["fits"]:
            spent = plan.fit_share
        else:
            votes = float(found.public["rows_away"]) - ForLoose.SAFETY / float(plan.count_share)
            spent = plan.search_share + mechanism._adapt(plan, votes)[0]
        assert found.rest.epsilon + spent == 1
    assert paths == {True, False}


@pytest.mark.parametrize("people", [1, 3])
def test_the_question_is_asked_at_the_slopes_that_were_paid(people, monkeypatch):
    asked = []
    monkeypatch.setattr(FitTest, "passes", lambda test, count, bits: asked.append((test, count)) or True)
    mechanism = AutoClip(price=Pure(2), rows=1001, low=0, high=1)
    rows = RANDOM.uniform(0, 1, 1001)
    mechanism.find_interval(column(rows, 0, 1), contribution=people)
    ((test, count),) = asked
    plan = mechanism.plan
    assert (test.above * people, test.below * people) == (2 * plan.fit_share, 2 * plan.loose_share)
    assert count == pytest.approx(min(np.sum(rows <= 1 / 3), np.sum(rows >= 2 / 3)), abs=1)


@pytest.mark.parametrize("name", AWKWARD)
def test_no_column_whose_bounds_fit_loses_much_against_plain_noise(name):
    rows, low, high, epsilon, most = AWKWARD[name]
    mechanism = AutoClip(price=Pure(epsilon), rows=len(rows), low=low, high=high)
    plain = math.sqrt(2) * (high - low) / (len(rows) * epsilon)
    assert root_mean_square(mechanism, rows) < most * plain


@pytest.mark.parametrize(
    ("rows", "low", "high", "gain"),
    [
        (np.random.default_rng(7).standard_t(4, 1001), -300, 800, 60),
        (np.random.default_rng(8).normal(5e4, 150, 1001), 0, 1e6, 60),
        (np.random.default_rng(9).gamma(2, 3, 1001), 0, 1e6, 5000),
    ],
    ids=["student t", "far from zero", "gamma"],
)
def test_loose_bounds_are_still_found_out(rows, low, high, gain):
    mechanism = AutoClip(price=Pure(1), rows=1001, low=low, high=high)
    plain = math.sqrt(2) * (high - low) / 1001
    assert root_mean_square(mechanism, rows, draws=40) < plain / gain


def test_private_numbers_of_rows_are_counted_about_a_point_near_the_mean():
    sums = column(np.full(100, 3.0), 0, 8).clipped(0, 2**20)
    whole = ClipInterval(0, 2**20, Pure(1), {})
    assert whole.origin(sums) == (sums.low + sums.high) / 2
    assert replace(whole, about=0).origin(sums) == sums.low
    assert replace(whole, about=2**18).origin(sums) == sums.low + (sums.high - sums.low) / 4
    skewed = column(np.random.default_rng(2).exponential(1, 1001), 0, 1e5)
    asked = AutoClip(price=Pure(1), rows=1000, low=0, high=1e5, neighbors=Neighbors.ADD_REMOVE_ONE)
    found = asked.find_interval(skewed, bits=SeededBits(3))
    assert found.count_part == ForLoose.NEAR_PART
    assert skewed.grid.endless.real(found.about) == found.public["centre"]
    few = replace(asked, rows=100).find_interval(column(np.full(100, 5.0), 0, 1e5), bits=SeededBits(4))
    assert few.count_part == ForLoose.HALFWAY_PART
    assert few.about == few.high // 4
    parts = [count_part(rows, Pure(1), ForLoose.SQUARES_PART) for rows in (20, 40, 1000)]
    assert parts[0] > parts[1] > parts[2] == ForLoose.SQUARES_PART


def test_few_rows_pay_more_for_their_number():
    """The mean of 40 rows at epsilon 1/2, their number private: a fifth for the number is a fifth worse."""
    random = np.random.default_rng(6)
    one, other = random.laplace(size=(2, 200_000))

    def error(part):
        sums, rows = one * 0.5 / (0.5 * (1 - part)), 40 + other / (0.5 * part)
        return math.sqrt(np.mean(np.clip(sums / np.maximum(rows, 1), -0.5, 0.5) ** 2))

    assert error(float(count_part(40, Pure(Fraction(1, 2))))) < 0.87 * error(0.2)
