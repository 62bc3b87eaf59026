"""The peers' laws: against their own definitions by brute force, with the power to reject a wrong slope."""

import numpy as np
import pytest
from benchmarks.peers import laws
from scipy.stats import kstest

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
    law = laws.opendp(VALUES, 0, 10, q, epsilon, 21)
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


@pytest.mark.parametrize(("low", "high"), [(-np.inf, np.inf), (0.0, 10.0), (-1.0, 50.0)])
def test_cut_laplace_noise_has_its_law(low, high):
    draws = np.clip(1.5 + np.random.default_rng(4).laplace(0, 3, 400_000), low, high) - 1.5
    law = laws.Noise(3.0, low, high)
    assert law.rmse(1.5) == pytest.approx(np.sqrt(np.mean(draws**2)), rel=0.01)
    assert law.median_error(1.5) == pytest.approx(np.median(abs(draws)), rel=0.02)


def test_two_sided_geometric_noise_has_its_law():
    plain = laws.Whole(1.0)
    decay = np.exp(-1.0)
    assert plain.rmse(7) == pytest.approx(
        np.sqrt(2 * decay) / (1 - decay)
    )  # 1.357, less than the square root of 2
    assert plain.median_error(7) == 1
    assert laws.Whole(0.1, 0, 201).rmse(2) < laws.Whole(0.1).rmse(2)
