"""Both paths say the same, hard draws are never wrong, tails exist, the support has no holes."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from sordino.exact import SeededBits, draw, draw_many, sampler
from sordino.exact.balls import Undecided, precision, rational
from sordino.exact.functions import ARRAYS, SCALARS
from sordino.exact.recipe import Recipe
from sordino.exact.sampler import settle
from sordino.exact.tries import decide, outside
from sordino.exact.uniforms import LazyUniform, heads
from sordino.lattice import Lattice
from tests.support.exact_harness import FAMILIES, RECIPES, Scripted, hostile_words, near_edges

SCALES = (0, 12, 24)


def columns(recipe, count, seed):
    """`count` hostile tries of a recipe: one array of words per uniform, all of the same length."""
    words = [hostile_words(count, seed + i)[:count] for i in range(recipe.words)]
    return words, [heads(w) for w in words]


def in_fast_range(recipe, x, i):
    return all(outside(g, abs(v[i])) for g, v in zip(recipe.guards, x, strict=True))


@pytest.mark.parametrize("name", RECIPES)
def test_the_tolerance_holds_for_every_completion_of_the_words(name):
    recipe = RECIPES[name]
    words, x = columns(recipe, 1500, seed=5)
    with np.errstate(all="ignore"):
        fast = recipe.fast(ARRAYS, *[v.copy() for v in x])
    tolerance = np.broadcast_to(fast.tolerance, fast.value.shape)
    seen = 0
    for i in range(len(words[0])):
        if not in_fast_range(recipe, x, i):
            continue
        scalar = recipe.fast(SCALARS, *[float(v[i]) for v in x])
        # One formula, two number types: the bits agree.
        assert scalar.value == fast.value[i]
        assert scalar.tolerance == tolerance[i]
        with precision(192):
            try:
                ball = recipe.ball(*[LazyUniform(int(w[i]), None) for w in words])
            except Undecided:
                continue
            allowance = abs(scalar.value) * 2.0**-49
            assert abs(ball - arb(scalar.value)) + allowance < arb(scalar.tolerance)
        seen += 1
    assert seen > 900


@pytest.mark.parametrize("name", [n for n in RECIPES if RECIPES[n].rejects])
def test_the_gap_of_a_rejecting_recipe_is_within_its_tolerance(name):
    recipe = RECIPES[name]
    words, x = columns(recipe, 1500, seed=6)
    # Tries near the border of acceptance: the second word is moved to where the gap changes sign.
    decided = 0
    for i in range(len(words[0])):
        if not in_fast_range(recipe, x, i):
            continue
        scalar = recipe.fast(SCALARS, *[float(v[i]) for v in x])
        if abs(scalar.gap) <= scalar.gap_tolerance:
            continue
        uniforms = [LazyUniform(int(w[i]), SeededBits(i)) for w in words]
        assert decide(recipe, uniforms) == (scalar.gap < 0)
        decided += 1
    assert decided > 900


def border(recipe, first, source):
    """A second word as near as possible to the border of acceptance, for a given first word."""
    low, high = 1 << 43, (1 << 63) - 1
    inside = decide(recipe, [LazyUniform(first, source), LazyUniform(low, source)])
    while high - low > 1:
        middle = (low + high) // 2
        if decide(recipe, [LazyUniform(first, source), LazyUniform(middle, source)]) == inside:
            low = middle
        else:
            high = middle
    return low


@pytest.mark.parametrize("name", [n for n in RECIPES if RECIPES[n].rejects])
def test_a_try_on_the_border_of_acceptance_is_left_to_the_balls(name):
    recipe = RECIPES[name]
    rng = np.random.default_rng(8)
    for _ in range(20):
        first = int(rng.integers(1 << 60, 1 << 62))
        second = border(recipe, first, SeededBits(1))
        x = [first * 2.0**-63, second * 2.0**-63]
        if all(outside(g, v) for g, v in zip(recipe.guards, x, strict=True)) and second < (1 << 63) - 2:
            fast = recipe.fast(SCALARS, *x)
            assert abs(fast.gap) <= fast.gap_tolerance


class Blind(Recipe):
    """A rejecting recipe whose floats say nothing: every decision must come from the balls."""

    def __init__(self, recipe):
        self._recipe = recipe
        self.guards, self.rejects, self.unit, self.proved = recipe.guards, True, recipe.unit, True

    def fast(self, f, *x):
        fast = self._recipe.fast(f, *x)
        return fast._replace(gap=fast.gap * float("nan"))

    def ball(self, *u):
        return self._recipe.ball(*u)

    def accepts(self, *u):
        return self._recipe.accepts(*u)


def test_a_gap_that_is_no_number_is_decided_in_balls():
    recipe = RECIPES["generalized-cauchy 4, 1"]
    one = [draw(recipe, location=0, scale=1, grid=Lattice.dyadic(-9), bits=SeededBits(s)) for s in range(60)]
    two = [
        draw(Blind(recipe), location=0, scale=1, grid=Lattice.dyadic(-9), bits=SeededBits(s))
        for s in range(60)
    ]
    assert one == two
    many = draw_many(recipe, locations=0, scales=1, grid=Lattice.dyadic(-9), size=60, bits=SeededBits(1))
    blind = draw_many(
        Blind(recipe), locations=0, scales=1, grid=Lattice.dyadic(-9), size=60, bits=SeededBits(1)
    )
    assert np.array_equal(many, blind)


def replay(name, count, seed):
    """Fast and ball path on the same words at three scales: number of words compared, disagreements."""
    recipe = RECIPES[name]
    words, x = columns(recipe, count, seed)
    location = Fraction(1, 3)
    with np.errstate(all="ignore"):
        fast = recipe.fast(ARRAYS, *[v.copy() for v in x])
    tolerance = np.broadcast_to(fast.tolerance, fast.value.shape)
    compared = wrong = 0
    for i in range(count):
        if not in_fast_range(recipe, x, i):
            continue
        with precision(160):
            try:
                ball = recipe.ball(*[LazyUniform(int(w[i]), None) for w in words])
            except Undecided:
                continue
            for bits in SCALES:
                step = 2.0**bits
                y = float(location) + step * fast.value[i]
                k = round(y) if abs(y) < 2**52 else 0
                if not abs(y - k) + step * tolerance[i] < sampler._HALF:
                    continue
                whole = (ball * (1 << bits) + rational(location + Fraction(1, 2))).floor().unique_fmpz()
                # Every completion gives one integer, or the fast path had no right to accept.
                wrong += whole is None or int(whole) != k
                compared += 1
    return compared, wrong


@pytest.mark.few(10)
@pytest.mark.parametrize("name", RECIPES)
def test_fast_and_ball_path_agree_on_the_same_words(name):
    compared, wrong = replay(name, 2000, seed=21)
    assert wrong == 0
    assert compared > 500


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_fast_and_ball_path_agree_on_a_hundred_thousand_words(name):
    compared, wrong = replay(name, 120_000, seed=22)
    assert wrong == 0
    assert compared > 100_000


class Careless(Recipe):
    """A recipe that claims to be exact: the mutation that the near-edge test must notice."""

    def __init__(self, recipe):
        self._recipe = recipe
        self.guards, self.rejects = recipe.guards, recipe.rejects
        self.unit, self.proved = recipe.unit, recipe.proved

    def fast(self, f, *x):
        fast = self._recipe.fast(f, *x)
        return fast._replace(tolerance=fast.tolerance * 0.0)

    def ball(self, *u):
        return self._recipe.ball(*u)

    def accepts(self, *u):
        return self._recipe.accepts(*u)


def wrong_roundings(recipe, cases, ratio_bits):
    scale = Fraction(1 << ratio_bits)
    wrong = 0
    for words, more, location, expected in cases:
        one = draw(
            recipe, location=location, scale=scale, grid=Lattice.dyadic(0), bits=Scripted(words + more)
        )
        many = draw_many(
            recipe,
            locations=location,
            scales=scale,
            grid=Lattice.dyadic(0),
            size=1,
            bits=Scripted(words + more),
        )
        if not recipe.rejects:  # a rejecting batch reads 64 tries ahead, so its refinements are others
            assert one == many[0]
        wrong += one != expected
    return wrong


@pytest.mark.parametrize("name", FAMILIES)
def test_values_within_2_to_the_minus_140_of_an_edge_are_never_wrong(name):
    recipe = RECIPES[name]
    cases = near_edges(recipe, 40, 20, 140, seed=31)
    assert wrong_roundings(recipe, cases, 20) == 0


@pytest.mark.parametrize("name", FAMILIES)
def test_with_the_tolerance_set_to_zero_the_same_cases_go_wrong(name, monkeypatch):
    monkeypatch.setattr(sampler, "_HALF", 0.5)
    recipe = RECIPES[name]
    cases = near_edges(recipe, 40, 20, 140, seed=31)
    assert wrong_roundings(Careless(recipe), cases, 20) >= 4


def test_a_tail_of_probability_e_to_the_minus_5000_is_produced_when_the_bits_say_so():
    # X in (0, 2^-7214): one zero word and zero refinements, then a one.
    zeros = [0] * 112
    for sign, head in ((1, 0), (-1, -1)):
        refill = zeros if head == 0 else [-1] * 112
        k = draw(
            RECIPES["laplace"],
            location=0,
            scale=1,
            grid=Lattice.dyadic(-10),
            bits=Scripted([head, *refill, 12345]),
        )
        assert 5000 <= sign * k / 1024 <= 5100


@pytest.mark.parametrize("name", ["laplace", "gaussian", "student-t 3", "polyplace 10"])
def test_zero_words_do_not_truncate_a_tail(name):
    recipe = RECIPES[name]
    k = draw(recipe, location=0, scale=1, grid=Lattice.dyadic(-10), bits=Scripted([0] * (4 * recipe.words)))
    largest_float_path = abs(
        draw(
            recipe,
            location=0,
            scale=1,
            grid=Lattice.dyadic(-10),
            bits=Scripted([2**43] + [0] * (recipe.words - 1)),
        )
    )
    assert abs(k) > 1.5 * largest_float_path


@pytest.mark.parametrize("location", [Fraction(0), Fraction(1, 3)])
def test_the_support_has_no_holes(location):
    k = draw_many(
        RECIPES["laplace"],
        locations=location,
        scales=1,
        grid=Lattice.dyadic(-10),
        size=10_000_000,
        bits=SeededBits(41),
    )
    counts = np.bincount(k[np.abs(k) <= 3072] + 3072, minlength=6145)
    assert counts.min() > 110  # about 170 expected at the far end


@pytest.mark.parametrize(
    "recipe",
    [
        "student-t 1/20",
        "generalized-cauchy 2, 21/40",
        "laplace-pareto 1/40",
        "laplace-log-normal 100",
        "arsinh-normal 100",
    ],
)
def test_edge_parameters_stay_exact(recipe):
    cases = near_edges(RECIPES[recipe], 5, 3, 100, seed=51)
    assert wrong_roundings(RECIPES[recipe], cases, 3) == 0


def test_unproved_parameters_use_the_slow_path_alone(monkeypatch):
    from sordino.noise.generalized_cauchy.sampler import GeneralizedCauchyRecipe
    from sordino.noise.laplace_log_normal.sampler import LaplaceLogNormalRecipe
    from sordino.noise.laplace_pareto.sampler import LaplaceParetoRecipe
    from sordino.noise.polyplace.sampler import PolyPlaceRecipe
    from sordino.noise.student_t.sampler import StudentTRecipe

    for recipe in (
        StudentTRecipe(Fraction(1, 100)),
        PolyPlaceRecipe(1 + Fraction(1, 2**30)),
        GeneralizedCauchyRecipe(2, Fraction(101, 200)),
        LaplaceLogNormalRecipe(200),
        LaplaceParetoRecipe(Fraction(1, 100)),
    ):
        assert not recipe.proved
        monkeypatch.setattr(type(recipe), "fast", None)  # calling it would fail
        k = draw_many(recipe, locations=0, scales=1, grid=Lattice.dyadic(0), size=3, bits=SeededBits(1))
        one = draw(recipe, location=0, scale=1, grid=Lattice.dyadic(0), bits=SeededBits(1))
        assert k.shape == (3,)
        assert isinstance(one, int)


def test_scalar_and_vector_draws_of_the_same_words_agree():
    for name in FAMILIES:
        recipe = RECIPES[name]
        if recipe.rejects:
            continue
        rng = np.random.default_rng(3)
        words = [int(w) for w in rng.integers(-(2**63), 2**63, size=recipe.words * 50, dtype=np.int64)]
        table = np.array(words).reshape(recipe.words, 50)
        many = draw_many(
            recipe,
            locations=Fraction(2, 7),
            scales=Fraction(5, 3),
            grid=Lattice.dyadic(-18),
            size=50,
            bits=Scripted(words),
        )
        for i in range(50):
            one = draw(
                recipe,
                location=Fraction(2, 7),
                scale=Fraction(5, 3),
                grid=Lattice.dyadic(-18),
                bits=Scripted(table[:, i].tolist()),
            )
            assert one == many[i]


def test_settle_agrees_with_exact_arithmetic_without_noise():
    recipe = RECIPES["laplace"]
    for q in (Fraction(5, 2), Fraction(-5, 2), Fraction(7, 3)):
        expected = (q + Fraction(1, 2)).__floor__()
        assert settle(recipe, [LazyUniform(1, SeededBits(0))], q, Fraction(0), Lattice.dyadic(0)) == expected
        assert draw(recipe, location=q, scale=0, grid=Lattice.dyadic(0), bits=SeededBits(2)) == expected
        many = draw_many(recipe, locations=[q, q], scales=0, grid=Lattice.dyadic(0), bits=SeededBits(2))
        assert many.tolist() == [expected, expected]
