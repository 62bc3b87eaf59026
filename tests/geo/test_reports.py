"""Reports follow their law exactly, estimates are unbiased with honest errors, and both ends agree."""

import numpy as np
import pytest
from scipy import stats

from sordino.errors import DataError, ParameterError, Unsupported
from sordino.exact import SeededBits
from sordino.geo import (
    BlockMechanism,
    Disc,
    KernelDensity,
    QueryMechanism,
    Reports,
    ReportTally,
    Threshold,
    TwoWayThreshold,
    estimate,
    mechanism_for,
    report,
    survey,
)
from sordino.geo.baseline import NAMES, expected_bias, noise_variance, planar_laplace, simulate
from sordino.geo.blocks import _fair, joint_slope
from sordino.geo.reporting import draw, stream
from sordino.privacy import Geo
from tests.support.geo_worlds import QUERIES, cloud

PRICE = Geo(1, per=1)
NOISES = ("laplace-pareto", "polyplace", "student-t", "generalized-cauchy", "laplace")


@pytest.mark.statistical
@pytest.mark.parametrize("noise", NOISES)
def test_reports_follow_their_law(noise):
    """At one point the reports are the law at that point's scale; a scale ten per cent off is rejected."""
    made = QueryMechanism.choose(QUERIES["threshold"], PRICE, noise=noise)
    x = np.full(40_000, 5.5)
    codes = made.draw(x, bits=SeededBits(3))
    scale = made.scales(x[:1])[0]
    law = made.calibration.noise
    z = (made.grid.numbers(codes) - made.query.value(x[:1])[0]) / scale
    assert stats.kstest(z, law.cdf).pvalue > 1e-3
    assert stats.kstest(z * 1.1, law.cdf).pvalue < 1e-6


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["threshold", "disc", "kernel", "star", "logistic", "tanh"])
def test_estimates_are_unbiased(name):
    query = QUERIES[name]
    points = cloud(query, 20_000, seed=11)
    truth = query.value(points).mean()
    found = estimate(report(points, query, PRICE, bits=SeededBits(5)), query)
    noise = np.sqrt(QueryMechanism.choose(query, PRICE).variance(points).mean() / len(points))
    assert abs(found.value - truth) < 4.5 * noise
    assert found.count == len(points)
    # The test has the power to see a bias of a tenth of the range.
    assert abs(found.value + 0.1 - truth) > 4.5 * noise


@pytest.mark.statistical
def test_intervals_cover():
    query = Threshold(at=3.0, width=2.0)
    points = cloud(query, 400, seed=2, spread=5.0)
    truth = query.value(points).mean()
    made = QueryMechanism.choose(query, PRICE)
    bits = SeededBits(8)
    hits = 0
    for _ in range(400):
        found = estimate(draw(made, points, bits=bits), query)
        hits += found.low <= truth <= found.high
    # The standard error counts the spread of the people too, so the interval is on the wide side.
    assert hits >= 370


def test_scale_of_a_report_is_small_where_the_point_is_far():
    made = QueryMechanism.choose(Threshold(at=0.0, width=2.0), PRICE)
    near, far, farther = made.scales([0.0, 20.0, 1e9])
    assert near > 100 * far
    assert farther == pytest.approx(near * 2.0**-20, rel=1e-9)  # the floor


def test_no_value_raises():
    hostile = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0]
    for name, query in QUERIES.items():
        shape = (7,) if query.dimension == 1 else (7, query.dimension)
        points = np.broadcast_to(np.array(hostile).reshape(7, *[1] * (len(shape) - 1)), shape)
        assert len(report(points, query, PRICE)) == 7, name
        assert np.isfinite(report(points, query, PRICE).values).all()
    assert len(report(np.zeros(0), QUERIES["threshold"], PRICE)) == 0


def test_a_missing_point_counts_as_far_away():
    query = Disc(centre=(0.0, 0.0), radius=5.0, width=1.0)
    made = QueryMechanism.choose(query, PRICE)
    far, missing = made.scales([[1e12, 1e12], [np.nan, np.nan]])
    assert far == missing


def test_grids_do_not_depend_on_points():
    query = QUERIES["kernel"]
    first = report(np.zeros((3, 2)), query, PRICE)
    second = report(np.full((3, 2), 500.0), query, PRICE)
    assert first.mechanism.grid == second.mechanism.grid
    assert first.mechanism.id == second.mechanism.id


def test_wrong_shapes_are_refused():
    with pytest.raises(DataError, match="coordinate"):
        report(np.zeros((4, 3)), QUERIES["disc"], PRICE)
    with pytest.raises(DataError, match="coordinate"):
        report(np.zeros((4, 2)), QUERIES["threshold"], PRICE)


def test_tallies_refuse_what_does_not_belong_together():
    query = QUERIES["threshold"]
    tally = ReportTally(query)
    tally.add(report([1.0, 2.0], query, PRICE))
    with pytest.raises(DataError, match="different mechanisms"):
        tally.add(report([1.0], query, Geo(2, per=1)))
    with pytest.raises(DataError, match="another query"):
        tally.add(report([[0.0, 0.0]], QUERIES["disc"], PRICE))
    assert np.isnan(ReportTally(query).estimate().value)
    with pytest.raises(ParameterError, match="confidence"):
        tally.estimate(confidence=1.0)


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize(
    "options", [{}, {"noise": "student-t"}, {"noise": "laplace"}, {"delta": 1e-6}, {"smoothing": 0.05}]
)
def test_both_ends_make_the_same_mechanism(name, options):
    made = QueryMechanism.choose(QUERIES[name], Geo(0.7, per=3), **options)
    again = QueryMechanism.from_dict(made.to_dict())
    assert again.id == made.id
    assert again.calibration == made.calibration
    assert again.grid == made.grid
    assert again.lattice == made.lattice


# Many places -------------------------------------------------------------------------------------------


GRID = KernelDensity.grid(low=(0, 0), high=(9, 9), shape=(10, 10), bandwidth=1.0)


@pytest.mark.parametrize("spread", [0.6, 2.0, 5.0])
def test_the_joint_slope_dominates_every_point(spread):
    rng = np.random.default_rng(1)
    places = rng.normal(0.0, spread, (12, 2))
    bound = joint_slope(places, 0.8)
    x = rng.normal(0.0, spread + 1.0, (20_000, 2))
    d = np.sqrt(((x[:, None] - places[None]) ** 2).sum(axis=2)) / 0.8
    brute = (d * np.exp(-0.5 * d * d)).sum(axis=1).max() / 0.8
    assert brute <= bound <= brute * 1.1


def test_the_loss_of_a_whole_block_keeps_the_promise():
    """Laplace noise: the exact loss is the sum of the moves over the scale, reached at an extreme output."""
    made = BlockMechanism.choose(GRID, PRICE)
    rng = np.random.default_rng(4)
    x = made.lattice.snap(rng.uniform(-2.0, 11.0, (400, 2)))
    for size in (1e-4, 0.3, 3.0):
        y = made.lattice.snap(x + size * rng.normal(size=x.shape))
        gap = np.linalg.norm(x - y, axis=1)
        far = gap > 0
        for block in made.blocks:
            part = KernelDensity(at=[GRID.at[j] for j in block], bandwidth=1.0)
            move = np.abs(part.value(x) - part.value(y)).sum(axis=1)
            assert (move[far] / float(made.scale) <= gap[far] * (1 + 1e-9)).all()


def test_every_place_is_in_one_block():
    made = BlockMechanism.choose(GRID, PRICE)
    assert sorted(j for block in made.blocks for j in block) == list(range(100))
    scattered = KernelDensity(at=np.random.default_rng(2).uniform(0, 30, (40, 2)), bandwidth=1.0)
    made = BlockMechanism.choose(scattered, PRICE)
    assert sorted(j for block in made.blocks for j in block) == list(range(40))


@pytest.mark.statistical
def test_a_map_is_estimated_without_bias():
    rng = np.random.default_rng(3)
    points = rng.normal(4.5, 2.0, (40_000, 2))
    told = []
    found = survey(points, GRID, Geo(4, per=1), chunk=7000, progress=told.append)
    assert sum(told) == 40_000
    blocks = BlockMechanism.choose(GRID, Geo(4, per=1)).blocks
    assert found.count[[block[0] for block in blocks]].sum() == 40_000
    truth = GRID.value(points).mean(axis=0)
    z = (found.value - truth) / found.standard_error
    assert np.abs(z).max() < 5.0
    assert 0.75 < z.std() < 1.25
    np.testing.assert_allclose(found.density * GRID.normaliser, found.value)


def test_blocks_are_drawn_fairly():
    counts = np.bincount(_fair(SeededBits(1), 90_000, 9), minlength=9)
    assert stats.chisquare(counts).pvalue > 1e-3


def test_many_places_take_no_options():
    with pytest.raises(Unsupported, match="many places"):
        mechanism_for(GRID, PRICE, noise="polyplace")
    with pytest.raises(Unsupported, match="one place"):
        QueryMechanism.choose(GRID, PRICE)
    with pytest.raises(Unsupported, match="one place"):
        GRID.value_and_bound([[0.0, 0.0]], 0.1)


def test_streams_hold_everything_once():
    made = QueryMechanism.choose(QUERIES["threshold"], PRICE)
    parts = list(stream(made, np.arange(10.0), chunk=4))
    assert [len(part) for part in parts] == [4, 4, 2]
    assert all(isinstance(part, Reports) for part in parts)


# The paper's mechanisms -----------------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
def test_planar_laplace_is_isotropic(dimension):
    z = planar_laplace(np.random.default_rng(5), 100_000, dimension)
    moments = (z**2).mean(axis=0)
    np.testing.assert_allclose(moments, dimension + 1, rtol=0.06)
    radius = np.linalg.norm(z, axis=1)
    assert stats.kstest(radius, stats.gamma(dimension).cdf).pvalue > 1e-3
    if dimension == 3:  # evenly drawn polar angles would give quarters and a half
        share = moments / moments.sum()
        assert np.abs(share - 1 / 3).max() < 0.02


@pytest.mark.statistical
@pytest.mark.parametrize("name", NAMES)
def test_baselines_match_their_expectation(name):
    query = KernelDensity(at=(0.0, 0.0), bandwidth=2.0)
    rng = np.random.default_rng(6)
    points = rng.normal(0.0, 3.0, (200, 2))
    drawn = simulate(name, query, np.repeat(points, 400, axis=0), PRICE, rng).reshape(200, 400)
    if name in {"M0", "M1"}:
        bias, spread = expected_bias(name, query, points, PRICE)
        assert drawn.mean() - query.value(points).mean() == pytest.approx(bias.mean(), abs=0.004)
        assert drawn.var(axis=1).mean() == pytest.approx(spread.mean(), rel=0.1)
    else:
        variance = noise_variance(name, query, points, PRICE)
        assert drawn.var(axis=1).mean() == pytest.approx(variance.mean(), rel=0.25)
        assert drawn.mean() == pytest.approx(
            query.value(points).mean(), abs=4 * np.sqrt(variance.mean() / 80_000)
        )


def test_the_distance_mechanism_is_for_kernels_only():
    with pytest.raises(Unsupported, match="M1"):
        simulate("M1", QUERIES["threshold"], [0.0], PRICE, np.random.default_rng(0))


@pytest.mark.parametrize("rate", [1 / 8000, 1 / 12000, 1 / 20000])
def test_default_beats_the_paper_on_two_way_thresholds(rate):
    """Correlated log-normal incomes and debts, section 5 of Liang and Yi 2024, on a coarse grid of thresholds."""
    rng = np.random.default_rng(7)
    z = rng.multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]], 4000)
    points = np.exp(np.array([11.494, 11.494 + np.log(1.791)]) + 0.829 * z)
    price = Geo(1, per=1 / rate)
    ours = paper = laplace = 0.0
    for a in np.linspace(1e4, 1e6, 5):
        for b in np.linspace(1e4, 1e6, 5):
            query = TwoWayThreshold(at=(a, b), width=min(0.2 * np.hypot(a, b), 2 / rate))
            ours += QueryMechanism.choose(query, price).variance(points).mean()
            paper += noise_variance("M3", query, points, price).mean()
            laplace += noise_variance("M2", query, points, price).mean()
    assert ours < paper / 3
    assert ours < laplace
