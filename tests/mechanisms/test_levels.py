"""Hierarchies whose counts add up: least squares by matrices for any shape, the split, bars, no negative counts."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.coverage import Sample
from sordino.data.memory import Memory
from sordino.errors import ParameterError
from sordino.exact.bits import SeededBits
from sordino.hints import Hints
from sordino.lattice import Lattice
from sordino.mechanisms.table import level_split
from sordino.mechanisms.table.levels import LevelNoise
from sordino.privacy import Approx, Concentrated, Neighbors, Pure
from sordino.statistics.count_tree import CountTree
from sordino.statistics.hierarchy import Hierarchy

UNEQUAL = CountTree(1, ((3,), (1, 4, 2), (2, 1, 5, 1, 1, 3, 2)))
FOREST = CountTree(2, ((3, 1), (1, 2, 1, 4)))
ADDED = Neighbors.ADD_REMOVE_ONE


def matrices(tree):
    """For each level the matrix that sums the leaves to its counts."""
    eye = np.eye(tree.sizes[-1])
    return [np.array(level).T for level in zip(*(tree.totals(leaf) for leaf in eye), strict=True)]


@pytest.mark.parametrize("tree", [UNEQUAL, FOREST])
@pytest.mark.parametrize("skipped", [None, 0, 1])
def test_two_passes_are_least_squares_whatever_the_shape(tree, skipped):
    """Estimates and variances by matrices, unequal fan-outs, nodes with one child, a level that is not drawn."""
    random, noise = np.random.default_rng(1), [3.0, 0.5, 2.0, 1.3][: len(tree.sizes)]
    if skipped is not None:
        noise[skipped] = math.inf
    rows = matrices(tree)
    noisy = [
        None if math.isinf(v) else random.normal(5, 3, n) for v, n in zip(noise, tree.sizes, strict=True)
    ]
    seen = [
        (m / math.sqrt(v), y / math.sqrt(v))
        for m, v, y in zip(rows, noise, noisy, strict=True)
        if y is not None
    ]
    design = np.vstack([one for one, _ in seen])
    inverse = np.linalg.inv(design.T @ design)
    leaves = inverse @ design.T @ np.concatenate([one for _, one in seen])
    for own, found, spread in zip(rows, tree.estimates(noisy, noise), tree.variances(noise), strict=True):
        assert np.allclose(found, own @ leaves, atol=1e-10)
        assert np.allclose(spread, np.diag(own @ inverse @ own.T), atol=1e-12)


def test_errors_are_those_that_were_designed():
    """Root mean squares over levels at rho 1/2: one by one, after least squares, at the best split."""
    tree = CountTree(1, ((10,), (10,) * 10))

    def root(amounts, gaussian=True):
        noise = level_split.noise_of(amounts, gaussian=gaussian)
        return math.sqrt(np.mean([one.mean() for one in tree.variances(noise)]))

    assert root((Fraction(1, 3),) * 3) == pytest.approx(1.624, rel=1e-3)
    best = level_split.split(tree, (1.0,) * 3, Fraction(1), ((1, 1, 1),), gaussian=True)
    assert sum(best) == 1
    assert root(best) == pytest.approx(1.622, rel=1e-3)
    pure = level_split.split(tree, (1.0,) * 3, Fraction(1), ((1, 1, 1),), gaussian=False)
    assert root(pure, gaussian=False) < root((Fraction(1, 3),) * 3, gaussian=False)
    random = np.random.default_rng(2)
    for _ in range(8):
        other = [one * Fraction(math.exp(0.2 * random.standard_normal())) for one in best]
        assert root([one / sum(other) for one in other]) >= root(best) * (1 - 1e-6)


def test_a_level_that_repeats_another_is_not_drawn():
    """Nodes with one child each say the same twice; the weights of the levels still count both."""
    tree = CountTree(4, ((1, 1, 1, 1),))
    amounts = level_split.split(tree, (1.0, 1.0), Fraction(1), ((1, 1),), gaussian=False)
    assert amounts == (None, Fraction(1))


def test_nodes_of_one_class_have_one_variance_and_others_usually_do_not():
    noise = (3.0, 1.0, 2.0, 1.5)
    for classes, spread in zip(UNEQUAL.alike, UNEQUAL.variances(noise), strict=True):
        for one, other in itertools.combinations(range(len(classes)), 2):
            same = spread[one] == pytest.approx(spread[other], rel=1e-12)
            assert same or classes[one] != classes[other]
    assert (
        len(set(UNEQUAL.alike[-1].tolist())) == 5
    )  # seven parents, three of which have one child and one parent


def test_no_negative_leaves_are_optimal():
    """The conditions of Karush, Kuhn and Tucker."""
    random, noise = np.random.default_rng(3), (2.0, 1.0, 1.0, 0.7)
    noisy = [random.normal(0.5, 2, size) for size in UNEQUAL.sizes]
    found = UNEQUAL.nonnegative(noisy, noise)
    gradient = np.zeros(len(found))
    for own, seen, variance in zip(matrices(UNEQUAL), noisy, noise, strict=True):
        gradient += own.T @ (own @ found - seen) / variance
    assert found.min() == 0
    assert gradient.min() > -1e-6
    assert np.abs(gradient[found > 1e-6]).max() < 1e-6


def test_whole_numbers_add_up_and_stay_near():
    random = np.random.default_rng(4)
    for _ in range(20):
        for shift, tree in itertools.product((0.0, 1.5), (UNEQUAL, FOREST)):
            counts = tree.totals(random.exponential(2, tree.sizes[-1]) - shift)
            whole = tree.totals(tree.whole(counts))
            assert all(np.issubdtype(one.dtype, np.integer) for one in whole)
            if shift:
                assert max(np.abs(a - b).max() for a, b in zip(counts, whole, strict=True)) < 2
            else:
                assert whole[-1].min() >= 0


LEAVES = [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("a", 5), ("c", 6)]
DATA = {
    "x": ["a"] * 30 + ["b"] * 12 + ["c"] * 9 + ["?"] * 4 + ["b"],
    "y": [1, 3, 5] * 10 + [2] * 12 + [4] * 9 + [1] * 5,
}


def asked(price, interval=None, **options):
    """A hierarchy and the mechanism that answers it by default."""
    statistic = Hierarchy(("x", "y"), leaves=LEAVES, **options)
    return statistic, next(iter(LevelNoise.offers(statistic, price, Hints(interval=interval))))


def answered(statistic, made, bits, **options):
    source = Memory(DATA)
    return made.answer(statistic, lambda request: source.summary(request)[0], Lattice(), bits=bits, **options)


@pytest.mark.parametrize(
    "price",
    [
        Pure(1),
        Concentrated(Fraction(1, 10)),
        pytest.param(Approx(1, Fraction(1, 10**6)), marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("relation", list(Neighbors)[:2])
@pytest.mark.parametrize(
    "options", [{}, {"negative": "projected"}, {"rounded": True}, {"negative": "projected", "rounded": True}]
)
def test_counts_add_up_exactly(price, relation, options):
    """As doubles, without rounding; the children of a node stand side by side."""
    statistic, made = asked(price, neighbors=relation, **options)
    assert made.refusal(statistic) is None
    total, *rest = answered(statistic, made, SeededBits(5)).value
    regions, places = rest[:3], rest[3:]
    assert statistic.leaves == (("a", 1), ("a", 3), ("a", 5), ("b", 2), ("c", 4), ("c", 6))
    assert regions == [sum(places[:3]), places[3], sum(places[4:])]
    assert total == sum(regions)
    if "negative" in options:
        assert min(places) >= 0
    if "rounded" in options:
        assert all(one == int(one) for one in rest)


@pytest.mark.parametrize("relation", list(Neighbors)[:2])
@pytest.mark.parametrize("price", [Pure(1), Concentrated(Fraction(1, 5))])
def test_the_worst_neighbour_costs_the_price(relation, price):
    """Every pair of rows, and a row that is no path: in amounts times what moves, the worst is the price."""
    statistic, made = asked(price, neighbors=relation)
    shares = [one or 0 for one in made.amounts]
    one = [
        np.concatenate(level)
        for level in zip(*(statistic.tree.totals(leaf) for leaf in np.eye(6)), strict=True)
    ]
    by_row = [[level.reshape(6, -1)[row] for level in one] for row in range(6)]
    nothing = [np.zeros_like(level) for level in by_row[0]]
    pairs = [(row, nothing) for row in by_row]
    if relation is not ADDED:
        pairs += list(itertools.combinations(by_row, 2))
    power = 2 if made.gaussian else 1
    losses = [
        sum(float(a) * (np.abs(x - y) ** power).sum() for a, x, y in zip(shares, *pair, strict=True))
        for pair in pairs
    ]
    budget = 2 * price.rho if made.gaussian else price.epsilon
    assert max(losses) == pytest.approx(float(budget), rel=1e-9)
    cheap = LevelNoise(
        price=price,
        gaussian=made.gaussian,
        amounts=tuple(a and a * Fraction(1001, 1000) for a in made.amounts),
    )
    assert cheap.refusal(statistic) is not None
    assert (
        LevelNoise(price=price, gaussian=made.gaussian, amounts=made.amounts[1:]).refusal(statistic)
        is not None
    )


@pytest.mark.parametrize("price", [Pure(1), Concentrated(Fraction(1, 5))])
@pytest.mark.parametrize("at_once", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_bars_after_least_squares_cover_and_half_as_wide_ones_do_not(price, at_once, monkeypatch):
    """Against real draws with public truth."""
    monkeypatch.setattr(level_split, "DRAWS", (2_000, 10_000))
    statistic, made = asked(price, Sample(0.9, simultaneous=at_once), neighbors=ADDED)
    source, bits = Memory(DATA), SeededBits(6)
    truth = np.array(statistic.open(source.summary(statistic.request())[0]).value)
    inside, near = [], []
    for _ in range(80):
        answer = answered(statistic, made, bits)
        low, high = np.array(answer.public["low"]), np.array(answer.public["high"])
        fine = (low <= truth) & (truth <= high)
        half = np.abs(np.array(answer.value) - truth) <= (high - np.array(answer.value)) / 2
        inside.append(fine.all() if at_once else fine)
        near.append(half.all() if at_once else half)
    assert np.mean(inside) >= (0.8 if at_once else 0.88)
    assert np.mean(near) < 0.8


def test_somebody_with_several_rows_gets_noise_for_all_of_them():
    statistic, made = asked(Concentrated(Fraction(1, 5)), neighbors=ADDED)
    one, three = (made.deviation(statistic, (0,), rows) for rows in (1, 3))
    assert three == pytest.approx(3 * one)
    bits = SeededBits(7)
    drawn = np.array([answered(statistic, made, bits, contribution=3).value[1] for _ in range(100)])
    assert drawn.std() == pytest.approx(three, rel=0.25)


def test_bars_of_very_many_geometric_counts_are_refused_with_the_way_out(monkeypatch):
    monkeypatch.setattr("sordino.mechanisms.table.levels.MOST_BARRED", 9)
    statistic = Hierarchy(("x", "y"), leaves=LEAVES, neighbors=ADDED)
    made = next(iter(LevelNoise.offers(statistic, Pure(1), Hints(interval=Sample(0.9)))))
    assert "concentrated price" in made.refusal(statistic)
    fine = next(iter(LevelNoise.offers(statistic, Concentrated(1), Hints(interval=Sample(0.9)))))
    assert fine.refusal(statistic) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"leaves": []}, {"leaves": [("a",)]}, {"leaves": [("a", 1), ("a", 1)]}, {"leaves": [("a", 1), ("a", "b")]},
        {"leaves": "ab"}, {"leaves": [("a", None)]}, {"leaves": [("a", 1.5)]}, {"leaves": [("a", [1])]},
        {"leaves": [("a", 1)], "margins": [("y",)]}, {"leaves": [("a", 1)], "margins": [("x",), ("x",)]},
        {"leaves": [("a", 1)], "weights": (1.0,)}, {"leaves": [("a", 1)], "negative": "dropped"}, {"leaves": 7},
    ],
)  # fmt: skip
def test_bad_leaves_are_refused(wrong):
    """Before anything is asked."""
    with pytest.raises(ParameterError):
        Hierarchy(("x", "y"), **wrong)
