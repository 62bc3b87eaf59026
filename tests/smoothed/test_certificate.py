"""Certified figures: repeated releases of many types, and averages over hundreds of millions of records."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sordino import smoothed
from sordino.smoothed.casteljau import log_means
from sordino.smoothed.certificate import (
    log_certificate_many,
    log_certificate_two,
    log_range_divergence,
)
from sordino.smoothed.chernoff import log_pair_ceiling
from sordino.smoothed.divergence import log_divergence
from sordino.smoothed.histogram import log_pairs
from sordino.smoothed.leak import Leak
from sordino.smoothed.loss_law import loss_law
from sordino.smoothed.repeated import log_repeated_counts
from sordino.smoothed.simplex import delta_table, largest_mean
from sordino.smoothed.two_types import log_delta_all
from tests.support.smoothed_brute import hockey, neighbours, tally_law


def test_the_closed_form_bounds_every_pair_of_every_small_world():
    tight = math.inf
    for n in range(2, 13):
        for L in range(1, n):
            lose, gain = (
                part.ravel() for part in np.meshgrid(np.arange(1, n + 1), np.arange(n), indexing="ij")
            )
            keep = lose + gain <= n
            for epsilon in (0.05, 0.5, 2.0):
                exact = log_pairs(n, n - L, lose[keep], gain[keep], epsilon)
                bound = log_pair_ceiling(n, L, lose[keep], gain[keep], epsilon)
                assert (bound >= exact).all()
                tight = min(tight, float((bound - exact).min()))
    assert tight < 1e-6  # somewhere it is reached, so its constant cannot be smaller


def test_the_closed_form_falls_with_both_counts_and_is_close_at_national_scale():
    counts = np.geomspace(1e3, 7e7, 60)
    table = log_pair_ceiling(160_000_000, 320_000, counts[:, None], counts[None, :], 0.2)
    assert (np.diff(table, axis=0) <= 1e-9).all()
    assert (np.diff(table, axis=1) <= 1e-9).all()
    exact = log_pairs(160_000_000, 159_680_000, np.array([5_000_000]), np.array([70_000_000]), 0.2)[0]
    bound = log_pair_ceiling(160_000_000, 320_000, np.array([5_000_000]), np.array([70_000_000]), 0.2)[0]
    assert exact < bound < exact + 6.0


def test_ranges_of_counts_are_bounded_together():
    rng = np.random.default_rng(4)
    for _ in range(300):
        n = int(rng.integers(4, 400))
        L, epsilon = int(rng.integers(1, n)), float(rng.uniform(0.05, 3))
        first = int(rng.integers(1, n))
        last = min(n, first + int(rng.integers(0, 20)))
        bound = log_range_divergence(n, np.array([first]), np.array([last]), L, epsilon)[0]
        exact = log_divergence(np.array(n), np.arange(first, last + 1), np.array(L), epsilon).max()
        assert bound >= exact - 1e-12


def test_two_types_are_certified_above_every_mix():
    rng = np.random.default_rng(5)
    gaps = []
    for _ in range(60):
        n = int(rng.integers(20, 900))
        T, epsilon = n - int(rng.integers(1, n // 2)), float(rng.uniform(0.05, 2))
        p1, p2 = rng.uniform(0.02, 0.98, 2)
        means = log_means(log_delta_all(n, T, epsilon), p1, p2)
        upper = log_certificate_two(n, T, epsilon, p1, p2, lower=float(max(means[0], means[-1])))
        assert upper >= means.max() - 1e-9
        gaps.append(upper - means.max())
    assert np.median(gaps) < 0.5
    # a planted error is noticed: half of the bound is exceeded somewhere
    assert min(gaps) < math.log(2.0)


@pytest.mark.parametrize("types", [3, 4])
def test_many_types_are_certified_above_every_mix(types):
    rng = np.random.default_rng(types)
    for n in (14, 30) if types == 3 else (10, 16):
        for _ in range(4):
            vertices = rng.dirichlet(np.full(types, 4.0), 2)
            T, epsilon = n - int(rng.integers(1, n // 2)), float(rng.uniform(0.2, 2))
            exact = largest_mean(delta_table(n, types, T, epsilon), vertices)[0]
            assert math.exp(log_certificate_many(n, T, epsilon, vertices)) >= exact * (1 - 1e-12)
    small = largest_mean(delta_table(60, 3, 2, 1.5), np.array([[0.4, 0.3, 0.3]]))[0]
    assert math.exp(log_certificate_many(60, 2, 1.5, np.array([[0.4, 0.3, 0.3]]))) >= small


@pytest.mark.thorough
def test_a_nation_is_certified_at_once():
    two = smoothed.sampling(size=160_000_000, electorates=[0.94467, 0.228571], held_back=0.002)
    leak = two.delta(epsilon=0.04)
    assert leak.certified
    assert leak.width < 0.02
    three = smoothed.sampling(size=160_000_000, electorates=[(0.5, 0.46, 0.04)], held_back=0.002)
    wide = three.delta(epsilon=0.2, samples=4)
    assert wide.certified
    assert 0.0 < wide.log_delta - wide.log_lower < 12.0
    assert "between" in wide.explain()


def test_what_is_not_proved_is_called_found():
    replaced = smoothed.sampling(size=400, electorates=[(0.5, 0.3, 0.2)], published=40, replacement=True)
    leak = replaced.delta(epsilon=1.0, samples=20)
    assert not leak.certified
    for words in (leak.explain(), repr(leak)):
        assert "found" in words
        assert "at most" not in words
    assert not leak.to_dict()["certified"]
    ends = smoothed.sampling(size=900, electorates=[0.3, 0.6], published=800).delta(
        epsilon=1.0, method="ends"
    )
    assert "found" in ends.explain()


def test_a_bracket_is_printed_as_a_bracket():
    leak = Leak(1.0, math.log(2e-4), 0.0, 100, 90, "this tally", "16 releases", math.log(1e-7))
    assert leak.text == "between 1.00e-07 and 0.0002"
    assert "delta(1) between" in leak.explain()
    assert "plus 0.0002" in leak.reading
    assert "inside the bracket" in Leak(1.0, -1.0, 0.0, 100, 90, "this tally", "", math.log(1e-7)).verdict


def product_hockey(first, second, times, epsilon):
    laws = [{(): 1.0}, {(): 1.0}]
    for _ in range(times):
        laws = [
            {(*path, key): mass * float(p) for path, mass in old.items() for key, p in law.items()}
            for old, law in zip(laws, (first, second), strict=True)
        ]
    return hockey(*laws, epsilon)


def test_repeated_releases_of_three_types_bracket_the_product_law():
    rng = np.random.default_rng(8)
    for _ in range(25):
        counts = tuple(int(x) for x in rng.integers(0, 4, 3))
        n = sum(counts)
        if n < 2:
            continue
        T, times, epsilon = int(rng.integers(1, n)), int(rng.integers(1, 3)), float(rng.uniform(0, 2))
        own = tally_law(counts, T)
        expected = 0.0
        for other in neighbours(counts):
            law = tally_law(other, T)
            expected = max(
                expected, product_hockey(own, law, times, epsilon), product_hockey(law, own, times, epsilon)
            )
        low, high = (math.exp(value) for value in log_repeated_counts(counts, T, times, epsilon))
        assert low <= expected * (1 + 1e-9) + 1e-13
        assert expected <= high * (1 + 1e-9) + 1e-13
        assert high - low < 0.02


@pytest.mark.slow
def test_sixteen_releases_of_a_nation():
    # the two-type bracket of 2020 once spanned 195 powers of ten
    vote = smoothed.sampling(records=[81_283_501, 74_223_975], held_back=0.002).repeat(16, epsilon=1.0)
    assert vote.log_delta - vote.log_lower < 0.05


@pytest.mark.thorough
def test_many_releases_are_bracketed_closely_and_above_one_release():
    tally = smoothed.sampling(records=[600, 600, 90], held_back=0.2)
    once, twice = tally.delta(epsilon=1.0), tally.repeat(2, epsilon=1.0)
    assert once.log_delta < twice.log_lower
    assert twice.width < 0.02
    added = tally.log_delta(0.5) + math.log(2)
    assert twice.log_delta < added - 0.2
    draws = smoothed.sampling(records=[60, 40], published=30, replacement=True)
    whole = smoothed.sampling(records=[60, 40], published=90, replacement=True)
    assert draws.repeat(3, epsilon=0.5).log_delta == whole.delta(epsilon=0.5).log_delta


def test_ranges_of_outcomes_only_add_or_only_lose():
    fine = loss_law(400_000, 40_000, 90_000, 40_000, depth=60.0, up=True)
    coarse = loss_law(400_000, 40_000, 90_000, 40_000, depth=60.0, up=False)
    for law in (fine, coarse):
        assert np.exp(law.mass).sum() == pytest.approx(1.0, abs=1e-9)
        assert np.exp(law.mass - law.loss).sum() == pytest.approx(1.0, abs=1e-9)
    exact = math.exp(log_pairs(400_000, 360_000, np.array([40_000]), np.array([90_000]), 0.02)[0])
    low, high = (
        float((np.exp(law.mass) * -np.expm1(np.minimum(0.02 - law.loss, 0.0))).sum())
        for law in (coarse, fine)
    )
    assert low <= exact <= high
    assert high < 1.1 * low
