"""Limits: the proved bounds against their vectors and against real noise; the tables read on the safe side."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from sordino.certification.certificate import certify, make_shape
from sordino.certification.limits import (
    CONCENTRATED,
    PURE,
    best_known_std,
    tail_lower_bound,
    variance_lower_bound,
)
from sordino.privacy import Approx, Concentrated, Pure

SMALL = Path(__file__).parent / "renyi_small.json"
BOUNDS = [case for case in json.loads(SMALL.read_text())["cases"] if case["kind"] == "variance_lower_bound"]


@pytest.mark.parametrize("case", BOUNDS, ids=lambda case: case["id"])
def test_vectors_of_proposition_36(case):
    given = case["input"]
    # eps^2/2 rounds, so rho carries one ulp
    value = variance_lower_bound(given["eps"] ** 2 / 2, given["t"]) * given["s"] ** 2
    assert value == pytest.approx(float(case["expected"]), rel=case["rel_tol"])


@pytest.mark.parametrize(
    ("rho", "t"), [(0.5, 0.1), (0.02, 0.1), (1e-4, 0.02), (1e-7, 0.5), (0.5, 2.0), (1e-3, 0.0)]
)
def test_proposition_36_by_trying_every_step(rho, t):
    def value(k):
        grown = k if t == 0 else math.expm1(k * t) / math.expm1(t)
        return grown**2 / math.expm1(2 * rho * k * k)

    best = max(value(k) for k in range(1, 400) if 2 * rho * k * k < 700 and k * t < 300)
    assert variance_lower_bound(rho, t) >= best * (1 - 1e-12)
    if rho > 1e-5:
        assert variance_lower_bound(rho, t) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize(
    ("family", "shape", "smoothing", "shift"),
    [
        ("student-t", 14, 0.1, 1.0774),
        ("arsinh-normal", 0.77, 0.5, 1.0),
        ("uniform-log-normal", 0.45, 0.02, 0.13),
    ],
)
def test_real_noise_respects_the_bounds(family, shape, smoothing, shift):
    price = certify(family, shape, smoothing=smoothing, shift=shift)
    law = make_shape(family, shape)
    assert (law.std() / shift) ** 2 >= variance_lower_bound(price.rho_hi, smoothing)
    for x in (0.5, 3.0, 20.0, 300.0):  # in units of smooth sensitivity the noise is Z/shift
        assert float(law.tail(np.array([x * shift]))[0]) >= tail_lower_bound(price.rho_hi, smoothing, x)


def test_tables_return_their_cells_and_nothing_outside():
    for epsilon, row in PURE.items():
        for ratio, std in row:
            assert best_known_std(Pure(epsilon), ratio * epsilon) == pytest.approx(std, rel=1e-9)
    for rho, row in CONCENTRATED.items():
        for ratio, std in row:
            assert best_known_std(Concentrated(rho), ratio * math.sqrt(2 * rho)) == pytest.approx(
                std, rel=1e-9
            )
    assert best_known_std(Pure(8), 0.1) is None
    assert best_known_std(Pure(1), 0.5) is None
    assert best_known_std(Concentrated(0.5), 0.001) is None
    assert best_known_std(Approx(1, 1e-6), 0.1) is None


def test_between_cells_the_answer_is_monotone_and_below_the_secant():
    for epsilon in np.geomspace(0.1, 4, 23):
        values = [best_known_std(Pure(float(epsilon)), r * float(epsilon)) for r in np.linspace(0, 0.4, 21)]
        assert np.all(np.diff(values) >= 0)
    for ratio in (0.05, 0.15, 0.3):
        values = [best_known_std(Pure(float(e)), ratio * float(e)) for e in np.geomspace(0.1, 4, 60)]
        assert np.all(np.diff(values) <= 0)
    for (
        epsilon,
        row,
    ) in PURE.items():  # leaving out an inner cell, its neighbours predict less than it, or near
        for (r0, s0), (r1, s1), (r2, s2) in zip(row, row[1:], row[2:], strict=False):
            weight = (r1 - r0) / (r2 - r0)
            predicted = ((1 - weight) / s0**2 + weight / s2**2) ** -0.5
            assert predicted <= 1.035 * s1, (epsilon, r1)


def test_no_calibration_beats_the_programmes():
    from sordino.certification import calibrate

    for rho, row in CONCENTRATED.items():
        for ratio, std in row:
            for family in ("arsinh-normal", "student-t"):
                found = calibrate(family, rho, ratio * math.sqrt(2 * rho))
                assert make_shape(family, float(found.shape)).std() / float(found.shift) >= std * 0.998
