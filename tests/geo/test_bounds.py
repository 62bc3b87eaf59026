"""Smooth bounds dominate brute-force suprema, are smooth between all pairs, and are tight where they claim to be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import ParameterError
from sordino.geo.band import Band
from sordino.geo.gaussian import GaussianCurve, everywhere, local, steepest, tangent
from sordino.geo.interpolant import Interpolant
from sordino.geo.sigmoid import Sigmoid
from sordino.geo.sigmoid import steepest as sigmoid_steepest
from sordino.geo.table import BoundTable
from tests.support.geo_worlds import QUERIES, cloud, distances, published_kernel_bound

CURVES = {
    "band": (Band(2.0), -20.0, 25.0),
    "gaussian": (GaussianCurve(2.0), 0.0, 25.0),
    "sigmoid": (Sigmoid(1.5), -15.0, 15.0),
    "interpolant": (Interpolant.of(lambda x: np.sin(x) + 0.3 * np.abs(x), -6.0, 6.0, knots=241), -9.0, 9.0),
}
SCOPES = ("local", "global", 0.7, 5.0)


def secants(curve, u, reach):
    """The steepest secant at each grid point to another one within reach."""
    f = curve.value(u)
    gap = np.abs(u[:, None] - u[None, :])
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.where((gap > 0) & (gap <= reach), np.abs(f[:, None] - f[None, :]) / gap, 0.0)
    return slope.max(axis=1)


def violation(bound, u, g, growth):
    """log of the worst B(u) / (growth(|u - v|) B(v)) over all pairs; at most zero if smooth."""
    gap = np.abs(u[:, None] - u[None, :])
    allowed = g * gap if growth == "exponential" else np.log1p(g * gap)
    return (np.log(bound)[:, None] - np.log(bound)[None, :] - allowed).max()


@pytest.mark.pairwise
@pytest.mark.parametrize("growth", ["exponential", "linear"])
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("g", [0.05, 0.3, 1.1])
def test_bound_dominates_and_is_smooth(name, scope, growth, g):
    curve, low, high = CURVES[name]
    u = np.linspace(low, high, 700)
    bound = curve.bound(u, g, scope=scope, growth=growth)
    reach = {"local": (u[1] - u[0]) * 1.001, "global": np.inf}.get(scope, scope)
    steep = secants(curve, u, reach)
    gap = np.abs(u[:, None] - u[None, :])
    decay = np.exp(-g * gap) if growth == "exponential" else 1 / (1 + g * gap)
    brute = (steep[None, :] * decay).max(axis=1)
    slack = 0.08 if scope == "local" else 0.0  # a secant of neighbours is not the slope at a point
    assert (bound >= brute * (1 - slack) - 1e-12).all()
    assert violation(bound, u, g, growth) <= 1e-11
    assert bound.max() <= curve.lipschitz * (1 + 1e-3)


@pytest.mark.few(2)
@pytest.mark.parametrize("g", [0.1, 0.4, 1.5])
@pytest.mark.parametrize("scope", ["local", "global"])
def test_closed_forms_are_tight(scope, g):
    for name in ("band", "gaussian"):
        curve, low, high = CURVES[name]
        u = np.linspace(low, high, 3001)
        step = u[1] - u[0]
        steep = secants(curve, u, step * 1.001 if scope == "local" else np.inf)
        inner = slice(0, len(u), 10)
        decay = np.exp(-g * np.abs(u[inner, None] - u[None, :]))
        brute = (steep * decay).max(axis=1)
        bound = curve.bound(u[inner], g, scope=scope)
        assert (bound <= brute * (1 + 2 * step)).all()


@pytest.mark.parametrize("g", [0.2, 0.36, 0.9])
def test_tables_of_the_kernel_are_close_to_the_truth(g):
    c = np.linspace(0.0, 20.0, 4001)
    curve = GaussianCurve(1.0)
    truth = everywhere(c, g)
    table = curve.table(g).at(c)
    assert (table >= truth).all()
    assert (table <= truth * 1.01).all()


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("scope", ["local", "global"])
def test_queries_are_lipschitz_and_their_bounds_smooth(name, scope):
    query = QUERIES[name]
    points = cloud(query, 150)
    gap = distances(points)
    u = query.coordinate(query.points(points))
    assert (np.abs(u[:, None] - u[None, :]) <= gap * (1 + 1e-9) + 1e-9).all()
    f = query.value(points)
    bound = query.bound(points, 0.25, scope=scope)
    assert (np.log(bound)[:, None] - np.log(bound)[None, :] <= 0.25 * gap + 1e-9).all()
    move = np.abs(f[:, None] - f[None, :])
    assert (move <= query.lipschitz * gap * (1 + 1e-9) + 1e-12).all()
    if scope == "global":
        smaller = np.minimum(bound[:, None], bound[None, :])
        assert (move <= smaller * gap * (1 + 1e-9) + 1e-12).all()
    joint, shared = query.value_and_bound(points, 0.25, floor=0.0, scope=scope)
    np.testing.assert_allclose(joint, f, atol=1e-14)
    near = np.abs(u) < 40 * getattr(query, "bandwidth", np.inf)  # tables of the kernel end there
    np.testing.assert_allclose(shared[near], bound[near], rtol=2e-2 if scope == "global" else 1e-12)
    assert (shared >= bound * (1 - 1e-12)).all()


def test_the_published_kernel_bound_is_caught():
    g = 0.3
    c = np.linspace(0.0, 8.0, 1201)
    planted = published_kernel_bound(c, g)
    assert violation(planted, c, g, "exponential") > 0.01  # not smooth
    assert (planted < everywhere(c, g) * 0.95).any()  # and below the truth
    assert violation(everywhere(c, g), c, g, "exponential") <= 1e-10
    assert violation(local(c, g), c, g, "exponential") <= 1e-12


def test_landmarks_of_the_kernel():
    assert steepest(np.zeros(1))[0] == pytest.approx(0.4512562, abs=1e-7)
    assert steepest(np.ones(1))[0] == pytest.approx(np.exp(-0.5), rel=1e-12)
    assert tangent(np.zeros(1))[0] == pytest.approx(1.585201, abs=1e-6)
    z = np.linspace(0.0, 30.0, 2000)
    heights = steepest(z)
    assert (np.diff(heights[z < 1]) > 0).all()
    assert (np.diff(heights[z > 1]) < 0).all()
    far = sigmoid_steepest(np.linspace(0.0, 40.0, 500))
    assert (np.diff(far) <= 0).all()


@given(
    st.lists(st.floats(0.0, 100.0), min_size=2, max_size=40).filter(lambda v: max(v) > 1e-6),
    st.floats(0.01, 5.0),
    st.floats(0.01, 2.0),
)
def test_tables_dominate_and_are_smooth_whatever_the_cells(cells, g, step):
    cells = np.array(cells)
    u = np.linspace(-2 * step, (len(cells) + 2) * step, 173)
    cell = np.clip((u / step).astype(int), 0, len(cells) - 1)
    inside = (u >= 0) & (u < len(cells) * step)
    for growth, make in (("exponential", BoundTable.exponential), ("linear", BoundTable.linear)):
        bound = make(0.0, step, cells, g).at(u)
        assert (bound[inside] >= cells[cell[inside]] * (1 - 1e-12)).all()
        assert violation(np.maximum(bound, 1e-300), u, g, growth) <= 1e-9


def test_a_wrong_closure_is_noticed():
    """e^{-g step} instead of 1/(1 + g step) leaves the interpolant too steep."""
    cells = np.zeros(40)
    cells[20] = 1.0
    g, step = 1.0, 0.5
    nodes = np.exp(-g * step * np.abs(np.arange(41) - 20.5 + 0.0))
    u = np.linspace(0.0, 20.0, 1601)
    assert violation(BoundTable(0.0, step, nodes).at(u), u, g, "exponential") > 1e-3
    assert violation(BoundTable.exponential(0.0, step, cells, g).at(u), u, g, "exponential") <= 1e-12


def test_bad_scopes_are_refused():
    with pytest.raises(ParameterError, match="scope"):
        Band(1.0).bound(np.zeros(1), 0.1, scope="nearby")
    with pytest.raises(ParameterError, match="growth"):
        Band(1.0).bound(np.zeros(1), 0.1, growth="quadratic")
    with pytest.raises(ParameterError, match="smoothing"):
        Band(1.0).bound(np.zeros(1), 0.0)
