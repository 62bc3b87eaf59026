"""Staircase PolyPlace as a family: private over all pairs, and as small as claimed. Its ladder has tests of its own."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate

from sordino.errors import ParameterError, Unsupported
from sordino.noise.polyplace import PolyPlace
from sordino.noise.staircase_polyplace import StaircasePolyPlace
from sordino.noise.staircase_polyplace.ladder import build
from sordino.privacy import Concentrated, Pure

CASES = list(StaircasePolyPlace.cases())


def worst_loss(noise, smoothing, shift=1.0):
    """Supremum of |log p/q| over the whole set of pairs, at both sides of every jump of both densities."""
    breaks = noise.breaks()[:60]
    sizes = np.concatenate([breaks * (1 - 1e-9), breaks * (1 + 1e-9), np.geomspace(1e-4, 1e3, 300)])
    own = np.concatenate([[0.0], sizes, -sizes])
    worst = 0.0
    for t in np.linspace(-smoothing, smoothing, 9):
        for s in shift * min(1.0, math.exp(t)) * np.array([0.0, 0.35, 0.8, 1.0]):
            x = np.concatenate([own, own * math.exp(t) + s])
            loss = noise.logpdf(x) + t - noise.logpdf((x - s) * math.exp(-t))
            worst = max(worst, float(np.max(np.abs(loss))))
    return worst


@pytest.mark.parametrize("noise", CASES, ids=repr)
def test_the_loss_over_all_pairs_is_epsilon_exactly(noise):
    epsilon, smoothing = float(noise.epsilon), float(noise.smoothing)
    assert worst_loss(noise, smoothing) == pytest.approx(epsilon, rel=1e-6)
    assert worst_loss(noise, smoothing) <= epsilon * (1 + 1e-7)
    # planted: a percent less noise, or a smoother bound than promised, is noticed
    assert worst_loss(noise, smoothing, shift=1.01) > epsilon * 1.001
    assert worst_loss(noise, smoothing * 1.05) > epsilon * (1 + 1e-6)


def test_a_wrong_level_would_be_noticed():
    """Planted: levels that weigh e^-(epsilon + 0.01) are smaller and not private."""
    noise = CASES[0]
    e, g, *core = (float(value) for value in noise.shape.values())
    wrong = build(e + 0.01, g, *core)
    x = np.concatenate([noise.breaks()[:40] * (1 - 1e-9), noise.breaks()[:40] * (1 + 1e-9)])
    loss = wrong.log_density(x) - wrong.log_density(x + 1.0)
    assert loss.max() > e * (1 + 1e-3)


@pytest.mark.parametrize("noise", CASES, ids=repr)
def test_functions_belong_together(noise):
    ladder = noise._ladder
    ends = [0.0, *ladder.high]
    for low, high in zip(ends[:-1], ends[1:], strict=True):
        mass, _ = integrate.quad(noise.pdf, low * (1 + 1e-15), high, epsabs=0, epsrel=1e-11)
        assert mass == pytest.approx(noise.sf(low) - noise.sf(high), rel=1e-9, abs=1e-15)
    q = np.concatenate([10.0 ** -np.arange(1, 300, 11.0), np.linspace(0.01, 0.49, 13)])
    assert np.allclose(noise.sf(noise.isf(q)), q, rtol=2e-12, atol=0)
    assert noise.cdf(0.0) == 0.5
    assert noise.moment(3) > noise.moment(2) or noise.moment(3) == math.inf or noise.std < 1


def test_moments_by_summing_levels():
    for noise in CASES:
        breaks = np.concatenate([[0.0], noise.breaks()])
        nodes, weights = np.polynomial.legendre.leggauss(30)
        half = np.diff(breaks)[:, None] / 2
        x = breaks[:-1, None] + half * (nodes + 1)
        for order in (1.0, 1.7, 2.0):
            total = 2 * float(np.sum(noise.pdf(x) * x**order * weights * half))
            assert noise.moment(order) == pytest.approx(total, rel=1e-8)
    assert CASES[2].moment(2.5) == math.inf  # the tail falls like x^-(1 + epsilon/smoothing)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("epsilon", "ratio", "known"),
    [  # two-parameter cores found by an independent search; linear programmes reach at best 1 % less
        (2, 0.1, 0.7564),
        (2, 0.2, 0.8549),
        (4, 0.02, 0.2674),
        (4, 0.1, 0.2934),
        (4, 0.2, 0.3221),
        (4, 0.4, 0.478),
    ],
)
def test_calibration_is_as_small_as_known_and_smaller_than_polyplace(epsilon, ratio, known):
    found = StaircasePolyPlace.calibrate(Pure(epsilon), smoothing=epsilon * ratio)
    assert found.std <= known * 1.001
    assert found.std < 0.95 * PolyPlace.calibrate(Pure(epsilon), smoothing=epsilon * ratio).std
    assert found.scale == 1
    assert worst_loss(found.noise, epsilon * ratio) <= epsilon * (1 + 1e-7)


def test_nearly_no_smoothing_gives_nearly_the_staircase_of_geng_and_viswanath():
    found = StaircasePolyPlace.calibrate(Pure(4), smoothing=0)
    assert found.smoothing == 0
    assert found.noise.smoothing == Fraction(4, 200)
    assert 0.2549 < found.std < 1.02 * 0.2549


def test_refusals():
    with pytest.raises(Unsupported, match="epsilon must be between"):
        StaircasePolyPlace.calibrate(Pure(1), smoothing=0.1)
    with pytest.raises(Unsupported, match="smoothing must be less"):
        StaircasePolyPlace.calibrate(Pure(4), smoothing=2)
    with pytest.raises(Unsupported):
        StaircasePolyPlace.calibrate(Concentrated(1))
    for middle in ("0.1", "1.5"):  # below 1/(e^2 - 1) the levels would overlap
        with pytest.raises(ParameterError, match="middle between"):
            StaircasePolyPlace(2, Fraction("0.2"), Fraction("0.05"), Fraction(middle), 2)
    with pytest.raises(ParameterError, match="must rise"):
        StaircasePolyPlace(4, Fraction("0.2"), Fraction("0.3"), Fraction("0.2"), 2)
    noise = CASES[0]
    assert noise.price(scale=1.5, smoothing=0.1) == Pure(2)
    with pytest.raises(Unsupported, match="at least 1"):
        noise.price(scale=0.9, smoothing=0.1)


def test_levels_would_overlap_below_the_least_middle():
    """Why middle >= 1/(e^epsilon - 1): below, the next level rises above the end of this one."""
    e, g, a, b, b1 = 2.0, 0.2, 0.01, 0.1, 0.8
    ladder = build(e, g, a, b, b1)
    end = ladder.high[ladder.high <= b1 + 1e-12][-1]
    jump = ladder.log_density(np.array([end * (1 + 1e-9)])) - ladder.log_density(np.array([end * (1 - 1e-9)]))
    assert jump[0] > 0.1
