"""Errors from exact laws: quantiles and mean squares agree with draws, rounding and clipping included."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.mechanisms.additive import AdditiveLaw
from sordino.mechanisms.law import Cell, LatticeLaw, MixtureLaw
from sordino.mechanisms.measure import Measure
from sordino.noise.gaussian import Gaussian
from sordino.noise.laplace import Laplace
from sordino.noise.polyplace import PolyPlace
from sordino.planner.error_law import ErrorLaw, summarise

CASES = [
    # noise, value, scale, truth, step, low, high
    (Laplace(), 0.0, 1.0, 0.0, 2.0**-20, -math.inf, math.inf),
    (Laplace(), 0.0, 1.0, 0.0, 1.0, -math.inf, math.inf),
    (Laplace(), 3.0, 0.2, 3.0, 1.0, -math.inf, math.inf),
    (Laplace(), 0.3, 2.0, 0.0, 2.0**-10, -1.0, 5.0),
    (Laplace(), 2.0, 50.0, 2.0, 2.0**-10, 0.0, 10.0),
    (Gaussian(), -1.0, 1.0, 0.0, 0.5, -2.0, 3.0),
    (PolyPlace(Fraction(2)), 0.0, 1.0, 0.0, 2.0**-10, -30.0, 50.0),
    (PolyPlace(Fraction(5)), 4.0, 1.0, 6.0, 2.0**-10, 0.0, 10.0),
]


def drawn(case, size=400_000):
    noise, value, scale, truth, step, low, high = case
    random = np.random.default_rng(5)
    answers = value + scale * np.asarray(noise.ppf(random.uniform(size=size)))
    return np.clip(step * np.rint(answers / step), low, high) - truth


@pytest.mark.parametrize("case", CASES)
def test_the_figures_agree_with_draws(case):
    noise, value, scale, truth, step, low, high = case
    law = ErrorLaw(
        AdditiveLaw(noise, value=value, scale=scale), truth=Fraction(truth), step=step, low=low, high=high
    )
    errors = np.abs(drawn(case))
    found = summarise([law])
    assert found.rms == pytest.approx(np.sqrt(np.mean(errors**2)), rel=0.015)
    # Where the errors are few whole steps, the quantile is one of them; otherwise a number close by.
    assert found.median == pytest.approx(np.median(errors), rel=0.01, abs=2 * step if step < 0.1 else 1e-6)
    assert found.most == pytest.approx(
        np.quantile(errors, 0.9), rel=0.01, abs=2 * step if step < 0.1 else 1e-6
    )
    for distance in (0.0, 0.5, 1.0, 2.5):
        assert law.within(distance) == pytest.approx(np.mean(errors <= distance), abs=0.004)


def test_infinite_variance_without_a_range_is_said():
    law = AdditiveLaw(PolyPlace(Fraction(2)), value=0, scale=1)
    found = summarise([ErrorLaw(law, truth=Fraction(0), step=2.0**-20)])
    assert math.isinf(found.rms)
    assert math.isfinite(found.most)


def test_lattice_laws_and_mixtures_are_summed_exactly():
    law = LatticeLaw([Cell(0, 4, 1), Cell(5, 5, 0), Cell(6, 9, 1)], Measure.uniform(9), math.log(2))
    other = LatticeLaw([Cell(0, 2, 0), Cell(3, 9, 2)], Measure.uniform(9), 0.7)
    mixed = MixtureLaw([(0.25, law), (0.75, other)])
    chances = [0.25 * law.probability(y) + 0.75 * other.probability(y) for y in range(10)]
    truth = Fraction(5)
    error = ErrorLaw(mixed, truth=truth, step=None)
    for distance in (0, 0.5, 1, 2, 4, 7):
        brute = sum(chance for y, chance in enumerate(chances) if abs(y - 5) <= distance)
        assert error.within(distance) == pytest.approx(brute, abs=1e-12)
    assert error.mean_square == pytest.approx(sum(c * (y - 5) ** 2 for y, c in enumerate(chances)))


def test_a_constant_law_has_no_error():
    law = AdditiveLaw(Laplace(), value=2.0, scale=0.0)
    found = summarise([ErrorLaw(law, truth=Fraction(2), step=1.0)])
    assert (found.median, found.rms, found.most) == (0, 0, 0)


def test_several_columns_are_mixed_not_averaged():
    laws = [
        ErrorLaw(AdditiveLaw(Laplace(), value=0, scale=scale), truth=Fraction(0), step=2.0**-30)
        for scale in (1.0, 1.0, 1.0, 100.0)
    ]
    found = summarise(laws)
    sizes = np.abs(np.random.default_rng(3).laplace(size=(4, 200_000)) * [[1], [1], [1], [100]])
    assert found.median == pytest.approx(np.median(sizes), rel=0.02)
    assert found.most == pytest.approx(np.quantile(sizes, 0.9), rel=0.02)
    assert found.rms == pytest.approx(np.sqrt(np.mean(sizes**2)), rel=0.02)
    assert found.rms_error > 0.2 * found.rms  # one column decides: that is said


def test_the_stated_simulation_error_is_that_of_repetition():
    random = np.random.default_rng(4)
    found = [summarise(random.laplace(size=300)) for _ in range(200)]
    for name in ("median", "rms", "most"):
        stated = np.mean([getattr(one, f"{name}_error") for one in found])
        real = np.std([getattr(one, name) for one in found])
        assert 0.75 < stated / real < 1.3
