"""Arithmetic of prices, for every kind: shares add up, rows multiply back, a purse gives out no more than it has."""

from dataclasses import fields
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import ParameterError, Unsupported
from sordino.privacy import (
    KINDS,
    Approx,
    ApproxConcentrated,
    BoundedRange,
    Concentrated,
    Geo,
    Pure,
    Purse,
    TruncatedConcentrated,
    compose,
)

PRICES = [
    Pure(1),
    Approx(1, 1e-6),
    Concentrated(0.3),
    TruncatedConcentrated(0.3, 40),
    ApproxConcentrated(0.3, 1e-7),
    BoundedRange(1),
    Geo(1, per=200),
]


def test_every_kind_is_tried():
    assert {type(price) for price in PRICES} == set(KINDS)


SHARED = [price for price in PRICES if not isinstance(price, BoundedRange)]  # it pays for a single draw


@pytest.mark.parametrize("price", SHARED, ids=repr)
@pytest.mark.parametrize("rows", [1, 2, 3, 6])
def test_the_price_per_row_is_the_largest_whose_group_price_is_within(price, rows):
    part = price.per_row(rows)
    assert part.for_group(rows).within(price)
    more = part.scaled(Fraction(10001, 10000))
    assert not more.for_group(rows).within(price)


def test_a_kind_that_forgets_its_omega_is_refused_a_price_per_row():
    class Forgetful(TruncatedConcentrated):
        __slots__ = ()
        kind = "truncated-concentrated"

        def _per_row(self, rows):
            return TruncatedConcentrated(self.rho / rows**2, self.omega)

    with pytest.raises(Unsupported):
        Forgetful(Fraction(3, 10), Fraction(40)).per_row(2)


@pytest.mark.parametrize("price", SHARED, ids=repr)
def test_shares_compose_to_the_price(price):
    parts = [price.share(Fraction(part, 7)) for part in (1, 2, 4)]
    assert compose(parts) == price


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_scaling_multiplies_one_amount(price):
    twice = price.scaled(2)
    changed = [f.name for f in fields(price) if getattr(twice, f.name) != getattr(price, f.name)]
    assert changed == [price.main]


@given(st.lists(st.fractions(0, 1), min_size=1, max_size=6))
def test_a_purse_gives_out_the_price_and_no_more(parts):
    purse, given_out = Purse(Pure(1)), Fraction(0)
    for part in parts:
        if given_out + part <= 1:
            given_out += purse.take(part).epsilon
        else:
            with pytest.raises(ParameterError, match="no more than it has"):
                purse.take(part)
    assert given_out + purse.rest().epsilon == 1
    assert purse.left == 0
