"""Queries, bounds and laws against independently computed vectors, to 1e-12 relative."""

import json
from pathlib import Path

import numpy as np
import pytest

from sordino.geo import Disc, KernelDensity, Logistic, Range, Threshold, TwoWayThreshold
from sordino.geo.band import Band
from sordino.geo.baseline import planar_radius
from sordino.geo.gaussian import steepest
from sordino.noise.generalized_cauchy import GeneralizedCauchy
from sordino.noise.laplace_pareto import LaplacePareto
from sordino.noise.polyplace import PolyPlace
from sordino.noise.student_t import StudentT
from sordino.privacy import Geo
from tests.support.places import SHARED

HERE = Path(__file__).parent
FULL = SHARED / "reference" / "geo.json"
FILES = [HERE / "geo_small.json", FULL]


def numbers(record):
    return {k: [float(x) for x in v] if isinstance(v, list) else float(v) for k, v in record.items()}


def vectors(path, kind):
    if not path.exists():
        pytest.skip("the full reference file is not on this machine")
    found = [
        (numbers(v["in"]), numbers(v["out"]))
        for v in json.loads(path.read_text())["vectors"]
        if v["kind"] == kind
    ]
    assert found
    return found


def agree(got, want, relative=1e-12, absolute=0.0):
    np.testing.assert_allclose(np.ravel(got)[0], want, rtol=relative, atol=absolute)


pytestmark = pytest.mark.parametrize("path", FILES, ids=["small", "full"])


@pytest.mark.few(1)
def test_kernel(path):
    for i, o in vectors(path, "kde"):
        h, g = i["h"], i["gamma_h"]
        for place in [(0.0,), (100.0, -7.0), (0.0, 1.0, 2.0)]:
            query = KernelDensity(at=place, bandwidth=h)
            x = [tuple(p + (i["c"] * h if axis == 0 else 0.0) for axis, p in enumerate(place))]
            if place == (0.0,):
                agree(query.value(x), o["f"], absolute=1e-300)  # below that the kernel is not told from zero
                agree(query.bound(x, g / h, scope="global"), o["B_global_E"])
                agree(query.bound(x, g / h), o["B_local_E"])
            else:  # the sum of coordinates rounds
                agree(query.bound(x, g / h), o["B_local_E"], 1e-10)
        agree(steepest(np.array([i["c"]])), o["L_global"])


def test_kernel_within_a_distance(path):
    for i, o in vectors(path, "kde_L_lambda"):
        agree(steepest(np.array([i["c"]]), i["lam_over_h"]), o["hL"])


def test_threshold(path):
    for i, o in vectors(path, "one_way"):
        query = Threshold(at=i["T"], width=i["tau"])
        x, g = [i["x"]], i["gamma"]
        agree(query.value(x), o["f"], absolute=1e-15)
        agree(query.bound(x, g, scope="global"), o["B_global_E"])
        agree(query.bound(x, g, scope="global", growth="linear"), o["B_global_L"])
        agree(query.bound(x, g), o["B_local_E"])


def test_band_within_a_distance(path):
    for i, o in vectors(path, "one_way_lambda"):
        d = np.array([i["s"] + i["tau"]])
        agree(Band(i["tau"]).bound(d, i["gamma"], scope=i["Lambda"]), o["B_E"])


def test_range(path):
    for i, o in vectors(path, "range"):
        query = Range(low=i["l"], high=i["r"], width=i["tau"])
        x, g = [i["x"]], i["gamma"]
        agree(query.value(x), o["f_trap"], absolute=1e-15)
        agree(query.bound(x, g, scope="global"), o["B_trap_global_E"])
        agree(query.bound(x, g), o["B_trap_local_E"])
        # The published tent is a band around the middle of the range.
        half = (i["r"] - i["l"]) / 2 + i["tau"] / 2
        d = np.array([abs(i["x"] - (i["l"] + i["r"]) / 2)])
        agree(Band(half).value(d), o["f_tent"], absolute=1e-15)
        agree(Band(half).bound(d, g, scope="global"), o["B_tent_global_E"])


def test_two_way(path):
    for i, o in vectors(path, "two_way"):
        query = TwoWayThreshold(at=(i["T1"], i["T2"]), width=i["tau"])
        x, g = [[i["x1"], i["x2"]]], i["gamma"]
        agree(query.coordinate(np.array(x)), o["signed_distance"])
        agree(query.value(x), o["f"], absolute=1e-15)
        agree(query.bound(x, g, scope="global"), o["B_global_E"])
        agree(query.bound(x, g), o["B_local_E"])


def test_logistic(path):
    for i, o in vectors(path, "linear_logistic"):
        query = Logistic(weights=i["beta"], intercept=i["beta0"])
        agree(query.value([i["x"]]), o["f"])
        agree(query.bound([i["x"]], i["gamma"]), o["B_local_E"])


def test_laws_of_the_noise(path):
    for i, o in vectors(path, "noise_unitB"):
        price = Geo(i["eps"], per=1)
        for noise, name in ((PolyPlace, "polyplace"), (LaplacePareto, "laplace_pareto")):
            method = "plateau" if noise is LaplacePareto else None
            made = noise.calibrate(price, smoothing=i["gamma"], method=method)
            scale = float(made.scale)
            agree(made.noise.logpdf(i["z"] / scale) - np.log(scale), o[f"{name}_logpdf"])
            agree(made.noise.variance * scale**2, o[f"{name}_var"])


def test_price_of_the_noise(path):
    for i, o in vectors(path, "eps_of_mechanism"):
        t = StudentT(i["nu"])
        agree(float(t.price(scale=1 / i["eta"], smoothing=i["gamma"], as_=Geo).rate), o["t_eps_joint"], 1e-9)
        agree(t.logpdf(i["z"]), o["t_logpdf"])
        cauchy = GeneralizedCauchy(i["p"], i["theta"])
        agree(cauchy.logpdf(i["z"]), o["gencauchy_logpdf"])
        agree(cauchy.variance, o["gencauchy_var"])


def test_cauchy_distribution(path):
    for i, o in vectors(path, "gencauchy4_cdf"):
        agree(GeneralizedCauchy(4, 1).cdf(i["q"]), o["F"])


def test_planar_radius(path):
    for i, o in vectors(path, "planar_laplace_radius"):
        agree(planar_radius(np.array([i["u"]]), 2) / i["eps"], o["r"])


def test_a_disc_is_a_threshold_on_its_radius(path):
    query = Disc(centre=(3.0, 4.0), radius=5.0, width=1.0)
    line = Threshold(at=-5.0, width=1.0)
    r = np.linspace(0.0, 20.0, 50)
    points = np.stack([3.0 + r * 0.6, 4.0 + r * 0.8], axis=1)
    np.testing.assert_allclose(query.bound(points, 0.3), line.bound(-r, 0.3), rtol=1e-12)
