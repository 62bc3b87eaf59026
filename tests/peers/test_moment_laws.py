"""Laws of counts, means and variances against draws of the mechanisms they describe; wrong scales are noticed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.peers import cell_laws, law_checks, moment_laws, search_laws, tumult_laws
from benchmarks.peers.cells import Cell, truth

pytestmark = pytest.mark.thorough

MANY = 400_000


def squared(draws, right):
    return math.sqrt(np.mean((draws - right) ** 2))


@pytest.mark.parametrize(("low", "high"), [(-np.inf, np.inf), (0.0, 10.0), (-1.0, 50.0)])
@pytest.mark.parametrize("centre", [1.5, -4.0, 12.0])
def test_cut_laplace_noise_has_its_law(low, high, centre):
    draws = np.clip(centre + np.random.default_rng(4).laplace(0, 3, MANY), low, high)
    law = moment_laws.laplace(centre, 3.0, low, high)
    assert law.rmse(1.5) == pytest.approx(squared(draws, 1.5), rel=0.01)
    assert law.median_error(1.5) == pytest.approx(np.median(abs(draws - 1.5)), rel=0.02)
    assert law.cdf(2.0) == pytest.approx(np.mean(draws <= 2), abs=0.004)


def test_two_sided_geometric_noise_has_its_law():
    plain, decay = moment_laws.geometric(7, 1.0), np.exp(-1.0)
    assert plain.rmse(7) == pytest.approx(
        np.sqrt(2 * decay) / (1 - decay)
    )  # 1.357, less than the square root of 2
    assert plain.median_error(7) == 1
    assert plain.cdf(6.5) == pytest.approx(decay / (1 + decay))
    assert moment_laws.geometric(2, 0.1, 0, 201).rmse(2) < moment_laws.geometric(2, 0.1).rmse(2)


@pytest.mark.parametrize("down", [True, False])
def test_rounded_laplace_noise_has_its_law(down):
    noise = np.random.default_rng(5).laplace(0, 2, MANY)
    draws = 30 + (np.floor(noise) if down else np.rint(noise))
    law = moment_laws.rounded(30, 0.5, down=down)
    assert law.rmse(30) == pytest.approx(squared(draws, 30), rel=0.01)
    assert law.cdf(30) == pytest.approx(np.mean(draws <= 30), abs=0.004)


def average(values, low, high, epsilon, random, count):
    """A noisy sum over a noisy count, as the sources have it."""
    middle = (low + high) / 2
    top = np.sum(np.clip(values, low, high) - middle) + random.laplace(
        0, (high - low) / 2 / (epsilon / 2), count
    )
    return top / np.maximum(1, len(values) + random.laplace(0, 1 / (epsilon / 2), count)) + middle


@pytest.mark.few(1)
@pytest.mark.parametrize(("rows", "epsilon"), [(30, 1.0), (12, 0.5), (200, 0.1)])
def test_a_quotient_has_its_law_down_to_denominators_of_one(rows, epsilon):
    random = np.random.default_rng(7)
    values = random.uniform(0, 8, rows)
    draws = average(values, 0, 10, epsilon, random, 10 * MANY)
    law = tumult_laws.average(values, 0, 10, epsilon)
    right = values.mean()
    assert law.chance.sum() == pytest.approx(1)
    assert law.rmse(right) == pytest.approx(squared(draws, right), rel=0.02)
    assert law.median_error(right) == pytest.approx(np.median(abs(draws - right)), rel=0.01)
    coarse = tumult_laws.average(values, 0, 10, epsilon, cells=400)
    assert coarse.rmse(right) == pytest.approx(law.rmse(right), rel=1e-3)


@pytest.mark.statistical
def test_a_wrong_share_of_the_budget_would_be_noticed():
    random = np.random.default_rng(8)
    values = random.uniform(0, 8, 50)
    draws = average(values, 0, 10, 1.0, random, 4000)
    assert law_checks.p_value(tumult_laws.average(values, 0, 10, 1.0), draws, random) > 0.01
    assert law_checks.p_value(tumult_laws.average(values, 0, 10, 1.4), draws, random) < 1e-4


def first_bound(values, epsilon, random):
    """Sparse vector over the numbers of rows within powers of two, one draw, in plain words."""

    def noise(scale):
        p = 1 - math.exp(-1 / scale)
        return random.geometric(p) - random.geometric(p)

    threshold = int(0.95 * len(values)) + noise(2 / epsilon)
    for rank in range(-100, 101):
        if np.count_nonzero(abs(values) <= 2.0**rank) + noise(4 / epsilon) >= threshold or rank == 100:
            return 2.0**rank
    raise AssertionError


@pytest.mark.parametrize(("epsilon", "other"), [(2.0, 1.0), (0.2, 0.4)])
def test_bounds_are_found_as_often_as_the_law_says(epsilon, other):
    random = np.random.default_rng(9)
    values = np.concatenate([random.normal(0, 20, 80), np.zeros(3)])
    draws = np.array([first_bound(values, epsilon, random) for _ in range(1500)])
    edges = [2.0**-60, 2.0**-20, 8.0, 16.0, 32.0]

    def away(price):
        bounds, chance = tumult_laws.bounds(values, price)
        assert chance.sum() == pytest.approx(1)
        return max(abs(np.mean(draws <= edge) - chance[bounds <= edge].sum()) for edge in edges)

    assert away(epsilon) < 0.05
    assert away(other) > 0.05


def test_an_automatic_average_is_an_average_within_the_bounds_that_are_found():
    random = np.random.default_rng(10)
    values = random.normal(3, 2, 60)
    found, chance = tumult_laws.bounds(values, 1.0)
    chosen = random.choice(found, p=chance / chance.sum(), size=20_000)
    draws = [average(values, max(-5, -bound), min(40, bound), 1.0, random, 1)[0] for bound in chosen]
    law = tumult_laws.automatic_average(values, -5, 40, 2.0)
    assert law.chance.sum() == pytest.approx(1)
    assert law.median_error(values.mean()) == pytest.approx(
        np.median(abs(np.array(draws) - values.mean())), rel=0.05
    )
    assert law.cdf(2.0) == pytest.approx(np.mean(np.array(draws) <= 2.0), abs=0.015)


def test_a_variance_without_noise_is_the_variance():
    values = np.random.default_rng(11).uniform(2, 9, 300)
    quiet = tumult_laws.variance(values, 0, 10, 1e9)
    assert quiet.rmse(np.var(values, ddof=1)) < 1e-4
    loud = tumult_laws.variance(values, 0, 10, 0.1)
    assert 0 <= np.nanmin(loud.values) < np.nanmax(loud.values) <= 25  # cut to a quarter of the squared range
    assert 0 < loud.doubt < 0.01


def test_a_variance_has_a_third_of_the_budget_for_each_of_its_parts():
    values = np.random.default_rng(12).normal(0, 3, 4000)
    found, right, share = tumult_laws.variance(values, -10, 10, 1.0), np.var(values, ddof=1), 3.0
    # symmetric bounds: to first order the noise of the squares (half of their range, 50) and of the count remains
    expected = math.sqrt(2) * share * math.hypot(50, 50 - right) / len(values)
    assert found.rmse(right) == pytest.approx(expected, rel=0.02)
    assert found.median_error(right) < expected


@pytest.mark.parametrize("library", cell_laws.KNOWN)
def test_every_law_of_a_cell_is_near_its_truth(library):
    variant = {"pydp": "half"}.get(library, "any")
    for query in cell_laws.KNOWN[library]:
        cell = Cell("fit", query, "uniform", 201, 1)
        law = cell_laws.of_cell(library, variant, cell, cell.values())
        right = truth(query, cell.values(), cell.public.threshold)
        room = 5 if query == "count" else 0.3
        assert 0 < law.median_error(right) <= law.rmse(right) * 1.5
        assert law.median_error(right) < room
        assert law.cdf(right + 1e3) == pytest.approx(1)
    assert cell_laws.of_cell(library, "tree", cell, cell.values()) is None


def test_half_is_half_of_the_price():
    whole, half = Cell("fit", "mean", "uniform", 201, 1), Cell("fit", "mean", "uniform", 201, 0.5)
    values = whole.values()
    laws = [
        cell_laws.of_cell("pydp", kind, cell, values) for kind, cell in (("half", whole), ("plain", half))
    ]
    assert (
        laws[0].rmse(0.5) == laws[1].rmse(0.5) > cell_laws.of_cell("pydp", "plain", whole, values).rmse(0.5)
    )


def test_wider_bounds_are_more_noise():
    cell = Cell("fit", "mean", "pareto", 201, 1)
    values = cell.values()
    fit, wide = (
        cell_laws.of_cell("opendp", "grid", replace(cell, regime=regime), values)
        for regime in ("fit", "1000x")
    )
    assert wide.rmse(values.mean()) == pytest.approx(1000 * fit.rmse(values.mean()))


def test_a_variance_drawn_again_until_it_fits_is_private_and_within_its_range():
    """The scale solves its own equation, so the densities of neighbours differ by at most e^epsilon."""
    scale = search_laws.bounded_scale(2.0, 25.0, 0.5)
    assert scale > 2.0 / 0.5
    reach = np.linspace(0, 25, 26)

    def density(centre):
        weight = np.exp(-np.abs(reach - centre) / scale)
        mass = 2 - math.exp(-centre / scale) - math.exp(-(25 - centre) / scale)
        return weight / (scale * mass)

    worst = max(np.max(density(one) / density(one + 2.0)) for one in (0.0, 5.0, 11.5, 23.0))
    assert math.exp(0.45) < worst <= math.exp(0.5) * (1 + 1e-9)
    law = search_laws.diffprivlib_variance(np.array([0.0, 1.0, 9.0, 10.0] * 10), 0, 10, 0.1)
    assert law.values.min() >= 0
    assert law.values.max() <= 25 * 40 / 39


def test_clipped_means_are_means_of_clipped_rows():
    rows = np.sort(np.random.default_rng(1).normal(size=50))
    lower, upper = np.array([-0.5, 0.1, 3.0]), np.array([0.5, 0.2, 3.5])
    found = search_laws.clipped_means(rows, lower, upper)
    assert found == pytest.approx([np.clip(rows, a, b).mean() for a, b in zip(lower, upper, strict=True)])


@pytest.mark.parametrize("library", ["opendp", "diffprivlib"])
def test_a_mean_that_looks_for_its_bounds_first(library):
    rows = np.random.default_rng(2).normal(50, 5, 1001)
    law = search_laws.two_stage(library, rows, 0, 1000, 4.0, np.linspace(0, 1000, 10_001))
    assert law.rmse(rows.mean()) < 0.2 * 1000 / 1001 / 4 * math.sqrt(2)
    assert law.median_error(rows.mean()) > 0
