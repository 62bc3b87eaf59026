"""Functions of one's own on finite sets and boxes: all pairs of points against the promise, one and several outputs."""

import itertools

import numpy as np
import pytest

from sordino.errors import DataError, ParameterError, Unsupported
from sordino.geo import (
    Disc,
    FiniteMetric,
    FunctionMechanism,
    FunctionOnBox,
    FunctionOnSet,
    Logarithmic,
    Points,
    QueryMechanism,
    Reference,
    Threshold,
    estimate,
    moved_answer,
    report,
    survey,
)
from sordino.geo.function_mechanism import vector_noise
from sordino.geo.mechanism import sphere_from
from sordino.geo.wire import to_records
from sordino.noise.generalized_cauchy import GeneralizedCauchy
from sordino.privacy import Geo
from tests.support.geo_worlds import distances

PRICE = Geo(1, per=1)
WORDS = ["".join(word) for word in itertools.product("01", repeat=3)]
SETS = {
    "hamming": FiniteMetric.hamming(WORDS),
    "discrete": FiniteMetric.discrete(range(5)),
    "logarithmic": FiniteMetric.logarithmic([1, 3, 4, 17, 100, 5000], base=2),
    "clock": FiniteMetric.of(range(12), lambda a, b: min((a - b) % 12, (b - a) % 12) / 3),
    "no triangle": FiniteMetric.of(range(6), lambda a, b: (a - b) ** 2 / 7),
    "tree": FiniteMetric.of("abcde", lambda a, b: 0.3 if "a" in a + b else 0.6),
}


def made_up(metric, outputs, seed):
    """Values that jump somewhere and stand still elsewhere."""
    random = np.random.default_rng(seed)
    return FunctionOnSet(metric, np.round(random.normal(size=(len(metric), outputs)) ** 3, 2))


def losses(noise, values, scales):
    """The worst log ratio of two rows' laws over all outputs: coordinates are independent, so maxima add."""
    tries = np.concatenate([-np.geomspace(1e-4, 1e7, 90)[::-1], [0.0], np.geomspace(1e-4, 1e7, 90)])
    worst = np.zeros((len(values), len(values)))
    for column in values.T:
        y = (column[:, None] + scales[:, None] * tries).ravel()
        logs = noise.logpdf((y[None, :] - column[:, None]) / scales[:, None]) - np.log(scales)[:, None]
        worst += (logs[:, None, :] - logs[None, :, :]).max(axis=2)
    return worst


def ratios(made, at, gap):
    values, scales = made._read(at)
    found = losses(made.calibration.noise, values, scales)
    return np.divide(found, gap, out=np.zeros_like(gap), where=gap > 0)


@pytest.mark.few(6)
@pytest.mark.parametrize("outputs", [1, 2, 4])
@pytest.mark.parametrize("name", SETS)
def test_no_pair_of_a_set_exceeds_the_promise(name, outputs):
    metric = SETS[name]
    for seed in range(4):
        made = FunctionMechanism.choose(made_up(metric, outputs, seed), PRICE)
        found = ratios(made, np.arange(len(metric)), metric.distances)
        assert found.max() <= 1 + 1e-9
        assert found.max() > (0.35 if outputs == 1 else 0.15)  # it looks where something happens
    if outputs == 1:
        made = FunctionMechanism.choose(made_up(metric, 1, 9), PRICE, noise="generalized-cauchy")
        assert ratios(made, np.arange(len(metric)), metric.distances).max() <= 1 + 1e-9


def test_slopes_alone_would_break_the_promise():
    """A planted error: the pointwise constant instead of its smooth bound."""
    metric = FiniteMetric.of(range(8), lambda a, b: abs(a - b))
    function = FunctionOnSet(metric, np.array([0.0, 0, 0, 0, 1, 1, 1, 1.0]))
    made = FunctionMechanism.choose(function, PRICE)
    assert ratios(made, np.arange(8), metric.distances).max() <= 1
    scales = np.maximum(function.slopes, 1e-3) * float(made.calibration.scale)
    found = losses(made.calibration.noise, function.heights, scales)
    assert np.divide(found, metric.distances, out=np.zeros((8, 8)), where=metric.distances > 0).max() > 2


def test_more_outputs_with_the_noise_of_one_would_break_the_promise():
    """A planted error: the cost of a change of scale is paid once per output."""
    metric = FiniteMetric.of(range(9), lambda a, b: abs(a - b))
    heights = np.zeros((9, 6))
    heights[4:] = 1.0
    made = FunctionMechanism.choose(FunctionOnSet(metric, heights), PRICE, smoothing=1 / 20)
    alone = vector_noise(PRICE, made.calibration.smoothing, 1)
    values, scales = made._read(np.arange(9))
    careless = losses(alone.noise, values, scales / float(made.calibration.scale) * float(alone.scale))
    honest = losses(made.calibration.noise, values, scales)
    gap = np.where(metric.distances > 0, metric.distances, 1)
    assert (honest / gap).max() <= 1 < (careless / gap).max()


def test_the_joint_cost_is_below_that_of_the_corollary():
    made = vector_noise(PRICE, PRICE.rate / 36, 4)
    noise, eta = made.noise, float(1 / made.scale)
    p, theta = float(noise.p), float(noise.theta)
    printed = 4 * max(1, p * theta - 1) / 36 + theta * (p - 1) ** ((p - 1) / p) * eta
    assert printed > 1  # by Corollary 3.2 as printed this noise would cost more than the price
    assert isinstance(noise, GeneralizedCauchy)


@pytest.mark.parametrize("name", SETS)
def test_distances_are_never_above_those_given_and_detours_are_taken(name):
    metric = SETS[name]
    d = metric.steps
    assert (d == d.T).all()
    assert (d[:, :, None] + d[None, :, :] >= d[:, None, :]).all()
    for i, j in metric.edges.tolist():  # an edge is not a sum of two shorter ways
        others = [k for k in range(len(metric)) if k not in {i, j}]
        assert all(d[i, k] + d[k, j] > d[i, j] for k in others)
    if name == "no triangle":
        assert float(metric.distance(0, 5)) == pytest.approx(5 / 7)


def test_on_words_the_bound_is_the_smooth_sensitivity_of_differential_privacy():
    metric = SETS["hamming"]
    function = FunctionOnSet.of(lambda word: float(word == "111"), metric)
    local = {
        word: max(abs(function.value([word])[0] - function.value([other])[0]) for other in WORDS
                  if sum(a != b for a, b in zip(word, other, strict=True)) == 1)
        for word in WORDS
    }  # fmt: skip
    for word in WORDS:
        expected = max(
            local[other] * np.exp(-0.2 * sum(a != b for a, b in zip(word, other, strict=True)))
            for other in WORDS
        )
        assert function.bound([word], 0.2)[0] == pytest.approx(expected, rel=1e-12)


BOXES = {
    "wave": FunctionOnBox.of(lambda x, y: np.sin(x) * np.cos(2 * y), low=(-3, -2), high=(3, 2), knots=17),
    "jump": FunctionOnBox.of(lambda x, y: (x + y > 0.5) * 1.0, low=(-2, -2), high=(2, 2), knots=9),
    "line": FunctionOnBox.of(np.tanh, low=-4, high=4, knots=33),
    "space": FunctionOnBox.of(lambda x, y, z: x * y - z, low=(-1, -1, -1), high=(1, 1, 1), knots=4),
    "two": FunctionOnBox.of(lambda x, y: (np.hypot(x, y), np.abs(x)), low=(-2, -2), high=(2, 2), knots=11),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", BOXES)
def test_no_pair_of_a_box_exceeds_the_promise(name):
    function = BOXES[name]
    made = FunctionMechanism.choose(function, PRICE)
    random = np.random.default_rng(3)
    points = random.uniform(-4, 4, (40, function.dimension))
    points = np.concatenate([points, points[:20] + random.normal(0, 0.01, points[:20].shape)])
    at = made.lattice.snap(points)
    found = ratios(made, at, distances(at))
    assert found.max() <= 1 + 1e-9
    assert found.max() > 0.3


@pytest.mark.parametrize("name", BOXES)
def test_the_bound_of_a_box_dominates_slopes_and_is_smooth(name):
    function, g = BOXES[name], 0.7
    random = np.random.default_rng(4)
    points = random.uniform(-4, 4, (400, function.dimension))
    near = points + random.normal(0, 1e-3, points.shape)
    gap = np.sqrt(((points - near) ** 2).sum(axis=1))
    (f, b), (f2, b2) = (function.value_and_bound(function.points(at), g) for at in (points, near))
    assert (np.abs(f - f2).sum(axis=1) <= np.maximum(b, b2) * gap * (1 + 1e-9)).all()
    assert (np.abs(np.log(b / b2)) <= g * gap * (1 + 1e-6)).all()
    direct = [  # the definition, cell by cell
        (function.slopes * np.exp(-g * _far(function, np.clip(at, function.low, function.high)))).max()
        for at in points[:20]
    ]
    assert b[:20] == pytest.approx(direct, rel=1e-9)


def _far(function, at):
    """Distances of a point to all cells."""
    found = np.zeros(function.slopes.shape)
    for cell in np.ndindex(*found.shape):
        low = np.array(function.low) + np.array(cell) * function.widths
        found[cell] = np.sqrt((np.maximum(np.maximum(low - at, at - low - function.widths), 0) ** 2).sum())
    return found


def test_reports_are_estimated_without_bias():
    metric = FiniteMetric.hamming(WORDS)
    function = FunctionOnSet.of(lambda word: (word.count("1"), float(word == "000")), metric)
    people = np.array(WORDS)[np.random.default_rng(5).integers(0, 8, 40_000)].tolist()
    price = Geo(4, per=1)
    found = estimate(report(people, function, price), function)
    truth = function.value(people).mean(axis=0)
    assert found.value.shape == (2,)
    assert (np.abs(found.value - truth) < 6 * found.standard_error).all()
    again = survey(people, function, price, chunk=7_000)
    assert (np.abs(again.value - truth) < 6 * again.standard_error).all()
    assert again.to_dict()["query"]["kind"] == "function-on-set"
    box = BOXES["two"]
    places = np.random.default_rng(6).uniform(-2, 2, (4_000, 2))
    found = survey(places, box, price)
    assert (np.abs(found.value - box.value(places).mean(axis=0)) < 6 * found.standard_error).all()
    with pytest.raises(DataError, match="another query"):
        estimate(report(places, box, price), function)


def test_refusals():
    metric = SETS["hamming"]
    function = FunctionOnSet.of(lambda word: (word.count("1"), 1.0), metric)
    with pytest.raises(DataError, match="one of the set") as raised:
        report(["secret"], function, PRICE)
    assert "secret" not in str(raised.value)
    with pytest.raises(Unsupported, match="files of reports"):
        next(to_records(report(WORDS, function, PRICE)))
    with pytest.raises(Unsupported, match="several outputs"):
        FunctionMechanism.choose(function, PRICE, noise="polyplace")
    with pytest.raises(Unsupported, match="too large for so many"):
        FunctionMechanism.choose(function, PRICE, smoothing=0.4)
    with pytest.raises(Unsupported, match="noise and smoothing only"):
        report(WORDS, function, PRICE, scope="local")
    with pytest.raises(ParameterError, match="must not be constant"):
        FunctionOnSet.of(lambda word: 1, metric)
    with pytest.raises(ParameterError, match="positive, finite"):
        FiniteMetric.of(range(3), lambda a, b: 0)
    with pytest.raises(ParameterError, match="each once"):
        FiniteMetric.discrete([1, 1])
    with pytest.raises(ParameterError, match="too fine or too wide"):
        FunctionMechanism.choose(FunctionOnBox.of(lambda x: x + 1e9, low=0, high=1), PRICE)


def test_ratios_are_distances():
    incomes = Logarithmic(least=100, most=1e7)
    made = QueryMechanism.choose(
        Threshold(at=incomes.coordinate(50_000), width=1.0), Geo(1, per=1), reference=incomes
    )
    assert QueryMechanism.from_dict(made.to_dict()).id == made.id
    assert sphere_from(made.to_dict()["reference"]) == incomes
    twice = incomes.to_metres([30_000, 60_000, np.nan, -1, 1e9])
    assert twice[1] - twice[0] == pytest.approx(1)
    assert twice[2] == twice[3] == incomes.coordinate(100)
    people = np.exp(np.random.default_rng(1).normal(10.8, 1, 20_000))
    found = survey(people, made.query, Geo(1, per=1), reference=incomes)
    assert abs(found.value - made.query.value(incomes.to_metres(people)).mean()) < 6 * found.standard_error
    points = Points(incomes, Geo(1, per=1))
    assert Points.from_head(points.head()) == points
    assert len(points.report(metres=incomes.to_metres(people[:5]))) == 5
    disc = Disc(centre=(0, 0), radius=1, width=1)
    with pytest.raises(ParameterError, match="query on a line"):
        QueryMechanism.choose(disc, PRICE, reference=incomes)


def test_moved_points_answer_with_the_bias_of_the_paper():
    made = Points(Reference.flat(low=0, high=100), Geo(1, per=2))
    people = np.full(20_000, 11.0)
    reports = made.report(metres=people)
    found = moved_answer(reports, lambda x: x > 10)
    expected = 1 - 0.5 * np.exp(-1 / made.unit_loss)  # P(11 + Z > 10) for Laplace noise of scale U
    assert abs(found.share - expected) < 6 * found.standard_error / found.people
    soft = Threshold(at=10.0, width=4.0)
    assert moved_answer(reports, soft).value == pytest.approx(soft.value(reports.metres[:, 0]).sum())
    with pytest.raises(DataError, match="one number per point"):
        moved_answer(reports, lambda x: 1.0)
    with pytest.raises(DataError, match="point reports"):
        moved_answer([1.0], soft)
