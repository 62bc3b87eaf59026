"""The worst of all paths, worked out from their ends, against paths one by one; a breach that hides on one of them."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino import catalogue
from sordino.lattice import Lattice
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.additive.geometric import Geometric
from sordino.mechanisms.choose import output_grid
from sordino.mechanisms.clip.whole_or_interval import Valued
from sordino.mechanisms.parts.draws import Draws
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.testing import replay, whole
from sordino.testing.account import Account
from sordino.testing.flat_steps import PairStep
from sordino.testing.round_points import roundest
from sordino.testing.runs import Side
from sordino.testing.survey import WIDEST, chosen, tiny_cases
from sordino.testing.tiny import TinyWorld
from sordino.testing.tree import Tree

FIRST, SECOND = {"x": [0.0, 1.0]}, {"x": [0.0, 1.0, 4.0]}


def worst_path(tree, price, path=(), taken=()):
    """Every path by itself."""
    node = tree.node(path)
    if node.parts is None:
        account = Account(price)
        for parts, place in taken:
            account.add(parts, place)
        return (account.used() if taken else 0.0), 1
    found = [
        worst_path(tree, price, (*path, outcome), (*taken, (node.parts, place)))
        for outcome, places in whole.branches(node.parts, whole.followed(node.parts)).items()
        for place in places
    ]
    return max(used for used, _ in found), sum(paths for _, paths in found)


@pytest.mark.parametrize("price", [Pure, Concentrated], ids=lambda one: one.kind)
@pytest.mark.parametrize("name", ["counted", "quantiles-interval", "additive-vector", "mean-interval"])
def test_the_worst_of_all_paths_is_that_of_paths_one_by_one(name, price):
    case = next(
        case
        for case in tiny_cases(catalogue.mechanisms()[name])
        if isinstance(case.mechanism.guarantee, price)
        and case.world.statistic.neighbors is Neighbors.ADD_REMOVE_ONE
    )
    rows = [[row[place] for row in case.world.rows] for place in range(len(case.world.columns))]
    table, other = (
        {column: values[:size] for column, values in zip(case.world.columns, rows, strict=True)}
        for size in (2, 3)
    )
    with Side(table) as here, Side(other) as there:
        tree = Tree(case.mechanism, case.world.statistic, (here, there), output_grid(case.world.statistic))
        used, paths = worst_path(tree, case.mechanism.guarantee)
    seen = replay(case.mechanism, case.world.statistic, table, other, complete=True)
    assert seen.problems == []
    assert not seen.narrowed
    assert seen.worst == pytest.approx(used, rel=1e-12)
    assert 1 < seen.paths <= paths
    assert len(seen.path) > 1


@pytest.mark.parametrize(
    ("name", "price", "rows"),
    [
        pytest.param("plain-or-cut", Pure, (8.0, 1000.0), marks=pytest.mark.thorough),
        *(
            pytest.param(name, price, (0.0, 8.0, 1000.0), marks=pytest.mark.slow)
            for name in ("plain-or-cut", "plain-or-cut-squares")
            for price in (Pure, Concentrated)
        ),
    ],
)
def test_searches_of_intervals_are_walked_whole_where_few_rows_lie_in_a_wide_range(name, price, rows):
    """Every interval is followed; in the ranges of tiny worlds there is none to be searched."""
    relations = set()
    for case in chosen(catalogue.mechanisms()[name]):
        statistic, mechanism = case.world.statistic, case.mechanism
        wide = getattr(statistic, "high", None) == WIDEST and isinstance(mechanism.guarantee, price)
        if not (wide and case.default and mechanism.plan().searches) or statistic.neighbors in relations:
            continue
        relations.add(statistic.neighbors)
        world = dataclasses.replace(case.world, rows=tuple((row,) for row in rows))
        tiny, worst, choices = TinyWorld(dataclasses.replace(case, world=world), 1), 0.0, 0
        for seen in tiny.replays():
            assert seen.problems == []
            assert not seen.narrowed
            worst, choices = max(worst, seen.worst), choices + seen.choices
        assert 0.5 < worst <= 1 + 1e-7
        assert choices > 50 * tiny.pairs
    assert relations


class Hidden(Mechanism):
    """A count after two choices that tell nothing; after two certain outcomes of them it has half its noise."""

    __slots__ = ("many",)
    guarantee = Pure(1)
    asks = Geometric.asks

    def __init__(self, many):
        self.many = many

    def law(self, reading):
        raise AssertionError("not asked for")

    def draw(self, reading, grid, *, bits=None):
        draws = Draws.of(bits)
        path = [draws.choice([Fraction(0)] * self.many, price=Pure(1)) for _ in range(2)]
        scale = Fraction(1, 2) if path == [7, 3] else Fraction(1)
        return Answer(
            Fraction(draws.geometric(int(reading.open().value), scale=scale, price=Pure(2))),
            {"path": tuple(path)},
        )


def test_a_breach_on_one_path_of_many_is_found():
    count = sd.Count("x", neighbors=Neighbors.ADD_REMOVE_ONE)
    assert replay(Hidden(12), count, FIRST, SECOND).problems == []
    seen = replay(Hidden(12), count, FIRST, SECOND, complete=True)
    assert seen.worst == pytest.approx(2, abs=1e-9)
    assert seen.path[:2] == (7, 3)
    assert any(problem.startswith("a path costs 2.0") for problem in seen.problems)


@pytest.mark.parametrize("many", [7, 9])
def test_what_is_left_out_is_said(many, monkeypatch):
    monkeypatch.setattr(whole, "PATHS", 60)
    count = sd.Count("x", neighbors=Neighbors.ADD_REMOVE_ONE)
    assert replay(Hidden(many), count, FIRST, SECOND, complete=True).narrowed is (many * many > 60)


def test_a_tree_that_is_too_large_is_no_whole_one(monkeypatch):
    monkeypatch.setattr(whole, "PLACES", 30)
    count = sd.Count("x", neighbors=Neighbors.ADD_REMOVE_ONE)
    seen = replay(Hidden(12), count, FIRST, SECOND, complete=True)
    assert any("too many places" in problem for problem in seen.problems)


def test_the_roundest_of_a_range():
    def twos(number):
        return number & -number if number else 1 << 30

    for low in range(-40, 40):
        for high in range(low, 40):
            best = max(range(low, high + 1), key=twos)
            assert low <= roundest(low, high) <= high
            assert twos(roundest(low, high)) == twos(best)


@pytest.mark.parametrize("values", [(1, 2), (Fraction(5, 2), Fraction(5, 2))])
@pytest.mark.parametrize("other", [(1, 3), (3, 2), (Fraction(9, 4), Fraction(7, 4))])
def test_a_round_pair_keeps_the_loss_of_the_pair_for_which_it_stands(values, other):
    """To a quarter of a nat; other tables have it too, since it is on a far coarser lattice."""
    grid = Lattice.dyadic(-32)
    steps = [
        PairStep(price=Pure(1), part=Valued(tuple(map(Fraction, one)), Fraction(1), Fraction(1), grid))
        for one in (values, other)
    ]
    parts = steps[0].parts(steps[1])

    def loss(points):
        places = np.array([[float(point * grid.step - value) for point, value in zip(points, one, strict=True)]
                           for one in (values, other)])  # fmt: skip
        return float(np.abs(places[1]).sum() - np.abs(places[0]).sum())

    found = whole.branches(parts, range(len(parts.loss)))
    assert sum(map(len, found.values())) == len(parts.loss)
    for outcome, places in found.items():
        for place in places:
            assert loss(parts.outcomes[place]) == pytest.approx(parts.loss[place], abs=1e-6)
            assert loss(outcome) == pytest.approx(parts.loss[place], abs=0.25 + 1e-6)
    leading = whole.branches(parts, whole.followed(parts))
    assert len(leading) <= 6
    assert all(point % 2**24 == 0 for outcome in leading for point in outcome)
