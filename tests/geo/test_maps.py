"""Maps from point reports: against direct sums, unbiased, with bars that cover as they say, best and non-negative."""

import numpy as np
import pytest

from sordino.errors import DataError, ParameterError, Unsupported
from sordino.geo import Points, Reference, bands, map_of
from sordino.geo.deconvolution import kernel
from sordino.geo.drawing import true_density
from sordino.geo.planning import assume
from sordino.geo.points import PointReports
from sordino.geo.shrinkage import non_negative
from sordino.geo.window import MapWindow
from sordino.privacy import Geo
from tests.support.geo_vectors import vectors

MADE = Points(Reference.flat(low=(-20_000, -20_000), high=(20_000, 20_000)), Geo(1, per=300))
U = MADE.unit_loss
GRID = {"low": (-3000, -3000), "high": (3000, 3000), "shape": (33, 33)}


def moved(points, generator, made=MADE):
    """Reports with numpy's noise: the same law for statistics, much faster to repeat."""
    direction = generator.standard_normal(points.shape)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    noise = direction * generator.gamma(2, size=(len(points), 1)) * made.unit_loss / float(made.step)
    return PointReports(made, made.snap(points) + np.rint(noise).astype(np.int64))


def hills(generator, count):
    """People of two hills, and the density of that population after a kernel, people per square metre."""
    which = generator.random(count) < 0.6
    points = np.where(which[:, None], [-600.0, 0.0], [900.0, 700.0]) + np.where(which, 900.0, 500.0)[
        :, None
    ] * generator.standard_normal((count, 2))

    def density(x, y, h):
        total = np.zeros(np.broadcast(x, y).shape)
        for share, (a, b), s in ((0.6, (-600.0, 0.0), 900.0), (0.4, (900.0, 700.0), 500.0)):
            v = s * s + h * h
            total += share * np.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * v)) / (2 * np.pi * v)
        return count * total

    return points, density


@pytest.mark.parametrize("vector", vectors("map"))
def test_density_and_variance_of_the_vectors(vector):
    given, unit = vector["in"], float(vector["in"]["unit_loss_metres"])
    h = float(given["bandwidth"])
    at, nodes = np.array(given["reports"], float), np.array(given["nodes"], float)
    g = kernel(np.linalg.norm(at[None] - nodes[:, None], axis=2) / h, (h / unit) ** 2, 2) / (
        2 * np.pi * h * h
    )
    n = len(at)
    for row, out in zip(g, vector["out"]["nodes"], strict=True):
        assert row.sum() == pytest.approx(float(out["people_per_m2"]), rel=1e-12)
        assert n / (n - 1) * ((row**2).sum() - row.sum() ** 2 / n) == pytest.approx(
            float(out["variance"]), rel=1e-12
        )


@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.5])
def test_the_transform_is_the_direct_sum(ratio):
    """Density, variance and noise variance of the map against sums over reports: 1e-5 of the peak."""
    h = ratio * U
    reports = moved(hills(np.random.default_rng(0), 3000)[0], np.random.default_rng(1))
    found = map_of(reports, bandwidth=h, **GRID)
    x, y = found.axes
    at = reports.metres
    for i, j in ((16, 16), (3, 20), (30, 7)):
        r = np.hypot(at[:, 0] - x[i], at[:, 1] - y[j]) / h
        g = kernel(r, ratio**2, 2) / (2 * np.pi * h * h)
        assert found.density[i, j] == pytest.approx(g.sum(), abs=2e-5 * found.density.max())
        n = len(g)
        expected = n / (n - 1) * ((g**2).sum() - g.sum() ** 2 / n)
        assert found.variance[i, j] == pytest.approx(expected, abs=2e-4 * found.variance.max())
        second = kernel(r * 2**0.5, ratio**2 / 2, 2) / (2 * np.pi * h * h) ** 2
        noise = (g**2).sum() - second.sum()
        if noise > 0:
            assert found.noise_variance[i, j] == pytest.approx(
                min(noise, expected), abs=2e-4 * found.variance.max()
            )


@pytest.mark.statistical
def test_maps_are_unbiased_and_bars_cover_on_both_sides():
    """Over 150 repetitions: mean error within its own error, and 95 % intervals that cover 93 to 97 % of the time."""
    generator = np.random.default_rng(2)
    inside, total, runs = 0, np.zeros((33, 33)), 150
    squares = np.zeros((33, 33))
    for _ in range(runs):
        points, density = hills(generator, 1500)
        found = map_of(moved(points, generator), bandwidth=1.5 * U, **GRID)
        x, y = found.axes
        truth = density(x[:, None], y[None, :], 1.5 * U)
        low, high = found.interval
        busy = truth > 0.1 * truth.max()
        inside += ((truth >= low) & (truth <= high))[busy].mean()
        total += found.density - truth
        squares += (found.density - truth) ** 2
    assert 0.93 < inside / runs < 0.97
    score = total / np.sqrt(squares)
    assert np.abs(score).max() < 5.0


@pytest.mark.statistical
def test_bars_cover_where_hardly_anybody_is():
    """With some ten reports near a place their own spread covers 85 % and less; the neighbourhood's is taken too."""
    generator = np.random.default_rng(12)
    plain = cautious = 0.0
    for _ in range(60):
        points, density = hills(generator, 250)
        found = map_of(moved(points, generator), bandwidth=U, **GRID)
        x, y = found.axes
        truth = density(x[:, None], y[None, :], U)
        some = truth > 0.05 * truth.max()
        low, high = found.interval
        cautious += ((truth >= low) & (truth <= high))[some].mean() / 60
        plain += (np.abs(found.density - truth) <= 1.96 * found.standard_error)[some].mean() / 60
    assert plain < 0.9
    assert 0.94 < cautious < 0.995


@pytest.mark.thorough
@pytest.mark.statistical
def test_the_band_covers_the_whole_map_and_needs_its_precautions(monkeypatch):
    """Simultaneous bands on few people; without smoothing and the four largest weights they cover far too little."""
    generator = np.random.default_rng(4)
    covered = {"cautious": 0, "plain": 0}
    runs = 25
    for i in range(runs):
        points, density = hills(generator, 1200)
        reports = moved(points, generator)
        found = map_of(reports, bandwidth=U, **GRID)
        x, y = found.axes
        truth = density(x[:, None], y[None, :], U)
        for name in covered:
            with monkeypatch.context() as change:
                if name == "plain":
                    change.setattr(bands, "_SMOOTHING", 1e-6)
                    change.setattr(bands, "_LARGEST_WEIGHTS", 1e-12)
                reach = bands.simultaneous(found, rounds=60, seed=i)
            covered[name] += bool((np.abs(found.density - truth) <= reach).all())
    assert covered["cautious"] >= 0.84 * runs
    assert covered["plain"] <= 0.75 * runs


def test_hot_spots_are_few_and_true():
    generator = np.random.default_rng(5)
    points, density = hills(generator, 40_000)
    found = map_of(moved(points, generator), bandwidth=U, **GRID)
    x, y = found.axes
    truth = density(x[:, None], y[None, :], U)
    hot = found.hot(0.5 * truth.max())
    assert hot.any()
    assert (truth[hot] > 0.5 * truth.max()).all()


@pytest.mark.statistical
@pytest.mark.parametrize("count", [1000, 30_000])
def test_the_smallest_error_map_is_not_worse(count):
    """On a generated city, at and below U; there it is far better."""
    generator = np.random.default_rng(6)
    points = assume("city", 2, spread=2500.0, count=count)
    errors = {}
    for ratio in (0.5, 1.0, 2.0):
        h = ratio * U
        truth = true_density(points, bandwidth=h, **GRID)
        reports = moved(points, generator)
        for best in (False, True):
            found = map_of(reports, bandwidth=h, best=best, **GRID)
            errors[ratio, best] = float(np.sqrt(np.mean((found.density - truth) ** 2)))
        assert errors[ratio, True] <= 1.02 * errors[ratio, False]
    assert errors[0.5, True] < 0.5 * errors[0.5, False]


def test_the_error_is_that_of_the_formula():
    """RMS over a map of even density against sqrt(rho c(a)/(4 pi h^2)), to ten per cent."""
    from sordino.geo.point_planning import error_of_density

    generator = np.random.default_rng(7)
    side, count = 24_000.0, 60_000
    points = generator.uniform(-side / 2, side / 2, (count, 2))
    per_km2 = count / (side / 1000) ** 2
    for ratio in (1.0, 2.0):
        h = ratio * U
        found = map_of(
            moved(points, generator), bandwidth=h, low=(-8000, -8000), high=(8000, 8000), shape=(50, 50)
        )
        truth = true_density(points, bandwidth=h, low=(-8000, -8000), high=(8000, 8000), shape=(50, 50))
        rms = 1e6 * float(np.sqrt(np.mean((found.density - truth) ** 2)))
        assert rms == pytest.approx(error_of_density(per_km2, h, U), rel=0.1)


def test_mixed_prices_add_up():
    """Half of the people at twice the distance: one map of all, unbiased, with the variances added."""
    generator = np.random.default_rng(8)
    wide = Points(MADE.reference, Geo(1, per=600))
    points, density = hills(generator, 20_000)
    both = [moved(points[:10_000], generator), moved(points[10_000:], generator, wide)]
    found = map_of(both, bandwidth=1000.0, **GRID)
    parts = [map_of(part, bandwidth=1000.0, **GRID) for part in both]
    np.testing.assert_allclose(found.density, parts[0].density + parts[1].density, rtol=1e-6, atol=1e-9)
    x, y = found.axes
    z = (found.density - density(x[:, None], y[None, :], 1000.0)) / found.standard_error
    assert np.abs(z).mean() < 2
    assert found.people == 20_000
    np.testing.assert_allclose(
        found.noise_variance, sum(p.noise_variance for p in parts), rtol=0.3, atol=1e-12
    )


@pytest.mark.statistical
def test_several_reports_of_one_person_count_half_each():
    """Everybody reports twice: the noise halves, the people do not double, and the error is as stated."""
    generator = np.random.default_rng(9)
    points, _ = hills(generator, 4000)
    errors, stated = [], []
    for _ in range(30):
        twice = [moved(points, generator), moved(points, generator)]
        found = map_of(twice, bandwidth=U, shares=[0.5, 0.5], **GRID)
        truth = true_density(points, bandwidth=U, **GRID)
        errors.append(((found.density - truth) ** 2).mean())
        stated.append(found.noise_variance.mean())
    assert found.people == 4000
    single = map_of(moved(points, generator), bandwidth=U, **GRID)
    assert np.mean(errors) == pytest.approx(np.mean(stated), rel=0.15)
    assert np.mean(stated) == pytest.approx(single.noise_variance.mean() / 2, rel=0.2)


def test_non_negative_maps_keep_their_sum():
    values = np.random.default_rng(10).normal(0.2, 1.0, (20, 30))
    made = non_negative(values)
    assert made.min() == 0
    assert made.sum() == pytest.approx(values.sum())
    shift = (values - made)[made > 0]
    np.testing.assert_allclose(shift, shift[0])
    # Nearest: no small move of mass comes nearer.
    for _ in range(50):
        i, j = np.random.default_rng(_).integers(0, made.size, 2)
        other = made.ravel().copy()
        amount = 0.01 if other[i] > 0.01 else 0.0
        other[i] -= amount
        other[j] += amount
        assert ((other - values.ravel()) ** 2).sum() >= ((made - values) ** 2).sum() - 1e-9
    assert non_negative(np.array([-1.0, -2.0])).sum() == 0


def test_mistakes_in_maps():
    reports = moved(np.zeros((10, 2)), np.random.default_rng(0))
    with pytest.raises(Unsupported, match="quarter"):
        map_of(reports, bandwidth=0.2 * U, **GRID)
    best = map_of(reports, bandwidth=0.2 * U, best=True, **GRID)
    with pytest.raises(DataError, match="unbiased"):
        _ = best.interval
    with pytest.raises(DataError, match="unbiased"):
        _ = best.band
    elsewhere = Points(Reference.around(longitude=0, latitude=0, radius=20_000), Geo(1, per=300))
    with pytest.raises(DataError, match="different coordinate references"):
        map_of([reports, elsewhere.report(degrees=[[0.0, 0.0]])], bandwidth=U, **GRID)
    with pytest.raises(ParameterError, match="greater"):
        map_of(reports, bandwidth=U, low=(0, 0), high=(0, 1), shape=(3, 3))
    with pytest.raises(ParameterError, match="shares"):
        map_of(reports, bandwidth=U, shares=[2.0], **GRID)
    with pytest.raises(DataError, match="point reports"):
        map_of([], bandwidth=U, **GRID)
    line = Points(Reference.flat(low=0, high=1000), Geo(1, per=10))
    with pytest.raises(DataError, match="two coordinates"):
        map_of(line.report(metres=[1.0]), bandwidth=10, **GRID)
    with pytest.raises(Unsupported, match="too many cells"):
        map_of(reports, bandwidth=U, low=(-19_000, -19_000), high=(19_000, 19_000), shape=(20_000, 20_000))


def test_sums_over_nodes_are_sums_over_reports():
    """Any function that is smooth over a few cells."""
    window = MapWindow.over(low=(0, 0), high=(100, 100), shape=(11, 11), finest=5.0, pad=60.0)
    points = np.random.default_rng(11).uniform(10, 90, (500, 2))
    laid = window.back(window.spread([points])[0])
    x, y = np.meshgrid(window.axis(0), window.axis(1), indexing="ij")

    def bump(x, y):
        return np.exp(-((x - 40) ** 2 + (y - 55) ** 2) / (2 * 20.0**2))

    assert (laid * bump(x, y)).sum() == pytest.approx(bump(points[:, 0], points[:, 1]).sum(), rel=1e-5)
    assert window.spread([points + 1e6])[1] == 0
    assert window.counts([points]).sum() == 500
