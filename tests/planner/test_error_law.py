"""Errors from exact laws: quantiles and mean squares agree with draws, rounding and clipping included."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.mechanisms.additive.additive import AdditiveLaw
from sordino.mechanisms.additive.radial_error import RadialError
from sordino.mechanisms.additive.radial_law import RadialLaw
from sordino.mechanisms.clip.plain_or_cut_error import MixedErrors
from sordino.mechanisms.parts.error_law import ErrorLaw
from sordino.mechanisms.parts.law import LatticeLaw, MixtureLaw, ScoreCell
from sordino.mechanisms.parts.measure import Measure
from sordino.noise.gaussian import Gaussian
from sordino.noise.laplace import Laplace
from sordino.noise.polyplace import PolyPlace
from sordino.planner.spread import _invert, _together, summarise

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
    law = LatticeLaw(
        [ScoreCell(0, 4, 1), ScoreCell(5, 5, 0), ScoreCell(6, 9, 1)], Measure.uniform(9), math.log(2)
    )
    other = LatticeLaw([ScoreCell(0, 2, 0), ScoreCell(3, 9, 2)], Measure.uniform(9), 0.7)
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


@pytest.mark.thorough
def test_the_stated_simulation_error_is_that_of_repetition():
    random = np.random.default_rng(4)
    found = [summarise(random.laplace(size=300)) for _ in range(200)]
    for name in ("median", "rms", "most"):
        stated = np.mean([getattr(one, f"{name}_error") for one in found])
        real = np.std([getattr(one, name) for one in found])
        assert 0.75 < stated / real < 1.3


def directions(norm, dimension, size, random):
    """First coordinates of directions with the cone measure, from their definition."""
    if norm == 2:
        points = random.normal(size=(size, dimension))
    elif norm == 1:
        points = random.laplace(size=(size, dimension))
    else:  # uniform in the cube, brought to its surface along the ray
        points = random.uniform(-1, 1, size=(size, dimension))
    return points[:, 0] / np.linalg.norm(points, ord=norm, axis=1)


@pytest.mark.few(6)
@pytest.mark.parametrize("norm", [1, 2, math.inf])
@pytest.mark.parametrize("step", [2.0**-20, 1.0])
@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_coordinates_of_a_vector_err_as_radius_and_direction_say(norm, step, dimension):
    law = RadialLaw([0.5, 0.75, 0.0, 1.0, 3.0], tail=4.0, dimension=dimension, slope=0.7)
    random, size = np.random.default_rng(8), 200_000
    levels = np.linspace(0, 1, 4001)[1:-1]
    places = np.geomspace(1e-3, 400, 6000)
    radii = np.interp(random.choice(levels, size=size), [law.cdf(place) for place in places], places)
    found = np.abs(step * np.rint(radii * directions(norm, dimension, size, random) / step))
    error = RadialError(law, norm=norm, step=step)
    assert math.sqrt(error.mean_square) == pytest.approx(np.sqrt(np.mean(found**2)), rel=0.015)
    for distance in (0.0, 0.4, 1.0, 2.5, 7.0):
        assert error.within(distance) == pytest.approx(np.mean(found <= distance), abs=0.006)
    assert error.within(1e9) == pytest.approx(1)


def test_quantiles_are_found_whatever_the_law_looks_like():
    """A smooth law, one with a jump at the quantile, one far from the root mean square, one on whole numbers."""
    laws = {
        "smooth": (lambda t: 1 - math.exp(-t), math.log(2)),
        "jump": (lambda t: 0.3 + 0.4 * (t >= 5), 5.0),
        "small": (lambda t: min(t / 1e-9, 1.0), 5e-10),
        "large": (lambda t: t / (t + 1e7), 1e7),
        "whole": (lambda t: 1 - 0.9 ** (math.floor(t) + 1), 6.0),
    }
    for rises, expected in laws.values():
        looked = []
        found = _invert(lambda t, rises=rises, looked=looked: looked.append(t) or rises(t), 0.5, 1.0)
        assert found == pytest.approx(expected, rel=2e-6)
        assert rises(found) >= 0.5
        assert len(looked) < 60


def test_laws_of_one_family_are_asked_together_as_one_by_one():
    random = np.random.default_rng(2)
    laws = [
        ErrorLaw(
            AdditiveLaw(Laplace(), value=value, scale=scale),
            truth=Fraction(round(value)),
            step=0.25,
            low=-4,
            high=3.0,
        )
        for value, scale in zip(random.normal(size=30), random.uniform(0.1, 5, size=30), strict=True)
    ]
    together = _together(laws)
    for distance in (0.0, 0.1, 0.25, 0.8, 2.0, 3.5, 9.0):
        assert together(distance) == pytest.approx([law.within(distance) for law in laws], abs=1e-12)


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize(
    ("value", "scale", "known", "truth"),
    [(50, 5, 0, 50), (50, 5, 8, 46), (3, 20, 2, 4), (95, 30, 1, 90), (7, 0, 4, 3)],
)
def test_squares_are_set_right_cut_and_rooted(root, value, scale, known, truth):
    truth = math.sqrt(truth) if root else float(truth)
    one = np.ones(1)
    law = MixedErrors(
        Laplace(), one, one * (value - known), one * scale, 0 * one, 0 * one, 100 * one, truth, root
    )
    answers = np.clip(value - known + scale * np.random.default_rng(6).laplace(size=400_000), 0, 100)
    errors = np.abs((np.sqrt(answers) if root else answers) - truth)
    assert math.sqrt(law.mean_square) == pytest.approx(np.sqrt(np.mean(errors**2)), rel=0.01, abs=1e-6)
    for distance in (0.5, 1.0, 2.0, 4.0, 9.0, 50.0, 99.0):
        assert law.within(distance) == pytest.approx(np.mean(errors <= distance), abs=0.004)
