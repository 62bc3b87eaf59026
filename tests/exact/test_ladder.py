"""Levels of many rows at once: borders are decided exactly, laws by enumerating words, planted errors are noticed."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb

from sordino.errors import ParameterError
from sordino.exact import bits as module
from sordino.exact.balls import precision, rational
from sordino.exact.bits import Ladder, SeededBits
from tests.support.exact_harness import Scripted

F = Fraction


def choose(rate, masses, words, *, error=2.0**-50):
    """The levels for rows of exact masses and prescribed words."""
    table = np.array([[mass / row[-1] for mass in row] for row in masses])
    return Ladder(rate, table.shape[1]).choose(
        table, error=error, spare=0.0, exact=lambda row: masses[row], bits=Scripted(words)
    )


def shares(rate, masses):
    """Probability of every level."""
    gains = [after - before for before, after in pairwise([0, *masses])]
    weights = [gain * math.exp(-rate * level) for level, gain in enumerate(gains)]
    return np.array(weights) / math.fsum(weights)


def border_words(rate, masses):
    """For every border between two levels the word that it falls into and the next 64 bits, from 400-bit balls."""
    with precision(400):
        gains = [after - before for before, after in pairwise([0, *masses])]
        balls = [rational(-rate * level).exp() * gain for level, gain in enumerate(gains)]
        total = sum(balls[1:], balls[0])
        border = arb(0)
        for level, ball in enumerate(balls[:-1]):
            border += ball
            place = border / total * arb(2) ** 64
            head = int(place.floor().unique_fmpz())
            tail = int(((place - head) * arb(2) ** 64).floor().unique_fmpz())
            yield level, head - 2**63, tail


def signed(word):
    return word - 2**64 if word >= 2**63 else word


WORLDS = [
    (F(1, 3), [3, 8, 9, 16, 18]),
    (F(1, 1000), [1, 2, 500, 501, 10**9]),
    (F(30), [1, 10**13, 10**30, 10**40, 10**55]),
    (F(7, 10), [10**200, 10**200 + 1, 10**200 + 2, 10**201, 10**202]),
]


@pytest.mark.parametrize(("rate", "masses"), WORLDS)
def test_words_on_a_border_are_decided_by_their_refinement(rate, masses):
    seen = 0
    for level, head, tail in border_words(rate, masses):
        if not 0 < tail < 2**64 - 1:
            continue
        below = choose(rate, [masses], [head, signed(tail - 1)])[0]
        above = choose(rate, [masses], [head, signed(tail + 1)])[0]
        assert below <= level < above
        seen += 1
    assert seen == 4


def test_trusting_the_floats_at_a_border_goes_wrong(monkeypatch):
    """Mutation: without the slack some words beside a border get the wrong level."""
    rng = np.random.default_rng(5)
    worlds = []
    for _ in range(60):
        masses = np.cumsum(rng.integers(1, 2**40, size=6)).tolist()
        worlds.append((F(int(rng.integers(1, 9)), 7), [int(mass) for mass in masses]))

    def wrong():
        found = 0
        for rate, masses in worlds:
            for level, head, _ in border_words(rate, masses):
                found += choose(rate, [masses], [head - 1])[0] != level
                found += choose(rate, [masses], [head + 1])[0] != level + 1
        return found

    assert wrong() == 0
    monkeypatch.setattr(module, "_WEIGHT_ERROR", -1e9)
    assert wrong() > 20


@pytest.mark.parametrize(("rate", "masses"), WORLDS)
def test_evenly_spaced_words_give_every_level_its_share(rate, masses):
    """All values of the first twelve bits: a level gets its share of them, up to one word at each border."""
    words = [(i << 52) - 2**63 for i in range(4096)]
    counts = np.bincount(choose(rate, [masses] * 4096, words), minlength=5)
    assert np.abs(counts - 4096 * shares(float(rate), masses)).max() <= 2


def test_a_rate_one_per_cent_off_is_noticed():
    rate, masses = WORLDS[0]
    words = [(i << 52) - 2**63 for i in range(4096)]
    counts = np.bincount(choose(rate * F(101, 100), [masses] * 4096, words), minlength=5)
    assert np.abs(counts - 4096 * shares(float(rate), masses)).max() > 2


def test_rows_do_not_disturb_each_other():
    rng = np.random.default_rng(6)
    masses = [[int(m) for m in np.cumsum(rng.integers(0, 9, size=40)) + 1] for _ in range(200)]
    words = [int(w) for w in rng.integers(-(2**63), 2**63, size=200, dtype=np.int64)]
    together = choose(F(1, 5), masses, words).tolist()
    alone = [int(choose(F(1, 5), [row], [word])[0]) for row, word in zip(masses, words, strict=True)]
    assert together == alone


def test_levels_without_mass_are_never_chosen_however_far_the_first_mass_is():
    far = [0] * 900 + [1, 1, 4]
    words = [-(2**63), 0, 2**63 - 1]
    levels = choose(F(2), [far] * 3, words)  # e^-1800 is no float: balls decide
    assert set(levels.tolist()) <= {900, 902}
    near = [0, 5, 5, 5, 6]
    rng = np.random.default_rng(7)
    words = [int(w) for w in rng.integers(-(2**63), 2**63, size=500, dtype=np.int64)]
    assert set(choose(F(1), [near] * 500, words).tolist()) == {1, 4}


def test_a_stated_error_of_the_masses_is_respected():
    """Masses that are wrong by less than what is stated never change a level."""
    rng = np.random.default_rng(8)
    rate, exact = F(1, 4), [[int(m) for m in np.cumsum(rng.integers(1, 99, size=30))] for _ in range(300)]
    words = rng.integers(-(2**63), 2**63, size=300, dtype=np.int64)
    honest = np.array([[mass / row[-1] for mass in row] for row in exact])
    bent = honest * (1 + 0.01 * rng.uniform(-1, 1, honest.shape))

    def levels(table, error):
        bits = Scripted([int(w) for w in words])
        return Ladder(rate, 30).choose(table, error=error, spare=0.0, exact=exact.__getitem__, bits=bits)

    truth = levels(honest, 2.0**-50)
    assert (levels(bent, 0.02) == truth).all()
    assert (levels(bent, 0.0) != truth).any()


def test_the_table_is_shared_and_checked():
    assert Ladder.of(F(1, 2), 9) is Ladder.of(F(1, 2), 9)
    with pytest.raises(ParameterError):
        Ladder(F(-1), 3)
    with pytest.raises(ParameterError):
        Ladder(F(1), 0)


@pytest.mark.parametrize("rate", [600, 709, 950, 1500, 10**5, 10**9])
def test_steep_ladders_choose_the_lowest_level_that_has_mass(rate):
    """Where weights end before floats do: the first level with mass outweighs all others by more than e^500."""
    masses = np.array([[1.0, 1.0, 1.0], [1e-30, 1e-30, 1.0], [0.0, 0.25, 1.0]])
    exact = [[10**40, 10**40, 10**40], [10**10, 10**10, 10**40], [0, 1, 4]]
    for seed in range(5):
        given = {"error": 2.0**-49, "spare": 2.0**-102, "exact": exact.__getitem__, "bits": SeededBits(seed)}
        assert Ladder.of(Fraction(rate), 3).choose(masses, **given).tolist() == [0, 0, 1]
