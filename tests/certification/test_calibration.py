"""Calibration: certified at the numbers returned, close to the exact optimum, honest about what is impossible."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from sordino.certification import calibrate, certify
from sordino.certification.calibration import quick_shift, search
from sordino.certification.certificate import corners, make_shape
from sordino.certification.divergence import renyi_divergence
from sordino.certification.orders import order_grid
from sordino.errors import ParameterError

SMALL = Path(__file__).parent / "renyi_small.json"
EXACT = [case for case in json.loads(SMALL.read_text())["cases"] if case["kind"] == "calibration"]


@pytest.mark.parametrize("case", EXACT, ids=lambda case: case["id"])
def test_reference_shifts_cost_their_price(case):
    """The vectors are numerical suprema over corners and orders: the same supremum at the given shift is rho."""
    from sordino.noise import families

    given, eta = case["input"], float(case["expected"]["eta"])
    name = "df" if given["family"] == "student_t" else "sigma"
    noise = families()[given["family"].replace("_", "-")](**{name: given[name]})
    kinks = (1.0,)
    rho = 0.0
    for t, s in corners(given["gamma"], eta):
        for order in (1.0, *order_grid(12.0, step=0.2)):
            rho = max(
                rho, renyi_divergence(noise._logpdf, t, s, float(order), kinks=kinks, tolerance=1e-8) / order
            )
    # rho grows like shift^2, so the tolerance doubles
    assert rho == pytest.approx(given["rho"], rel=3 * case["rel_tol"])


@pytest.mark.parametrize(
    "case", [c for c in EXACT if c["input"]["family"] != "laplace_log_normal"], ids=lambda c: c["id"]
)
def test_certified_shift_is_just_below_the_exact_one(case):
    given, eta = case["input"], float(case["expected"]["eta"])
    shape = given.get("df", given.get("sigma"))
    found = calibrate(given["family"].replace("_", "-"), given["rho"], given["gamma"], shape)
    assert found is not None
    assert 0.9985 * eta <= float(found.shift) <= eta * (1 + case["rel_tol"])


@pytest.mark.parametrize(
    ("family", "rho", "smoothing", "std"),
    [  # certified standard deviations of an independent search, which ours may undercut
        ("student-t", 0.5, 0.1, 1.0019),
        ("student-t", 0.02, 0.06, 6.1879),
        ("arsinh-normal", 0.5, 0.1, 1.0014),
        ("arsinh-normal", 0.02, 0.1, 7.5737),
        ("uniform-log-normal", 0.5, 0.5, 1.1888),
        ("polyplace", 0.5, 0.5, 1.268),
    ],
)
def test_shapes_are_as_good_as_known(family, rho, smoothing, std):
    found = calibrate(family, rho, smoothing)
    assert found is not None
    assert make_shape(family, float(found.shape)).std() / float(found.shift) <= std * 1.0015


@pytest.mark.few(6)
@pytest.mark.parametrize("family", ["student-t", "polyplace", "arsinh-normal", "uniform-log-normal"])
@pytest.mark.parametrize(("rho", "ratio"), [("0.5", 0.2), ("0.0333", 0.37), ("0.0007", 0.11), ("3.3", 0.26)])
def test_what_is_returned_has_been_certified(family, rho, ratio):
    smoothing = Fraction(f"{ratio * math.sqrt(2 * float(rho)):.4g}")
    found = calibrate(family, Fraction(rho), smoothing)
    assert found is not None
    assert isinstance(found.shape, Fraction)
    assert isinstance(found.shift, Fraction)
    price = found.certificate
    assert price.parameter == float(found.shape)
    assert Fraction(price.smoothing) >= smoothing
    assert Fraction(price.shift) >= found.shift
    assert Fraction(price.rho_hi) <= Fraction(rho)
    assert price.rho_hi >= 0.998 * float(rho)
    again = certify(family, float(found.shape), smoothing=price.smoothing, shift=price.shift)
    assert again == price
    loosened = certify(family, price.parameter, smoothing=price.smoothing, shift=price.shift * 1.01)
    assert loosened.rho_lo > price.rho_hi * 1.0001


@pytest.mark.thorough
def test_off_the_table_a_search_finds_the_same():
    shape, shift = search("arsinh-normal", 0.5, 0.1)
    found = calibrate("arsinh-normal", 0.5, 0.1)
    best = make_shape("arsinh-normal", shape).std() / shift
    assert make_shape("arsinh-normal", float(found.shape)).std() / float(found.shift) == pytest.approx(
        best, rel=2e-3
    )


def test_a_public_scale_needs_no_smoothing():
    found = calibrate("student-t", 0.5, 0)
    assert found is not None
    assert make_shape("student-t", float(found.shape)).std() / float(found.shift) < 1.0


def test_impossible_prices_give_none():
    assert calibrate("student-t", 0.02, 0.2, shape=40) is None
    assert quick_shift("arsinh-normal", 0.1, 0.02, 0.1) is None


def test_bad_parameters_are_named():
    for bad in [("nobody", 0.5, 0.1), ("student-t", 0, 0.1), ("student-t", 0.5, -1), ("student-t", "1", 0.1)]:
        with pytest.raises(ParameterError):
            calibrate(*bad)
    with pytest.raises(ParameterError):
        calibrate("student-t", 0.5, 0.1, shape=-2)
