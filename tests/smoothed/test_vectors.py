"""Reference vectors from 60-digit arithmetic: 1e-10 relative in value, 1e-12 in the logarithm as far as it has ulps."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from sordino import smoothed
from sordino.smoothed.bracket import bracket, log_mean_window
from sordino.smoothed.casteljau import log_mean, log_means
from sordino.smoothed.divergence import log_divergence
from sordino.smoothed.groups import log_group_divergence
from sordino.smoothed.histogram import log_delta_counts, log_delta_precinct
from sordino.smoothed.holdback import holdback
from sordino.smoothed.simplex import delta_table, largest_mean
from sordino.smoothed.single import log_divergence_one
from sordino.smoothed.two_types import log_delta_all, log_delta_two
from sordino.smoothed.utility import log_utility_pair


def two(i):
    return log_delta_two(i["n"], i["K"], i["T"], i["eps"], replacement=i.get("replacement", False))


def average(i):
    return math.log(smoothed.SamplingAverage(i["values"], i["T"], i["levels"]).delta(epsilon=i["eps"]))


def held(i):
    model = smoothed.sampling(size=i["n"], electorates=[i["p"]], published=1)
    return math.log(holdback(model, epsilon=i["eps"], delta=i["delta"]).held_back)


def smoothed_histogram(i):
    pi = np.array([i["pi_times_20"]]) / 20
    return math.log(largest_mean(delta_table(i["n"], pi.shape[1], i["T"], i["eps"]), pi)[0])


ANSWERS = {
    "delta_two_types": two,
    "election": two,
    "delta_histogram": lambda i: log_delta_counts(
        i["counts"], i["T"], i["eps"], replacement=i["replacement"]
    ),
    "divergence_K_to_K_minus_1": lambda i: log_divergence_one(i["n"], i["K"], i["n"] - i["T"], i["eps"]),
    "group_divergence_K_to_K_minus_g": lambda i: log_group_divergence(
        i["n"], i["K"], i["g"], i["T"], i["eps"]
    ),
    "adversary_utility_pair": lambda i: log_utility_pair(i["n"], i["K"], i["T"], i["eps"]),
    "precinct_delta": lambda i: log_delta_precinct(
        [i["K"], i["precinct"] - i["K"]], i["n"], i["T"], i["eps"]
    ),
    "smoothed_two_types_max": lambda i: float(
        log_means(log_delta_all(i["n"], i["T"], i["eps"]), i["p1"], i["p2"]).max()
    ),
    "smoothed_two_types_iid": lambda i: log_mean(log_delta_all(i["n"], i["T"], i["eps"]), i["p"]),
    "smoothed_histogram_iid": smoothed_histogram,
    "sampling_average_delta": average,
    "least_holdback": held,
}


def close(found: float, log: str) -> bool:
    """Compare in the logarithm: 1e-12, or four units in the last place where a double has no more digits."""
    if log == "-inf":
        return found == -math.inf
    exact = Decimal(log)
    allowed = Decimal(max(1e-12, 4 * math.ulp(float(exact))))
    return abs(Decimal(found) - exact) <= allowed


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_vector_of_a_kind(kind, vectors):
    chosen = [item for item in vectors if item["kind"] == kind]
    assert chosen
    wrong = [item["input"] for item in chosen if not close(ANSWERS[kind](item["input"]), item["log"])]
    assert wrong == []


def test_no_kind_of_vector_is_left_out(vectors):
    assert {item["kind"] for item in vectors} == set(ANSWERS)


def test_the_array_form_agrees_with_the_vectors(vectors):
    chosen = [i for i in vectors if i["kind"] == "divergence_K_to_K_minus_1"]
    for item in chosen:
        i = item["input"]
        found = log_divergence(np.array([i["n"]]), np.array([i["K"]]), np.array([i["n"] - i["T"]]), i["eps"])
        assert close(float(found[0]), item["log"])


def test_ends_and_argmax_of_the_smoothed_vectors(vectors):
    for item in (i for i in vectors if i["kind"] == "smoothed_two_types_max"):
        i = item["input"]
        means = log_means(log_delta_all(i["n"], i["T"], i["eps"]), i["p1"], i["p2"])
        assert math.exp(means[0]) == pytest.approx(float(item["at_k0"]), rel=1e-10)
        assert math.exp(means[-1]) == pytest.approx(float(item["at_kn"]), rel=1e-10)
        best = int(item["argmax_k_draws_of_p1"])
        assert means[best] == pytest.approx(means.max(), abs=1e-12)
        # the bracket and the windowed ends say the same
        found = bracket(i["n"], i["T"], i["eps"], i["p1"], i["p2"])
        assert found.lower <= means.max() + 1e-12
        assert found.upper >= means.max() - 1e-12
        assert log_mean_window(i["n"], i["T"], i["eps"], i["p2"]) == pytest.approx(means[0], abs=1e-11)


def test_a_wrong_digit_would_be_noticed(vectors):
    some = next(i for i in vectors if i["kind"] == "election")
    found = ANSWERS["election"](some["input"])
    assert close(found, some["log"])
    assert not close(found + 1e-11, some["log"])


def test_a_billion_records_against_fifty_digits():
    import mpmath as mp

    mp.mp.dps = 60
    n, epsilon = 10**9, 0.08

    def log_choose(a, k):
        return mp.loggamma(a + 1) - mp.loggamma(k + 1) - mp.loggamma(a - k + 1)

    for K, L in ((400_000_000, 1_000_000), (30_000_000, 2_000_000)):

        def mass(count, b, L=L):
            return mp.e ** (log_choose(count, b) + log_choose(n - count, L - b) - log_choose(n, L))

        def divergence(count, L=L):
            # from the definition: outcomes aligned by what is published
            b = int(count * (L + 1) / (count + math.exp(epsilon) * (n - count + 1))) + 2
            own, other = mass(count, b), mass(count - 1, b - 1)
            factor, total, last = mp.e ** mp.mpf(epsilon), mp.mpf(0), mp.mpf(0)
            while True:
                last = own - factor * other
                total += max(mp.mpf(0), last)
                if last > 0 and last < total * mp.mpf(10) ** -22:
                    return total
                own *= mp.mpf(b) * (n - L - count + b) / (mp.mpf(count - b + 1) * (L - b + 1))
                other *= mp.mpf(b - 1) * (n - L - count + b) / (mp.mpf(count - b + 1) * (L - b + 2))
                b -= 1

        exact = mp.log(max(divergence(count) for count in (K, K + 1)))
        found = log_delta_two(n, K, n - L, epsilon)
        assert abs(float(mp.mpf(found) - exact)) < 1e-11
        assert float(exact) < -50


def test_with_replacement_at_a_hundred_million_against_fifty_digits():
    import mpmath as mp

    mp.mp.dps = 60
    n, K, T, epsilon = 10**8, 30_000_000, 5_000_000, 0.002

    def log_mass(count, a):
        choose = mp.loggamma(T + 1) - mp.loggamma(a + 1) - mp.loggamma(T - a + 1)
        return choose + a * mp.log(mp.mpf(count) / n) + (T - a) * mp.log(mp.mpf(n - count) / n)

    exact = mp.mpf(0)
    for count in (K, K + 1):
        h1 = mp.log(mp.mpf(count) / (count - 1))
        h2 = mp.log(mp.mpf(n - count + 1) / (n - count))
        a = int((epsilon + T * h2) / (h1 + h2)) - 1
        own, other = mp.e ** log_mass(count, a), mp.e ** log_mass(count - 1, a)
        factor, total = mp.e ** mp.mpf(epsilon), mp.mpf(0)
        while True:
            last = own - factor * other
            total += max(mp.mpf(0), last)
            if last > 0 and last < total * mp.mpf(10) ** -22:
                break
            own *= mp.mpf(T - a) / (a + 1) * count / (n - count)
            other *= mp.mpf(T - a) / (a + 1) * (count - 1) / (n - count + 1)
            a += 1
        exact = max(exact, total)
    found = log_delta_two(n, K, T, epsilon, replacement=True)
    assert abs(float(mp.mpf(found) - mp.log(exact))) < 1e-10
