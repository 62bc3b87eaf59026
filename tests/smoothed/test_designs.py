"""Errors of tests, voting rules, and other sampling designs: all small worlds by enumeration."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from sordino import smoothed
from sordino.cli import program
from sordino.errors import SordinoError
from sordino.smoothed.designs import log_pair_bernoulli
from sordino.smoothed.trade_off import error_rates
from sordino.smoothed.voting import RULES, rankings, types_of, winner
from tests.support.smoothed_brute import databases, hockey, neighbours, tally_law


def best_miss(first, second, alpha):
    """The least miss rate of any randomised test of size alpha: Neyman and Pearson, outcome by outcome."""
    outcomes = sorted(
        set(first) | set(second),
        key=lambda o: -float(second.get(o, 0)) / float(first[o]) if first.get(o) else -math.inf,
    )
    used = caught = 0.0
    for outcome in outcomes:
        p, q = float(first.get(outcome, 0)), float(second.get(outcome, 0))
        share = 1.0 if used + p <= alpha or p == 0 else max(0.0, (alpha - used) / p)
        used += share * p
        caught += share * q
    return 1.0 - caught


@pytest.mark.parametrize("counts", [(3, 4), (1, 5), (2, 2, 2), (0, 4)])
def test_no_test_beats_the_curve_and_some_reach_it(counts):
    n = sum(counts)
    alphas = [0.0, 0.05, 0.2, 0.5, 0.9, 1.0]
    for T in (1, n // 2, n - 1):
        curve = error_rates(smoothed.sampling(records=list(counts), published=T), false_alarms=alphas)
        least = [1.0] * len(alphas)
        own = tally_law(counts, T)
        for other in neighbours(counts):
            law = tally_law(other, T)
            for one, two in ((own, law), (law, own)):
                least = [min(a, best_miss(one, two, alpha)) for a, alpha in zip(least, alphas, strict=True)]
        for guaranteed, reached in zip(curve.misses, least, strict=True):
            assert guaranteed <= reached + 1e-9
        if min(counts) > 0:  # with an empty type the two directions differ, and the curve covers both
            assert max(b - a for a, b in zip(curve.misses, least, strict=True)) < 0.12


def test_both_errors_need_not_be_near_one_half():
    curve = error_rates(smoothed.sampling(records=[600, 400], held_back=0.5))
    assert curve.misses[-1] == 0.0
    assert curve.false_alarms[0] == 0.0
    assert curve.misses[0] > 0.99
    assert curve.advantage < 0.1
    json.dumps(curve.to_dict())
    smooth = error_rates(
        smoothed.sampling(size=300, electorates=[0.4, 0.6], held_back=0.5), false_alarms=[0.05]
    )
    assert 0.5 < smooth.misses[0] < 0.95
    assert "average" in smooth.reading


def test_the_command_draws_the_trade_off(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "errors.png"
    arguments = ["smoothed", "errors", "yes=520", "no=480", "--held-back", "20%", "--plot", str(picture)]
    result = CliRunner().invoke(program, arguments)
    assert result.exit_code == 0, result.output
    assert "guessing" in result.output
    assert picture.stat().st_size > 5_000


def obvious_winner(rule, counts, candidates):
    """The rules once more, ballot by ballot, with other words."""
    if rule in ("plurality", "majority-label"):
        ballots = [(c,) for c, k in enumerate(counts) for _ in range(k)]
        scores = [sum(b[0] == c for b in ballots) for c in range(candidates)]
        return scores.index(max(scores))
    ballots = [
        order
        for order, k in zip(itertools.permutations(range(candidates)), counts, strict=True)
        for _ in range(k)
    ]
    if rule == "borda":
        scores = [
            sum(sum(b.index(c) < b.index(d) for d in range(candidates)) for b in ballots)
            for c in range(candidates)
        ]
        return scores.index(max(scores))
    if rule == "copeland":

        def duel(c, d):
            for_c = sum(b.index(c) < b.index(d) for b in ballots)
            return 1.0 if 2 * for_c > len(ballots) else 0.5 if 2 * for_c == len(ballots) else 0.0

        scores = [sum(duel(c, d) for d in range(candidates) if d != c) for c in range(candidates)]
        return scores.index(max(scores))
    left = set(range(candidates))
    while len(left) > 1:
        tops = [min((b.index(c), c) for c in left)[1] for b in ballots]
        fewest = min(tops.count(c) for c in left)
        left.remove(max(c for c in left if tops.count(c) == fewest))
    return left.pop()


@pytest.mark.parametrize("rule", RULES)
def test_voting_rules_by_name_on_every_small_electorate(rule):
    types = types_of(rule, 3)
    for counts in databases(4, types):
        assert winner(rule, counts, 3) == obvious_winner(rule, counts, 3)
    mechanism = smoothed.voting(rule, candidates=3, published=3)
    tally = smoothed.sampled_tally(types, 3)
    for counts in itertools.islice(databases(5, types), 0, None, 23 if types == 6 else 3):
        law = {}
        for sample, mass in tally_law(counts, 3).items():
            key = obvious_winner(rule, sample, 3)
            law[key] = law.get(key, 0) + mass
        assert {k: float(p) for k, p in law.items()} == pytest.approx(dict(mechanism.law(counts)))
        assert mechanism.delta(counts, epsilon=0.4) <= tally.delta(counts, epsilon=0.4) + 1e-12


def test_unknown_rules_are_refused_with_the_list():
    with pytest.raises(SordinoError, match="stv"):
        smoothed.voting("approval", candidates=3, published=3)
    assert len(rankings(4)) == 24


def bernoulli_law(counts, rate):
    law = {}
    for kept in itertools.product(*(range(k + 1) for k in counts)):
        law[kept] = math.prod(
            math.comb(k, a) * rate**a * (1 - rate) ** (k - a) for k, a in zip(counts, kept, strict=True)
        )
    return law


def test_bernoulli_sampling_is_exact_on_all_small_worlds():
    for n, types in ((5, 2), (4, 3)):
        for counts in databases(n, types):
            for rate, epsilon in ((0.5, 0.0), (0.9, 0.7), (0.3, 0.2)):
                own = bernoulli_law(counts, rate)
                expected = 0.0
                for other in neighbours(counts):
                    law = bernoulli_law(other, rate)
                    expected = max(expected, hockey(own, law, epsilon), hockey(law, own, epsilon))
                found = smoothed.bernoulli(list(counts), rate=rate, epsilon=epsilon)
                assert found.delta == pytest.approx(expected, rel=1e-9, abs=1e-14)
    # a large tally: the window loses nothing
    s = np.arange(0, 3001)
    from sordino.smoothed.divergence import log_divergence
    from sordino.smoothed.mass import log_binomial_share, log_sum

    whole = log_sum(
        log_binomial_share(s, 3000, 0.2) + log_divergence(np.asarray(3000), np.asarray(900), s, 0.5)
    )
    assert log_pair_bernoulli(900, 2100, 0.8, 0.5) == pytest.approx(float(whole), abs=1e-12)


def test_strata_are_exact_on_all_small_worlds():
    first, second = (2, 2), (3, 1)
    found = smoothed.stratified({"a": first, "b": second}, published={"a": 2, "b": 3}, epsilon=0.3)

    def law(one, two):
        return {(*x, *y): p * q for x, p in tally_law(one, 2).items() for y, q in tally_law(two, 3).items()}

    own = law(first, second)
    expected = {"a": 0.0, "b": 0.0}
    for name, laws in (
        ("a", [law(other, second) for other in neighbours(first)]),
        ("b", [law(first, other) for other in neighbours(second)]),
    ):
        expected[name] = max(max(hockey(own, one, 0.3), hockey(one, own, 0.3)) for one in laws)
    assert {name: leak.delta for name, leak in found.items()} == pytest.approx(expected)
    sums = {}
    for key, mass in own.items():
        total = (key[0] + key[2], key[1] + key[3])
        sums[total] = sums.get(total, 0) + mass
    assert len(sums) < len(own)  # publishing only sums is post-processing
    with pytest.raises(SordinoError, match="no strata"):
        smoothed.stratified({}, published=0.5, epsilon=1.0)
