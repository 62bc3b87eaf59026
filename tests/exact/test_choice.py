"""Exact choices: probabilities by brute force, borders decided by balls, permute-and-flip is permute-and-flip."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy import stats

from sordino.errors import ParameterError
from sordino.exact import (
    CellWeights,
    NoisyReal,
    Pieces,
    SeededBits,
    choice,
    choose,
    choose_candidate,
    noisy_argmax,
    permute_and_flip,
)
from sordino.exact.balls import precision
from sordino.exact.exponential import ExponentialRecipe
from sordino.exact.shapes import Falling, FlatFilling, Staircase
from sordino.lattice import Lattice
from tests.support.exact_harness import RECIPES, Scripted

F = Fraction
COUNTS, LEVELS, RATE = [3, 0, 1, 7, 2], [1, 0, 0, 4, 2], F(1, 2)


def fits(counts, p):
    return stats.chisquare(counts, np.asarray(p) * np.sum(counts)).pvalue


@pytest.mark.thorough
@pytest.mark.statistical
def test_cells_are_chosen_with_their_probabilities():
    weights = CellWeights(COUNTS, LEVELS, RATE)
    source = SeededBits(1)
    found = np.bincount([choose(weights, bits=source) for _ in range(40_000)], minlength=5)
    ideal = np.array([c * math.exp(-0.5 * l) for c, l in zip(COUNTS, LEVELS, strict=True)])
    assert found[1] == 0
    keep = ideal > 0
    assert fits(found[keep], (ideal / ideal.sum())[keep]) > 1e-4
    flat = np.array(COUNTS) / sum(COUNTS)
    assert fits(found[keep], flat[keep]) < 1e-6


def border_words(weights):
    """Words just below and just above each border between cells, from 300-bit balls."""
    with precision(300):
        balls = weights.balls()
        total = sum(balls[1:], balls[0])
        border = arb(0)
        for i, ball in enumerate(balls[:-1]):
            border += ball
            share = border / total * (arb(2) ** 64) - (arb(2) ** 63)
            floor = share.floor().unique_fmpz()
            if floor is not None:
                yield i, int(floor), (share - floor) * arb(2) ** 64


def test_words_on_a_border_are_decided_by_their_refinement():
    weights = CellWeights([3, 5, 1, 7, 2], [1, 3, 0, 4, 2], F(1, 3))
    seen = 0
    for i, head, rest in border_words(weights):
        with precision(300):
            tail = int(rest.floor().unique_fmpz())
        signed = lambda w: w - (1 << 64) if w >= 1 << 63 else w  # noqa: E731
        below = choose(weights, bits=Scripted([head, signed(max(tail - 1, 0))]))
        above = choose(weights, bits=Scripted([head, signed(min(tail + 1, 2**64 - 1))]))
        assert (below, above) == (i, i + 1)
        seen += 1
    assert seen == 4


def test_without_the_slack_the_border_goes_wrong(monkeypatch):
    """Mutation: trusting the floats at a border gives a wrong cell for some words."""
    rng = np.random.default_rng(4)
    wrong = 0
    monkeypatch.setattr(choice, "_WEIGHT_ERROR", -1e9)  # the float verdict is always believed
    for _ in range(60):
        weights = CellWeights(
            rng.integers(1, 9, size=6), rng.integers(0, 9, size=6), F(int(rng.integers(1, 9)), 7)
        )
        for i, head, _ in border_words(weights):
            wrong += choose(weights, bits=Scripted([head - 1])) != i
            wrong += choose(weights, bits=Scripted([head + 1])) != i + 1
    assert wrong > 20


def test_far_levels_do_not_underflow_into_a_choice():
    weights = CellWeights([1, 10**6], [0, 10**9], F(1))
    source = SeededBits(2)
    assert {choose(weights, bits=source) for _ in range(200)} == {0}
    # A shift of all levels changes nothing, however large.
    assert choose(CellWeights([1, 2], [10**15, 10**15 + 1], F(1)), bits=SeededBits(3)) == choose(
        CellWeights([1, 2], [0, 1], F(1)), bits=SeededBits(3)
    )


@pytest.mark.parametrize(
    ("counts", "levels", "rate"),
    [
        ([1, 2], [0], 1),
        ([0, 0], [0, 1], 1),
        ([1, -1], [0, 1], 1),
        ([1.5, 1], [0, 1], 1),
        ([1, 1], [0, 1], -1),
    ],
)
def test_impossible_weights_are_refused(counts, levels, rate):
    with pytest.raises(ParameterError):
        CellWeights(counts, levels, F(rate))


@pytest.mark.statistical
def test_a_candidate_is_uniform_inside_its_cell():
    weights = CellWeights([3, 2], [0, 0], F(1))
    source = SeededBits(5)
    found = [choose_candidate(weights, bits=source) for _ in range(20_000)]
    counts = [found.count(c) for c in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))]
    assert sum(counts) == 20_000
    assert fits(counts, [0.2] * 5) > 1e-4


def permute_and_flip_law(levels, rate):
    """The definition: all orders equally likely, candidates flipped in that order."""
    law = np.zeros(len(levels))
    best = min(levels)
    orders = list(itertools.permutations(range(len(levels))))
    for order in orders:
        alive = 1.0
        for i in order:
            p = math.exp(-rate * (levels[i] - best))
            law[i] += alive * p
            alive *= 1 - p
    return law / len(orders)


@pytest.mark.thorough
@pytest.mark.statistical
def test_permute_and_flip_follows_its_definition():
    levels = [0, 1, 1, 3, 2]
    law = permute_and_flip_law(levels, 0.5)
    assert abs(law.sum() - 1) < 1e-12
    source = SeededBits(6)
    weights = CellWeights([1] * 5, levels, F(1, 2))
    found = np.bincount([permute_and_flip(weights, bits=source)[0] for _ in range(15_000)], minlength=5)
    assert fits(found, law) > 1e-4
    exponential = np.exp(-0.5 * np.array(levels))
    assert fits(found, exponential / exponential.sum()) < 1e-6


@pytest.mark.statistical
def test_permute_and_flip_over_cells_equals_candidates_one_by_one():
    law = permute_and_flip_law([0, 1, 1, 1, 2], 0.7)
    source = SeededBits(7)
    weights = CellWeights([1, 3, 0, 1], [0, 1, 5, 2], F(7, 10))
    found = [permute_and_flip(weights, bits=source) for _ in range(15_000)]
    counts = [found.count(c) for c in ((0, 0), (1, 0), (1, 1), (1, 2), (3, 0))]
    assert sum(counts) == 15_000
    assert fits(counts, law) > 1e-4


def test_rivals_that_floats_cannot_separate_are_refined():
    # Two equal levels whose words differ in the last bit: the larger |X| has the larger exponential maximum.
    weights = CellWeights([1, 1], [0, 0], F(1))
    head = 5 << 60
    for words, winner in (([head, head + 1], 1), ([head + 1, head], 0)):
        assert permute_and_flip(weights, bits=Scripted(words))[0] == winner
    assert permute_and_flip(weights, bits=Scripted([head, head, 1, 2]))[0] == 1
    assert (
        permute_and_flip(weights, bits=Scripted([0, head]))[0] == 1
    )  # a guarded word is no winner by default


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize("name", ["laplace", "generalized-cauchy 4, 1"])
def test_noisy_argmax_has_the_law_of_the_ideal_mechanism(name):
    source = SeededBits(8)
    n = 8_000
    recipe = RECIPES[name]
    wins = sum(noisy_argmax(recipe, locations=[0, 1], scale=1, bits=source) for _ in range(n))
    rng = np.random.default_rng(0)
    if name == "laplace":
        # P(L2 - L1 > -1) for two standard Laplace variables: 1 - e^-1 (1/2 + 1/4).
        ideal = 1 - math.exp(-1) * 0.75
    else:
        from tests.support.exact_laws import TAILS

        grid = np.linspace(0, 400, 400_001)
        tail = TAILS[name](grid)
        u, v = (np.interp(-rng.random(10**6), -tail, grid) * rng.choice([-1, 1], 10**6) for _ in range(2))
        ideal = np.mean(u - v < 1)
    assert abs(wins / n - ideal) < 0.025


def test_noisy_argmax_of_equal_words_is_settled_by_more_bits():
    laplace = RECIPES["laplace"]
    head = -(5 << 60)
    # X is negative, so a larger refinement means a smaller |X| and a noise further down.
    assert noisy_argmax(laplace, locations=[0, 0], scale=1, bits=Scripted([head, head, 9, 5])) == 1
    assert noisy_argmax(laplace, locations=[0, 0], scale=1, bits=Scripted([head, head, 5, 9])) == 0
    assert noisy_argmax(laplace, locations=[1, 5, 5], scale=0, bits=Scripted([])) == 1
    with pytest.raises(ParameterError, match="empty"):
        noisy_argmax(laplace, locations=[], scale=1)


def test_comparison_sees_differences_below_any_lattice():
    laplace = RECIPES["laplace"]
    tiny = F(1, 2**200)
    head = 3 << 58
    one = NoisyReal(laplace, location=tiny, scale=1, bits=Scripted([head] + [7] * 40))
    two = NoisyReal(laplace, location=0, scale=1, bits=Scripted([head] + [7] * 40))
    assert one.exceeds(two)
    assert not NoisyReal(laplace, location=0, scale=0, bits=SeededBits(1)).exceeds(0)
    assert NoisyReal(laplace, location=F(1, 3), scale=0, bits=SeededBits(1)).exceeds(F(1, 4))
    assert "sealed" in repr(one)


@pytest.mark.statistical
def test_a_noisy_real_against_a_threshold():
    source = SeededBits(9)
    above = sum(
        NoisyReal(ExponentialRecipe(), location=0, scale=1, bits=source).exceeds(1) for _ in range(4000)
    )
    assert abs(above / 4000 - math.exp(-1)) < 0.04


def piecewise_cells(pieces, shape_height, grid_edges):
    """Probabilities of lattice cells by fine quadrature of the density."""
    fine = 20_001
    mass = np.zeros(len(grid_edges) - 1)
    for start, length, level in pieces:
        t = (np.arange(fine) + 0.5) / fine
        density = np.exp(-0.5 * level) * shape_height(t)
        y = start + length * t
        mass += np.histogram(y, grid_edges, weights=density * abs(length) / fine)[0]
    return mass / mass.sum()


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("shape", "height"),
    [
        (FlatFilling(), np.ones_like),
        (Falling(F(1, 2)), lambda t: np.exp(-0.5 * t)),
        (Staircase(F(1, 2), F(2, 5)), lambda t: np.where(t < 0.4, 1.0, math.exp(-0.5))),
    ],
)
def test_piecewise_laws_fit_their_density(shape, height):
    intervals = [(5, 3, 0), (8, 2, 1), (10, 0, 2), (5, -4, 0), (1, -1, 1)]
    starts, lengths, levels = (list(c) for c in zip(*intervals, strict=True))
    pieces = Pieces(starts, lengths, levels, rate=F(1, 2), shapes=(shape,), unit=F(1, 3), origin=F(1, 7))
    source = SeededBits(10)
    k = np.array([pieces.draw(grid=Lattice.dyadic(-3), bits=source) for _ in range(15_000)])
    low, high = k.min(), k.max()
    edges = ((np.arange(low, high + 2) - 0.5) / 8 - 1 / 7) * 3
    p = piecewise_cells(intervals, height, edges)
    assert fits(np.bincount(k - low), p) > 1e-4
    wrong = piecewise_cells(intervals, lambda t: height(t) * (1 + t), edges)
    assert fits(np.bincount(k - low), wrong) < 1e-6


@pytest.mark.thorough
@pytest.mark.statistical
def test_a_flat_centre_beside_falling_sides_is_weighted_by_its_mass():
    kappa = F(2)
    pieces = Pieces([0, 1], [1, 1], [0, 0], rate=kappa, shapes=(FlatFilling(), Falling(kappa)), kinds=[0, 1])
    source = SeededBits(11)
    k = np.array([pieces.draw(grid=Lattice.dyadic(-20), bits=source) for _ in range(20_000)])
    share = np.mean(k < 2**20)
    assert abs(share - 1 / (1 + (1 - math.exp(-2)) / 2)) < 0.015


@pytest.mark.parametrize(
    "shape", [FlatFilling(), Falling(F(1, 2)), Falling(F(12)), Staircase(F(5, 2), F(1, 3))]
)
def test_shapes_keep_their_tolerance(shape):
    from sordino.exact.functions import SCALARS
    from sordino.exact.uniforms import LazyUniform

    rng = np.random.default_rng(12)
    ends = [2**63 - 1 - 2**j for j in range(0, 60, 2)]
    for word in [*rng.integers(-(2**63), 2**63, 2000, dtype=np.int64).tolist(), 0, -1, -(2**63), *ends]:
        fast = shape.fast(SCALARS, word * 2.0**-63)
        with precision(160):
            ball = shape.ball(LazyUniform(word, None))
            assert abs(ball - arb(fast.value)) + abs(fast.value) * 2.0**-49 < arb(fast.tolerance)
            assert abs(ball - arb("0.5")) < arb("0.5000001")


def test_steep_shapes_fall_back_to_balls():
    for shape in (Falling(F(40)), Staircase(F(100), F(1, 2))):
        assert not shape.proved
        pieces = Pieces([0], [5], [0], rate=F(1), shapes=(shape,))
        assert 0 <= pieces.draw(grid=Lattice.dyadic(-6), bits=SeededBits(1)) <= 5 * 64


def test_integers_of_any_size_are_weights():
    source = SeededBits(13)
    # Levels over a common denominator of a thousand digits, counts beyond every float.
    rate = F(1, 3**2000)
    weights = CellWeights([1, 1], [0, 900 * 3**2000], rate)
    assert {choose(weights, bits=source) for _ in range(20)} == {0}
    assert permute_and_flip(weights, bits=source) == (0, 0)
    huge = CellWeights([2**5000, 1], [0, 0], F(1))
    assert choose(huge, bits=source) == 0
    assert permute_and_flip(huge, bits=source)[0] == 0
    far = CellWeights([1, 1], [0, 10**400], F(1))
    assert choose(far, bits=source) == 0
    assert permute_and_flip(far, bits=source)[0] == 0
    assert CellWeights([2**63, 1], [-1, 2**63], F(1)).counts.tolist() == [2**63, 1]


@pytest.mark.statistical
def test_a_huge_count_far_away_balances_a_small_one_nearby():
    # 2^1100 candidates at a level that costs exactly as much: both cells are equally likely.
    levels = [0, 1]
    source = SeededBits(14)
    rate = F(76246, 100)  # log(2^1100) = 762.46
    share = np.mean([choose(CellWeights([1, 2**1100], levels, rate), bits=source) for _ in range(600)])
    ideal = 1 / (1 + math.exp(762.46 - 1100 * math.log(2)))
    assert abs(share - ideal) < 0.1


def test_large_exponents_do_not_move_a_border():
    """Exponents near -555 lose ten bits of their float; the slack must know."""
    checked = 0
    for i in range(60):
        weights = CellWeights([1, 2**800], [0, 1], F(5545, 10) + F(i, 97))
        for cell, head, _ in border_words(weights):
            for step in (2, 1 << 8, 1 << 14, 1 << 17):
                assert choose(weights, bits=Scripted([head - step])) == cell
                assert choose(weights, bits=Scripted([head + step])) == cell + 1
                checked += 1
    assert checked == 240


def test_permute_and_flip_near_the_top_of_a_word_is_decided_by_balls():
    """Near U = 1 a float of the word misjudges the height by 2^-35; the slack must know."""
    checked = 0
    for j in range(40):
        top = 2**63 - 2**44 - 1024 * j + (500 if j % 2 else 524)  # the float is 500 of 1024 off, up or down
        low = 3 << 60
        with precision(200):
            heights = [-(1 - arb(2 * w + 1) / arb(2) ** 64).log() for w in (top, low)]
            gap = heights[0] - heights[1]
            for sign in (1, -1):
                rate = F(int(((gap + sign * arb(2) ** -37) * arb(2) ** 90).floor().unique_fmpz()), 1 << 90)
                # The first cell stands 2^-37 below or above the second.
                winner = permute_and_flip(CellWeights([1, 1], [1, 0], rate), bits=Scripted([top, low]))[0]
                assert winner == (1 if sign > 0 else 0)
                checked += 1
    assert checked == 80


def test_noisy_argmax_knows_that_large_locations_have_no_small_floats():
    def word(noise):
        return int(math.exp(-noise) * 2**63)

    # Noise 2 and 128.5 at scale 30: 129 beats 128.5, but floats near 2^60 see 0 and 256.
    words = [word(2 / 30), word(128.5 / 30)]
    assert (
        noisy_argmax(RECIPES["laplace"], locations=[2**60 + 127, 2**60], scale=30, bits=Scripted(words)) == 0
    )
