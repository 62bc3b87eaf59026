"""Draws follow the exact laws, and the same test rejects a price that is 30 % off."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.lattice import FiniteLattice, Lattice
from sordino.mechanisms.additive.additive import Additive
from sordino.mechanisms.additive.additive_vector import AdditiveVector
from sordino.mechanisms.additive.radial import RadialLaplace
from sordino.mechanisms.nested.inverse_sensitivity import InverseSensitivity
from sordino.mechanisms.nested.piecewise_laplace import PiecewiseLaplace
from sordino.mechanisms.parts.measure import Measure, decimals, mixture, shells
from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
from sordino.mechanisms.quantile.recursive_quantiles import RecursiveQuantiles
from sordino.mechanisms.selection.selection import Selection
from sordino.noise.polyplace import PolyPlace
from sordino.privacy import Concentrated, Pure
from sordino.reading.profile import Opened, Profile, Reading
from sordino.statistics.median import Median
from sordino.statistics.mode import Mode
from sordino.statistics.quantile import Quantile
from sordino.statistics.trimmed_mean import TrimmedMean

pytestmark = pytest.mark.statistical
DRAWS = 2500
ROWS = np.array([3.0, 3.0, 3.0, 5.0, 8.0, 9.0, 12.0, 12.0, 15.0])
LATTICE = FiniteLattice(Fraction(0), Fraction(1), 20)
MIXED = mixture(
    [
        (Fraction(1, 2), Measure.uniform(20)),
        (Fraction(1, 4), shells(last=20, centre=4, core=1, tilt=2)),
        (Fraction(1, 4), decimals(low=Fraction(0), step=Fraction(1), last=20)),
    ]
)


def fits_lattice(law, points, last):
    """Chi-square p-value of lattice points against probabilities, thin cells pooled."""
    chances = np.array([math.exp(law.logpdf(float(point))) for point in range(last + 1)])
    assert chances.sum() == pytest.approx(1, abs=1e-9)
    counts = np.bincount(points, minlength=last + 1)
    thick = chances * len(points) >= 8
    observed = np.append(counts[thick], counts[~thick].sum())
    expected = np.append(chances[thick], chances[~thick].sum()) * len(points)
    keep = expected > 0
    return stats.chisquare(
        observed[keep], expected[keep] * observed[keep].sum() / expected[keep].sum()
    ).pvalue


def reading_of(statistic, rows=ROWS, depth=20):
    (summary,) = Memory({"x": rows}).summary(statistic.request(depth=depth))
    return statistic.read(summary)


MEDIAN = Median("x", low=0, high=20, step=1)


@pytest.mark.parametrize("measure", [None, MIXED], ids=["uniform", "mixed"])
def test_inverse_sensitivity_draws_its_law(measure):
    mechanism = InverseSensitivity(price=Pure(1), measure=measure)
    reading, bits = reading_of(MEDIAN), SeededBits(11)
    points = [int(mechanism.draw(reading, Lattice.dyadic(0), bits=bits).value) for _ in range(DRAWS)]
    assert fits_lattice(mechanism.law(reading), points, 20) > 1e-3
    wrong = InverseSensitivity(price=Pure(1.3), measure=measure)
    assert fits_lattice(wrong.law(reading), points, 20) < 1e-3


def test_inverse_sensitivity_keeps_tied_values():
    mechanism = InverseSensitivity(price=Pure(2))
    reading = reading_of(MEDIAN, np.full(41, 7.0), depth=70)
    assert math.exp(mechanism.law(reading).logpdf(7)) > 1 - 1e-6


@pytest.mark.few(1)
@pytest.mark.parametrize("radius", [0, 1])
def test_piecewise_laplace_draws_its_law(radius):
    mechanism = PiecewiseLaplace(price=Pure(1), radius=radius)
    reading, bits, grid = reading_of(MEDIAN), SeededBits(12), Lattice.dyadic(-12)
    values = [float(mechanism.draw(reading, grid, bits=bits)) for _ in range(DRAWS)]
    law, wrong = mechanism.law(reading), PiecewiseLaplace(price=Pure(1.3), radius=radius).law(reading)
    assert stats.kstest(values, np.vectorize(law.cdf)).pvalue > 1e-3
    assert stats.kstest(values, np.vectorize(wrong.cdf)).pvalue < 1e-3


def test_additive_smooth_noise_draws_its_law():
    statistic = TrimmedMean("x", trim=Fraction(2, 9), low=0, high=20)
    calibration = PolyPlace.calibrate(Pure(1), smoothing=Fraction(1, 4))
    mechanism = Additive(calibration=calibration, clip=False)
    reading, bits = reading_of(statistic, depth=mechanism.depth), SeededBits(13)
    values = [float(mechanism.draw(reading, Lattice.dyadic(-20), bits=bits)) for _ in range(DRAWS)]
    law = mechanism.law(reading)
    assert stats.kstest(values, np.vectorize(law.cdf)).pvalue > 1e-3
    law.scale *= 1.3
    assert stats.kstest(values, np.vectorize(law.cdf)).pvalue < 1e-3


@pytest.mark.few(1)
@pytest.mark.parametrize("price", [Pure(1), Concentrated(0.1)], ids=lambda price: price.kind)
def test_quantiles_with_a_magnitude_step_draw_their_law(price):
    rows = np.concatenate([ROWS] * 9)
    statistic = Quantile("x", q=0.9, low=0, high=20, step=1)
    mechanism = PrivateQuantile(price=price, lattice=LATTICE, rows=81, rank=64, flip=False)
    source, bits = Memory({"x": rows}), SeededBits(14)
    assert mechanism.plan.magnitude_share > 0
    request = replace(statistic.request(depth=mechanism.depth), cuts=mechanism.cuts)
    (summary,) = source.summary(request)
    reading = Reading(replace(statistic.read(summary).open(), below=summary.below))
    points = [int(mechanism.draw(reading, Lattice.dyadic(0), bits=bits).value) for _ in range(DRAWS)]
    answer = mechanism.answer(statistic, lambda ask: source.summary(ask)[0], Lattice.dyadic(0), bits=bits)
    assert answer.public["magnitude"] in [2**j for j in mechanism.classes]
    assert fits_lattice(mechanism.law(reading), points, 20) > 1e-3
    bent = Pure(1.3) if isinstance(price, Pure) else Concentrated(0.2)
    wrong = PrivateQuantile(price=bent, lattice=LATTICE, rows=81, rank=64, flip=False)
    assert wrong.cuts == mechanism.cuts
    assert fits_lattice(wrong.law(reading), points, 20) < 1e-3


def test_permute_and_flip_on_a_lattice_draws_its_law():
    mechanism = PrivateQuantile(price=Pure(1), lattice=LATTICE)
    reading, bits = reading_of(MEDIAN), SeededBits(17)
    points = [int(mechanism.draw(reading, Lattice.dyadic(0), bits=bits).value) for _ in range(DRAWS)]
    assert fits_lattice(mechanism.law(reading), points, 20) > 1e-3
    wrong = PrivateQuantile(price=Pure(1.3), lattice=LATTICE)
    assert fits_lattice(wrong.law(reading), points, 20) < 1e-3


@pytest.mark.thorough
def test_several_quantiles_draw_their_joint_law():
    lattice = FiniteLattice(Fraction(0), Fraction(1), 4)
    mechanism = RecursiveQuantiles(price=Pure(4), qs=(0.25, 0.5, 0.75), lattice=lattice, dither=0)
    rows, bits = [0, 1, 1, 2, 3, 4], SeededBits(15)
    joint = mechanism.joint_law(rows)
    wrong = RecursiveQuantiles(price=Pure(5.2), qs=(0.25, 0.5, 0.75), lattice=lattice, dither=0).joint_law(
        rows
    )
    keys = sorted(joint)
    counts = dict.fromkeys(keys, 0)
    for _ in range(2 * DRAWS):
        counts[tuple(mechanism.converse(rows, bits=bits))] += 1

    def fit(law):
        thick = [key for key in keys if law[key] * 2 * DRAWS >= 8]
        observed = [counts[key] for key in thick]
        expected = [law[key] for key in thick]
        observed.append(2 * DRAWS - sum(observed))
        expected.append(1 - sum(expected))
        return stats.chisquare(observed, np.array(expected) * 2 * DRAWS).pvalue

    assert fit(joint) > 1e-3
    assert fit(wrong) < 1e-3


@pytest.mark.few(2)
@pytest.mark.parametrize("norm", [1, 2, math.inf])
@pytest.mark.parametrize("dimension", [1, 3])
def test_radial_laplace_draws_its_law(norm, dimension):
    reading = Reading(Opened((3,) * dimension, Lattice(), Profile((0, 1, 2), (1, 2, 4), 5), None, 10))
    mechanism, bits = RadialLaplace(price=Pure(1), norm=norm), SeededBits(18)
    draws = 800
    answers = [mechanism.draw(reading, Lattice.dyadic(-16), bits=bits).value for _ in range(draws)]
    places = np.array([[float(value) for value in answer] for answer in answers]) - 3
    radii = np.linalg.norm(places, ord=norm, axis=1)
    assert stats.kstest(radii, np.vectorize(mechanism.law(reading).cdf)).pvalue > 1e-3
    wrong = RadialLaplace(price=Pure(1.3), norm=norm).law(reading)
    assert stats.kstest(radii, np.vectorize(wrong.cdf)).pvalue < 1e-3
    # The direction has the cone measure: every face, and every coordinate, alike and symmetric.
    assert stats.binomtest(int((places[:, 0] > 0).sum()), draws).pvalue > 1e-3
    if dimension > 1:
        assert stats.ks_2samp(np.abs(places[:, 0]), np.abs(places[:, 1])).pvalue > 1e-3
        share = np.abs(places[:, 0]) / radii
        expected = {1: stats.beta(1, 2).cdf, 2: stats.uniform().cdf}.get(norm)
        if expected is not None:  # in three dimensions: Dirichlet and Archimedes
            assert stats.kstest(share, expected).pvalue > 1e-3


def test_vectors_get_independent_noise_on_every_coordinate():
    reading = Reading(Opened((0, 0, 0), Lattice(), Profile.constant(2), None, 10))
    bits = SeededBits(19)
    for price, law in ((Pure(1), stats.laplace(scale=2)), (Concentrated(0.5), stats.norm(scale=2))):
        mechanism = AdditiveVector(price=price)
        draws = np.array(
            [mechanism.draw(reading, Lattice.dyadic(-12), bits=bits).value for _ in range(800)], dtype=float
        )
        assert stats.kstest(draws.ravel(), law.cdf).pvalue > 1e-3
        assert stats.kstest(draws.ravel() * 1.3, law.cdf).pvalue < 1e-3
        assert abs(np.corrcoef(draws[:, 0], draws[:, 1])[0, 1]) < 0.15


@pytest.mark.few(1)
@pytest.mark.parametrize("price", [Pure(1), Concentrated(0.125)], ids=lambda price: price.kind)
def test_selection_draws_its_law(price):
    keys = ("a", "b", "c", "d")
    statistic = Mode("x", keys=keys)
    mechanism = Selection(price=price)
    (summary,) = Memory({"x": np.array(list("aaabbcd"))}).summary(statistic.request(depth=0))
    reading, bits = statistic.read(summary), SeededBits(16)
    places = [int(mechanism.draw(reading, Lattice.dyadic(0), bits=bits).value) for _ in range(2 * DRAWS)]
    assert fits_lattice(mechanism.law(reading), places, 3) > 1e-3
    wrong = Selection(price=Pure(1.6) if isinstance(price, Pure) else Concentrated(0.25))
    assert fits_lattice(wrong.law(reading), places, 3) < 1e-3
