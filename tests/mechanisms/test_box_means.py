"""Means of several columns in a box and in a ball: what one row moves, the exact cut, and what it is worth."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.hints import Hints
from sordino.mechanisms.additive.cube import CubeNoise
from sordino.mechanisms.choose import choose, output_grid
from sordino.mechanisms.clip import ball
from sordino.mechanisms.clip.box_means import BoxMeans
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.statistics.means import Means

NAMES = tuple("abcdefghijkl")


def test_a_box_is_minus_one_to_one_and_no_row_leaves_it():
    codes = np.array([[0, 3, 7, 2**31 - 1], [5, 5, 6, 4]])
    found = ball.boxed(codes, [3, 5], [7, 5])
    assert found[0].tolist() == [-ball.UNIT, -ball.UNIT, ball.UNIT, ball.UNIT]
    assert np.abs(found).max() <= ball.UNIT
    wide = ball.boxed(np.array([[0, 2**31 - 1, 2**30]]), [0], [2**31 - 1])
    assert wide[0, :2].tolist() == [-ball.UNIT, ball.UNIT]


def test_no_row_is_longer_than_the_radius_in_whole_numbers():
    """Exact squares of hostile rows: on the radius, next to it, far away, in every direction."""
    random = np.random.default_rng(1)
    for columns, radius in itertools.product((1, 2, 12), (1, 7, 1000, ball.UNIT)):
        centre = random.integers(-ball.UNIT, ball.UNIT + 1, columns)
        points = np.concatenate(
            [
                random.integers(-ball.UNIT, ball.UNIT + 1, (columns, 200)),
                np.clip(centre[:, None] + random.integers(-radius, radius + 1, (columns, 200)), -ball.UNIT, ball.UNIT),
                np.full((columns, 1), ball.UNIT), np.full((columns, 1), -ball.UNIT),
            ],
            axis=1,
        )  # fmt: skip
        squares = ball.squared(points, centre)
        exact = [sum(int(x - c) ** 2 for x, c in zip(row, centre, strict=True)) for row in points.T]
        assert squares.tolist() == exact
        cut = ball.pulled(points, centre, squares, radius)
        lengths = [sum(int(x) ** 2 for x in row) for row in cut.T]
        assert max(lengths) <= radius**2
        for row, before, after in zip(points.T, squares.tolist(), cut.T, strict=True):
            if before <= radius**2:
                assert (after == row - centre).all()  # who is inside stays
        assert ball.outside(squares, [radius]) == [sum(one > radius**2 for one in exact)]
        total = ball.pulled_sums(points, centre, squares, radius)
        assert total.tolist() == cut.sum(axis=1).tolist()


def test_coordinates_that_are_rounded_to_the_nearest_let_rows_out(monkeypatch):
    """The planted error."""
    monkeypatch.setattr(ball.np, "trunc", np.rint)
    points, centre = np.array([[2**19], [2**19 - 1]]), np.zeros(2, np.int64)
    radii = range(2**18, 2**18 + 40)
    found = [ball.pulled(points, centre, ball.squared(points, centre), radius)[:, 0] for radius in radii]
    assert any(int(a) ** 2 + int(b) ** 2 > radius**2 for (a, b), radius in zip(found, radii, strict=True))


def test_it_is_offered_where_bounds_are_called_far_too_wide():
    asked = Means(NAMES, low=0, high=1e6)
    assert isinstance(choose(asked, Concentrated(1), rows=1000), CubeNoise)
    assert choose(asked, Concentrated(1), rows=1000, loose=True).round
    assert not choose(asked, Pure(1), rows=1000, loose=True).round
    few = Means(NAMES[:3], low=0, high=1e6)
    assert not choose(few, Concentrated(1), rows=1000, loose=True).round
    assert isinstance(choose(few, Concentrated(1), rows=1000, loose=True, interval=0.9), CubeNoise)
    with pytest.raises(sd.SordinoError, match="concentrated"):
        BoxMeans(price=Pure(1), rows=10, round=True)


def table(columns, rows):
    random = np.random.default_rng(3)
    return {name: random.lognormal(1 + place / 5, 0.5, rows) for place, name in enumerate(NAMES[:columns])}


def root(made, statistic, data, releases):
    """Root mean square error over columns and releases, in deviations."""
    source, bits, gaps = Memory(data), SeededBits(4), []
    for _ in range(releases):
        answer = made.answer(statistic, lambda ask: source.summary(ask)[0], output_grid(statistic), bits=bits)
        gaps += [(float(v) - x.mean()) / x.std() for v, x in zip(answer.value, data.values(), strict=True)]
    return math.sqrt(np.mean(np.square(gaps)))


@pytest.mark.parametrize("relation", list(Neighbors)[:2])
@pytest.mark.parametrize("price", [Concentrated(Fraction(1, 2)), Pure(4)])
def test_wide_bounds_hardly_matter(relation, price):
    """Bounds a thousand times too wide: a small part of the error of noise for them."""
    statistic = Means(NAMES, low=0, high=10_000, neighbors=relation)
    made = next(iter(BoxMeans.offers(statistic, price, Hints(rows=4000, loose=True))))
    data = table(12, 4000)
    found = root(made, statistic, data, 2)
    assert found < root(CubeNoise(price=price), statistic, data, 2) / 20
    assert found < 0.3


def test_a_ball_errs_less_than_its_box():
    statistic = Means(NAMES, low=0, high=10_000)
    data, price = table(12, 4000), Concentrated(Fraction(1, 5))
    errors = [root(BoxMeans(price=price, rows=4000, round=way), statistic, data, 4) for way in (True, False)]
    assert errors[0] < 0.85 * errors[1]


def test_the_whole_way_through_a_session():
    data = table(12, 500)
    people = sd.open(data, budget=sd.Concentrated(1))
    answer = people.release(sd.Means(NAMES, low=0, high=1000), sd.Concentrated(0.5), loose=True)
    assert answer.event.mechanism["kind"] == "box-means"
    assert len(answer.value) == 12
    assert people.remaining == sd.Concentrated(0.5)
    assert any("cut" in line for line in answer.assumptions)
