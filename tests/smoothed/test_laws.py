"""Laws of the profile and of the smoothed figure, by enumeration on tiny domains and by random search beyond."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino import smoothed
from sordino.smoothed.bounds import corrected_remark_eight, log_floor, remark_eight
from sordino.smoothed.casteljau import log_mean, log_means
from sordino.smoothed.divergence import (
    log_divergence,
    log_divergence_with_replacement,
)
from sordino.smoothed.histogram import log_delta_counts
from sordino.smoothed.simplex import delta_table, histogram_grid, largest_mean
from sordino.smoothed.single import log_bound_two, log_divergence_one, log_two_divergences
from sordino.smoothed.two_types import log_ceiling, log_delta_all, log_delta_some, log_delta_two
from tests.support.smoothed_brute import databases, delta, hockey, mixed_law, tally_law

EPSILONS = (0.0, 0.1, 0.7, 2.0, 40.0, 800.0)


@pytest.mark.parametrize("replacement", [False, True])
def test_two_types_equal_enumeration(replacement):
    for n in range(1, 6 if replacement else 9):
        for T in range(1, n + 1):
            for K in range(n + 1):
                for epsilon in EPSILONS[:4]:
                    expected = delta((K, n - K), T, epsilon, replacement)
                    found = math.exp(log_delta_two(n, K, T, epsilon, replacement=replacement))
                    assert found == pytest.approx(expected, rel=1e-12, abs=1e-15), (n, K, T, epsilon)


@pytest.mark.parametrize(("types", "largest", "replacement"), [(3, 6, False), (4, 5, False), (3, 4, True)])
def test_many_types_equal_enumeration(types, largest, replacement):
    for n in range(2, largest + 1):
        for T in range(1, n + 1):
            for counts in databases(n, types):
                if list(counts) != sorted(counts):
                    continue  # the order of the types does not matter; once is enough
                for epsilon in (0.0, 0.5):
                    expected = delta(counts, T, epsilon, replacement)
                    found = math.exp(log_delta_counts(counts, T, epsilon, replacement=replacement))
                    assert found == pytest.approx(expected, rel=1e-11, abs=1e-14), (counts, T, epsilon)


def test_order_of_the_types_does_not_matter():
    for counts in itertools.permutations((5, 0, 2)):
        assert log_delta_counts(counts, 5, 0.3) == pytest.approx(
            log_delta_counts((0, 2, 5), 5, 0.3), abs=1e-13
        )


@given(st.integers(1, 60), st.data())
@settings(deadline=None)
def test_one_and_all_and_some_are_the_same(n, data):
    T = data.draw(st.integers(1, n))
    epsilon = data.draw(st.sampled_from(EPSILONS))
    replacement = data.draw(st.booleans())
    everything = log_delta_all(n, T, epsilon, replacement=replacement)
    K = data.draw(st.integers(0, n))
    one = log_delta_two(n, K, T, epsilon, replacement=replacement)
    some = log_delta_some(n, np.array([K]), T, epsilon, replacement=replacement)[0]
    assert one == pytest.approx(everything[K], abs=1e-12)
    assert some == pytest.approx(everything[K], abs=1e-12)


def test_large_epsilons_never_lose_the_outcome_that_is_always_seen():
    # a record of the type is published whenever none of the type is held back: P(b = 0) at every epsilon
    for n, K, T in ((50, 3, 20), (1000, 40, 100), (300, 100, 290), (10**9, 5, 10**8)):
        L = n - T
        none = math.fsum(math.log(1 - L / (n - i)) for i in range(K))
        for epsilon in (36.0, 100.0, 720.0, 800.0):
            assert log_divergence_one(n, K, L, epsilon) == pytest.approx(none, rel=1e-9)
            assert log_divergence(*np.array([[n], [K], [L]]), epsilon)[0] == pytest.approx(none, rel=1e-9)


def random_cases(count, seed, largest=400):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(2, largest))
        T = int(rng.integers(1, n + 1))
        yield n, int(rng.integers(0, n + 1)), T, float(rng.choice([0.0, 0.05, 0.5, 1.0, 3.0]))


def test_delta_falls_with_epsilon_and_with_records_held_back():
    for n, K, T, epsilon in random_cases(300, 1):
        here = log_delta_two(n, K, T, epsilon)
        assert log_delta_two(n, K, T, epsilon + 0.3) <= here + 1e-12
        if T > 1:
            assert log_delta_two(n, K, T - 1, epsilon) <= here + 1e-12


def test_delta_is_not_monotone_in_the_number_of_records_because_shares_are_rounded_up():
    def figure(n):
        return smoothed.sampling(size=n, electorates=[0.4], published=0.99).delta(epsilon=0.5).delta

    assert figure(199) > figure(200) < figure(201) * 1.5
    assert smoothed.sampling(size=499, electorates=[0.4], published=0.998).delta(epsilon=1.0).delta == 1.0


def test_the_worst_case_is_the_chance_of_being_seen():
    # Theorem 3(iii) with equality, and its form with replacement
    for n, T in ((12, 5), (40, 39), (7, 7)):
        for epsilon in (0.0, 1.0, 30.0):
            assert math.exp(log_delta_all(n, T, epsilon).max()) == pytest.approx(T / n, rel=1e-12)
            repeated = math.exp(log_delta_all(n, T, epsilon, replacement=True).max())
            assert repeated == pytest.approx(1 - (1 - 1 / n) ** T, rel=1e-12)
            for replacement in (False, True):
                shown = smoothed.sampling(records=[n, 0], published=T, replacement=replacement).delta(
                    epsilon=epsilon
                )
                expected = log_delta_all(n, T, epsilon, replacement=replacement).max()
                assert shown.log_worst == pytest.approx(expected, abs=1e-12)


def test_hoeffding_bounds_every_divergence():
    for n, K, T, epsilon in random_cases(500, 2):
        if 1 <= K <= n:
            assert log_divergence_one(n, K, n - T, epsilon) <= log_ceiling(n, K, n - T, epsilon) + 1e-9


def test_all_means_equal_the_average_over_enumerated_mixes():
    for n, T, epsilon, p1, p2 in ((6, 4, 0.3, 0.7, 0.2), (5, 4, 0.0, 0.1, 0.9), (7, 3, 1.0, 1.0, 0.0)):
        profile = log_delta_all(n, T, epsilon)
        means = np.exp(log_means(profile, p1, p2))
        for k in range(n + 1):
            law = mixed_law((k, n - k), ((p1, 1 - p1), (p2, 1 - p2)))
            expected = math.fsum(mass * math.exp(profile[h[0]]) for h, mass in law.items())
            assert means[k] == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_sweeps_keep_relative_accuracy_far_below_the_range_of_floats():
    n, T, epsilon = 3000, 1500, 1.0
    profile = log_delta_all(n, T, epsilon)
    assert profile.min() < -300
    means = log_means(profile, 0.6, 0.3)
    assert means[0] == pytest.approx(log_mean(profile, 0.3), abs=1e-10)
    assert means[-1] == pytest.approx(log_mean(profile, 0.6), abs=1e-10)
    deeper = log_means(30.0 * profile, 0.6, 0.3)
    assert deeper.max() < -1000  # nothing in it fits into a float
    assert deeper[-1] == pytest.approx(log_mean(30.0 * profile, 0.6), abs=1e-9)
    assert deeper[0] == pytest.approx(log_mean(30.0 * profile, 0.3), abs=1e-9)


def test_interior_maxima_exist_and_are_found():
    # the largest found: 6.9 % above both ends
    model = smoothed.sampling(size=271, electorates=[0.6441, 0.3630], published=269)
    means = np.exp(log_means(log_delta_all(271, 269, 0.0), 0.6441, 0.3630))
    assert int(means.argmax()) == 132
    assert means.max() == pytest.approx(0.496615, abs=1e-6)
    assert model.delta(epsilon=0.0).delta == pytest.approx(means.max(), rel=1e-12)
    assert model.delta(epsilon=0.0, method="ends").delta == pytest.approx(0.464599, abs=1e-4)
    found = model.delta(epsilon=0.0, method="bracket")
    assert math.exp(found.log_lower) <= means.max() * (1 + 1e-12)
    assert found.delta >= means.max() * (1 - 1e-12)


def test_a_u_shaped_profile_has_its_maximum_at_an_end():
    rng = np.random.default_rng(5)
    for _ in range(200):
        n = int(rng.integers(3, 40))
        turn = int(rng.integers(0, n + 1))
        falls = np.sort(rng.uniform(-8, 0, turn))[::-1]
        rises = np.sort(rng.uniform(-8, 0, n + 1 - turn))
        means = log_means(np.concatenate([falls, rises]), *rng.uniform(0, 1, 2))
        assert means.max() <= max(means[0], means[-1]) + 1e-12


def test_brackets_hold_what_the_sweeps_say():
    rng = np.random.default_rng(6)
    for _ in range(60):
        n = int(rng.integers(20, 500))
        T = n - int(rng.integers(1, max(2, n // int(rng.integers(2, 40)))))
        epsilon = float(rng.choice([0.0, 0.1, 0.5, 1.0, 3.0]))
        p1, p2 = rng.uniform(0.02, 0.98, 2)
        truth = log_means(log_delta_all(n, T, epsilon), p1, p2).max()
        found = smoothed.sampling(size=n, electorates=[p1, p2], published=T).delta(
            epsilon=epsilon, method="bracket"
        )
        assert found.log_lower <= truth + 1e-12
        assert found.log_delta >= truth - 1e-12


def test_smoothed_delta_lies_between_the_average_and_the_worst_case():
    rng = np.random.default_rng(7)
    for _ in range(40):
        n = int(rng.integers(5, 200))
        T = int(rng.integers(1, n + 1))
        model = smoothed.sampling(size=n, electorates=list(rng.uniform(0.05, 0.95, 2)), published=T)
        average, figure, worst = model.average_and_worst(epsilon=float(rng.uniform(0, 2)))
        assert average <= figure + 1e-12 <= worst + 2e-12


def test_three_types_equal_the_average_over_enumerated_mixes():
    n, T, epsilon = 5, 4, 0.4
    vertices = ((0.5, 0.3, 0.2), (0.1, 0.2, 0.7))
    table = delta_table(n, 3, T, epsilon)
    grid = histogram_grid(n, 3)
    for index in zip(*np.nonzero(grid[-1] >= 0), strict=True):
        counts = tuple(int(axis[index]) for axis in grid)
        assert table[index] == pytest.approx(delta(counts, T, epsilon), rel=1e-11, abs=1e-14)
    best = 0.0
    for k in range(n + 1):
        law = mixed_law((k, n - k), vertices)
        best = max(best, math.fsum(mass * delta(h, T, epsilon) for h, mass in law.items()))
    found, mix = largest_mean(table, np.array(vertices))
    assert found == pytest.approx(best, rel=1e-11)
    assert sum(mix) == n


def grid_of_remark_eight():
    for least in (0.05, 0.2, 0.5):
        for rate in (0.01, 0.05, 0.1, 0.3, 0.6):
            for n in (300, 1000, 3000):
                for excess in (0.3, 1.0, 3.0):
                    gone = rate * (1 + excess)  # 1 - e^-eps
                    if gone < 1:
                        yield n, rate, least, -math.log1p(-gone)


def exact_on_the_grid(n, rate, least, epsilon):
    model = smoothed.sampling(size=n, electorates=[least, 1 - least], published=rate)
    return model.delta(epsilon=epsilon).log_delta


@pytest.mark.thorough
def test_remark_eight_planted_as_a_bound_is_caught_at_small_sampling_rates():
    broken = [
        case
        for case in grid_of_remark_eight()
        if exact_on_the_grid(*case)
        > remark_eight(records=case[0], published=case[1], least=case[2], types=2, epsilon=case[3]) + 1e-9
    ]
    assert broken
    assert all(rate <= 0.1 for _, rate, _, _ in broken)
    # the example of the specification
    exact = exact_on_the_grid(300, 0.01, 0.5, 0.0201007)
    claimed = remark_eight(records=300, published=0.01, least=0.5, types=2, epsilon=0.0201007)
    assert exact == pytest.approx(-9.1, abs=0.1)
    assert claimed == pytest.approx(-18.1, abs=0.1)


@pytest.mark.thorough
def test_the_corrected_bound_holds_on_the_same_grid():
    for n, rate, least, epsilon in grid_of_remark_eight():
        bound = corrected_remark_eight(records=n, published=rate, least=least, types=2, epsilon=epsilon)
        assert exact_on_the_grid(n, rate, least, epsilon) <= bound + 1e-9


def test_the_floor_holds_at_every_epsilon_and_the_shorter_one_does_not():
    rng = np.random.default_rng(8)
    plain_is_broken = 0
    for _ in range(300):
        n = int(rng.integers(3, 60))
        L = int(rng.integers(1, n))
        p = float(rng.uniform(0.01, 0.5))
        epsilon = float(rng.choice([0.0, 1.0, 50.0]))
        exact = smoothed.sampling(size=n, electorates=[p], held_back=L).delta(epsilon=epsilon).log_delta
        assert exact >= log_floor(records=n, held_back=L, rarest=p) - 1e-12
        plain_is_broken += exact < L * math.log1p(-p) - 1e-12
    assert plain_is_broken > 0


def test_theorem_three_needs_full_support():
    # half, half, nothing: strictly positive by 0.5 on its support, and delta stays T/n for every n
    for n in (6, 20, 40):
        model = smoothed.sampling(size=n, electorates=[(0.5, 0.5, 0.0)], published=n // 2)
        assert model.delta(epsilon=3.0).delta == pytest.approx(0.5, rel=1e-9)
        assert any("may not occur" in warning for warning in model.warnings)


def test_exponential_decay_needs_no_condition_on_epsilon():
    # the paper asks for eps >= ln(1/(1-rate)) + c = 3 + c here
    figures = [
        smoothed.sampling(size=n, electorates=[0.3], published=0.95).delta(epsilon=0.5).log_delta
        for n in (4_000, 16_000, 64_000)
    ]
    assert figures == pytest.approx([-9.7, -25.7, -84.2], abs=0.1)


def test_with_replacement_equals_the_binomial_sum():
    rng = np.random.default_rng(9)
    for _ in range(100):
        n = int(rng.integers(2, 30))
        T = int(rng.integers(1, 40))
        K = int(rng.integers(1, n + 1))
        epsilon = float(rng.uniform(0, 2))
        law = [
            {a: math.comb(T, a) * (k / n) ** a * (1 - k / n) ** (T - a) for a in range(T + 1)}
            for k in (K, K - 1)
        ]
        found = math.exp(
            log_divergence_with_replacement(np.array([n]), np.array([K]), np.array([T]), epsilon)[0]
        )
        assert found == pytest.approx(hockey(*law, epsilon), rel=1e-9, abs=1e-13)


def test_the_enumerated_law_is_the_one_of_the_package():
    own = tally_law((3, 2, 1), 4)
    theirs = smoothed.sampled_tally(3, 4).law((3, 2, 1))
    assert {key: float(value) for key, value in own.items()} == pytest.approx(dict(theirs))
    with_replacement = smoothed.sampled_tally(2, 3, replacement=True).law((2, 1))
    assert {k: float(v) for k, v in tally_law((2, 1), 3, True).items()} == pytest.approx(
        dict(with_replacement)
    )


def test_the_two_fast_forms_and_the_bound_agree_with_the_array_form():
    rng = np.random.default_rng(10)
    useful = 0
    for _ in range(1500):
        n = int(10 ** rng.uniform(0.5, 8))
        K = int(rng.integers(0, n + 1)) if rng.random() < 0.7 else int(min(n, rng.integers(0, 50)))
        L = int(rng.integers(0, n + 1)) if rng.random() < 0.5 else int(min(n, rng.integers(0, 200)))
        epsilon = float(rng.choice([0.02, 0.3, 1.0, 3.0, 12.0, 50.0]))
        if n > 10**5 and epsilon < 0.3:
            continue  # the array form walks a long way there
        one, two = log_two_divergences(n, K, L, epsilon)
        expected = log_divergence(np.asarray(n), np.array([K, K + 1]), np.asarray(L), epsilon)
        for found, wanted in zip((one, two), expected, strict=True):
            if wanted == -np.inf:
                assert found == -np.inf
            else:
                assert found == pytest.approx(wanted, abs=max(1e-12, 1e-14 * abs(wanted)) * 10), (
                    n,
                    K,
                    L,
                    epsilon,
                )
        bound = log_bound_two(n, K, L, epsilon)
        assert bound >= max(one, two) - 1e-12
        useful += bound < 0.0
    assert useful > 200


def test_half_a_percent_on_the_threshold_would_be_noticed(monkeypatch):
    from sordino.smoothed import single

    honest = single.threshold_one
    exact = log_divergence_one(10_000, 4_000, 500, 0.3)

    def wrong(n, K, L, epsilon):
        first, fraction = honest(n, K, L, epsilon)
        return first, min(0.999, fraction + 0.005)

    monkeypatch.setattr(single, "threshold_one", wrong)
    assert abs(log_divergence_one(10_000, 4_000, 500, 0.3) - exact) > 1e-4
