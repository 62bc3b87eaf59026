"""The peers' laws: against their own definitions by brute force, with the power to reject a wrong slope."""

import numpy as np
import pytest
from scipy.stats import kstest

from benchmarks.peers import law_checks, laws

VALUES = np.array([1.0, 2.0, 2.5, 4.0, 4.0, 7.0, 9.0])


def test_a_mixture_has_the_moments_of_its_draws():
    law = laws.gaps(VALUES, 0, 10, 0.5, 0.5)
    random = np.random.default_rng(1)
    chosen = random.choice(len(law.chance), p=law.chance, size=200_000)
    draws = random.uniform(law.low[chosen], law.high[chosen])
    assert law.rmse(4.0) == pytest.approx(np.sqrt(np.mean((draws - 4) ** 2)), rel=0.01)
    assert law.median_error(4.0) == pytest.approx(np.median(abs(draws - 4)), rel=0.02)
    assert law.cdf(5.0) == pytest.approx(np.mean(draws <= 5), abs=0.005)


def test_gaps_weigh_width_and_rank():
    law = laws.diffprivlib([2.0, 3.0], 0, 10, 0.5, 2.0)
    weights = np.array([2 * np.exp(-1), 1.0, 7 * np.exp(-1)])
    assert law.chance == pytest.approx(weights / weights.sum())
    other = laws.tmlt([2.0, 3.0], 0, 10, 0.5, 2.0)  # half the sensitivity, twice the slope
    steeper = np.array([2 * np.exp(-2), 1.0, 7 * np.exp(-2)])
    assert other.chance == pytest.approx(steeper / steeper.sum())


def noisy_winners(points, values, q, epsilon, count):
    """OpenDP's selection as documented: exponential noise of scale 2/epsilon on minus the score."""
    random = np.random.default_rng(3)
    below = (values[None, :] < points[:, None]).sum(1)
    above = (values[None, :] > points[:, None]).sum(1)
    score = -np.abs((1 - q) * below - q * above)
    return points[np.argmax(score + random.exponential(2 / epsilon, (count, len(points))), axis=1)]


@pytest.mark.parametrize(("q", "epsilon"), [(0.5, 1.0), (0.9, 0.3), (0.0, 3.0)])
def test_the_noisy_maximum_has_its_law(q, epsilon):
    points = np.linspace(0, 10, 21)
    draws = noisy_winners(points, VALUES, q, epsilon, 200_000)
    law = laws.opendp(VALUES, points, q, epsilon)
    assert law.chance.sum() == pytest.approx(1)
    assert law.chance == pytest.approx([np.mean(draws == point) for point in points], abs=0.004)


@pytest.mark.statistical
def test_a_wrong_slope_would_be_noticed():
    random = np.random.default_rng(2)
    law, wrong = laws.gaps(VALUES, 0, 10, 0.5, 0.5), laws.gaps(VALUES, 0, 10, 0.5, 1.0)
    chosen = random.choice(len(law.chance), p=law.chance, size=1500)
    draws = random.uniform(law.low[chosen], law.high[chosen])
    assert kstest([law.cdf(x) for x in draws], "uniform").pvalue > 0.01
    assert kstest([wrong.cdf(x) for x in draws], "uniform").pvalue < 1e-4


def test_a_law_is_tested_by_where_draws_fall_in_it():
    random = np.random.default_rng(6)
    points = np.linspace(0, 10, 21)
    law, wrong = laws.opendp(VALUES, points, 0.5, 1.0), laws.opendp(VALUES, points, 0.5, 1.6)
    draws = random.choice(points, p=law.chance, size=1500)
    assert law_checks.p_value(law, draws, random) > 0.01
    assert law_checks.p_value(wrong, draws, random) < 1e-4


def test_shifting_takes_luck_away_and_misfortune_too():
    values = np.concatenate([np.linspace(0, 4.9, 100), [5.0], np.linspace(5.1, 10, 100)])
    on, between = (
        np.linspace(0, 10, 11),
        np.linspace(0, 10, 12),
    )  # 5 is a candidate of the first and not of the second
    told = {}
    for name, points in (("on", on), ("between", between)):
        asked = laws.opendp(values, points, 0.5, 2.0).rmse(5.0)
        told[name] = (asked, laws.shifted_rmse(values, points, 0.5, 2.0, 5.0))
    assert told["on"][0] < 0.01 * told["on"][1]
    assert told["between"][1] < told["between"][0]
    step = 1.0  # the nearest of candidates a step apart is off by a uniform half
    assert told["on"][1] == pytest.approx(step / np.sqrt(12), rel=0.05)


def test_shifted_candidates_stay_within_the_bounds(monkeypatch):
    seen = []
    law = laws.opendp
    monkeypatch.setattr(
        laws, "opendp", lambda values, points, *rest: seen.append(points) or law(values, points, *rest)
    )
    laws.shifted_rmse(VALUES, np.linspace(0, 10, 21), 0.5, 1.0, 4.0, shifts=8)
    assert len(seen) == 8
    assert all(points.min() >= 0 and points.max() <= 10 and len(points) == 21 for points in seen)
    assert np.mean([points[10] for points in seen]) == pytest.approx(5.0)
