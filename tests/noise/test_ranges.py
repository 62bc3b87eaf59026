"""Calibrations over twelve decades of every parameter: an answer or a reason, within seconds, never a crash."""

import random
import signal
from contextlib import contextmanager, suppress
from dataclasses import fields
from fractions import Fraction

import pytest

import sordino as sd
from sordino.catalogue import noise_families
from sordino.noise.generalized_cauchy import law as generalized_cauchy

FAMILIES = noise_families()
SECONDS = 10  # of CPU; the slowest that is known takes four
KINDS = {
    sd.Pure: lambda draw: sd.Pure(draw(-9, 3)),
    sd.Approx: lambda draw: sd.Approx(draw(-6, 2), min(draw(-12, 0), 0.9) * draw(-90, 0)),
    sd.Concentrated: lambda draw: sd.Concentrated(draw(-9, 3)),
    sd.TruncatedConcentrated: lambda draw: sd.TruncatedConcentrated(draw(-6, 2), 1 + draw(-1, 4)),
    sd.Geo: lambda draw: sd.Geo(draw(-6, 3), draw(-3, 6)),
}


def amount(price):
    """What a smoothing is compared with."""
    return Fraction(getattr(price, "rate", None) or getattr(price, "epsilon", None) or price.nats)


class TooSlowError(Exception):
    """The time is up."""


@contextmanager
def limited(seconds):
    def stop(*_):
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def try_out(family, seed, count):
    chance = random.Random(f"{family.name} {seed}")

    def draw(low, high):
        return Fraction(f"{10 ** chance.uniform(low, high):.6g}")

    for trial in range(count):
        price = KINDS[chance.choice([kind for kind in family.promises() if kind in KINDS])](draw)
        smoothing = chance.choice([None, Fraction(0), draw(-12, 1), amount(price) * draw(-6, 0)])
        given = {} if smoothing is None else {"smoothing": smoothing}
        if family is sd.LaplacePareto:
            given["method"] = "plateau"  # it has no other
        if trial % 2:
            given |= {field.name: draw(-6, 6) for field in fields(family)}
        with limited(SECONDS), suppress(sd.SordinoError):
            found = family.calibrate(price, **given)
            assert found.scale > 0
            assert found.guarantee == price


@pytest.mark.few(4)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_calibration_answers_or_says_why_not(name):
    try_out(FAMILIES[name], 0, 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_many_calibrations_answer_or_say_why_not(name):
    try_out(FAMILIES[name], 1, 120)


@pytest.mark.parametrize(
    ("family", "price"),
    [(sd.Laplace, sd.Approx(60, 0.01)), (sd.Gaussian, sd.Approx(80, 0.01)), (sd.Gaussian, sd.Approx(60, 0.5)),
     (sd.StudentT, sd.Pure(1e-9)), (sd.PolyPlace, sd.Concentrated(43)), (sd.UniformLogNormal, sd.Concentrated(20)),
     (sd.StudentT, sd.Concentrated(3e-5)), (sd.ArsinhNormal, sd.Concentrated(2e-6)),
     (sd.PolyPlace, sd.Concentrated(3e-6))],
)  # fmt: skip
def test_a_default_smoothing_is_one_that_its_family_takes(family, price):
    with limited(2):
        assert family.calibrate(price).scale > 0


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("family", "price", "smoothing"),
    [(sd.Gaussian, sd.Approx(Fraction("1.59914e-06"), Fraction("6.59815e-69")), "2.4721265174e-12"),
     (sd.Gaussian, sd.Approx(Fraction("3.93537e-06"), Fraction("6.2702e-95")), 0),
     (sd.ArsinhNormal, sd.Concentrated(213), "0.96"), (sd.UniformLogNormal, sd.Concentrated(29), "0.06"),
     (sd.StudentT, sd.Concentrated(Fraction("1.153e-05")), "6.39e-6")],
)  # fmt: skip
def test_what_was_slow_is_answered_within_two_seconds(family, price, smoothing):
    with limited(2):
        found = family.calibrate(price, smoothing=Fraction(smoothing))
    assert found.kept


@pytest.mark.thorough
def test_a_price_that_floats_take_for_nothing_is_refused_and_does_not_divide():
    with limited(5), pytest.raises(sd.Unsupported, match="smoothing must be less than"):
        sd.StudentT.calibrate(sd.Concentrated(Fraction("329.899")), smoothing=Fraction("7.57241574370297"))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("family", "price", "given", "why"),
    [(sd.ArsinhNormal, 1, {"sigma": 3400}, "sigma from 0.03 to 20"),
     (sd.ArsinhNormal, 0.002, {"sigma": "0.00016", "smoothing": 0}, "sigma from 0.03 to 20"),
     (sd.ArsinhNormal, 1e-6, {"sigma": "0.0316", "smoothing": "0.00028"}, "what this sigma allows"),
     (sd.UniformLogNormal, 20, {"sigma": 234}, "sigma from 0.03 to 2.5"),
     (sd.LaplaceLogNormal, 1, {"sigma": 50_000}, "noise beyond all numbers"),
     (sd.StudentT, 0.2, {"df": 28_000, "smoothing": 0}, "df from 0.25 to 2000"),
     (sd.PolyPlace, 1e-6, {}, "rho from 3e-06 on")],
)  # fmt: skip
def test_a_shape_without_a_certificate_is_refused_for_what_it_is(family, price, given, why):
    shape = {name: Fraction(value) for name, value in given.items()}
    with limited(2), pytest.raises(sd.Unsupported, match=why):
        family.calibrate(sd.Concentrated(price), **shape)


def test_laplace_noise_with_a_global_bound_uses_delta():
    delta = Fraction(1, 10)
    found = sd.Laplace.calibrate(sd.Approx(1, delta), smoothing=0)
    assert found.scale < 1
    assert found.noise.price(scale=found.scale, smoothing=0, as_=sd.Approx, epsilon=1).delta <= delta
    less = found.scale * Fraction(999, 1000)
    assert found.noise.price(scale=less, smoothing=0, as_=sd.Approx, epsilon=1).delta > delta


@pytest.mark.parametrize("delta", ["1e-320", "1e-400"])
def test_a_delta_that_no_float_holds_is_refused(delta):
    with pytest.raises(sd.ParameterError, match="delta must be 0 or at least"):
        sd.Gaussian.calibrate(sd.Approx(1, Fraction(delta)))


def test_a_smoothing_that_no_float_tells_from_zero_is_refused():
    with pytest.raises(sd.ParameterError, match="smoothing must be 0 or at least"):
        sd.Gaussian.calibrate(sd.Approx(1, 1e-6), smoothing=Fraction("1e-60"))


@pytest.mark.thorough
@pytest.mark.parametrize("ratio", generalized_cauchy.KNOWN)
def test_shapes_that_are_known_are_those_that_are_found(ratio):
    found = generalized_cauchy._best_shape(float(ratio), "joint", None, None)
    assert found == generalized_cauchy.KNOWN[ratio]
    assert sd.GeneralizedCauchy.calibrate(sd.Pure(3), smoothing=3 * ratio).noise.p == found[0]
