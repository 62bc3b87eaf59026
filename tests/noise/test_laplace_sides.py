"""Laplace noise under a smooth bound: a narrower law never costs more than a wider one, and the noise is the least."""

from fractions import Fraction

import numpy as np
import pytest

from sordino.noise.laplace import Laplace
from sordino.privacy import Approx
from sordino.testing.noise_pairs import hockey_stick, worst_hockey_stick


def sides(epsilon, u, eta):
    """Delta of the narrower law against the wider one, and the other way round, in closed form."""
    h = np.maximum(u + eta * np.exp(-u) - epsilon, 0)
    w = np.exp(u)
    narrow = 1 - (1 + w) / 2 * np.exp(-h * w / (w + 1)) + (w - 1) / 2 * np.exp(-h * w / (w - 1))
    wide = -np.expm1(-u) * np.exp(-(epsilon + u) / (w - 1)) * np.cosh(np.minimum(eta / (w - 1), 700))
    return narrow, wide


def test_a_narrower_law_costs_no_more():
    random = np.random.default_rng(1)
    epsilon = np.exp(random.uniform(np.log(1e-3), np.log(20), 400_000))
    u = np.maximum(
        epsilon * random.uniform(0, 1, len(epsilon)) ** random.choice([0.2, 1, 3], len(epsilon)), 2e-3
    )
    kept = u < epsilon
    epsilon, u = epsilon[kept], u[kept]
    eta = epsilon * random.uniform(0, 1, len(epsilon)) ** random.choice([0.05, 0.3, 1], len(epsilon))
    narrow, wide = sides(epsilon, u, eta)
    assert np.all(narrow <= wide + 1e-13)
    assert np.max(narrow[wide > 1e-9] / wide[wide > 1e-9]) > 0.9  # not far from it: the lemma is not idle
    assert np.any(narrow > sides(epsilon, u, 0.98 * eta)[1] + 1e-9)  # a slightly smaller shift would not pay


@pytest.mark.parametrize(
    ("epsilon", "delta", "smoothing"), [("0.2", "0.05", "0.15"), ("0.5", "0.01", "0.08")]
)
def test_noise_is_smaller_where_only_the_narrower_side_was_in_the_way(epsilon, delta, smoothing):
    price, g = Approx(Fraction(epsilon), Fraction(delta)), Fraction(smoothing)
    eta = 1 / float(Laplace.calibrate(price, smoothing=g).scale)
    before = np.exp(float(g)) * (float(price.epsilon) - float(g))
    assert eta > before * 1.01
    for t in (-float(g), -float(g) / 2, float(g)):
        shift = eta * min(1.0, np.exp(t))
        assert hockey_stick(Laplace(), t, shift, float(price.epsilon)) <= float(price.delta) * (1 + 1e-9)
    assert hockey_stick(Laplace(), float(g), 1.03 * eta, float(price.epsilon)) > float(
        price.delta
    ) or eta == float(price.epsilon)


def test_a_shift_beyond_epsilon_is_not_paid_for_by_the_widest_law():
    price, g = Approx(1, Fraction("0.0476")), Fraction("0.1")
    beyond = 1.1  # what the widest law alone would allow
    assert hockey_stick(Laplace(), float(g), beyond, 1.0) <= float(price.delta)
    assert hockey_stick(Laplace(), 0.0, beyond, 1.0) > 1.02 * float(price.delta)
    eta = 1 / float(Laplace.calibrate(price, smoothing=g).scale)
    assert worst_hockey_stick(Laplace(), float(g), eta, 1.0) <= float(price.delta)
