"""Questions asked after the reports are in: regions, thresholds, kernels, centres, moments, functions of one's own."""

import numpy as np
import pytest
from scipy.special import ndtr

from sordino.errors import DataError, ParameterError, Unsupported
from sordino.geo import (
    Box,
    Disc,
    Geofence,
    KernelDensity,
    Points,
    Range,
    Reference,
    Threshold,
    TwoWayThreshold,
    answer,
    moments,
    nearest_shares,
)
from sordino.geo.coverage import covered, nearest
from sordino.geo.points import PointReports
from sordino.privacy import Geo

PLANE = Points(Reference.flat(low=(-8000, -8000), high=(8000, 8000)), Geo(1, per=200))
LINE = Points(Reference.flat(low=0, high=500_000, unit="dollar"), Geo(1, per=5000))
U = PLANE.unit_loss


def moved(made, points, generator):
    """Reports with numpy's noise."""
    at = np.asarray(points, dtype=float).reshape(len(points), -1)
    d = at.shape[1]
    direction = generator.standard_normal(at.shape)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    noise = direction * generator.gamma(d, size=(len(at), 1)) * made.unit_loss / float(made.step)
    return PointReports(made, made.snap(at) + np.rint(noise).astype(np.int64))


def still(made, points):
    """Reports without noise: what a question would be answered from if nobody moved."""
    return PointReports(made, made.snap(np.asarray(points, dtype=float).reshape(len(points), -1)))


HOLE = "(-300 -300, 300 -300, 300 300, -300 300, -300 -300)"
TRIANGLE = f"POLYGON ((-2000 -1500, 2500 -1000, 0 2200, -2000 -1500), {HOLE})"
REGIONS = [
    Box(low=(-1000, -800), high=(1500, 700), width=1.0),
    Disc(centre=(300.0, -200.0), radius=1200.0, width=1.0),
    Geofence(outline=TRIANGLE, width=1.0),
    TwoWayThreshold(at=(-200.0, 300.0), width=1.0),
]


def softened(question, points, width, generator, copies=40):
    """The sum of the softened question over people, by Gaussian shifts of them."""
    total = 0.0
    for _ in range(copies):
        total += question.value(points + width * generator.standard_normal(points.shape)).sum()
    return total / copies


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize("question", REGIONS, ids=lambda q: q.name)
def test_regions_are_unbiased_and_their_bars_cover(question):
    """Thirty draws of the same people: mean within its error, spread as the noise part of the stated one."""
    generator = np.random.default_rng(1)
    people = generator.normal((200, 0), (1500, 1100), (4000, 2))
    width = 0.7 * U
    true = softened(question, people, width, generator)
    found = [answer(moved(PLANE, people, generator), question, edge_width=width) for _ in range(30)]
    values, errors = np.array([f.value for f in found]), np.array([f.standard_error for f in found])
    assert abs(values.mean() - true) < 4 * values.std() / 30**0.5 + 4.0
    share = true / len(people)
    sampling = len(people) * share * (1 - share)
    noise = np.sqrt(np.maximum(errors.mean() ** 2 - sampling, 0.0))
    assert values.std(ddof=1) == pytest.approx(noise, rel=0.45)
    assert found[0].edge_width == width
    assert found[0].share == pytest.approx(found[0].value / 4000)


def test_many_regions_from_one_spreading():
    reports = moved(PLANE, np.random.default_rng(2).normal(0, 1500, (3000, 2)), np.random.default_rng(3))
    together = answer(reports, REGIONS, edge_width=0.7 * U)
    for region, value, error in zip(REGIONS, together.value, together.standard_error, strict=True):
        alone = answer(reports, region, edge_width=0.7 * U)
        assert value == pytest.approx(alone.value, rel=2e-3, abs=1.0)
        assert error == pytest.approx(alone.standard_error, rel=1e-2)


def test_regions_that_tile_the_map_add_up_to_everybody():
    """Holes and neighbours: a region and its complement share their softened edge."""
    reports = moved(PLANE, np.random.default_rng(4).uniform(-3000, 3000, (2000, 2)), np.random.default_rng(5))
    cuts = [-5500.0, -700.0, 400.0, 5500.0]
    boxes = [
        Box(low=(a, c), high=(b, d), width=1.0)
        for a, b in zip(cuts, cuts[1:], strict=False)
        for c, d in zip(cuts, cuts[1:], strict=False)
    ]
    assert answer(reports, boxes, edge_width=0.7 * U).value.sum() == pytest.approx(2000, abs=2)
    shares = nearest_shares(reports, [(-1000, 0), (1000, 500), (0, -2000)])
    assert shares.value.sum() == pytest.approx(2000, abs=2)


def test_nearest_centres():
    generator = np.random.default_rng(6)
    people = generator.normal((400, 0), 1000, (20_000, 2))
    centres = np.array([(-1000.0, 0.0), (1000.0, 0.0), (0.0, 1500.0)])
    found = nearest_shares(moved(PLANE, people, generator), centres)
    true = np.bincount(np.argmin(((people[:, None] - centres) ** 2).sum(axis=2), axis=1))
    assert np.abs((found.value - true) / found.standard_error).max() < 5
    with pytest.raises(DataError, match="two centres"):
        nearest_shares(moved(PLANE, people[:5], generator), [(0.0, 0.0)])


@pytest.mark.statistical
def test_thresholds_and_ranges_on_a_line():
    generator = np.random.default_rng(7)
    incomes = np.exp(generator.normal(11.0, 0.6, 20_000))
    reports = moved(LINE, incomes, generator)
    unit = LINE.unit_loss
    for question, f in (
        (Threshold(at=60_000, width=1.0), lambda x, w: ndtr((x - 60_000) / w)),
        (
            Range(low=40_000, high=90_000, width=1.0),
            lambda x, w: ndtr((x - 40_000) / w) - ndtr((x - 90_000) / w),
        ),
    ):
        found = answer(reports, question, edge_width=0.7 * unit)
        assert abs(found.value - f(incomes, 0.7 * unit).sum()) < 4 * found.standard_error
        assert found.low < found.value < found.high
    banded = answer(reports, Threshold(at=60_000, width=40_000))
    assert banded.edge_width == pytest.approx(40_000 / 12**0.5)
    assert answer(reports, Threshold(at=60_000, width=10.0)).edge_width == pytest.approx(0.5 * unit)


@pytest.mark.statistical
def test_functions_of_ones_own():
    generator = np.random.default_rng(8)
    people = generator.normal(0, 1200, (20_000, 2))
    reports = moved(PLANE, people, generator)

    def wave(at):
        return np.sin(at[:, 0] / 900) * np.exp(-(at[:, 1] ** 2) / (2 * 1500.0**2))

    for width in (0, None):
        found = answer(reports, wave, edge_width=width)
        bias = 0.0 if width == 0 else (0.5 * U / 900) ** 2 * 20_000
        assert abs(found.value - wave(people).sum()) < 4 * found.standard_error + bias
    with pytest.raises(Unsupported, match="finer"):
        answer(reports, lambda at: (at[:, 0] > 0).astype(float), edge_width=0)
    with pytest.raises(DataError, match="one finite number"):
        answer(reports, lambda at: at)

    def bell(x):
        return np.exp(-0.5 * ((x - 70_000) / 20_000) ** 2)

    incomes = np.exp(generator.normal(11.0, 0.6, 20_000))
    line = answer(moved(LINE, incomes, generator), bell)
    assert abs(line.value - bell(incomes).sum()) < 4 * line.standard_error
    # The lattice's own inverse is the closed form: g = f - U^2 f''.
    kernel = answer(
        moved(LINE, incomes, np.random.default_rng(1)), KernelDensity(at=(70_000.0,), bandwidth=20_000.0)
    )
    same = answer(moved(LINE, incomes, np.random.default_rng(1)), bell)
    assert same.value == pytest.approx(kernel.value, rel=1e-5)


@pytest.mark.statistical
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_kernels_and_moments_in_every_dimension(dimension):
    generator = np.random.default_rng(9)
    made = Points(Reference.flat(low=[-9000] * dimension, high=[9000] * dimension), Geo(1, per=300))
    people = generator.normal(100.0, 900.0, (30_000, dimension))
    reports = moved(made, people, generator)
    question = KernelDensity(at=((0.0,) * dimension, (500.0,) * dimension), bandwidth=400.0)
    found = answer(reports, question)
    true = np.exp(-0.5 * ((people[:, None] - question.places) ** 2).sum(axis=2) / 400.0**2).sum(axis=0)
    assert np.abs((found.value - true) / found.standard_error).max() < 4.5
    np.testing.assert_allclose(found.density, found.value / question.normaliser)
    middle = moments(reports)
    assert np.abs((middle.mean - people.mean(axis=0)) / middle.mean_error).max() < 4.5
    spread = middle.covariance - np.cov(people.T).reshape(dimension, dimension)
    assert np.abs(spread / middle.covariance_error).max() < 4.5
    wrong = np.diag(middle.covariance + made.unit_loss**2 * np.eye(dimension))  # d in place of d + 1
    assert (np.abs(wrong - np.var(people, axis=0)) > 5 * np.diag(middle.covariance_error)).all()


def test_mixed_prices_and_several_reports():
    generator = np.random.default_rng(10)
    wide = Points(PLANE.reference, Geo(1, per=500))
    people = generator.normal(0, 1200, (6000, 2))
    question = Box(low=(-1000, -1000), high=(1000, 1000), width=1.0)
    parts = [moved(PLANE, people[:3000], generator), moved(wide, people[3000:], generator)]
    both = answer(parts, question, edge_width=400.0)
    alone = [answer(part, question, edge_width=400.0) for part in parts]
    assert both.value == pytest.approx(sum(a.value for a in alone), rel=1e-3)
    assert both.people == 6000
    twice = [moved(PLANE, people, generator), moved(PLANE, people, generator)]
    for asked in (question, KernelDensity(at=(0.0, 0.0), bandwidth=400.0)):
        options = {} if isinstance(asked, KernelDensity) else {"edge_width": 0.7 * U}
        averaged = answer(twice, asked, shares=[0.5, 0.5], **options)
        single = answer(twice[0], asked, **options)
        assert averaged.people == 6000
        assert averaged.standard_error < single.standard_error
        assert averaged.value == pytest.approx(single.value, abs=5 * single.standard_error)


def test_the_default_edge_widens_where_the_noise_asks_for_it():
    generator = np.random.default_rng(11)
    few = moved(PLANE, generator.normal(0, 2000, (300, 2)), generator)
    many = moved(PLANE, generator.normal(0, 2000, (200_000, 2)), generator)
    question = Disc(centre=(0.0, 0.0), radius=800.0, width=1e-9)
    object.__setattr__(question, "width", 0.0)
    assert answer(few, question).edge_width == pytest.approx(U)
    assert answer(many, question).edge_width == pytest.approx(0.7 * U)


def test_what_cannot_be_asked():
    reports = moved(PLANE, np.zeros((10, 2)), np.random.default_rng(0))
    with pytest.raises(Unsupported, match="cannot be asked"):
        answer(reports, "how many?")
    with pytest.raises(DataError, match="coordinates"):
        answer(reports, Threshold(at=1.0, width=1.0))
    with pytest.raises(Unsupported, match="sharper"):
        answer(reports, REGIONS[0], edge_width=0.3 * U)
    with pytest.raises(ParameterError, match="positive"):
        answer(reports, REGIONS[0], edge_width=-1)
    with pytest.raises(DataError, match="one mechanism"):
        moments([reports, reports])
    with pytest.raises(DataError, match="only a kernel density"):
        _ = answer(reports, REGIONS[0]).density


def test_covered_shares_are_areas():
    x = np.arange(-3000.0, 3001.0, 50.0)
    cell = (50.0, 50.0)
    for region, area in (
        (REGIONS[0], 2500 * 1500),
        (REGIONS[1], np.pi * 1200**2),
        (REGIONS[2], REGIONS[2].shape.area),
    ):
        bounds = (-1000, -800, 1500, 700)
        assert covered(region, x, x, cell, bounds).sum() * 2500 == pytest.approx(area, rel=1e-4)
    shares = nearest(np.array([(0.0, 0.0), (1000.0, 0.0)]), x, x, cell)
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    assert shares[0].sum() * 2500 == pytest.approx((500 + 3025) * 6050, rel=1e-3)
