"""Large tables most of whose cells are empty: the sparse draw, the threshold with the least error, exact tails."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.lattice import Lattice
from sordino.mechanisms.table.high_pass import HighPass
from sordino.mechanisms.table.high_pass_law import HighPassLaw, whole_exponential
from sordino.mechanisms.table.threshold_risk import best_threshold, risk, unbiased_risk
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.statistics.sparse_table import SparseTable

NOTHING = np.zeros(0, np.int64)


def test_thresholds_are_those_of_the_table():
    """One false cell on average."""
    found = {
        rate: [
            HighPassLaw.listing(1 / Fraction(rate), 10**power, 1, gaussian=False).threshold
            for power in (4, 6, 9, 12)
        ]
        for rate in ("0.1", "1", "3")
    }
    assert found == {"0.1": [86, 132, 201, 270], "1": [9, 14, 21, 28], "3": [4, 5, 7, 10]}


@pytest.mark.parametrize("law", [HighPassLaw(Fraction(1), 4), HighPassLaw(Fraction(2), 5, gaussian=True)])
def test_empty_cells_are_shown_as_often_and_as_high_as_if_each_were_drawn(law):
    """Numbers of cells, their values and their places; a law with the threshold off by one is rejected."""
    bits, runs, cells = SeededBits(8), 600, 400
    drawn = [law.draw(NOTHING, NOTHING, cells, bits) for _ in range(runs)]
    counts = np.array([len(one) for one in drawn])
    expected = cells * law.empty
    assert abs(counts.mean() - expected) < 5 * math.sqrt(expected / runs)
    assert abs(counts.var() - expected) < 8 * expected * math.sqrt(2 / runs)
    other = HighPassLaw(law.scale, law.threshold + 1, law.gaussian)
    assert abs(counts.mean() - cells * other.empty) > 10 * math.sqrt(expected / runs)
    logs, _ = law.logs(0, 0)
    values = np.array([value for one in drawn for value in one.values()])
    first = math.exp(logs[law.threshold]) / law.empty
    assert abs((values == law.threshold).mean() - first) < 5 * math.sqrt(first * (1 - first) / len(values))
    places = np.array([place for one in drawn for place in one])
    assert abs(places.mean() - (cells - 1) / 2) < 5 * cells / math.sqrt(12 * len(places))
    assert places.min() >= 0
    assert places.max() < cells
    assert 0 in places
    assert cells - 1 in places


def test_filled_cells_keep_their_own_law():
    """However many empty ones there are."""
    law, bits, runs = HighPassLaw(Fraction(1), 5), SeededBits(9), 2000
    shown = [law.draw(np.array([7]), np.array([4]), 50, bits).get(7) for _ in range(runs)]
    chance = 1 - math.exp(law.logs(4, 4)[1])
    assert abs(np.mean([one is not None for one in shown]) - chance) < 5 * math.sqrt(chance / runs)


def test_whole_parts_of_exponentials_are_geometric():
    """Against the exact law."""
    from sordino.exact.balls import rational

    bits, runs = SeededBits(3), 4000
    drawn = np.array([whole_exponential(lambda: rational(Fraction(1, 2)), bits) for _ in range(runs)])
    for value in range(4):
        chance = math.exp(-value / 2) * -math.expm1(-0.5)
        assert abs((drawn == value).mean() - chance) < 5 * math.sqrt(chance / runs)


@pytest.mark.few(3)
@pytest.mark.parametrize("rate", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("threshold", [1, 6, 30])
def test_the_risk_is_estimated_without_bias(rate, threshold):
    """Summed exactly over the noise, for negative numbers too."""
    noise = np.arange(-5000, 5001)
    chances = math.tanh(rate / 2) * np.exp(-rate * np.abs(noise))
    for count in (-20, -1, 0, 1, 5, 29, 30, 31, 200):
        wrong = np.where(count + noise >= threshold, noise.astype(float) ** 2, float(count**2))
        expected = float(np.dot(chances, wrong))
        assert risk(np.array([count]), threshold, rate)[0] == pytest.approx(expected, rel=1e-10, abs=1e-12)
        assert np.dot(chances, unbiased_risk(count + noise, threshold, rate)) == pytest.approx(
            expected, rel=1e-10
        )


def test_the_threshold_that_is_found_is_near_the_best():
    """On a generated table where most cells are empty."""
    random = np.random.default_rng(5)
    counts = np.where(random.random(50_000) < 0.02, random.geometric(0.05, 50_000), 0)
    noise = random.geometric(1 - math.exp(-1), 50_000) - random.geometric(1 - math.exp(-1), 50_000)
    noisy = counts + noise
    errors = [float(((np.where(noisy >= at, noisy, 0) - counts) ** 2).sum()) for at in range(1, 13)]
    assert errors[best_threshold(noisy, 1.0, 12) - 1] <= 1.02 * min(errors)


@pytest.mark.few(1)
@pytest.mark.parametrize("price", [Pure(2), Concentrated(2)])
@pytest.mark.parametrize("relation", list(Neighbors)[:2])
def test_a_billion_cells(price, relation):
    """Only what stands out is listed, in the order of the cells, with its keys."""
    table = {"x": [17] * 300 + [5] * 200 + [999_999] * 2, "y": [3] * 500 + [4] * 2}
    statistic = SparseTable(
        ("x", "y"), levels=(range(1_000_000), range(1000)), false_cells=0.01, neighbors=relation
    )
    source = Memory(table)
    answer = HighPass(price=price, level=0.95).answer(
        statistic, lambda request: source.summary(request)[0], Lattice(), bits=SeededBits(1)
    )
    assert set(answer.public["keys"]) >= {(5, 3), (17, 3)}
    assert len(answer.public["keys"]) <= 4
    assert list(answer.public["keys"]) == sorted(answer.public["keys"])
    place = answer.public["keys"].index((17, 3))
    assert answer.public["low"][place] <= answer.value[place] <= answer.public["high"][place]
    assert abs(answer.value[place] - 300) < 40
