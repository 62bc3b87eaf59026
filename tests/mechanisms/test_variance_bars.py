"""Bars of a variance from three noisy sums: the law of weighted sums, and coverage wherever the rows lie."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import sordino as sd
from benchmarks.coverage.clipped_laws import ClippedLaws
from sordino.coverage import Sample
from sordino.mechanisms.choose import choose
from sordino.mechanisms.clip.cut_tails import Rarity
from sordino.mechanisms.clip.slants import apart, missed, quantiles
from sordino.mechanisms.clip.three_sums import slopes
from sordino.mechanisms.clip.variance_bar import LARGEST, variance_ends
from tests.support.mean_bar_releases import covered

ADD = sd.Neighbors.ADD_REMOVE_ONE
PLACES = {
    "middle": lambda rows, _random: np.full(rows, 0.5),
    "end": lambda rows, _random: np.zeros(rows),
    "two values": lambda rows, _random: np.arange(rows) % 2.0,
    "few at an end": lambda rows, _random: np.where(np.arange(rows) % 20, 0.0, 1.0),
    "uniform": lambda rows, _random: np.linspace(0, 1, rows),
    "skewed": lambda rows, random: random.beta(2, 8, rows),
}


def three(flat, draws, random):
    """Noise of density ``~ exp(-max(|t|, flat))`` on space, in scales."""
    chances = np.array([flat**3, 3 * flat**2, 6 * flat, 6.0])
    radius = flat + random.gamma(random.choice([1, 2, 3, 4], draws, p=chances / chances.sum()))
    shares = random.exponential(size=(4, draws))
    return radius * shares[:3] / shares.sum(axis=0) * random.choice([-1, 1], (3, draws))


def plain(weights, part, miss=0.05):
    return quantiles(weights, [], miss * part)


def of_the_whole_range(weights, part):
    """With the flat tops that a whole range may have: likely ``.81 W(x) exp(-x)`` at most."""
    return quantiles(weights, [Rarity(0.81, 0.028 * part)], 0.015 * part)


@pytest.mark.parametrize("flat", [0.0, 2.0, 9.0])
@pytest.mark.parametrize(
    "weights", [(0.25, -0.25, 0.25), (0.01, -0.1, 0.9), (0.0, -0.5, 0.0), (1.0, 0.3, 0.3)]
)
def test_weighted_sums_have_their_law(flat, weights):
    random = np.random.default_rng(4)
    away = np.abs(np.array(weights) @ three(flat, 200_000, random))
    for width in np.quantile(away, [0.2, 0.6, 0.95]):
        found = missed(apart(np.array([weights])), np.array([flat]), np.array([width]))[0, 0]
        assert found == pytest.approx(np.mean(away > width), abs=0.006)
        assert (
            found
            > missed(apart(0.9 * np.array([weights])), np.array([flat]), np.array([width]))[0, 0] + 0.004
        )


@pytest.mark.parametrize("widths", [plain, of_the_whole_range])
def test_widths_are_a_norm_of_the_weights(widths):
    """The proof of the bar adds weights and lets the absolute ones grow."""
    random = np.random.default_rng(5)
    first, second = random.normal(size=(2, 200, 3)) * random.lognormal(0, 1, (2, 200, 3))
    one, two, both = (widths(each, 1) for each in (first, second, first + second))
    assert (both <= (one + two) * 1.02).all()  # weights are moved apart by a 256th
    assert (widths(first * random.uniform(1, 2, (200, 3)), 1) >= one * 0.98).all()


@pytest.mark.parametrize("flat", [0.0, 2.0, 5.0, 8.0, 12.0])
def test_flat_tops_are_weighed_by_how_rare_they_are(flat):
    likely = min(1.0, 0.81 * (1 + flat + flat**2 / 2 + flat**3 / 6) * math.exp(-flat))
    for weights in ((0.25, -0.25, 0.25), (0.0, -0.1, 0.9)):
        width = of_the_whole_range([weights], 1)
        found = missed(apart(np.array([weights])), np.array([flat]), width)[0, 0]
        assert likely * max(found - 0.015, 0) <= 0.028


@pytest.mark.few(3)
@pytest.mark.parametrize("rows", [40, 150, 1000])
@pytest.mark.parametrize("name", PLACES)
def test_the_variance_is_covered_wherever_the_rows_lie(name, rows):
    """As often as promised, and a bar of two thirds of the width fails where rows are many."""
    random, miss, draws = np.random.default_rng(6), 0.2, 400
    places = PLACES[name](rows, random)
    sums = np.array([((1 - places) ** 2).sum(), (2 * places * (1 - places)).sum(), (places**2).sum()])
    truth, hits, narrow = float(places.var()), 0, 0
    for noise in three(0.0, draws, random).T:
        low, high = variance_ends(sums + noise, 1.0, partial(plain, miss=miss))
        hits += low <= truth <= high
        narrow += abs(truth - (low + high) / 2) <= (high - low) / 3
    error = math.sqrt(miss * (1 - miss) / draws)
    assert hits / draws >= 1 - miss - 3 * error
    assert rows < 1000 or narrow / draws < 1 - miss - 2 * error


def test_hardly_any_rows_tell_nothing():
    for sums in ((0.5, 0.1, -0.2), (3.0, 4.0, 3.0), (-9.0, 2.0, 1.0)):
        assert variance_ends(sums, 1.0, plain) == (0.0, LARGEST)


def test_the_bar_holds_every_variance_that_its_own_width_allows():
    """Both ends are beyond the last variance whose noise would reach, found by trying all of them."""
    for sums in ((60.0, 50.0, 30.0), (200.0, 3.0, -1.0), (30.0, 1.0, 90.0)):
        low, high = variance_ends(sums, 1.0, plain)
        count = sum(sums)
        shares = [one / count for one in sums]
        mean, found = shares[1] / 2 + shares[2], shares[0] * shares[2] - shares[1] ** 2 / 4
        part = plain([(-mean, 0.5 - mean, 1 - mean), (1, 1, 1)], 0.1) / count
        off = part[0] / (1 - part[1])
        for true_mean in np.linspace(max(mean - off, 0), min(mean + off, 1), 9):
            variances = np.linspace(0, true_mean * (1 - true_mean), 25)
            widths = plain([slopes(true_mean, one) for one in variances], 0.9) / count
            gap = variances - found
            kept = variances[(gap >= -widths) & (gap <= widths + (true_mean - mean) ** 2)]
            assert low <= kept.min(initial=LARGEST)
            assert kept.max(initial=0.0) <= high


@pytest.mark.parametrize("wide", [1, 30])
@pytest.mark.parametrize(("rows", "epsilon"), [(201, 1), (900, 1), (4001, 0.1), (4001, 1)])
def test_no_outcome_misses_more_often_than_promised(rows, epsilon, wide):
    """By the exact laws of all outcomes; with bars that are a fifth narrower some column is missed too often."""
    random, high = np.random.default_rng(rows), 100.0
    some = random.random(rows)
    columns = (
        random.gamma(4, 5, rows).clip(0, high), np.full(rows, 50.0), np.where(some < 0.97, 0.0, high),
        np.where(some < 0.95, random.uniform(0, 10, rows), high),
    )  # fmt: skip
    narrow = 0.0
    for data in columns:
        statistic = sd.Variance("x", low=0, high=high * wide, neighbors=ADD)
        mechanism = choose(statistic, sd.Pure(Fraction(str(epsilon))), rows=rows)
        assert ClippedLaws(mechanism, statistic, data, 0.05, draws=4000).miss() <= 0.05
        narrow = max(narrow, ClippedLaws(mechanism, statistic, data, 0.05, narrower=0.6, draws=4000).miss())
    assert narrow > 0.05


@pytest.mark.few(1)
@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", [sd.Variance, sd.StandardDeviation])
@pytest.mark.parametrize("hints", [{}, {"tight": True}], ids=str)
def test_releases_of_few_rows_cover(kind, hints):
    data = np.random.default_rng(1).gamma(4, 5, 300)
    statistic = kind("x", low=0, high=100, neighbors=ADD)
    found, width = covered(statistic, data, sd.Pure(1), Sample(0.8), 60, seed=2, hints=hints)
    assert found >= 0.8 - 3 * math.sqrt(0.16 / 60)
    assert width < (2 * 3.2 * 100**2 / 300 if kind is sd.Variance else 100)
