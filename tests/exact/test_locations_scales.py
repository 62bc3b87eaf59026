"""Exact locations and scales reach the draw exactly, whatever form they come in."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import example, given
from hypothesis import strategies as st

from sordino.errors import ParameterError
from sordino.exact import ExpScale, ExpScales, SeededBits, draw, draw_many
from sordino.exact.balls import precision
from sordino.exact.location import Locations, in_steps
from sordino.exact.scale import Scales, quick_ratio, ratio
from sordino.lattice import Lattice
from tests.support.exact_harness import RECIPES, Scripted

LAPLACE = RECIPES["laplace"]
SEVEN = 7 << 60  # one word, so that draws differ in location and scale alone


@given(
    st.fractions(min_value=-(10**20), max_value=10**20),
    st.integers(-60, 60),
)
def test_steps_and_remainder_add_up(q, exponent):
    whole, part = in_steps(q, exponent)
    assert abs(part) <= 0.5
    assert abs(whole + Fraction(part) - q / Fraction(2) ** exponent) <= Fraction(1, 2**52)


@given(
    st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=8),
    st.integers(1, 2**30),
    st.integers(-60, 40),
)
@example([5, -5, 7], 3, -58)
@example([12345, -1, 0], 10**6 + 3, -45)
@example([2**20 + 1, -1], 2**30 - 1, -55)
def test_integer_locations_over_a_denominator(numerators, denominator, exponent):
    where = Locations(np.array(numerators), exponent, denominator)
    for i, n in enumerate(numerators):
        q = Fraction(n, denominator)
        assert where.exact(i) == q
        if where.wide is None or not where.wide[i]:
            error = int(where.whole[i]) + Fraction(float(where.part[i])) - q / Fraction(2) ** exponent
            assert abs(error) <= Fraction(1, 2**51)


@pytest.mark.parametrize("below", [1, 4096, 3 * 2**20, 10**15 + 37])
def test_fractions_over_one_denominator_are_exact(below):
    """Also where the common denominator or the numbers leave 64 bits, and among them one that is whole."""
    for above in ([5, -7, below], [2**40 + 1, -1, 0], [2**70, 3, -(2**66)]):
        fractions = [Fraction(one, below) for one in above]
        for exponent in (-30, 0, 3):
            where = Locations(fractions, exponent)
            assert [where.exact(i) for i in range(3)] == fractions
            for i, q in enumerate(fractions):
                if where.wide is None or not where.wide[i]:
                    whole, part = in_steps(q, exponent)
                    error = int(where.whole[i]) + Fraction(float(where.part[i])) - whole - Fraction(part)
                    assert abs(error) <= Fraction(1, 2**50)


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8), st.integers(-60, 40)
)
def test_float_locations_are_their_exact_dyadic_values(values, exponent):
    where = Locations(np.array(values), exponent)
    for i, v in enumerate(values):
        assert where.exact(i) == Fraction(v)
        if where.wide is None or not where.wide[i]:
            error = (
                int(where.whole[i]) + Fraction(float(where.part[i])) - Fraction(v) / Fraction(2) ** exponent
            )
            assert abs(error) <= Fraction(1, 2**51)


@pytest.mark.parametrize(
    ("locations", "denominator"),
    [
        (np.array([1, -5, 10**12]), 3),
        (np.array([0.1, -2.5, 1e9]), 1),
        (np.array([2**62, 1, 0]), 7),
        ([Fraction(1, 3), Fraction(-(10**30), 7), Fraction(5)], 1),
        (np.array([1e300, -1e300, 0.5]), 1),
    ],
)
@pytest.mark.parametrize("exponent", [-30, 0, 5])
def test_vector_draws_equal_scalar_draws_for_every_kind_of_location(locations, denominator, exponent):
    words = [SEVEN, -SEVEN >> 2, 3 << 58]
    many = draw_many(
        LAPLACE,
        locations=locations,
        denominator=denominator,
        scales=Fraction(5, 3),
        grid=Lattice.dyadic(exponent),
        bits=Scripted(words),
    )
    for i, word in enumerate(words):
        value = locations[i].item() if isinstance(locations, np.ndarray) else locations[i]
        one = draw(
            LAPLACE,
            location=Fraction(value) / denominator,
            scale=Fraction(5, 3),
            grid=Lattice.dyadic(exponent),
            bits=Scripted([word]),
        )
        assert many[i] == max(-(2**62), min(2**62, one))


def test_every_kind_of_scale_gives_the_same_draw():
    words = [SEVEN] * 3
    options = {"locations": Fraction(1, 3), "grid": Lattice.dyadic(-20)}
    expected = draw(
        LAPLACE,
        location=Fraction(1, 3),
        scale=Fraction(3, 2),
        grid=Lattice.dyadic(-20),
        bits=Scripted([SEVEN]),
    )
    exp_scale = ExpScale(Fraction(3, 2), Fraction(1, 512), 0)
    for scales in (
        np.array([1.5, 1.5, 1.5]),
        [Fraction(3, 2)] * 3,
        [exp_scale, exp_scale, Fraction(3, 2)],
    ):
        assert draw_many(LAPLACE, scales=scales, bits=Scripted(words), **options).tolist() == [expected] * 3
    for scale in (1.5, Fraction(3, 2), exp_scale, np.float64(1.5)):
        found = draw_many(LAPLACE, scales=scale, size=3, bits=Scripted(words), **options)
        assert found.tolist() == [expected] * 3


@given(
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**6),
    st.fractions(min_value=Fraction(1, 1000), max_value=1),
    st.integers(-3000, 3000),
    st.integers(-40, 40),
)
def test_the_float_of_a_scale_is_within_its_bound(multiplier, step, exponent, grid):
    for scale in (multiplier, ExpScale(multiplier, step, exponent)):
        with precision(200):
            value = scale.ball() if isinstance(scale, ExpScale) else arb(scale.numerator) / scale.denominator
            value = value / arb(2) ** grid / 7
            number = ratio(scale, Fraction(1, 7), grid)
            if 1e-300 < number < 1e300:
                assert abs(arb(number) - value) < value * arb(2) ** -arb("51.9")
                quick, loose = quick_ratio(scale, Fraction(1, 7), grid)
                assert abs(arb(quick) - value) < value * (arb(2) ** -arb("51.9") + loose)


def test_float_scales_are_exact_dyadic_values():
    assert Scales(np.array([0.1])).exact(0) == Fraction(0.1)
    assert Scales(0.1).exact(0) == Fraction(0.1)


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), "1", -Fraction(1, 3)])
def test_impossible_scales_are_refused(bad):
    with pytest.raises(ParameterError, match="scale"):
        draw(LAPLACE, location=0, scale=bad, grid=Lattice.dyadic(0))
    with pytest.raises(ParameterError, match="scale"):
        draw_many(LAPLACE, locations=0, scales=bad, size=2, grid=Lattice.dyadic(0))


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_impossible_lists_of_scales_are_refused(bad):
    with pytest.raises(ParameterError, match="scale"):
        draw_many(LAPLACE, locations=0, scales=[1.0, bad], grid=Lattice.dyadic(0))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_locations_that_are_no_numbers_are_refused(bad):
    with pytest.raises(ParameterError, match="location"):
        draw(LAPLACE, location=bad, scale=1, grid=Lattice.dyadic(0))
    with pytest.raises(ParameterError, match="location"):
        draw_many(LAPLACE, locations=np.array([0.0, bad]), scales=1, grid=Lattice.dyadic(0))


def test_sizes_must_agree():
    with pytest.raises(ParameterError, match="number of draws"):
        draw_many(LAPLACE, locations=[1, 2], scales=np.array([1.0, 2.0, 3.0]), grid=Lattice.dyadic(0))
    with pytest.raises(ParameterError, match="number of draws"):
        draw_many(LAPLACE, locations=1, scales=1, grid=Lattice.dyadic(0))
    empty = draw_many(LAPLACE, locations=np.array([], dtype=np.int64), scales=1, grid=Lattice.dyadic(0))
    assert empty.shape == (0,)


def test_huge_scales_stay_exact():
    for exponent in (40, 400, 1200):
        k = draw(
            LAPLACE, location=Fraction(1, 3), scale=2**exponent, grid=Lattice.dyadic(0), bits=SeededBits(5)
        )
        with precision(2 * exponent + 200):
            source = SeededBits(5)
            head = source.word()
            assert k > 2 ** (exponent - 8) or k < -(2 ** (exponent - 8))
            estimate = arb(abs(head)).log() - 63 * arb(2).log()
            assert abs(abs(k) / 2**exponent + float(estimate)) < 1e-9


def test_a_private_scale_leaves_no_trace_in_an_object_that_may_be_printed():
    scale = ExpScale(Fraction(12345), Fraction(1, 512), 998)
    assert "12345" not in repr(scale)
    assert "998" not in repr(scale)


def test_lists_of_large_and_mixed_numbers_are_not_turned_into_floats():
    # numpy reads [2**63, -1] and [2**60 + 1, 0.5] as floats, which would change a location.
    for values in ([2**63, -1], [2**60 + 1, 0.5], [2**80 + 1, 3], [Fraction(1, 3), 2]):
        where = Locations(values, 0)
        assert [where.exact(i) for i in range(2)] == [Fraction(v) for v in values]
        assert [Scales([abs(v) for v in values]).exact(i) for i in range(2)] == [
            abs(Fraction(v)) for v in values
        ]
    if np.dtype(np.longdouble).itemsize > 8:
        with pytest.raises(ParameterError, match="long double"):
            Locations(np.array([0.1], dtype=np.longdouble), 0)


def test_scales_on_a_log_grid_as_an_array():
    exponents = np.array([3, -700, 3])
    each = ExpScales(Fraction(3, 2), Fraction(1, 512), exponents)
    words = [SEVEN, SEVEN, 3 << 59]
    many = draw_many(LAPLACE, locations=0, scales=each, grid=Lattice.dyadic(-20), bits=Scripted(words))
    for i, word in enumerate(words):
        one = draw(LAPLACE, location=0, scale=each.at(i), grid=Lattice.dyadic(-20), bits=Scripted([word]))
        assert many[i] == one
    with pytest.raises(ParameterError, match="negative"):
        Scales(ExpScales(Fraction(-1), Fraction(1), exponents))


@pytest.mark.parametrize("value", [np.int64(3), np.float32(0.1), np.float64(0.1), 7, True])
def test_numbers_of_numpy_are_exact_locations(value):
    k = draw(LAPLACE, location=value, scale=1, grid=Lattice.dyadic(-40), bits=Scripted([SEVEN]))
    expected = draw(
        LAPLACE,
        location=Fraction(value.item() if hasattr(value, "item") else value),
        scale=1,
        grid=Lattice.dyadic(-40),
        bits=Scripted([SEVEN]),
    )
    guarded = draw(LAPLACE, location=value, scale=1, grid=Lattice.dyadic(-40), bits=Scripted([5, 6, 7]))
    assert k == expected
    assert guarded > k  # a word inside the guard: the slow path takes the same numbers
