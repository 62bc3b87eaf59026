"""Plans at random, replayed: what the catalogue's cases hold fixed is drawn, and no plan costs more than its price."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from sordino import catalogue
from sordino.coverage import Sample
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.mechanisms.choose import choose, output_grid
from sordino.mechanisms.clip import plain_or_cut_plan
from sordino.mechanisms.clip.auto_clip_plan import plan_auto_clip
from sordino.mechanisms.clip.box_means import BoxMeans
from sordino.mechanisms.extreme.anchor_search import AnchorSearch
from sordino.mechanisms.extreme.plan import ExtremePlan
from sordino.mechanisms.parts.measure import Measure
from sordino.mechanisms.quantile.anchored import Anchored
from sordino.mechanisms.quantile.counted import CountedFirst, boundary
from sordino.mechanisms.quantile.crossing import Crossing
from sordino.mechanisms.quantile.ladder_plan import plan_ladder
from sordino.mechanisms.selection.permute_and_flip import level_logs
from sordino.mechanisms.tuned_means import ForCut
from sordino.privacy import Approx, Concentrated, Neighbors, Pure
from sordino.statistics import Case
from sordino.statistics.maximum import Maximum
from sordino.statistics.means import Means
from sordino.statistics.quantile import Quantile
from sordino.statistics.variance import Variance
from sordino.testing import report
from sordino.testing.drawn_pairs import HeapPair, PairDrawer
from sordino.testing.drawn_plans import DrawnPlan, PlanDrawer
from sordino.testing.loss import beyond
from sordino.testing.plan_search import Searched, main, search, searched_plan

MECHANISMS = catalogue.mechanisms()
THOROUGH = 2
"""The seed of the thorough sample."""
SLOWER = {
    "additive", "blocks", "box-means", "counted", "error-bar", "extreme", "inverse-sensitivity", "mean-interval",
    "order-interval", "piecewise-laplace", "quantile-interval", "radial-laplace", "symmetric-mean",
}  # fmt: skip
"""A replay of one of their plans takes as long as ten of others."""


@pytest.mark.parametrize("name", MECHANISMS)
def test_no_drawn_plan_spends_more_than_its_price(name):
    """A few plans of each in every run; a mechanism that no plan reaches fails."""
    plans = 1 if name in SLOWER else 2
    seen = search(name, seed=1, plans=plans, pairs=plans, turns=plans - 1)
    assert seen.found == []
    assert seen.plans == plans
    assert seen.worst <= 1 + 1e-6


@pytest.mark.thorough
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_drawn_plan_of_many_spends_more_than_its_price(name):
    seen = search(name, seed=THOROUGH, plans=6 if name in SLOWER else 14)
    assert seen.found == []
    assert seen.plans >= 6
    assert 0 < seen.worst <= 1 + 1e-6


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_drawn_plan_of_hundreds_spends_more_than_its_price(name):
    seen = search(name, seed=3, seconds=120)
    assert seen.found == []
    assert seen.plans >= 6


# What must be noticed -------------------------------------------------------------------------------------------------


@pytest.fixture
def steep(monkeypatch):
    """Loose bounds of few rows as they were: more than half of the price for the search, and nothing refuses it."""
    honest = plain_or_cut_plan._wanted

    def wanted(bid, *, loose):
        return max(ForCut.LOOSE_NATS / bid, ForCut.LOOSE_LEAST) if loose else honest(bid, loose=loose)

    monkeypatch.setattr(plain_or_cut_plan, "_wanted", wanted)
    monkeypatch.setattr(plain_or_cut_plan.CutPlan, "__post_init__", lambda self: None)
    plain_or_cut_plan.plan_cut.cache_clear()  # other tests have asked for the same plans
    yield
    plain_or_cut_plan.plan_cut.cache_clear()


@pytest.mark.usefixtures("steep")
def test_pairs_are_found_that_a_plan_beyond_its_theorem_tells_apart():
    statistic = Variance("x", low=0, high=1000, neighbors=Neighbors.REPLACE_ONE)
    mechanism = choose(statistic, Pure(1), rows=110, loose=True)
    plan = DrawnPlan(mechanism, Case(statistic, ()), 1, output_grid(statistic), 110, "")
    found = []
    for seed in range(5):
        seen = Searched("")
        searched_plan(plan, np.random.default_rng(seed), seen)
        found += seen.found
    assert found


@pytest.mark.thorough
@pytest.mark.usefixtures("steep")
def test_plans_beyond_their_theorem_are_drawn():
    """The thorough sample meets the regime that no case of the catalogue lies in, and a pair that shows the breach."""
    seen = search("plain-or-cut-squares", seed=THOROUGH, plans=14)
    assert any("costs" in one for one in seen.found)


def test_a_release_that_fails_is_found(monkeypatch):
    """A mechanism that breaks down on some path only, after its rehearsal on an empty table has passed."""
    honest = MECHANISMS["plain-or-cut"].summand

    def fails(self, sums, *given):
        if sums.rows > 50:
            raise ValueError("a step that does not divide the range")
        return honest(self, sums, *given)

    monkeypatch.setattr(MECHANISMS["plain-or-cut"], "summand", fails)
    seen = search("plain-or-cut", seed=1, plans=6)
    assert any("ValueError" in one for one in seen.found)


def test_a_session_that_breaks_down_before_the_debit_is_found(monkeypatch):
    monkeypatch.setattr("sordino.testing.drawn_plans.prepare", lambda *given, **named: 1 / 0)
    drawer = PlanDrawer("selection", np.random.default_rng(1))
    assert list(drawer.plans()) == []
    assert "ZeroDivisionError before the debit" in drawer.problems[0]


def test_the_command_ends_with_four_where_something_was_found(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["plan_search", "--seconds", "0.2", "--seed", "4", "selection"])
    assert main() == 0
    monkeypatch.setattr(MECHANISMS["selection"], "slope", property(lambda self: 2 * self.price.bounded_range))
    assert main() == 4
    assert "costs" in capsys.readouterr().out


@pytest.mark.parametrize("program", [main, report.main], ids=["plan_search", "report"])
def test_a_name_that_no_mechanism_has_is_refused(program, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["program", "selection", "selecton"])
    assert program() == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "mechanism: the name must be one of " in err
    assert "Hint: selection" in err


def test_a_seed_that_is_none_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["plan_search", "--seed", "-1", "selection"])
    assert main() == 2
    assert "seed must be a whole number of at least 0" in capsys.readouterr().err


# What is drawn --------------------------------------------------------------------------------------------------------


def test_pairs_are_neighbours_and_may_be_changed():
    """One person's rows differ, no more; under replace-one both tables have as many rows."""
    for name in ("plain-or-cut", "quantile", "cube", "margins"):
        random = np.random.default_rng(5)
        for plan, _ in zip(PlanDrawer(name, random).plans(), range(12), strict=False):
            drawer = PairDrawer(plan, random)
            for pair in drawer.pairs(3):
                assert isinstance(pair, HeapPair)
                for one in (pair, drawer.changed(drawer.changed(pair))):
                    moved = len(one.gone), len(one.come)
                    if plan.statistic.neighbors is Neighbors.REPLACE_ONE:
                        assert moved == (plan.contribution, plan.contribution)
                    else:
                        assert sum(moved) == plan.contribution
                    tables = one.tables(plan)
                    assert set(tables.table) == set(plan.world.columns)


def test_the_same_seed_draws_the_same_plans():
    lines = [
        [
            plan.label
            for plan, _ in zip(
                PlanDrawer("mean-interval", np.random.default_rng(3)).plans(), range(4), strict=False
            )
        ]
        for _ in range(2)
    ]
    assert lines[0] == lines[1]
    assert len(set(lines[0])) == 4


# What a plan refuses --------------------------------------------------------------------------------------------------


def test_plans_that_no_theorem_covers_are_refused():
    """Shares that add up to more than the price, a search without a part of it, rungs that do not grow."""
    clip = plan_auto_clip(rows=1001, price=Pure(1), low=-50, high=1050)
    for wrong in (
        {"outer_share": Fraction(9, 10)}, {"count_share": Fraction(1, 2)}, {"loose_share": Fraction(0)},
        {"fit_share": Fraction(1)}, {"radius_share": Fraction(-1, 10)}, {"smallest": Fraction(0)},
    ):  # fmt: skip
        with pytest.raises(AssertionError):
            dataclasses.replace(clip, **wrong)
    search_for = AnchorSearch(2, Fraction(1, 4), Measure.uniform(9), nats=2.0)
    for wrong in ({"share": Fraction(1)}, {"share": Fraction(0)}, {"aim": 0}, {"nats": float("inf")}):
        with pytest.raises(AssertionError):
            dataclasses.replace(search_for, **wrong)
    for wrong in ({"spared": -1}, {"nats": float("nan")}):
        with pytest.raises(AssertionError):
            dataclasses.replace(ExtremePlan(Measure.uniform(9), 0, 1.0), **wrong)
    with pytest.raises(AssertionError, match="gaps are steps"):
        Crossing(Fraction(1), Fraction(1, 3))
    ladder = plan_ladder(
        Quantile("x", q=0.9, low=0, high=1), rows=1000, last=2**20, price=Pure(1), answered=Pure(1),
        coverage=Sample(0.9), contribution=1,
    )  # fmt: skip
    for wrong in ({"spent": Fraction(1)}, {"weight": Fraction(0)}, {"rungs": 0}, {"target": Fraction(-1)}):
        with pytest.raises(AssertionError):
            dataclasses.replace(ladder, **wrong)


@pytest.mark.parametrize(
    "price", [Pure(Fraction(1, 100)), Pure(50), Concentrated(1), Approx(1, 1e-9)], ids=repr
)
def test_every_number_of_rows_that_can_be_counted_has_a_plan(price):
    """Which one is released is not known before the debit."""
    for statistic in (
        Maximum("x", low=0, high=1000, neighbors=Neighbors.ADD_REMOVE_ONE),
        Quantile("x", q=0.99, low=-3, high=1000, neighbors=Neighbors.ADD_REMOVE_ONE),
    ):
        counted = CountedFirst(price=price)
        for half in range(64):
            found = counted.after(statistic, boundary(half))
            assert found.refusal(statistic) is None
            stated = counted.lattices(statistic, statistic.grid.endless)
            assert found.lattices(statistic, statistic.grid.endless).items() <= stated.items()
            steps = [found]
            if isinstance(found, Anchored):  # what is asked next depends on what was released
                steps = [found.first, *(found.second(place) for place in (0, 1, found.lattice.last))]
            assert all(step.depth > 0 for step in steps)


def test_means_of_columns_far_from_zero_have_a_box_whatever_it_is():
    """Two codes next to each other are one float there: the box failed after it was paid for."""
    asked = Means(("u", "v"), low=(-1e12, 7e12), high=(-1e12 + 1, 7e12 + 7))
    table = {"u": np.full(400, -1e12), "v": np.full(400, 7e12 + 3)}
    source = Memory(table)
    for seed in range(4):
        mechanism = BoxMeans(price=Pure(20), rows=400)
        answer = mechanism.answer(
            asked, lambda request: source.summary(request)[0], output_grid(asked), bits=SeededBits(seed)
        )
        assert all(abs(value - place) < 8 for value, place in zip(answer.value, (-1e12, 7e12), strict=True))


# What the replay must not mistake for a breach ------------------------------------------------------------------------


def test_rounding_is_no_loss():
    """Ten thousand outcomes whose loss is epsilon to the last bit, and one that is more by a little."""
    there = np.full(10_000, -30.0) + np.linspace(0, 1, 10_000)
    here = there + 1.0
    assert beyond(here, there, 1.0).sum() == 0
    assert beyond(np.array([0.0]), np.array([-1.0 - 1e-6]), 1.0)[0] == pytest.approx(1e-6, rel=1e-4)
    assert beyond(np.array([-3.0]), np.array([-np.inf]), 1.0)[0] == pytest.approx(np.exp(-3.0))


def test_permute_and_flip_has_a_law_where_no_float_holds_it():
    logs = level_logs({0: 3, 2000: 5}, Fraction(1))
    assert logs[2000] == pytest.approx(
        -2000 - np.log(4), rel=1e-12
    )  # beside three at the top: one wins, then the fourth
    assert logs[0] == pytest.approx(-np.log(3), rel=1e-12)
