"""Errors, ratios and their simulation errors."""

import math

import numpy as np
import pytest

from benchmarks.peers import scores


def test_an_error_is_root_mean_square_and_median():
    one = scores.score("a", [1.0, 3.0, 1.0, 5.0], 1.0)
    assert one.rmse == pytest.approx(math.sqrt((0 + 4 + 0 + 16) / 4))
    assert one.median == pytest.approx(1.0)
    assert (one.answered, one.raised) == (4, 0)


def test_answers_that_are_no_number_count_as_raised():
    one = scores.score("a", [1.0, math.nan, math.inf], 1.0, raised=2)
    assert (one.answered, one.raised) == (1, 4)
    assert not one.usable


def test_the_simulation_error_agrees_with_the_bootstrap():
    random = np.random.default_rng(5)
    values = random.laplace(size=400)
    told = scores.score("a", values, 0.0).doubt
    again = [np.log(scores.score("a", random.choice(values, 400), 0.0).rmse) for _ in range(600)]
    assert told == pytest.approx(np.std(again), rel=0.15)


def test_a_ratio_adds_the_doubts_in_squares():
    mine = scores.score("a", [2.0, -2.0], 0.0)
    peer = scores.score("b", [1.0, -1.0, 3.0, 0.0], 0.0)
    one = scores.ratio(mine, peer)
    assert one.value == pytest.approx(2 / math.sqrt(11 / 4))
    assert one.doubt == pytest.approx(peer.doubt)  # ours has none: all squares are equal


def test_a_ratio_to_no_error_is_one_or_infinite():
    exact, other = scores.score("a", [4.0], 4.0), scores.score("b", [5.0], 4.0)
    assert scores.ratio(exact, exact).value == 1
    assert scores.ratio(other, exact).value == math.inf


def test_a_bar_is_missed_only_beyond_the_simulation_error():
    assert not scores.Ratio(value=1.2, doubt=0.1).above(1.05)
    assert scores.Ratio(value=1.2, doubt=0.05).above(1.05)
    assert scores.Ratio(value=1.06, doubt=0.0).above(1.05)


def test_the_geometric_mean_and_its_doubt():
    mean = scores.geometric([scores.Ratio(value=0.1, doubt=0.3), scores.Ratio(value=10, doubt=0.4)])
    assert mean.value == pytest.approx(1)
    assert mean.doubt == pytest.approx(0.25)


def test_the_best_peer_answers():
    wild = scores.score("wild", [1.0], 1.0, raised=9)
    tame = scores.score("tame", [2.0, 0.0], 1.0)
    assert scores.best([wild, tame]).who == "tame"
    assert scores.best([wild]) is None
