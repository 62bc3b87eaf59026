"""Minimum and maximum by rows beyond the answer: promise by brute force, law by draws, accuracy in closed form."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.tuning.moved import Cell
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.lattice import FiniteLattice, Lattice
from sordino.mechanisms.choose import choose
from sordino.mechanisms.extreme.anchor_search import AnchorSearch
from sordino.mechanisms.extreme.extreme import Extreme
from sordino.mechanisms.extreme.plan import anchored_measure, plan_extreme, plan_search
from sordino.mechanisms.parts.loss import loss_range
from sordino.mechanisms.parts.measure import Measure
from sordino.mechanisms.quantile.leaning import leaning
from sordino.mechanisms.tuned import ForExtreme
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.statistics.maximum import Maximum
from sordino.statistics.minimum import Minimum
from tests.support.mechanism_worlds import SMALL, add_remove_world, replace_world
from tests.support.true_statements import exact_error

TOP = 7
LATTICE = FiniteLattice(Fraction(0), Fraction(1), TOP)
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
    allowed = float(price.bounded_range)
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
    """Row by row at half the slope they share one bounded range, and use it; the whole slope is refuted."""
    sets, near = replace_world(SMALL, 4)
    mechanism = Extreme(price=Pure(1), lattice=LATTICE, upper=upper, rows=40)
    statistic = statistic_of(upper)
    readings = {rows: read(statistic, rows, 8) for rows in sets}
    halved = {rows: mechanism.law(reading, contribution=2) for rows, reading in readings.items()}
    whole = {rows: mechanism.law(reading, contribution=1) for rows, reading in readings.items()}
    pairs = [(one, two) for one in sets for other in near[one] for two in near[other]]
    spread = {"halved": 0.0, "whole": 0.0}
    for name, laws in (("halved", halved), ("whole", whole)):
        for one, two in pairs:
            low, high = loss_range(laws[one], laws[two])
            spread[name] = max(spread[name], high - low, high, -low)
    assert 0.9 < spread["halved"] <= 1 + 1e-9
    assert spread["whole"] > 1.5


@pytest.mark.parametrize("upper", [True, False], ids=["maximum", "minimum"])
@pytest.mark.parametrize("spared", [0, 1])
def test_levels_count_the_rows_beyond(upper, spared):
    low = 0 if upper else -TOP  # the asked bound is not the anchor
    lattice = FiniteLattice(Fraction(low), Fraction(1), TOP)
    mechanism = Extreme(price=Pure(1) if not spared else Pure(0.2), lattice=lattice, upper=upper, rows=40,
                        tight=bool(spared))  # fmt: skip
    assert mechanism.plan.spared == spared
    for rows in replace_world(SMALL, 4)[0]:
        statistic = statistic_of(upper, low=low, high=low + TOP)
        law = mechanism.law(read(statistic, [low + row for row in rows], 9))
        for point in range(TOP + 1):
            beyond = sum(row > point if upper else row < point for row in rows)
            assert law.level(point) == max(beyond - spared, 0)


@pytest.mark.few(1)
@pytest.mark.parametrize("upper", [True, False], ids=["maximum", "minimum"])
def test_draws_follow_the_law_and_not_another(upper):
    rows = [1, 2, 2, 4, 6]
    statistic = statistic_of(upper)
    mechanism = Extreme(price=Pure(1), lattice=LATTICE, upper=upper, rows=5)
    source, bits = Memory({"x": np.asarray(rows, dtype=float)}), SeededBits(5)
    draws = [
        int(
            mechanism.answer(
                statistic, lambda ask: source.summary(ask)[0], Lattice.dyadic(0), bits=bits
            ).value
        )
        for _ in range(1500)
    ]
    observed = np.bincount(draws, minlength=TOP + 1)

    def distance(price):
        law = Extreme(price=price, lattice=LATTICE, upper=upper, rows=5).law(read(statistic, rows, 9))
        expected = np.array([law.probability(point) for point in range(TOP + 1)]) * len(draws)
        return float(np.sum((observed - expected) ** 2 / np.maximum(expected, 1e-9)))

    assert distance(Pure(1)) < 24.3  # 99.9 % of chi-square with 7 degrees of freedom
    assert distance(Pure(1.6)) > 24.3


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
    assert near < 1.2
    assert far < 2
    assert error(False, rows, Pure(1), -50, 1050) < 1.2


@pytest.mark.thorough
def test_tight_bounds_are_used():
    rows = np.random.default_rng(78).uniform(size=1001)
    assert error(True, rows, Pure(1), 0, 1, tight=True) < 0.002
    assert error(False, rows, Pure(1), 0, 1, tight=True) < 0.002
    assert error(True, rows, Pure(1), 0, 1) < 0.003


@pytest.mark.few(1)
@pytest.mark.parametrize("count", [1001, 10_001])
def test_an_edge_far_inside_the_bounds_is_found(count):
    """A search from both sides finds the edge of the data; uniform below the smallest row would be 0.58."""
    rows = 1 + np.random.default_rng(79).pareto(2.5, count)
    assert error(False, rows, Pure(1), 0, 1e6) < 0.15
    assert error(False, rows, Pure(1), 0, 1e6, centre=4, spread=5) < 0.15  # a hint that is wrong threefold


def test_a_heaped_edge_is_answered_exactly():
    random = np.random.default_rng(81)
    ages = np.maximum(np.rint(random.normal(40, 14, 20_001)), 18.0)
    statistic = statistic_of(False, high=120)
    mechanism = choose(statistic, Pure(1), rows=len(ages))
    law = mechanism.law(read(statistic, ages, mechanism.depth))
    assert math.exp(law.logpdf(18)) > 0.8
    assert math.sqrt(law.mean_squared_error(18)) < 1


def test_a_column_that_was_cut_is_answered_with_its_bound():
    rows = np.clip(np.random.default_rng(85).standard_t(3, 1001), -4, 4)
    assert sum(rows == 4) > 5
    assert error(True, rows, Pure(1), -4, 4) < 0.03


@pytest.mark.few(3)
@pytest.mark.parametrize("rows", [np.random.default_rng(86).normal(size=n) for n in (201, 1001)], ids=len)
@pytest.mark.parametrize("strength", [1, 0.3, 0.1])
def test_zero_in_the_middle_of_the_column_does_not_draw_the_answer(rows, strength):
    for upper in (True, False):
        fitted = error(upper, rows, Pure(strength), -5, 5, tight=True)
        assert error(upper, rows, Pure(strength), -5, 5) < 2.3 * fitted


def test_a_column_far_from_zero_costs_no_more():
    rows = np.random.default_rng(82).normal(size=2001)
    near = error(True, rows, Pure(1), -1000, 1000)
    assert error(True, rows + 700, Pure(1), -1000, 1000) < 2 * near


def test_a_column_below_zero_has_a_maximum_below_zero():
    rows = -20 + 3 * np.random.default_rng(80).normal(size=1001)
    assert error(True, rows, Pure(1), -100, 1000) < 7


def test_few_rows_are_not_trusted_and_do_not_collapse():
    lattice = FiniteLattice(Fraction(0), Fraction(1, 2**20), 100 * 2**20)
    plan = plan_extreme(lattice, upper=True, strength=Fraction(1, 10), rows=201)
    assert not plan.trusted
    # All rows at the upper end outbid the lean towards zero.
    law = Extreme(price=Pure(0.1), lattice=lattice, upper=True, rows=201).law(
        read(statistic_of(True, high=100, step=Fraction(1, 2**20)), [90.0] * 201, 500)
    )
    assert law.cdf(80) < 0.01


# With an anchor -----------------------------------------------------------------------------------------------------

UNEVEN = Measure.uniform(TOP) + Measure.at({2: 5, 6: 3}, last=TOP)


def anchored(upper, price, aim=2):
    search = AnchorSearch(aim, Fraction(2, 5), UNEVEN, nats=8.0)
    return Extreme(price=price, lattice=LATTICE, upper=upper, rows=40, search=search)


@pytest.mark.few(8)
@pytest.mark.parametrize("relation", WORLDS, ids=lambda relation: relation.value)
@pytest.mark.parametrize("upper", [True, False], ids=["maximum", "minimum"])
@pytest.mark.parametrize("price", [Pure(1), Concentrated(0.5)], ids=str)
@pytest.mark.parametrize("aim", [1, 2, 5])
def test_anchor_and_answer_together_leak_no_more_than_the_price(relation, upper, price, aim):
    mechanism, statistic = anchored(upper, price, aim), statistic_of(upper, relation)
    search = mechanism.plan.search
    sets, near = WORLDS[relation]
    first = {rows: mechanism.anchor_law(read(statistic, rows, 6)) for rows in sets}
    second = {
        (rows, at): mechanism.law_at(read(statistic, rows, 6), anchor=at)
        for rows in sets
        for at in range(TOP + 1)
    }
    for_anchor = ForExtreme.LEAN * float(search.slope(price)) + float(search.slope(price))
    for_answer = float(mechanism.slope(1))
    if isinstance(price, Pure):
        assert for_anchor + for_answer == pytest.approx(1)
    worst = [0.0, 0.0]
    for one in sets:
        for other in near[one]:
            low, high = loss_range(first[one], first[other])
            assert high - low <= for_anchor * (1 + 1e-9)
            worst[0] = max(worst[0], high - low)
            for at in range(TOP + 1):
                low, high = loss_range(second[one, at], second[other, at])
                assert high - low <= for_answer * (1 + 1e-9)
                worst[1] = max(worst[1], high - low)
    # An aim beyond all rows asks only for more of them: one of the two slopes is never seen.
    assert worst[0] > 0.9 * for_anchor or aim > 2
    assert worst[1] > 0.9 * for_answer


@pytest.mark.parametrize("upper", [True, False], ids=["maximum", "minimum"])
def test_an_anchor_of_two_rows_a_person_needs_the_smaller_slope(upper):
    sets, near = replace_world(SMALL, 5)
    mechanism, statistic = anchored(upper, Pure(1), aim=2), statistic_of(upper)
    readings = {rows: read(statistic, rows, 10) for rows in sets}
    pairs = [(one, two) for one in sets for other in near[one] for two in near[other]]
    spread = {}
    for contribution in (1, 2):
        laws = {
            rows: mechanism.anchor_law(reading, contribution=contribution)
            for rows, reading in readings.items()
        }
        losses = [loss_range(laws[one], laws[two]) for one, two in pairs]
        spread[contribution] = max(max(high - low, high, -low) for low, high in losses)
    assert spread[2] <= 0.4 * (1 + 1e-9)
    assert spread[1] > 0.45


@pytest.mark.parametrize("upper", [True, False], ids=["maximum", "minimum"])
@pytest.mark.parametrize("aim", [1, 2, 3, 6])
def test_levels_of_an_anchor_count_missing_and_superfluous_rows(upper, aim):
    mechanism = anchored(upper, Pure(1), aim)
    inner = 0 if upper else TOP
    for rows in replace_world(SMALL, 4)[0]:
        law = mechanism.anchor_law(read(statistic_of(upper), rows, 9))
        for point in range(TOP + 1):
            beyond = sum(row > point if upper else row < point for row in rows)
            here = sum(row >= point if upper else row <= point for row in rows)
            missing = 0 if point == inner else max(aim - here, 0)  # behind the last row there are always more
            assert law.level(point) == max(ForExtreme.LEAN * missing, beyond - aim, 0)


@pytest.mark.few(1)
@pytest.mark.parametrize("upper", [True, False], ids=["maximum", "minimum"])
@pytest.mark.parametrize("groups", [1, 40])
def test_anchored_draws_follow_the_law_and_not_another(upper, groups):
    rows, statistic = [1, 2, 2, 4, 6], statistic_of(upper)
    mechanism, bits = anchored(upper, Pure(1)), SeededBits(6)
    source = Memory({"x": np.asarray(rows, dtype=float)})
    asks = [lambda ask: source.summary(ask)[0]] * groups
    drawn = [
        one
        for _ in range(2000 // groups)
        for one in mechanism.answers(statistic, asks, Lattice.dyadic(0), bits=bits)
    ]
    table = np.zeros((TOP + 1, TOP + 1))
    for answer in drawn:
        table[int(answer.public["anchor"]), int(answer.value)] += 1

    def distance(price):
        other = anchored(upper, price)
        reading = read(statistic, rows, 9)
        first = other.anchor_law(reading)
        expected = np.array(
            [
                [
                    first.probability(at) * other.law_at(reading, anchor=at).probability(point)
                    for point in range(TOP + 1)
                ]
                for at in range(TOP + 1)
            ]
        ) * len(drawn)
        return float(np.sum((table - expected) ** 2 / np.maximum(expected, 1e-9)))

    assert distance(Pure(1)) < 103.4  # 99.9 % of chi-square with 63 degrees of freedom
    assert distance(Pure(1.4)) > 103.4


@pytest.mark.few(2)
@pytest.mark.parametrize("upper", [True, False], ids=["maximum", "minimum"])
@pytest.mark.parametrize("anchor", [False, True])
def test_where_rows_may_be_dropped_a_replacement_counts_as_two(upper, anchor):
    """A replaced row may leave the table and another enter it: the slopes are those of persons with two rows."""
    kind = Maximum if upper else Minimum
    statistic = kind("x", low=0, high=TOP, step=1, missing="drop", neighbors=Neighbors.ADD_REMOVE_ONE)
    mechanism = (
        anchored(upper, Pure(1)) if anchor else Extreme(price=Pure(1), lattice=LATTICE, upper=upper, rows=8)
    )
    source, bits = Memory({"x": np.array([1.0, 2, 2, 4, 6, 6, 7, 0])}), SeededBits(9)
    asks = [lambda ask: source.summary(ask)[0]] * 50
    drawn = [
        int(one.value)
        for _ in range(40)
        for one in mechanism.answers(statistic, asks, Lattice.dyadic(0), contribution=2, bits=bits)
    ]
    observed = np.bincount(drawn, minlength=TOP + 1)
    reading = statistic.read(source.summary(statistic.request(depth=60))[0])

    def distance(contribution):
        law = mechanism.law(reading, contribution=contribution)
        expected = np.exp([law.logpdf(point) for point in range(TOP + 1)]) * len(drawn)
        return float(np.sum((observed - expected) ** 2 / np.maximum(expected, 1e-9)))

    assert distance(2) < 24.3  # 99.9 % of chi-square with 7 degrees of freedom
    assert distance(1) > 24.3


@pytest.mark.parametrize("upper", [True, False], ids=["maximum", "minimum"])
def test_every_point_may_be_answered_however_many_rows_there_are(upper):
    rows = np.sort(np.random.default_rng(84).integers(0, 1000, 5000))[None, :]
    lattice = FiniteLattice(Fraction(0), Fraction(1), 1000)
    mechanism = Extreme(price=Pure(1), lattice=lattice, upper=upper, rows=5000)
    for low, high in (
        mechanism._ends(rows[:, ::-1] if upper else rows, 1),
        mechanism.plan.search.ends(rows[:, ::-1] if upper else rows, last=1000, upper=upper),
    ):
        assert (low[0, -1], high[0, -1]) == (0, 1000)
        assert (np.diff(low) <= 0).all()
        assert (np.diff(high) >= 0).all()


@pytest.mark.thorough
def test_the_law_on_a_long_lattice_is_that_of_the_draws():
    rows = np.random.default_rng(83).exponential(size=1201)
    statistic = statistic_of(True, high=400, step=None)
    mechanism = choose(statistic, Pure(1), rows=len(rows))
    assert mechanism.plan.search is not None
    reading, bits = read(statistic, rows, mechanism.depth), SeededBits(7)
    law = mechanism.law(reading)
    drawn = np.array([float(mechanism.draw(reading, Lattice.dyadic(0), bits=bits).value) for _ in range(400)])
    for q in (0.2, 0.5, 0.8):
        value = float(np.quantile(drawn, q))
        assert law.cdf(value) == pytest.approx(q, abs=4 * math.sqrt(q * (1 - q) / 400))
    assert law.cdf(float(np.quantile(drawn, 0.5)) * 1.1) > 0.6


def test_the_search_is_planned_from_public_numbers_and_gives_way_to_few_rows():
    lattice = FiniteLattice(Fraction(-50), Fraction(1100, 2**31), 2**31)
    for rows, strength in ((1001, 1), (10_001, Fraction(1, 10)), (10**6, 1), (10**6, Fraction(1, 100))):
        search = plan_search(lattice, upper=True, strength=Fraction(strength), rows=rows)
        assert search.aim <= rows // 6 + 1
        assert ForExtreme.CHEAPEST <= search.share <= Fraction(1, 5)
        outward = ForExtreme.LEAN * search.slope(Pure(strength))
        assert float(outward) * search.aim >= search.nats * (1 - 1e-9)
    assert plan_search(lattice, upper=True, strength=Fraction(1), rows=201) is None


def test_where_a_row_counts_much_answers_fall_faster_beyond_the_data(monkeypatch):
    """Up to twelve nats per row nothing changes; at thirty an overshoot by a third of the column's width is rare."""
    rows = np.linspace(60, 120, 100)
    maximum = statistic_of(upper=True, high=1000)

    def beyond(epsilon):
        plan_extreme.cache_clear()
        mechanism = Extreme(price=Pure(epsilon), lattice=maximum.grid.answers, upper=True, rows=100)
        return 1 - mechanism.law(read(maximum, rows, mechanism.depth)).cdf(Fraction(140))

    steep, usual = beyond(30), beyond(12)
    monkeypatch.setattr(ForExtreme, "STEEP", 10**9)
    assert steep < 0.2 * beyond(30)
    assert usual == beyond(12)
    plan_extreme.cache_clear()


@pytest.mark.parametrize("upper", [True, False], ids=["maximum", "minimum"])
def test_mass_falls_from_the_anchor_and_less_towards_the_end(upper):
    lattice = FiniteLattice(Fraction(0), Fraction(1), 2**31)
    search = plan_search(lattice, upper=True, strength=Fraction(1), rows=10_001)
    anchor = 2**30
    measure = anchored_measure(lattice, search, anchor=anchor, upper=upper, slope=Fraction(1))

    def mass(inner, outer):
        ends = (anchor + inner, anchor + outer - 1) if upper else (anchor - outer + 1, anchor - inner)
        return measure.mass(*ends)

    steady = -float(ForExtreme.STEADY)
    assert mass(2**21, 2**22) / mass(2**20, 2**21) == pytest.approx(2**steady, rel=1e-3)
    # However fine the lattice, the rows beyond the anchor can pay for the fall.
    fine = FiniteLattice(Fraction(0), Fraction(1), 2**60)
    for rows, strength in ((1001, Fraction(1)), (10_001, Fraction(1, 10))):
        search = plan_search(fine, upper=True, strength=strength, rows=rows)
        slope = strength * (1 - search.share)
        far = anchored_measure(fine, search, anchor=2**59, upper=True, slope=slope)
        core, shell = far.mass(2**59 - 2**22, 2**59 + 2**22), far.mass(2**59 + 2**56, 2**59 + 2**57)
        assert 60 < math.log(core) - math.log(shell) < 0.9 * float(slope) * search.aim
    assert mass(2**29, 2**30) / mass(2**28, 2**29) > 2**-3


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


@pytest.mark.parametrize("moved", [1, 3])
def test_what_is_gained_in_wide_bounds_is_lost_by_the_theorem(moved):
    """docs/proofs/ordered_limits.md: an error below the limit would be a breach; one far above it would be waste."""
    rows = np.sort(np.random.default_rng(11).gamma(3, 1, 201))
    rows *= 0.05 / rows[-1]
    other = rows.copy()
    other[-moved:] = 1.0
    told = {"price": Pure(1), "neighbors": Neighbors.REPLACE_ONE, "rows": 201}
    wide, fit = (exact_error("maximum", one, 0, 1, **told) for one in (rows, other))
    limit = 0.95 - math.exp(moved / 2) * wide
    assert wide < 0.03
    assert limit <= fit <= 1.15 * limit


@pytest.mark.parametrize("upper", [False, True], ids=["minimum", "maximum"])
def test_the_near_end_of_a_narrow_column_far_from_zero_is_found(upper):
    """A fall away from zero drew the anchor out of the column: 5001 weights of a million erred by the whole range."""
    rows = np.random.default_rng(2).normal(10**6, 15, 5001) * (-1 if upper else 1)
    low, high = (-1_140_000, -940_000) if upper else (940_000, 1_140_000)
    statistic = (Maximum if upper else Minimum)("x", low=low, high=high)
    assert Cell("weights", statistic, Pure(1), rows, (("rows", 5001),)).error() < 2500
