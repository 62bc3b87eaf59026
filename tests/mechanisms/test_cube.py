"""Cube noise: its density, its exact draw, one radius for all coordinates, means of several columns."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sordino.coverage import Sample
from sordino.data.memory import Memory
from sordino.errors import ParameterError
from sordino.exact.bits import SeededBits
from sordino.hints import Hints
from sordino.lattice import Lattice
from sordino.mechanisms.additive.cube import CubeNoise
from sordino.mechanisms.additive.cube_draw import Cube, cube_deviation, cube_half, cube_tail
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.statistics.means import Means

FINE = Lattice.dyadic(-24)


def drawn(dimension, many, seed=1):
    """Unit noise in so many dimensions."""
    cube, bits = Cube((Fraction(0),) * dimension, (Fraction(1),) * dimension), SeededBits(seed)
    return np.array([cube.draw(FINE, bits) for _ in range(many)]) * float(FINE.step)


@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_the_largest_coordinate_has_a_gamma_law(dimension):
    """With as many degrees as dimensions; a radius of its own for every coordinate has another law."""
    largest = np.abs(drawn(dimension, 1500)).max(axis=1)
    assert stats.kstest(largest, "gamma", (dimension,)).pvalue > 1e-3
    if dimension > 1:
        random = np.random.default_rng(1)
        own = random.gamma(dimension + 1, size=(1500, dimension)) * random.uniform(-1, 1, (1500, dimension))
        assert stats.kstest(np.abs(own).max(axis=1), "gamma", (dimension,)).pvalue < 1e-6


def test_the_density_falls_with_the_largest_coordinate():
    """Quarters of a square hold as many points each, and log ratios are at most the shift."""
    points = drawn(2, 6000, seed=2)
    inside = np.abs(points).max(axis=1) < 1
    quarters = [
        ((points[inside] * signs) > 0).all(axis=1).mean() for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1))
    ]
    assert np.allclose(quarters, 0.25, atol=0.06)
    near = ((np.abs(points[:, 0]) < 0.5) & (np.abs(points[:, 1]) < 0.5)).mean()
    corner = ((points[:, 0] > 0.5) & (points[:, 0] < 1.5) & (np.abs(points[:, 1]) < 0.5)).mean()
    assert near / corner < math.exp(1) * 1.15
    assert near / corner > 1.3


@pytest.mark.parametrize("dimension", [1, 3, 10])
def test_tails_and_deviations(dimension):
    """The closed form against an integral, and the figures of the documentation."""
    draws = np.random.default_rng(3)
    noise = draws.gamma(dimension + 1, size=200_000) * draws.uniform(-1, 1, 200_000)
    for at in (0.5, 2.0, 6.0):
        assert cube_tail(at, dimension) == pytest.approx((np.abs(noise) > at).mean(), abs=5e-3)
    assert noise.std() == pytest.approx(cube_deviation(dimension), rel=0.02)
    assert cube_tail(cube_half(0.05, dimension), dimension) == pytest.approx(0.05, rel=1e-6)
    ratios = [round(cube_deviation(d) / (math.sqrt(2) * d), 2) for d in (2, 5, 10, 30)]
    assert ratios == [0.71, 0.53, 0.47, 0.43]


@pytest.mark.parametrize("price", [Pure(1), Concentrated(Fraction(1, 5))])
@pytest.mark.parametrize("relation", list(Neighbors)[:2])
def test_means_are_unbiased_and_bars_cover(price, relation):
    """Of two columns with different widths; bars a third as wide do not cover."""
    random = np.random.default_rng(4)
    table = {"a": random.uniform(0, 80, 400), "b": random.uniform(-1, 1, 400)}
    statistic = Means(("a", "b"), low=(0, -1), high=(100, 1), neighbors=relation)
    (made,) = CubeNoise.offers(statistic, price, Hints(interval=Sample(0.9)))
    source, bits = Memory(table), SeededBits(7)
    truth = np.array([table["a"].mean(), table["b"].mean()])
    values, covered, thin = [], [], []
    for _ in range(150):
        answer = made.answer(
            statistic, lambda request: source.summary(request)[0], Lattice.dyadic(-20), bits=bits
        )
        value = np.array([float(one) for one in answer.value])
        low, high = np.array(answer.public["low"]), np.array(answer.public["high"])
        values.append(value)
        covered.append((low <= truth) & (truth <= high))
        thin.append(np.abs(value - truth) <= (high - low) / 6)
    assert np.allclose(np.mean(values, axis=0), truth, atol=(0.6, 0.012))
    assert np.mean(covered) > 0.85
    assert np.mean(thin) < 0.75


def test_bounds_are_one_or_one_per_column():
    """Anything else is refused."""
    assert Means("a", low=0, high=1).low == (0.0,)
    with pytest.raises(ParameterError, match="one per column"):
        Means(("a", "b"), low=0, high=(1, 2, 3))
    with pytest.raises(ParameterError, match="different"):
        Means(("a", "a"), low=0, high=1)
