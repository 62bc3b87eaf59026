"""Whole-number noise: the law by draws, the promise point by point, and what it saves over rounding."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.data.memory import Memory
from sordino.errors import Unsupported
from sordino.exact.bits import SeededBits
from sordino.lattice import Lattice
from sordino.mechanisms.additive.geometric import Geometric, GeometricLaw, two_sided
from sordino.mechanisms.choose import choose
from sordino.privacy import Approx, BoundedRange, Concentrated, Pure
from sordino.reading.profile import Opened, Profile, Reading
from sordino.statistics.count_above import CountAbove
from sordino.statistics.mean import Mean


def reading(value, sensitivity=1):
    return Reading(Opened(value, Lattice(), Profile.constant(sensitivity), None, rows=9))


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(5, 2)])
def test_draws_follow_the_law_and_not_a_neighbour(scale):
    bits = SeededBits(11)
    draws = np.array([two_sided(scale, bits=bits) for _ in range(6000)])
    reach = 6
    observed = np.array([np.sum(draws == k) for k in range(-reach, reach + 1)])

    def distance(rate):
        law = GeometricLaw(value=0, rate=rate)
        expected = np.array([math.exp(law.log_probability(k)) for k in range(-reach, reach + 1)]) * len(draws)
        return float(np.sum((observed - expected) ** 2 / expected))

    assert distance(1 / float(scale)) < 34.5  # 99.9 % of chi-square with 13 degrees of freedom
    assert distance(1.3 / float(scale)) > 34.5


def test_a_law_is_a_law():
    law = GeometricLaw(value=3, rate=0.7)
    points = np.arange(-100, 107)
    chances = np.exp([law.log_probability(int(k)) for k in points])
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert np.sum(chances * (points - 5) ** 2) == pytest.approx(law.mean_squared_error(5), rel=1e-9)
    assert law.mean() == 3
    cumulative = np.cumsum(chances)
    assert [law.cdf(float(k)) for k in points] == pytest.approx(list(cumulative), abs=1e-12)
    assert law.logpdf(3.5) == -math.inf
    within = [law.cdf(3 + d) - law.cdf(3 - d - 1) for d in range(9)]
    assert law.error_quantile(3, 0.9) == next(d for d, chance in enumerate(within) if chance >= 0.9)


@pytest.mark.parametrize("sensitivity", [1, 3])
def test_one_person_changes_no_probability_by_more_than_the_price(sensitivity):
    mechanism = Geometric(price=Pure(0.8))
    one, other = (mechanism.law(reading(value, sensitivity)) for value in (10, 10 + sensitivity))
    losses = [one.log_probability(k) - other.log_probability(k) for k in range(-50, 80)]
    assert max(map(abs, losses)) == pytest.approx(0.8, rel=1e-9)


def test_it_is_less_than_rounded_laplace_noise():
    rounded = 2 * sum(k * k * math.exp(-k) * math.sinh(0.5) for k in range(1, 200))
    assert Geometric(price=Pure(1)).law(reading(4)).mean_squared_error(4) < 0.9 * rounded


def test_counts_use_it_for_pure_prices_only():
    statistic = CountAbove("x", threshold=2)
    assert choose(statistic, Pure(1), rows=9).name == "geometric"
    assert choose(statistic, Pure(1), rows=9, interval=0.9).name == "geometric"
    assert choose(statistic, Concentrated(0.5), rows=9).calibration.noise.name == "gaussian"
    mechanism = choose(statistic, Pure(40), rows=9)
    source = Memory({"x": np.arange(9.0)})
    answer = mechanism.answer(
        statistic, lambda ask: source.summary(ask)[0], Lattice.dyadic(0), bits=SeededBits(1)
    )
    assert answer.value == 6


def test_prices_it_has():
    assert Geometric(price=BoundedRange(1)).epsilon == Fraction(1, 2)
    assert Geometric(price=Approx(1, 1e-6)).epsilon == 1
    with pytest.raises(Unsupported, match="pure epsilon"):
        Geometric(price=Concentrated(0.5))


def test_it_refuses_what_is_not_whole():
    statistic = Mean("x", low=0, high=1)
    (summary,) = Memory({"x": np.array([0.5])}).summary(statistic.request(depth=0))
    with pytest.raises(Unsupported, match="whole numbers"):
        Geometric(price=Pure(1)).law(statistic.read(summary))
