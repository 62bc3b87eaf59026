"""The exact log density ratio of two points' reports over their distance never exceeds the promise."""

from fractions import Fraction

import numpy as np
import pytest

from sordino.errors import ParameterError, Unsupported
from sordino.geo import QueryMechanism, Threshold
from sordino.noise.laplace_pareto import LaplacePareto
from sordino.noise.polyplace import PolyPlace
from sordino.privacy import Geo, Pure
from tests.support.geo_worlds import PLATEAUS, QUERIES, SMOOTH, cloud, distances, published_kernel_bound

PRICE = Geo(1, per=1)
RULES = {
    "default": {},
    "polyplace": {"noise": "polyplace"},
    "polyplace global": {"noise": "polyplace", "scope": "global"},
    "polyplace steep": {"noise": "polyplace", "smoothing": 0.45},
    "student-t": {"noise": "student-t"},
    "student-t global": {"noise": "student-t", "scope": "global"},
    "generalized-cauchy": {"noise": "generalized-cauchy"},
    "laplace": {"noise": "laplace"},
}


def outputs(f, s):
    """Where ratios of densities may peak: around each location, at all its scales, and far out."""
    tries = np.concatenate([-np.geomspace(1e-4, 1e6, 60)[::-1], [0.0], np.geomspace(1e-4, 1e6, 60)])
    picked = slice(None, None, max(1, len(f) // 24))
    return (f[picked, None] + s[picked, None] * tries).ravel()


def loss_per_distance(noise, f, s, gap):
    """The worst log ratio over all outputs, divided by the distance, for every pair of points."""
    y = outputs(f, s)
    logs = noise.logpdf((y[None, :] - f[:, None]) / s[:, None]) - np.log(s)[:, None]
    worst = np.zeros_like(gap)
    for i in range(len(f)):
        worst[i] = (logs[i][None, :] - logs).max(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(gap > 0, worst / gap, 0.0)


def measured(made, points):
    at = made.lattice.snap(made.query.points(points))
    f, s = made._read(at)
    return loss_per_distance(made.calibration.noise, f, s, distances(at))


@pytest.mark.few(26)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", QUERIES)
def test_no_pair_exceeds_the_promise(name, rule):
    made = QueryMechanism.choose(QUERIES[name], PRICE, **RULES[rule])
    ratio = measured(made, cloud(made.query, 60, seed=5))
    assert ratio.max() <= 1.0 + 1e-9
    assert ratio.max() > (0.02 if made.noise == "laplace" else 0.3)  # the test looks where something happens


@pytest.mark.parametrize("name", ["threshold", "disc", "star"])
def test_laplace_pareto_is_tight(name):
    made = QueryMechanism.choose(QUERIES[name], PRICE)
    assert made.noise == "laplace-pareto"
    assert measured(made, cloud(made.query, 120, seed=1)).max() > 0.999


@pytest.mark.parametrize("name", ["kernel", "kernel on a line", "tanh"])
def test_polyplace_is_tight(name):
    made = QueryMechanism.choose(QUERIES[name], PRICE)
    assert made.noise == "polyplace"
    assert measured(made, cloud(made.query, 120, seed=1, spread=2.0)).max() > 0.98


@pytest.mark.parametrize("name", SMOOTH)
def test_laplace_pareto_is_refused_where_it_would_break_the_promise(name):
    query = SMOOTH[name]
    with pytest.raises(Unsupported, match="laplace-pareto"):
        QueryMechanism.choose(query, PRICE, noise="laplace-pareto")


def test_the_refusal_is_needed():
    """Forced onto a kernel density, Laplace-Pareto noise loses nearly twice the price."""
    query = SMOOTH["kernel on a line"]
    made = LaplacePareto.calibrate(PRICE, smoothing=0.3, method="plateau")
    x = np.linspace(-8.0, 10.0, 300)
    f, s = query.value(x), query.bound(x, 0.3) * float(made.scale)
    assert loss_per_distance(made.noise, f, s, distances(x)).max() > 1.5


def test_the_published_kernel_bound_planted_is_caught():
    g, h = 0.307, 1.0
    made = PolyPlace.calibrate(PRICE, smoothing=g)
    c = np.concatenate([np.linspace(0.0, 6.0, 150), np.linspace(0.0, 0.1, 40)])
    f = np.exp(-0.5 * c * c)
    s = published_kernel_bound(c, g) / h * float(made.scale)
    assert loss_per_distance(made.noise, f, s, distances(c)).max() > 1.2
    right = SMOOTH["kernel on a line"].curve.__class__(h).bound(c, g, scope="global") * float(made.scale)
    assert loss_per_distance(made.noise, f, right, distances(c)).max() <= 1 + 1e-9


@pytest.mark.parametrize("factor", [0.8, 0.97])
def test_too_small_a_scale_is_noticed(factor):
    made = QueryMechanism.choose(PLATEAUS["threshold"], PRICE)
    at = made.lattice.snap(cloud(made.query, 120, seed=1))
    f, s = made._read(at)
    assert loss_per_distance(made.calibration.noise, f, factor * s, distances(at)).max() > 1.0


@pytest.mark.few(4)
@pytest.mark.parametrize("name", ["threshold", "disc", "kernel", "logistic", "jump"])
@pytest.mark.parametrize("delta", [1e-6, 1e-2])
def test_the_approximate_promise_holds(name, delta):
    """The hockey-stick divergence at e^(epsilon d), for all pairs, with Laplace noise and linear growth."""
    made = QueryMechanism.choose(QUERIES[name], PRICE, delta=delta)
    assert made.noise == "laplace"
    at = made.lattice.snap(made.query.points(cloud(made.query, 20, seed=2)))
    f, s = made._read(at)
    gap = distances(at)
    worst = 0.0
    for i in range(len(f)):
        for j in range(len(f)):
            if gap[i, j] > 0:
                worst = max(worst, hockey_stick(f[i], s[i], f[j], s[j], gap[i, j]))
    assert worst <= delta * (1 + 1e-3)


def hockey_stick(a, b, c, d, epsilon):
    """Integral of (p - e^epsilon q)+ for two Laplace laws: exact between the points where the log ratio is linear."""
    knots = np.sort([a, c])

    def mass(low, high, centre, scale):
        def cdf(y):
            z = (y - centre) / scale
            return 0.5 * np.exp(z) if z < 0 else 1 - 0.5 * np.exp(-z)

        if low >= centre:
            return 0.5 * (np.exp(-(low - centre) / scale) - np.exp(-(high - centre) / scale))
        return cdf(high) - cdf(low)

    total = 0.0
    pieces = [(-np.inf, knots[0]), (knots[0], knots[1]), (knots[1], np.inf)]
    for low, high in pieces:
        if not low < high:
            continue
        probe = np.array([low if np.isfinite(low) else high - 1.0, high if np.isfinite(high) else low + 1.0])
        value = np.log(d / b) - np.abs(probe - a) / b + np.abs(probe - c) / d - epsilon
        slope = (value[1] - value[0]) / (probe[1] - probe[0])
        ends = [low, high]
        if slope != 0:
            root = probe[0] - value[0] / slope
            if low < root < high:
                ends = [low, root, high]
        for left, right in zip(ends[:-1], ends[1:], strict=True):
            if np.isfinite(left) and np.isfinite(right):
                middle = 0.5 * (left + right)
            elif np.isfinite(left):
                middle = left + 1.0
            elif np.isfinite(right):
                middle = right - 1.0
            else:
                middle = 0.0
            if np.log(d / b) - abs(middle - a) / b + abs(middle - c) / d > epsilon:
                part = mass(left, right, a, b) - np.exp(epsilon) * mass(left, right, c, d)
                total += max(0.0, part)
    return total


def test_a_hockey_stick_knows_two_easy_cases():
    assert hockey_stick(0.0, 1.0, 0.0, 1.0, 0.0) == 0.0
    assert hockey_stick(0.0, 1.0, 3.0, 1.0, 1.0) == pytest.approx(1 - np.exp(-1.0), rel=1e-9)


def test_margin_is_small_and_counts_the_floats():
    for query in QUERIES.values():
        made = QueryMechanism.choose(query, PRICE)
        assert 0 < made.margin < Fraction(1, 1000)
        assert made.calibration.guarantee.rate < PRICE.rate
        assert made.calibration.guarantee.rate * (1 + made.margin) == PRICE.rate


def test_combinations_without_a_proof_are_refused():
    query = PLATEAUS["threshold"]
    for options in (
        {"noise": "laplace-pareto", "scope": "global"},
        {"noise": "laplace", "scope": "local"},
        {"noise": "laplace", "scope": "local", "delta": 1e-6},
        {"noise": "polyplace", "delta": 1e-6},
        {"delta": 1e-6, "smoothing": 0.9},
    ):
        with pytest.raises(Unsupported):
            QueryMechanism.choose(query, PRICE, **options)
    with pytest.raises(ParameterError, match="price"):
        QueryMechanism.choose(query, Pure(1))
    with pytest.raises(ParameterError, match="positive"):
        QueryMechanism.choose(query, Geo(0, per=1))
    with pytest.raises(ParameterError, match="too fine"):
        QueryMechanism.choose(Threshold(at=0.0, width=3e8), Geo(1, per=1))
