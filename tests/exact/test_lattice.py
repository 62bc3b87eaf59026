"""The public lattice and the codes of rows."""

import inspect
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino import lattice as module
from sordino.errors import ParameterError
from sordino.lattice import FiniteLattice, Lattice, RowLattice

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12)


def test_the_default_lattice_depends_on_the_range_alone():
    assert Lattice.for_range(0, 1) == Lattice.dyadic(-32)
    assert Lattice.for_range(-3, 1) == Lattice.dyadic(-30)
    assert Lattice.for_range(0, 500_000).exponent == 19 - 32
    assert Lattice.dyadic(0) == Lattice.dyadic(0)


def test_nothing_in_the_module_takes_a_scale_or_data_to_make_a_lattice():
    for make in (Lattice, FiniteLattice, Lattice.dyadic, Lattice.for_range):
        assert set(inspect.signature(make).parameters) <= {
            "origin",
            "step",
            "last",
            "exponent",
            "low",
            "high",
            "bits",
        }
    assert "scale" not in {name for name in vars(module) if not name.startswith("__")}


def test_values_are_correctly_rounded():
    assert Lattice.dyadic(-1).number(7) == 3.5
    assert Lattice.dyadic(0).number(2**53 + 1) == float(2**53)
    assert Lattice.dyadic(971).number(10**20) == float("inf")
    assert Lattice.dyadic(971).number(-(10**20)) == float("-inf")
    assert str(Lattice.dyadic(-4).number(0)) == "0.0"
    assert Lattice.dyadic(-4).numbers(np.array([-3, 8])).tolist() == [-0.1875, 0.5]


@pytest.mark.parametrize("exponent", [True, 0.5, -1075, 972, "3"])
def test_an_impossible_exponent_is_refused(exponent):
    with pytest.raises(ParameterError, match="exponent"):
        Lattice.dyadic(exponent)


def test_an_empty_range_is_refused():
    with pytest.raises(ParameterError, match="high must be greater than low"):
        Lattice.for_range(1, 1)
    with pytest.raises(ParameterError, match="high must be greater than low"):
        RowLattice(1.0, 1.0)
    with pytest.raises(ParameterError, match="representable"):
        RowLattice(-1.7e308, 1.7e308)


@given(x=st.lists(finite, max_size=30), low=finite, width=st.floats(1e-6, 1e12), bits=st.integers(1, 50))
def test_codes_equal_the_definition(x, low, width, bits):
    high = low + width
    if not low < high:
        return
    rows = RowLattice(low, high, bits=bits)
    codes = rows.codes(np.array(x, dtype=float))
    step = 2.0**rows.exponent
    for value, code in zip(x, codes.tolist(), strict=True):
        d = min(max(value, low), high) - low
        assert code == int(np.rint(np.ldexp(d, -rows.exponent)))
        assert 0 <= code <= rows.last
        assert abs(Fraction(min(max(value, low), high)) - rows.real(code)) <= Fraction(step) / 2 + Fraction(
            2.0**-52 * max(abs(high), abs(low), width)
        )


def test_ends_halves_and_hostile_values():
    rows = RowLattice(0.0, 8.0, bits=3)
    assert rows.exponent == 0
    assert rows.last == 8
    hostile = [-np.inf, np.inf, -0.0, 0.5, 1.5, 2.5, np.nextafter(2.5, 3), 5e-324, 8.0]
    assert rows.codes(np.array(hostile)).tolist() == [0, 8, 0, 0, 2, 2, 3, 0, 8]
    assert RowLattice(0.0, float(2**40), bits=31).codes(np.array([127.9, 128.0, 256.0, 600.0])).tolist() == [
        0,
        0,
        0,
        1,
    ]


def test_the_expression_of_the_engines_gives_the_same_codes():
    """(d * 2^-h + 2^52) - 2^52, after clipping and the flush of tiny differences."""
    rng = np.random.default_rng(1)
    for low, high, bits in ((0.0, 1e6, 31), (-3.7, 11.1, 40), (0.0, 2.0**45, 10)):
        x = np.concatenate(
            [rng.uniform(low - 1, high + 1, 500), low + rng.integers(0, 50, 200) * (high - low) / 64]
        )
        rows = RowLattice(low, high, bits=bits)
        h = rows.exponent
        d = np.minimum(np.maximum(x, low), high) - low
        if h > 0:
            d = np.where(d < 2.0 ** (h - 2), 0.0, d)
        expected = (d * 2.0**-h + 4503599627370496.0) - 4503599627370496.0
        assert np.array_equal(rows.codes(x), expected.astype(np.int64))


def test_missing_values_follow_the_policy():
    x = np.array([np.nan, 1.0, np.nan, 3.0])
    assert RowLattice(0, 4, bits=2, missing="drop").codes(x).tolist() == [1, 3]
    assert RowLattice(0, 4, bits=2, missing=2.0).codes(x).tolist() == [2, 1, 2, 3]


@given(x=st.lists(finite, min_size=1, max_size=20), seed=st.integers(0, 100))
def test_a_code_depends_on_its_row_alone(x, seed):
    rows = RowLattice(-1e6, 1e6)
    order = np.random.default_rng(seed).permutation(len(x))
    assert np.array_equal(rows.codes(np.array(x))[order], rows.codes(np.array(x)[order]))
