"""Renyi divergences by quadrature against the reference vectors of every family, and closed forms."""

import json
import math
from pathlib import Path

import pytest

from sordino.certification import renyi_divergence
from sordino.noise import families
from tests.support.places import SHARED

HERE = Path(__file__).parent
ALL = SHARED / "reference" / "noise.json"
SMALL = HERE / "renyi_small.json"


def law(family, params):
    noise = families()[family.replace("_", "-")](**params)
    kinks = {"polyplace": lambda: (1 / params["alpha"],), "student_t": lambda: (math.sqrt(params["df"]),)}
    return noise._logpdf, kinks.get(family, lambda: (1.0,))()


def cases(path):
    return [case for case in json.loads(path.read_text())["cases"] if case["kind"] == "renyi_divergence"]


def check(case):
    given = case["input"]
    log_density, kinks = law(given["family"], given["params"])
    value = renyi_divergence(
        log_density, given["t"], given["s"], given["alpha"], kinks=kinks, reverse=given["P"] != "Z"
    )
    assert value == pytest.approx(float(case["expected"]), rel=case["rel_tol"])


@pytest.mark.parametrize("case", cases(SMALL), ids=lambda case: case["id"])
def test_small_set_of_vectors(case):
    check(case)


def test_all_vectors():
    if not ALL.exists():
        pytest.skip("the full set of reference vectors is not on this machine; the small set has been tested")
    found = cases(ALL)
    assert {case["input"]["family"] for case in found} == {
        "laplace", "gaussian", "student_t", "generalized_cauchy",
        "polyplace", "uniform_log_normal", "arsinh_normal", "laplace_log_normal",
    }  # fmt: skip
    for case in found:
        check(case)


def test_closed_forms():
    laplace = lambda x: -x - math.log(2)  # noqa: E731
    a, s = 3.0, 0.7
    exact = math.log(a / (2 * a - 1) * math.exp((a - 1) * s) + (a - 1) / (2 * a - 1) * math.exp(-a * s)) / (
        a - 1
    )
    assert renyi_divergence(laplace, 0.0, s, a) == pytest.approx(exact, rel=1e-11)
    gauss = lambda x: -0.5 * x * x - 0.5 * math.log(2 * math.pi)  # noqa: E731
    t, s = 0.3, 0.4  # Kullback-Leibler of N(0,1) against N(s, e^2t)
    exact = t + (1 + s * s) / (2 * math.exp(2 * t)) - 0.5
    assert renyi_divergence(gauss, t, s, 1.0) == pytest.approx(exact, rel=1e-11)
    assert renyi_divergence(gauss, 0.0, 1.0, 80.0) == pytest.approx(40.0, rel=1e-11)  # moments beyond e^30
    back = renyi_divergence(gauss, t, s, 2.0, reverse=True)
    assert back == pytest.approx(renyi_divergence(gauss, -t, -s * math.exp(-t), 2.0), rel=1e-12)
