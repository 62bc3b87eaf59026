"""Privacy by replay: every mechanism of the catalogue on pairs of tables, and planted breaches that it must notice."""

import dataclasses
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

import sordino as sd
from sordino import catalogue
from sordino.errors import Unsupported
from sordino.lattice import Lattice
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.additive.geometric import Geometric
from sordino.mechanisms.additive.propose_test_release import ProposeTestRelease
from sordino.mechanisms.choose import choose
from sordino.mechanisms.clip.auto_clip import AutoClip
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.public_noise import PublicNoise
from sordino.noise.laplace import Laplace
from sordino.privacy import Approx, BoundedRange, Concentrated, Neighbors, Pure
from sordino.testing import replay
from sordino.testing.account import Account
from sordino.testing.densities import LogLinear
from sordino.testing.draw_laws import drawn_as_reckoned
from sordino.testing.forced import ForcedDraws
from sordino.testing.joint import joint_stick
from sordino.testing.loss import hockey, ratio, renyi
from sordino.testing.noise_steps import GeometricStep, NoiseStep
from sordino.testing.report import walked
from sordino.testing.steps import Parts
from sordino.testing.survey import survey

REPLACE, ADD = Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE
MECHANISMS = catalogue.mechanisms()
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "replay_worlds.md"
WORLDS = {
    cells[0]: cells
    for cells in (
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    )
    if cells[0] in MECHANISMS
}
"""The rows of the page, cell by cell."""
USED = {"propose-test-release": 0.45}
"""What is seen at least of a price, where a test takes half of it."""
USED_BY_FEW_ROWS = {"order-interval": 0.25}
"""The same of tiny worlds; the ends of an interval lie many rows apart, and three rows are within both."""
WHOLE = {"order-interval"}
"""Replayed case by case in every run: few of its cases, which are quick, show most of what it spends."""


@pytest.mark.parametrize(
    ("pairwise", "pairs"),
    [
        (True, 2),
        pytest.param(True, 4, marks=pytest.mark.thorough),
        pytest.param(False, 4, marks=pytest.mark.slow),
    ],
    ids=["pairwise", "pairwise4", "all"],
)
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_keeps_its_price_on_every_path(name, pairwise, pairs):
    """Both relations, one and three rows per person, every kind of price; the replay is not vacuous."""
    worst = 0.0
    for seen in survey(MECHANISMS[name], pairs=pairs, pairwise=pairwise and name not in WHOLE):
        assert seen.replay.problems == [], seen.case.label
        worst = max(worst, seen.replay.worst)
    assert worst > USED.get(name, 0.6)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_hostile_pair(name):
    for seen in survey(MECHANISMS[name], thorough=True):
        assert seen.replay.problems == [], seen.case.label


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_pair_of_every_tiny_world_is_as_the_page_says(name):
    found = walked(MECHANISMS[name])
    assert found.problems == []
    cells = found.cells
    assert cells[:3] == WORLDS[name][:3]
    assert WORLDS[name][3] in ("", cells[3])  # no number where an earlier walk did not count them
    for cell, shown in zip(cells[4:], WORLDS[name][4:], strict=True):
        assert bool(cell) is bool(shown)
        assert not cell or abs(float(cell) - float(shown)) < 0.002


def test_the_page_of_tiny_worlds_names_every_mechanism_and_no_breach():
    """Whether it is true is asked in the slow run; of the quickest mechanism here as well."""
    assert set(WORLDS) == set(MECHANISMS)
    for name, cells in WORLDS.items():
        shown = [float(cell) for cell in cells[4:] if cell]
        assert max(shown) <= 1
        assert max(shown) > USED_BY_FEW_ROWS.get(name, 0.6), name
        assert int(cells[2]) > 200
    assert walked(MECHANISMS["discovery"]).cells == WORLDS["discovery"]


# What must be noticed -------------------------------------------------------------------------------------------------


class Cheat(Mechanism):
    """A count with too little noise, another question, or an answer that looks at the data; by its field."""

    __slots__ = ("cheat", "price")
    guarantee = Pure(1)
    asks = Geometric.asks

    def __init__(self, cheat):
        self.price, self.cheat = Pure(1), cheat

    def law(self, reading):
        raise AssertionError("not asked for")

    def draw(self, reading, grid, *, bits=None):
        value = int(reading.open().value)
        scale = Fraction(4, 5) if self.cheat == "noise" else Fraction(1)
        if self.cheat == "words":
            bits.below(3)
        if self.cheat == "question" and value > 2:
            return Answer(Fraction(Draws.of(bits).choice([Fraction(1), Fraction(0)], price=Pure(1))))
        part = Pure(Fraction(1, 2)) if self.cheat == "part" else self.price
        if self.cheat == "scale":
            scale = Fraction(2 if value > 2 else "1.5")
        found = Draws.of(bits).geometric(value, scale=scale, price=part)
        if self.cheat == "twice":
            found += Draws.of(bits).geometric(value, scale=scale, price=self.price)
        noise = PublicNoise(None, scale, Fraction(1), high=Fraction(value if self.cheat == "bar" else 9))
        return Answer(Fraction(found), {"rows": value} if self.cheat == "public" else {}, noise=noise)


@pytest.mark.parametrize(
    ("cheat", "words"),
    [
        ("noise", "a path costs 1.25"),
        ("question", "is another on the neighbour"),
        ("public", "not a function of the outcomes"),
        ("twice", "a path costs 2.0"),
        ("part", "costs 2.0"),
        ("scale", "is another on the neighbour"),
        ("bar", "the noise that the answer is said to have is not a function of the outcomes"),
    ],
)
def test_a_cheat_is_caught(cheat, words):
    count = sd.Count("x", neighbors=ADD)
    seen = replay(Cheat(cheat), count, {"x": [1.0, 2.0]}, {"x": [1.0, 2.0, 3.0]})
    assert any(words in problem for problem in seen.problems), seen.problems
    assert replay(Cheat("none"), count, {"x": [1.0, 2.0]}, {"x": [1.0, 2.0, 3.0]}).problems == []


def test_a_loss_that_is_not_a_number_hides_nothing(monkeypatch):
    def lost(self, other):
        return Parts([0, 1], None, None, np.array([math.nan, 5.0]))

    monkeypatch.setattr(GeometricStep, "parts", lost)
    seen = replay(Cheat("none"), sd.Count("x", neighbors=ADD), {"x": [1.0]}, {"x": [1.0, 2.0]}, walks=0)
    assert any("not a number" in problem for problem in seen.problems), seen.problems


def test_infinite_losses_of_opposite_signs_do_not_cancel():
    account = Account(Pure(1))
    for loss in (math.inf, -math.inf, 0.1):
        account.add(Parts([0], None, None, np.array([loss])), 0)
    assert account.used() == math.inf


def test_a_mechanism_with_words_of_its_own_cannot_be_replayed():
    with pytest.raises(AssertionError, match="goes through Draws"):
        replay(Cheat("words"), sd.Count("x", neighbors=ADD), {"x": [1.0]}, {"x": [1.0, 2.0]})


def test_a_mechanism_without_cases_fails():
    class Bare(Geometric):
        name = ""

        @classmethod
        def cases(cls):
            return iter(())

    with pytest.raises(Unsupported, match="has no cases"):
        list(survey(Bare))


# Divergences ----------------------------------------------------------------------------------------------------------


def gaussians(shift, scale=1):
    noise = catalogue.noise_family("gaussian")()
    return [
        NoiseStep(
            price=Pure(1), noise=noise, location=Fraction(at), scale=Fraction(scale), grid=Lattice.dyadic(-20)
        )
        for at in (0, shift)
    ]


ORDERS = (1.05, 1.5, 2.0, 6.0, 16.0, 64.0)


def test_divergences_of_gaussians_are_the_closed_ones():
    one, other = gaussians(1)
    parts = one.parts(other)
    for order, found in zip(ORDERS, renyi(parts, ORDERS), strict=True):
        assert found == pytest.approx(order / 2, rel=1e-11)
    for epsilon in (-1.0, 0.0, 0.3, 1.0, 6.0):
        exact = norm.cdf(0.5 - epsilon) - math.exp(epsilon) * norm.cdf(-0.5 - epsilon)
        assert hockey(parts, epsilon) == pytest.approx(exact, rel=1e-7)
    assert ratio(parts, Concentrated(0.5)) == pytest.approx(1, rel=1e-11)
    one, other = gaussians(Fraction("1.0001"))
    assert ratio(one.parts(other), Concentrated(0.5)) > 1.0001


def test_divergences_of_laplace_laws_are_the_closed_ones():
    one, other = (dataclasses.replace(step, noise=Laplace()) for step in gaussians(1))
    parts = one.parts(other)
    for order, found in zip(ORDERS, renyi(parts, ORDERS), strict=True):
        lead, rest = order / (2 * order - 1), (order - 1) / (2 * order - 1)
        exact = math.log(lead * math.exp(order - 1) + rest * math.exp(-order)) / (order - 1)
        assert found == pytest.approx(exact, rel=1e-11)
    assert hockey(parts, 0.5) == pytest.approx(1 - math.exp(-0.25), rel=1e-11)
    # The same two laws as pieces of the line, in closed form.
    edges, at = np.array([-60.0, 0.0, 1.0, 61.0]), (0.0, 1.0)
    logs = [[-np.abs(ends - place) - math.log(2) for ends in (edges[:-1], edges[1:])] for place in at]
    linear = LogLinear(*(tuple(law) for law in logs), np.diff(edges))
    assert linear.renyi(ORDERS) == pytest.approx(renyi(parts, ORDERS), rel=1e-9)
    assert linear.stick(0.5) == pytest.approx(1 - math.exp(-0.25), rel=1e-11)


def test_a_joint_stick_is_that_of_all_choices_together():
    """Two Gaussian answers, of which the second does not depend on the first: in closed form, and coarser without."""
    one, other = gaussians(Fraction(3, 4))
    parts = one.parts(other)

    class Node:
        def __init__(self, path):
            self.parts = parts if len(path) < 2 else None

    far = 0.75 * math.sqrt(2)
    for epsilon in (0.5, 1.0, 2.0):
        exact = norm.cdf(far / 2 - epsilon / far) - math.exp(epsilon) * norm.cdf(-far / 2 - epsilon / far)
        assert joint_stick(Node, epsilon, 1) == pytest.approx(exact, rel=0.02)
        assert joint_stick(Node, epsilon, -1) == pytest.approx(exact, rel=0.02)


def test_chords_of_a_joint_stick_are_no_breach():
    """Four Gaussian parts of a table that spend a delta to a part in 1700: coarse chords lay above it."""
    table = sd.Crosstab(("x", "y"), levels=(("a", "b"), ("u", "v", "w")), neighbors=ADD)
    price = Approx(Fraction(1, 80), Fraction(522, 10**6))
    mechanism = choose(table, price, rows=1000)
    rows = {"x": ["b"] * 7, "y": ["w"] * 7}
    more = {"x": [*rows["x"], "a"], "y": [*rows["y"], "v"]}
    seen = replay(mechanism, table, rows, more)
    assert seen.kept
    assert 0.999 < seen.worst <= 1


@pytest.mark.parametrize(
    "price", [Pure(1), Concentrated(0.5), Approx(1, 0.001), BoundedRange(1)], ids=lambda p: p.kind
)
@pytest.mark.parametrize("rows", [1, 3])
def test_a_default_that_forgets_rows_of_a_person_is_refuted(price, rows):
    """A mechanism that is told of one row per person, on tables that differ in three."""
    median = sd.Median("x", low=0, high=7, step=1, neighbors=REPLACE)
    mechanism = choose(median, price, rows=80)
    table, other = {"x": [0.0] * 6}, {"x": [0.0] * 3 + [7.0] * 3}
    seen = replay(mechanism, median, table, other, contribution=rows)
    assert seen.kept is (rows == 3)


@pytest.mark.few(4)
@pytest.mark.statistical
@pytest.mark.statistical
@pytest.mark.parametrize("name", MECHANISMS)
def test_real_draws_follow_the_laws_of_the_replay(name):
    assert list(drawn_as_reckoned(MECHANISMS[name])) == []


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("name", "method", "wrong"),
    [
        ("additive", "noise", lambda found: {"scale": found["scale"] * 4 / 5}),
        ("geometric", "geometric", lambda found: {"scale": found["scale"] * 4 / 5}),
    ],
)
def test_draws_with_less_noise_are_told_from_their_law(name, method, wrong, monkeypatch):
    honest = getattr(Draws, method)
    monkeypatch.setattr(
        Draws, method, lambda self, *given, **named: honest(self, *given, **(named | wrong(named)))
    )
    assert any(method in problem for problem in drawn_as_reckoned(MECHANISMS[name]))


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("name", "method"),
    [("selection", "flip"), ("auto-clip", "flip"), ("piecewise-laplace", "line")],
)
def test_steeper_choices_are_told_from_their_law(name, method, monkeypatch):
    honest = getattr(Draws, method)

    def steeper(self, *given, **named):
        *before, last = given
        last = [2 * one for one in last] if isinstance(last, list) else 2 * last
        return honest(self, *before, last, **named)

    monkeypatch.setattr(Draws, method, steeper)
    assert any(method in problem for problem in drawn_as_reckoned(MECHANISMS[name]))


@pytest.mark.parametrize("rows", [24, 400])
def test_a_fit_test_is_paid_for_on_both_sides_of_its_threshold(rows):
    """Few rows at the ends of the range, where to fit costs, and many, where not to fit does."""
    mean = sd.Mean("x", low=0, high=1000)
    mechanism = AutoClip(price=Pure(1), rows=1000, low=0, high=1000)
    half = rows // 2
    table, other = [0.0] * half + [1000.0] * half, [0.0] * half + [1000.0] * (half - 1) + [500.0]
    seen = replay(mechanism, mean, {"x": table}, {"x": other}, walks=1)
    assert seen.problems == []
    assert seen.step > 0.99


def test_a_proposed_bound_is_paid_for_beside_its_test():
    """A median that one row moves by just the bound, about as far from breaking it as the test asks for."""
    median = sd.Median("x", low=0, high=1000, step=1, neighbors=REPLACE)
    mechanism = ProposeTestRelease(price=Approx(1, Fraction(1, 100)), bound=Fraction(20))
    worst = 0.0
    for half in range(5, 12):
        common = [0.0] * (half - 1) + [20.0] * half
        seen = replay(mechanism, median, {"x": [*common, 0.0]}, {"x": [*common, 1000.0]}, walks=1)
        assert seen.problems == []
        worst = max(worst, seen.worst)
    assert worst > 0.9  # of epsilon


def test_a_choice_after_a_test_that_cannot_err_is_held_against_its_part(monkeypatch):
    """Half the noise behind a test that is passed: not delta's business."""

    def loud(self, value, *, sensitivity, price, grid=None):
        return Draws.noisy(self, value, sensitivity=sensitivity / 2, price=price, grid=grid)

    monkeypatch.setattr(ForcedDraws, "noisy", loud, raising=False)
    median = sd.Median("x", low=0, high=1000, step=1, neighbors=REPLACE)
    mechanism = ProposeTestRelease(price=Approx(1, Fraction(1, 100)), bound=Fraction(20))
    table, other = [0.0] * 12 + [20.0] * 12, [0.0] * 11 + [20.0] * 13
    seen = replay(mechanism, median, {"x": table}, {"x": other}, walks=1)
    assert any(problem.startswith("choice 2 (noise) costs") for problem in seen.problems)


@pytest.mark.parametrize(
    ("relation", "table", "neighbour", "rule", "hint"),
    [
        (ADD, [0.0] * 5, [0.0] * 4, "a table is a dict of columns", '{"x": [0, 0, 0, 0, 0]}'),
        (ADD, {"x": [0.0] * 5}, {"x": [0.0] * 3}, "no neighbours under add-remove-one", "contribution=2"),
        (REPLACE, {"x": [0.0] * 5}, {"x": [0.0] * 4}, "no neighbours under replace-one", "add-remove-one"),
        (REPLACE, {"x": [0.0] * 5}, {}, "no neighbours under replace-one", "add-remove-one"),
    ],
)
def test_what_are_no_neighbours_is_refused(relation, table, neighbour, rule, hint):
    """It would only say that no promise was kept, which none made."""
    count = sd.Count("x", neighbors=relation)
    with pytest.raises(sd.ParameterError, match=rule) as refused:
        replay(choose(count, sd.Pure(1)), count, table, neighbour)
    assert hint in refused.value.hint
