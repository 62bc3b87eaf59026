"""Python objects one by one: the fast path gives what the rule gives, and no value's own methods are called."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.data import objects
from tests.support.data_rows import OBJECTS, Amount, Lying, Name, Raising

PLAIN = st.one_of(
    st.floats(), st.integers(), st.booleans(), st.none(), st.integers(-(10**400), 10**400), st.just(2**1024)
)


@given(st.lists(PLAIN, max_size=40))
@settings(max_examples=200, deadline=None)
def test_the_fast_path_gives_what_the_rule_gives(values):
    """Bit for bit, also beyond the doubles and with numbers that are not there."""
    slow = [objects._number(value, text=False) for value in values]
    assert objects.numbers(values, text=False).tobytes() == np.array(slow, np.float64).tobytes()


@pytest.mark.parametrize("place", range(len(OBJECTS)))
def test_a_value_is_read_alike_alone_and_among_others(place):
    """In a block with floats, with whole numbers, with texts, and beside another block."""
    value = OBJECTS[place]
    for others in ([0.5] * 3, [1, 2], ["a", None], [2.0] * objects.BLOCK):
        for text in (False, True):
            together = objects.numbers([*others, value, *others], text=text)
            alone = objects.numbers([value], text=text)
            assert together[len(others) : len(others) + 1].tobytes() == alone.tobytes()
            rest = objects.numbers(others, text=text)
            assert (
                together[: len(others)].tobytes() == rest.tobytes() == together[len(others) + 1 :].tobytes()
            )


@given(st.fractions())
@settings(max_examples=100, deadline=None)
def test_fractions_are_rounded_to_the_nearest_double(value):
    assert objects.numbers([value], text=False)[0] == float(value)


def test_what_is_a_number():
    values = [True, np.bool_(1), np.int8(-3), np.float32(0.5), Fraction(1, 4), Decimal("0.1"), Amount(5)]
    assert objects.numbers(values, text=False).tolist() == [1.0, 1.0, -3.0, 0.5, 0.25, 0.1, 5.0]
    ends = [10**400, -(10**400), Fraction(-(10**400)), np.longdouble("1e4000"), math.inf]
    assert objects.numbers(ends, text=False).tolist() == [math.inf, -math.inf, -math.inf, math.inf, math.inf]
    nothing = [
        "5",
        Decimal("NaN"),
        Decimal("sNaN"),
        Raising(),
        Lying(),
        np.array(5),
        np.timedelta64(1),
        1j,
        b"5",
    ]
    assert np.isnan(objects.numbers(nothing, text=False)).all()
    assert objects.numbers(["5", Name("6"), "x", np.str_("7")], text=True).tolist()[:2] == [5.0, 6.0]


def test_what_is_a_key_and_a_unit():
    values = [
        1,
        True,
        1.0,
        np.int8(1),
        Decimal("1.0"),
        Fraction(1),
        "1",
        " 1 ",
        Name("1"),
        1.5,
        None,
        Raising(),
        Lying(),
    ]
    assert objects.key_places(values, (0, 1)).tolist() == [1] * 9 + [-1] * 4
    assert objects.key_places(values, ("1", "b")).tolist() == [-1] * 6 + [0, -1, 0] + [-1] * 4
    assert objects.identities(values).tolist() == [0] * 6 + [1, 2, 1] + [-1] * 4
    large = [2**60, 2**60 + 1, 2.0**60, Decimal(2**60), Decimal("1e999999"), Decimal("1e-999999"), Decimal(0)]
    assert objects.identities(large).tolist() == [0, 1, -1, 0, -1, -1, 2]


def test_values_are_no_dimensions():
    """Lists in lists, arrays in lists: numpy would make tables of them, or raise."""
    for values in ([[1, 2], [3, 4]], [[1], [2, 3]], [np.zeros(2), np.zeros(2)], [np.array(5), 1]):
        found = objects.gathered(values)
        assert found.shape == (len(values),)
        assert all(one is other for one, other in zip(found.tolist(), values, strict=True))
