"""Coverage of the bars of means and squares: by the laws of what is drawn, and over many releases."""

import math

import numpy as np
import pytest

import sordino as sd
from benchmarks.coverage import bench_bars
from benchmarks.coverage.clipped_laws import ClippedLaws
from sordino.coverage import Population, Sample
from sordino.mechanisms.choose import choose
from tests.support.mean_bar_releases import covered
from tests.support.mean_shapes import shapes, widened

REPLACE, ADD = sd.Neighbors.REPLACE_ONE, sd.Neighbors.ADD_REMOVE_ONE
COLUMNS = ("normal", "log-normal", "Pareto", "two bumps", "90% zeros", "heap", "ages", "3% at the bound")
SETTINGS = [(201, 1, REPLACE), (1001, 0.3, ADD), (1001, 3, REPLACE), (10_001, 0.1, ADD)]


def law_misses(rows, epsilon, neighbors, kind, narrower):
    """Of a bar of 95 % on every shape, and of one that is narrower."""
    for name, data in shapes(rows, np.random.default_rng(5)):
        if name in COLUMNS:
            low, high = widened(kind, data)
            mean = sd.Mean("x", low=low, high=high, neighbors=neighbors)
            mechanism = choose(mean, sd.Pure(epsilon), rows=rows)
            yield tuple(
                ClippedLaws(mechanism, mean, data, 0.05, narrower=part).miss() for part in (1.0, narrower)
            )


@pytest.mark.parametrize("neighbors", [REPLACE, ADD])
def test_means_are_covered_by_the_laws_of_what_is_drawn(neighbors):
    """Exactly with a public number of rows; a fifth narrower is rejected."""
    found = list(law_misses(1001, 0.3, neighbors, "fit", 0.8))
    assert max(miss for miss, _ in found) <= 0.05
    assert max(miss for _, miss in found) > 0.07


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", [REPLACE, ADD])
@pytest.mark.parametrize("kind", ["fit", "x30"])
@pytest.mark.parametrize(
    ("rows", "epsilon"),
    [(201, 1), (201, 3), (1001, 0.3), (1001, 3), (10_001, 0.1), (100_000, 0.1), (100_000, 0.4)],
)
def test_means_are_covered_by_laws_in_every_setting(rows, epsilon, neighbors, kind):
    found = list(law_misses(rows, epsilon, neighbors, kind, 0.8))
    assert max(miss for miss, _ in found) <= 0.05
    if kind == "fit":
        assert max(miss for _, miss in found) > 0.06


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("shape", ["log-normal", "90% zeros"])
@pytest.mark.parametrize(("rows", "epsilon", "neighbors"), SETTINGS[:2])
def test_releases_of_means_cover_as_the_laws_say(shape, rows, epsilon, neighbors):
    data = dict(shapes(rows, np.random.default_rng(5)))[shape]
    low, high = widened("fit", data)
    mean = sd.Mean("x", low=low, high=high, neighbors=neighbors)
    found, _ = covered(mean, data, sd.Pure(epsilon), Sample(0.95), 2000, seed=11)
    missed = ClippedLaws(choose(mean, sd.Pure(epsilon), rows=rows), mean, data, 0.05).miss()
    assert 1 - found == pytest.approx(missed, abs=4 * math.sqrt(missed / 2000) + 0.002)
    assert found >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 2000)


@pytest.mark.parametrize("neighbors", [REPLACE, ADD])
def test_squares_are_covered_by_the_laws_of_what_is_drawn(neighbors):
    """A deviation misses exactly where its variance does."""
    for kind, planted in ((sd.Variance, 0.025), (sd.SecondMoment, 0.04)):
        worst, _, narrower = bench_bars.clipped_line(kind, 1001, 1, neighbors, columns=("ages", "edge"))
        assert worst <= 0.05
        assert narrower > max(planted, 1.5 * worst)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_mean_sum_and_square_of_the_bench_covers_by_laws():
    """Nine columns, 201 to 100,000 rows, epsilon .1 to 3, both relations."""
    for *_, worst, _, _ in bench_bars.clipped_rows():
        assert worst <= 0.05


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("neighbors", [REPLACE, ADD])
def test_releases_of_variances_cover_as_the_laws_say(neighbors):
    low, high, data = bench_bars.column("edge", 1001)
    variance = sd.Variance("x", low=low, high=high, neighbors=neighbors)
    found, _ = covered(variance, data, sd.Pure(1), Sample(0.95), 2000, seed=11)
    missed = ClippedLaws(choose(variance, sd.Pure(1), rows=1001), variance, data, 0.05).miss()
    assert 1 - found == pytest.approx(missed, abs=4 * math.sqrt(missed / 2000) + 0.002)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("shape", COLUMNS)
@pytest.mark.parametrize(("rows", "epsilon", "neighbors"), SETTINGS)
def test_means_of_populations_are_covered(shape, rows, epsilon, neighbors):
    many = dict(shapes(400_000, np.random.default_rng(8)))[shape]
    low, high = widened("x4", many)
    mean = sd.Mean("x", low=low, high=high, neighbors=neighbors)
    known = {}

    def truth(bottom, top):
        key = (bottom, top)
        if key not in known:
            known[key] = float(np.mean(np.clip(many, bottom, top)))
        return known[key]

    random = np.random.default_rng(9)
    found, _ = covered(
        mean, many[:rows], sd.Pure(epsilon), Population(0.95), 2000, seed=11, truth=truth,
        fresh=lambda _: random.choice(many, rows),
    )  # fmt: skip
    assert found >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 2000)
