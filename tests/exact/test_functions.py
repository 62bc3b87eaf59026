"""The functions keep their error bound: proved for the rounding part, measured against balls as a whole."""

import math

import numpy as np
import pytest
from flint import arb

from sordino.exact import functions
from sordino.exact.balls import precision
from sordino.exact.functions import ARRAYS, ERROR, SCALARS
from tests.support.exact_tracking import Tracked, Tracking, span

RNG = np.random.default_rng(2)
SMALL = RNG.choice([-1.0, 1.0], 3000) * np.exp2(-RNG.uniform(0, 60, 3000))
CASES = {
    "log": (
        np.concatenate(
            [
                RNG.random(4000) + 2.0**-60,
                np.exp(RNG.uniform(-700, 690, 3000)),
                1 + SMALL / 2,
                np.exp2(np.arange(-1000, 999.0)),
                math.sqrt(0.5) * (1 + np.arange(-50, 50) * 2.0**-53),
            ]
        ),
        lambda a: a.log(),
    ),
    "log1p": (
        np.concatenate([RNG.uniform(-1, 1, 4000), SMALL, -1 + np.exp2(-np.arange(1, 53.0))]),
        lambda a: a.log1p(),
    ),
    "exp": (np.concatenate([RNG.uniform(-700, 700, 6000), SMALL]), lambda a: a.exp()),
    "expm1": (
        np.concatenate(
            [
                RNG.uniform(-700, 700, 3000),
                RNG.uniform(-2, 2, 3000),
                SMALL,
                (np.arange(-40, 40) + 0.5) * math.log(2),
            ]
        ),
        lambda a: a.expm1(),
    ),
    "cospi": (
        np.concatenate([RNG.uniform(-1, 1, 4000), np.clip(SMALL, -1, 1), [0.5, -0.5, 1.0, -1.0, 0.0]]),
        None,
    ),
    "sinh": (
        np.concatenate([RNG.uniform(-700, 700, 3000), SMALL, RNG.uniform(-2, 2, 2000)]),
        lambda a: a.sinh(),
    ),
}


def worst_error(name, found, xs, truth):
    worst = 0.0
    with precision(140):
        for x, y in zip(xs.tolist(), found.tolist(), strict=True):
            if name == "cospi":
                worst = max(worst, float(abs(arb(y) - arb(x).cos_pi()).upper()))
                continue
            t = truth(arb(x))
            if t.is_zero():
                assert y == 0.0
            else:
                worst = max(worst, float((abs(arb(y) - t) / abs(t)).upper()))
    return worst


@pytest.mark.parametrize("name", CASES)
def test_the_error_is_below_the_bound(name):
    xs, truth = CASES[name]
    with np.errstate(all="ignore"):
        found = getattr(ARRAYS, name)(xs.copy())
    assert worst_error(name, found, xs, truth) < ERROR


@pytest.mark.parametrize("name", CASES)
def test_arrays_and_floats_give_the_same_bits(name):
    xs, _ = CASES[name]
    with np.errstate(all="ignore"):
        found = getattr(ARRAYS, name)(xs.copy())
    one = getattr(SCALARS, name)
    assert [one(x) for x in xs.tolist()] == found.tolist()


def test_a_result_does_not_depend_on_its_place_in_the_array():
    xs = RNG.random(1037) + 0.01
    for name in CASES:
        whole = getattr(ARRAYS, name)(xs.copy())
        for offset in (1, 3, 7, 1030):
            assert np.array_equal(getattr(ARRAYS, name)(xs[offset:].copy()), whole[offset:])


@pytest.mark.parametrize("coefficients", ["_LOG", "_EXPM1", "_SINPI"])
def test_a_wrong_coefficient_is_noticed(coefficients, monkeypatch):
    name = {"_LOG": "log", "_EXPM1": "exp", "_SINPI": "cospi"}[coefficients]
    table = list(getattr(functions, coefficients))
    table[0] *= 1 + 1e-9
    monkeypatch.setattr(functions, coefficients, tuple(table))
    xs, truth = CASES[name]
    assert worst_error(name, getattr(ARRAYS, name)(xs.copy()), xs, truth) > ERROR


# The proof: docs/proofs/exact_functions.md bounds the truncation by hand and the rounding by the following.
TRUNCATION = {"log": 2.0**-49.8, "expm1": 2.0**-50.4, "cospi": 2.0**-51.7}


def octaves(first, last, pieces=8):
    """Intervals that cover +-[2^-last, 2^-first)."""
    for j in range(first, last):
        for i in range(pieces):
            low, high = 2.0**-j * (1 - (i + 1) / (2 * pieces)), 2.0**-j * (1 - i / (2 * pieces))
            yield low, high
            yield -high, -low


def test_truncation_is_what_the_proof_page_says():
    with precision(100):
        # log: the series of atanh has ratio s^2, |s| <= 3 - 2 sqrt 2.
        s = 3 - 2 * arb(2).sqrt()
        assert 2 * s**18 / (19 * (1 - s * s)) / 2 < arb(TRUNCATION["log"])
        # expm1: the tail after r^12 over |expm1 r| >= |r| (1 - |r|/2), |r| <= 0.3467.
        r = arb("0.3467")
        assert r**12 / arb(math.factorial(13)) / (1 - r / 14) / (1 - r / 2) < arb(TRUNCATION["expm1"])
        # sin(pi t): alternating, first omitted term at t = 1/2.
        assert (arb.pi() / 2) ** 21 / arb(math.factorial(21)) < arb(TRUNCATION["cospi"])


def test_rounding_of_log_is_proved_on_its_whole_domain():
    worst = 0.0
    with precision(80):
        # e = 0: m = 1 + f, |f| from 2^-53 to the ends of [sqrt 1/2, sqrt 2]; m = 1 gives exactly 0.
        for low, high in octaves(1, 54):
            if low > 0.4143 or high < -0.293:
                continue
            m = Tracked(1 + span(low, high).value)
            worst = max(worst, Tracking(e=Tracked(0), m=m).log(None).relative())
        # e != 0: sixty-four pieces of the mantissa, binades of the exponent.
        for i in range(64):
            m = span(0.7071 + i * 0.01106, 0.7071 + (i + 1) * 0.01106)
            for j in range(11):
                for sign in (1, -1):
                    steps = 4 if j > 1 else 1
                    for q in range(steps):
                        e = 2.0**j * (1 + q / steps), 2.0**j * (1 + (q + 1) / steps)
                        e = (1.0, 1.0) if j == 0 else (2.0, 3.0) if j == 1 else e
                        exponent = Tracked(span(*e).value * sign)
                        worst = max(worst, Tracking(e=exponent, m=m).log(None).relative())
    assert worst < ERROR - 3 * TRUNCATION["log"]  # the truncation of log m is at most tripled by e ln 2


def reduced(low, high, k):
    """The remainder r on an interval, with the error of its three operations (proof page)."""
    r = span(low, high).value
    error = 2.0**-53 * (abs(k) * 2.0**-39 + abs(r)) + abs(k) * 2.0**-91
    return Tracked(r, error if k else 0)


def test_rounding_of_exp_and_expm1_is_proved_on_their_whole_domain():
    worst = 0.0
    with precision(80):
        for low, high in octaves(1, 64):
            if low > 0.3467 or high < -0.3467:
                continue
            worst = max(worst, Tracking(k=0, r=reduced(low, high, 0)).expm1(None).relative())
        assert worst + TRUNCATION["expm1"] < ERROR
        pieces = [(-0.3467 + i * 0.6934 / 64, -0.3467 + (i + 1) * 0.6934 / 64) for i in range(64)]
        # Beyond |k| = 60 the constant 2^k - 1 is 2^k or -1 up to a factor 1 + 2^-60: the last values stand for all.
        for k in (*range(-60, 0), *range(1, 61), -1010, 1010):
            for low, high in pieces:
                tracking = Tracking(k=k, r=reduced(low, high, k))
                power = tracking.exp(Tracked(0)).relative()
                minus = tracking.expm1(None).relative()
                worst = max(worst, power + 1.5 * TRUNCATION["expm1"], minus + 4 * TRUNCATION["expm1"])
        for low, high in pieces:
            worst = max(worst, Tracking(k=0, r=reduced(low, high, 0)).exp(Tracked(0)).relative())
    assert worst < ERROR


def test_rounding_of_cospi_is_proved_on_its_whole_domain():
    with precision(80):
        worst = max(float(Tracking().cospi(span(i / 64, (i + 1) / 64)).error.upper()) for i in range(64))
    assert worst + TRUNCATION["cospi"] < ERROR


def test_the_tracker_itself_notices_a_sloppy_formula():
    """A catastrophic cancellation must not pass as accurate."""
    x = span(1.0, 1.001)
    y = x * 1.1
    assert (y - 1.1).error.upper() > 2.0**-53
    assert ((y + 1e9) - 1e9).relative() > 2.0**-30


@pytest.mark.parametrize("functions", [ARRAYS, SCALARS], ids=["arrays", "scalars"])
def test_far_below_zero_the_exponential_less_one_is_minus_one(functions):
    """Where powers of two end: 708 nats and more."""
    for x in (-700.0, -709.0, -745.2, -950.0, -1e4, -1e9, -1e300):
        found = functions.expm1(np.array([x]))[0] if functions is ARRAYS else functions.expm1(x)
        assert found == -1
