"""The certificate: tight, never exceeded by any admissible pair, monotone, and loud about nonsense."""

import dataclasses
import math

import numpy as np
import pytest

from sordino.certification import certify
from sordino.certification.certificate import LOOSENESS, make_shape
from sordino.certification.divergence import renyi_divergence
from sordino.errors import ParameterError
from tests.support import certification_laws as laws

#: Brackets of an independent computation (docs/proofs/certification.md): family, shape, smoothing, shift, lo, hi.
KNOWN = [
    ("student-t", 14.0, 0.1, 1.0774, 0.500110, 0.500506),
    ("student-t", 30.0, 0.02, 1.0, 0.463406, 0.463631),
    ("student-t", 4.0, 0.5, 1.0, 0.438678, 0.439015),
    ("student-t", 3.3, 0.02, 0.1, 0.003675, 0.003677),
    ("student-t", 1.3, 0.3, 1.0, 0.242804, 0.243021),
    ("polyplace", 50.0, 0.06, 0.0021, 0.019253, 0.019298),
    ("arsinh-normal", 0.355, 0.1, 1.07, 0.504254, 0.504546),
    ("arsinh-normal", 0.77, 0.5, 1.0, 0.428483, 0.428832),
    ("uniform-log-normal", 0.44, 0.1, 0.68, 0.488144, 0.488493),
    ("uniform-log-normal", 0.65, 0.5, 0.68, 0.454057, 0.454453),
]


@pytest.mark.parametrize("row", KNOWN, ids=str)
def test_agrees_with_an_independent_bracket(row):
    family, shape, smoothing, shift, low, high = row
    price = certify(family, shape, smoothing=smoothing, shift=shift)
    assert price.rho_lo <= high * (1 + 1e-4)
    assert low * (1 - 1e-4) <= price.rho_hi


@pytest.mark.few(6)
@pytest.mark.parametrize("case", laws.CASES, ids=str)
def test_bracket_is_tight_and_no_pair_exceeds_it(case):
    family, parameter, smoothing, shift = case
    price = certify(family, parameter, smoothing=smoothing, shift=shift)
    assert 0 < price.rho_lo <= price.rho_hi <= LOOSENESS * price.rho_lo
    shape = make_shape(family, parameter)
    rng = np.random.default_rng([ord(letter) for letter in family])
    reached = 0.0
    for _ in range(60):
        t, s = laws.admissible(rng, smoothing, shift)
        worst = price.worst_order
        order = float(
            rng.choice([1.0, 1 + (worst - 1) * rng.uniform(0.5, 2), rng.uniform(1, price.orders[-1])])
        )
        value = renyi_divergence(
            shape.log_density, t, s, order, kinks=shape.knots(), reverse=bool(rng.random() < 0.5)
        )
        assert value <= price.divergence(order) * (1 + 1e-9)
        assert value / order <= price.rho_hi
        reached = max(reached, value / order)
    t, s = price.worst_pair
    attained = (
        renyi_divergence(shape.log_density, t, s, price.worst_order, kinks=shape.knots()) / price.worst_order
    )
    assert price.rho_lo * (1 - 1e-9) <= attained <= price.rho_hi
    assert reached >= 0.5 * price.rho_lo  # the random pairs come near: the test has power


def test_pure_cost_of_student_is_the_hyperbolic_formula():
    d, gamma, eta = 14.0, 0.1, 1.0774
    price = certify("student-t", d, smoothing=gamma, shift=eta)
    still = (d + 1) / 2 * math.acosh(1 + eta**2 / (2 * d))
    moving = (d + 1) / 2 * math.acosh(math.cosh(gamma) + math.exp(-gamma) * eta**2 / (2 * d)) + (
        d - 1
    ) / 2 * gamma
    assert max(still, moving) <= price.max_divergence <= 1.01 * max(still, moving)
    assert price.divergence(math.inf) == price.max_divergence
    assert certify("arsinh-normal", 0.4, smoothing=0.1, shift=1.0).max_divergence == math.inf


def test_a_larger_smoothing_or_shift_costs_more():
    base = certify("arsinh-normal", 0.4, smoothing=0.1, shift=0.8)
    assert certify("arsinh-normal", 0.4, smoothing=0.15, shift=0.8).rho_lo > base.rho_hi
    assert certify("arsinh-normal", 0.4, smoothing=0.1, shift=0.85).rho_lo > base.rho_hi
    still = certify("arsinh-normal", 0.4, smoothing=0.0, shift=0.8)
    assert still.rho_lo <= base.rho_hi


def test_nearly_gaussian_noise_costs_what_gaussian_noise_costs():
    price = certify("student-t", 3000.0, smoothing=0.0, shift=0.2)
    assert price.rho_lo <= 0.02 * (1 + 2e-3)
    assert price.rho_hi >= 0.02 * (1 - 2e-3)


@pytest.mark.parametrize("case", laws.CASES[::3], ids=str)
def test_the_curve_is_what_rho_comes_from(case):
    family, parameter, smoothing, shift = case
    price = certify(family, parameter, smoothing=smoothing, shift=shift)
    orders, curve = np.array(price.orders), np.array(price.curve)
    assert np.all(np.diff(orders) > 0)
    assert np.all(curve / (orders * (orders - 1)) <= price.rho_hi)
    for order in (1.0, 1.00001, 1.37, 2.0, 9.3, 1e4):
        assert price.divergence(order) <= order * price.rho_hi
    assert price.divergence(1.0) <= price.divergence(3.0) * (1 + 1e-9)
    # composition by the curve is never worse than by rho, and for some order better
    gain = np.min(curve / (orders * (orders - 1) * price.rho_hi))
    assert gain < 0.999


def test_nonsense_is_refused():
    price = certify("student-t", 5, smoothing=0.1, shift=0.5)
    with pytest.raises(ArithmeticError):
        dataclasses.replace(price, rho_hi=math.nan)
    with pytest.raises(ArithmeticError):
        dataclasses.replace(price, rho_hi=price.rho_lo / 2)
    with pytest.raises(ArithmeticError):
        price.divergence(0.5)
    with pytest.raises(ArithmeticError):
        price.divergence(math.nan)


@pytest.mark.parametrize(
    ("family", "parameter", "smoothing", "shift"),
    [
        ("gauss", 1.0, 0.1, 1.0),
        ("student-t", -1.0, 0.1, 1.0),
        ("student-t", math.nan, 0.1, 1.0),
        ("polyplace", 1.0, 0.1, 1.0),
        ("arsinh-normal", True, 0.1, 1.0),
        ("arsinh-normal", 0.5, -0.1, 1.0),
        ("arsinh-normal", 0.5, 0.1, 0.0),
        ("arsinh-normal", 0.5, 0.1, math.inf),
        ("arsinh-normal", 0.5, "0.1", 1.0),
    ],
)
def test_bad_parameters_are_named(family, parameter, smoothing, shift):
    with pytest.raises(ParameterError):
        certify(family, parameter, smoothing=smoothing, shift=shift)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_laws_are_never_exceeded(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        price_scale = math.exp(rng.uniform(math.log(0.01), math.log(5)))
        gamma = price_scale * math.exp(rng.uniform(math.log(0.005), math.log(0.9)))
        family = str(rng.choice(["student-t", "polyplace", "arsinh-normal", "uniform-log-normal"]))
        low, high = {"student-t": (1, 100), "polyplace": (1.3, 100)}.get(
            family, (max(0.2, 1.3 * gamma / price_scale), 2)
        )
        parameter = math.exp(rng.uniform(math.log(low), math.log(high)))
        eta = price_scale / (parameter if family == "polyplace" else 1.0)
        price = certify(family, parameter, smoothing=gamma, shift=eta)
        shape = make_shape(family, parameter)
        for _ in range(6):
            t, s = laws.admissible(rng, gamma, eta)
            order = float(rng.uniform(1, price.worst_order * 2))
            try:
                value = renyi_divergence(shape.log_density, t, s, order, kinks=shape.knots())
            except ArithmeticError:
                continue
            assert value <= price.divergence(order) * (1 + 1e-9)
