"""The noise of point reports: its bits, its law, its promise by replay, and that planted errors are noticed."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sordino.errors import ParameterError
from sordino.exact.bits import Bits, SeededBits
from sordino.geo import Points, Reference, planar_laplace
from sordino.privacy import Geo
from tests.support.geo_vectors import vectors


@pytest.mark.parametrize("vector", vectors("noise"))
def test_bits_are_those_of_the_vectors(vector):
    words = iter(int(word, 16) for word in vector["in"]["words"])
    used = []
    k = planar_laplace.noise(vector["in"]["d"], lambda: used.append(1) or next(words))
    assert list(k) == vector["out"]["k"]
    assert len(used) == vector["out"]["words_used"]


def log_law(k, dimension):
    """log P(K = k), with the sum of the lattice by Poisson summation (T is large)."""
    volume = {1: 2.0, 2: 2 * np.pi, 3: 8 * np.pi}[dimension] * float(planar_laplace.T) ** dimension
    return -np.sqrt((np.asarray(k, dtype=float) ** 2).sum(axis=-1)) / planar_laplace.T - np.log(volume)


@pytest.mark.parametrize("vector", vectors("lattice_law"))
def test_the_law_is_that_of_the_vectors(vector):
    expected = float(vector["out"]["log_probability"])
    assert log_law(vector["in"]["k"], vector["in"]["d"]) == pytest.approx(expected, abs=1e-9)


def chi_square(drawn, dimension, unit=2.0):
    """p-value of draws against the full law on a lattice with a tiny unit."""
    reach = {1: 40, 2: 30, 3: 18}[dimension]
    axis = np.arange(-reach, reach + 1)
    grid = np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    law = np.exp(-np.sqrt((grid**2).sum(axis=1)) / unit)
    law /= law.sum()
    place = np.ravel_multi_index(tuple((np.clip(drawn, -reach, reach) + reach).T), (len(axis),) * dimension)
    seen, expected = np.bincount(place, minlength=len(law)), law * len(drawn)
    often = expected > 5
    parts = np.append((seen[often] - expected[often]) ** 2 / expected[often], 0.0)
    rest = expected[~often].sum()
    parts[-1] = (seen[~often].sum() - rest) ** 2 / max(rest, 1e-9)
    return stats.chi2.sf(parts.sum(), often.sum())


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_both_samplers_have_the_law(monkeypatch, dimension):
    monkeypatch.setattr(planar_laplace, "T", 2)
    bits = SeededBits(5)
    single = np.array(
        [planar_laplace.noise(dimension, lambda: bits.word() & (2**64 - 1)) for _ in range(8000)]
    )
    many = planar_laplace.noise_many(60_000, dimension, bits=SeededBits(6))
    assert chi_square(single, dimension) > 1e-4
    assert chi_square(many, dimension) > 1e-4


@pytest.mark.statistical
def test_planted_errors_are_rejected(monkeypatch):
    """A proposal that is too narrow, minus zero kept, and no acceptance at all."""
    monkeypatch.setattr(planar_laplace, "T", 2)
    with monkeypatch.context() as change:
        change.setitem(planar_laplace._RATIOS, 2, (4, 5))  # above 1/sqrt(2)
        assert chi_square(planar_laplace.noise_many(60_000, 2, bits=SeededBits(6)), 2) < 1e-6
    bits = SeededBits(7)

    def word():
        return bits.word() & (2**64 - 1)

    def careless(s, t, word):
        size = planar_laplace._geometric(s, t, word)
        return -size if word() >> 63 else size

    with monkeypatch.context() as change:
        change.setattr(planar_laplace, "_two_sided", careless)
        drawn = np.array([planar_laplace.noise(1, word) for _ in range(8000)])
        assert chi_square(drawn, 1) < 1e-6
    with monkeypatch.context() as change:
        change.setattr(planar_laplace, "_keep", lambda *_: True)
        drawn = np.array([planar_laplace.noise(2, word) for _ in range(8000)])
        assert chi_square(drawn, 2) < 1e-6


@pytest.mark.statistical
def test_the_fine_comparison_is_exact(monkeypatch):
    """With a coarse first comparison nearly every try is settled in balls, and the law is the same."""
    monkeypatch.setattr(planar_laplace, "T", 2)
    monkeypatch.setattr(planar_laplace, "_FINE", 1)
    assert chi_square(planar_laplace.noise_many(6000, 2, bits=SeededBits(3)), 2) > 1e-4


def test_a_broken_generator_sends_nothing():
    with pytest.raises(planar_laplace.BrokenGenerator, match="repeats itself"):
        planar_laplace.noise(2, lambda: 0)


def test_moments_of_the_noise():
    for dimension in (1, 2, 3):
        k = planar_laplace.noise_many(200_000, dimension, bits=SeededBits(1)) / planar_laplace.T
        np.testing.assert_allclose((k**2).mean(axis=0), dimension + 1, rtol=0.05)
        np.testing.assert_allclose(k.mean(axis=0), 0.0, atol=0.03)


# The promise, by replay of log-probabilities -------------------------------------------------------------

prices = st.builds(
    Geo, st.sampled_from([Fraction(1, 50), Fraction(1, 2), 1, 3]), st.sampled_from([1, 20, 500, 3000])
)


def worst_loss(a, b):
    """The largest |log P(y|a) - log P(y|b)|: by the triangle inequality beyond either point on their line, and by
    trying reports around them."""
    difference = (a - b).astype(float)
    far = [a + 50 * (a - b), b - 50 * (a - b)]
    rng = np.random.default_rng(0)
    near = list(a + rng.integers(-(10**6), 10**6, (200, len(a))))
    ratios = [
        abs(np.sqrt(((y - b) ** 2).sum(dtype=float)) - np.sqrt(((y - a) ** 2).sum(dtype=float)))
        for y in far + near
    ]
    bound = np.sqrt((difference**2).sum()) / planar_laplace.T
    assert max(ratios) / planar_laplace.T <= bound * (1 + 1e-9) + 1e-12
    return bound


@given(prices, st.integers(0, 2**32))
def test_plain_numbers_keep_the_promise(price, seed):
    """Random pairs at every distance, at the border and below the lattice step, in one to three dimensions."""
    rng = np.random.default_rng(seed)
    for dimension in (1, 2, 3):
        per = float(price.per)
        made = Points(Reference.flat(low=[0.0] * dimension, high=[40 * per] * dimension), price)
        scale = per * 10.0 ** rng.uniform(-9, 1.5)
        x = rng.uniform(-per, 41 * per, dimension)
        z = x + scale * rng.standard_normal(dimension)
        loss = worst_loss(*made.snap(np.stack([x, z])))
        promised = float(price.rate) * np.linalg.norm(x - z)
        allowed = (
            promised if np.linalg.norm(x - z) >= per else promised + np.sqrt(dimension) / planar_laplace.T
        )
        assert loss <= allowed * (1 + 1e-9)


def test_the_step_is_the_least_that_keeps_the_promise():
    """A step that is one part in ten thousand smaller breaks it for points exactly `per` apart."""
    price = Geo(Fraction(1, 20), per=100)
    made = Points(Reference.flat(low=(0, 0), high=(4000, 4000)), price)

    def loss(step):
        worst = 0.0
        for angle in np.linspace(0, np.pi / 2, 400):
            a = np.array([0.49999 * step, 0.49999 * step]) + 10 * step
            b = a + 100 * np.array([np.cos(angle), np.sin(angle)])
            lattice = np.floor(np.stack([a, b]) / step + 0.5)
            worst = max(worst, np.linalg.norm(lattice[0] - lattice[1]) / planar_laplace.T)
        return worst

    assert loss(float(made.step)) <= 0.05
    assert loss(float(made.step) * (1 - 1e-3)) > 0.05
    with pytest.raises(ParameterError, match="too fine"):
        Points(made.reference, price, None, made.step * Fraction(999, 1000), made.low, made.high)


def test_losses_by_brute_force_on_a_tiny_lattice(monkeypatch):
    """All reports of all pairs of points of a small box: the law itself, summed, against the promise."""
    monkeypatch.setattr(planar_laplace, "T", 4)
    reach = 60
    axis = np.arange(-reach, reach + 1)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    for a, b in itertools.combinations(np.stack(np.meshgrid(range(3), range(3)), axis=-1).reshape(-1, 2), 2):
        laws = [np.exp(-np.sqrt(((grid - at) ** 2).sum(axis=1)) / 4) for at in (a, b)]
        loss = np.abs(np.log(laws[0] / laws[1])).max()
        assert loss <= np.linalg.norm(a - b) / 4 + 1e-12
        assert loss >= np.linalg.norm(a - b) / 4 * 0.99


def test_reports_are_private_by_default_and_reproducible_for_tests():
    made = Points(Reference.flat(low=0, high=1000), Geo(1, per=10))
    assert Bits().private
    again = [made.report(metres=[5.0, 6.0], bits=SeededBits(3)).at.tolist() for _ in range(2)]
    assert again[0] == again[1]
    assert made.report(metres=[5.0]).at.tolist() != made.report(metres=[5.0]).at.tolist()


def test_a_price_too_small_for_its_distance_is_refused():
    with pytest.raises(ParameterError, match="too small"):
        Points(Reference.flat(low=0, high=1000), Geo(Fraction(1, 10_000), per=1))
    with pytest.raises(ParameterError, match="reference comes first"):
        Points(None, Geo(1, per=1))
    with pytest.raises(ParameterError, match="too wide"):
        Points(Reference.flat(low=0, high=10**15), Geo(1, per=1))
