"""Each law as the certificate sees it: tails to the promised error, scores, knots, turning points, constants."""

import math

import flint
import mpmath
import numpy as np
import pytest
from scipy import integrate

from sordino.certification.certificate import make_shape
from sordino.certification.shape import LogNormalTail, PowerTail
from tests.support import certification_laws as laws

X = np.concatenate([[0.0], np.geomspace(1e-6, 60, 80)])


def exact_tail(shape, x):
    """The tail in high precision, by formulas other than those of the code where there are some."""
    with mpmath.workdps(50):
        p, x = mpmath.mpf(shape.parameter), mpmath.mpf(float(x))
        if shape.family == "student-t":
            return mpmath.betainc(p / 2, mpmath.mpf(1) / 2, 0, p / (p + x * x), regularized=True)
        if shape.family == "arsinh-normal":
            return mpmath.erfc(mpmath.asinh(p * x) / (p * mpmath.sqrt(2)))
        if shape.family == "polyplace":
            joint = (p + 1) * (1 - 1 / p**2) ** p
            c = p - 1 + 2 * (1 - 1 / p) ** p
            return 1 - (p - 1) * (1 - (1 - x) ** p) / c if x < 1 / p else joint * (1 + x) ** (-p) / c
        if x == 0:
            return mpmath.mpf(1)
        normal = lambda l: mpmath.erfc(l / mpmath.sqrt(2)) / 2  # noqa: E731
        return normal(mpmath.log(x) / p) - x * mpmath.exp(p * p / 2) * normal(mpmath.log(x) / p + p)


@pytest.mark.parametrize("shape", laws.shapes(), ids=str)
def test_tails_stay_within_their_promised_error(shape):
    got = shape.tail(X)
    for x, value in zip(X, got, strict=True):
        expected = exact_tail(shape, x)
        if expected > mpmath.mpf("1e-290"):
            assert abs(value / expected - 1) < shape.tail_error


@pytest.mark.parametrize("d", [1.3, 2.05, 3.0, 13.3437, 40.0, 400.0])
def test_students_tail_agrees_with_ball_arithmetic(d):
    shape = make_shape("student-t", d)
    x = np.geomspace(1e-4, 1e6, 300)
    worst = 0.0
    before, flint.ctx.prec = flint.ctx.prec, 200
    try:
        ball = flint.arb(d)
        for point, value in zip(x.tolist(), shape.tail(x).tolist(), strict=True):
            if value < 1e-290:
                continue
            z = ball / (ball + flint.arb(point) ** 2)
            exact = z.beta_lower(ball / 2, flint.arb("0.5"), True)
            assert exact.rel_accuracy_bits() > 80
            worst = max(worst, abs(float(flint.arb(value) / exact - 1)))
    finally:
        flint.ctx.prec = before
    assert worst < shape.tail_error / 3


@pytest.mark.parametrize("shape", laws.shapes(), ids=str)
def test_density_tail_and_deviation_belong_together(shape):
    for low, high in [(0.0, 0.3), (0.3, 2.0), (2.0, 9.0)]:
        inside = [k for k in shape.knots() if low < k < high]
        mass, _ = integrate.quad(
            lambda x: 2 * math.exp(shape.log_density(np.array([x]))[0]),
            low, high, points=inside or None, epsabs=1e-14, epsrel=1e-11, limit=200,
        )  # fmt: skip
        tails = shape.tail(np.array([low, high]))
        assert mass == pytest.approx(tails[0] - tails[1], rel=1e-9)
    if math.isfinite(shape.std()):
        u = np.linspace(-60, 120, 200_001)
        x = np.exp(np.minimum(u, 300))
        second = np.trapezoid(2 * x**3 * np.exp(shape.log_density(x)), u)
        assert math.sqrt(second) == pytest.approx(shape.std(), rel=1e-6)


@pytest.mark.parametrize("shape", laws.shapes(), ids=str)
def test_score_is_the_slope_and_monotone_between_knots(shape):
    x = np.geomspace(1e-3, 50, 400)
    x = x[np.min(np.abs(x[:, None] - np.array(shape.knots())), axis=1) > 1e-3 * x]
    step = 1e-5 * x
    slope = (shape.log_density(x - step) - shape.log_density(x + step)) / (2 * step)
    assert np.allclose(shape.score(x), slope, rtol=1e-5, atol=1e-7)
    ends = [1e-9, *shape.knots(), 1e3]
    for index, (low, high) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
        values = shape.score(np.linspace(low, high, 2000))
        assert np.all(np.diff(values) * (1 if index == 0 else -1) >= -1e-12)
    increasing = np.geomspace(1e-6, 1e6, 3000)
    assert np.all(np.diff(increasing * shape.score(increasing)) >= -1e-9)  # log f(e^u) is concave


@pytest.mark.parametrize("shape", [s for s in laws.shapes() if isinstance(s, PowerTail)], ids=str)
@pytest.mark.parametrize(("t", "s"), [(0.0, 0.3), (0.2, 0.3), (-0.2, 0.25), (0.7, 1.5), (-0.7, 0.01)])
def test_no_turning_point_is_missed(shape, t, s):
    x = np.sort(np.concatenate([np.linspace(-30, 30, 60_001), np.linspace(-1, 1, 20_001)]))
    z = np.exp(-t) * (x - s)
    slope = np.exp(-t) * np.sign(z) * shape.score(np.abs(z)) - np.sign(x) * shape.score(np.abs(x))
    special = np.array([0.0, s, *shape.turning_points(t, s)])
    changes = np.flatnonzero(slope[:-1] * slope[1:] < 0)
    assert changes.size > 0
    for index in changes:  # every change of sign has a turning point or a kink inside or next to its cell
        assert np.any((special >= x[index] - 1e-3) & (special <= x[index + 1] + 1e-3))


@pytest.mark.parametrize("shape", [s for s in laws.shapes() if isinstance(s, PowerTail)], ids=str)
@pytest.mark.parametrize(("t", "s"), [(0.0, 0.3), (0.2, 0.3), (-0.2, 0.25), (0.01, 1.0), (-0.01, 1.0)])
def test_outer_losses_are_enclosed(shape, t, s):
    for edge in (8.0 * max(1.0, shape.knots()[0]), 1e3, 1e6):
        x = edge * np.geomspace(1, 1e6, 500)
        for side in (-1, 1):
            z = np.exp(-t) * np.abs(side * x - s)
            loss = shape.log_density(x) + t - shape.log_density(z)
            low, high = shape.outer_loss(edge, t, s, side)
            assert low - 1e-9 <= loss.min()
            assert loss.max() <= high + 1e-9


@pytest.mark.parametrize("shape", laws.shapes(), ids=str)
@pytest.mark.parametrize("shift", [0.02, 0.3, 1.1, 6.0])
def test_kappa_bounds_the_second_derivative_closely(shape, shift):
    """k(z) = -(z+e)[(z+e) psi' + psi], psi' by differences; a kappa of two thirds would be noticed."""
    z = np.concatenate([-np.geomspace(1e-4, 200, 40_001), np.geomspace(1e-4, 200, 40_001)])
    knots = np.array([0.0, *shape.knots(), *(-k for k in shape.knots())])
    z = z[np.min(np.abs(z[:, None] - knots), axis=1) > 2e-6 * np.abs(z)]
    step = 1e-6 * np.abs(z)
    psi = lambda y: np.sign(y) * shape.score(np.abs(y))  # noqa: E731
    k = -(z + shift) * ((z + shift) * (psi(z + step) - psi(z - step)) / (2 * step) + psi(z))
    kappa = shape.kappa(shift)
    assert k.max() <= kappa * (1 + 1e-4) + 1e-9
    loose = 0.6 if isinstance(shape, LogNormalTail) else 0.15  # the closed forms are rougher
    assert k.max() >= loose * kappa - 0.02 * shift
    assert np.all(k[z < -shift] <= 1e-6)


def test_kappa_of_arsinh_is_not_vacuous():
    shape = make_shape("arsinh-normal", 0.355)
    assert 0.1 < shape.kappa(1.07) < 0.3
