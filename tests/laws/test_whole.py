"""The worst of all paths, worked out from their ends, against paths one by one; a breach that hides on one of them."""

from fractions import Fraction

import pytest

import sordino as sd
from sordino import catalogue
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.additive.geometric import Geometric
from sordino.mechanisms.choose import output_grid
from sordino.mechanisms.parts.draws import Draws
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.testing import replay, whole
from sordino.testing.account import Account
from sordino.testing.noise_steps import roundest
from sordino.testing.runs import Side
from sordino.testing.survey import tiny_cases
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
@pytest.mark.parametrize("name", ["counted", "quantiles-interval", "additive-vector"])
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
