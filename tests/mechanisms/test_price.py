"""From prices to slopes: all of a price is spent and never more."""

from fractions import Fraction

import pytest

from sordino.errors import Unsupported
from sordino.mechanisms.choose import choose
from sordino.privacy import Approx, BoundedRange, Concentrated, Geo, Neighbors, Pure, compose
from sordino.statistics.median import Median
from sordino.statistics.mode import Mode


@pytest.mark.parametrize(
    "price", [Concentrated(0.5), Concentrated(0.001), Approx(1, 1e-6), Approx(0.1, 1e-3)]
)
def test_the_bounded_range_spends_the_whole_price_and_no_more(price):
    found = price.bounded_range
    assert BoundedRange(found).within(price)
    assert not BoundedRange(found * Fraction(1001, 1000)).within(price)


def test_pure_prices_are_their_own_range():
    assert Pure(0.3).bounded_range == Fraction(3, 10)
    assert Pure(1).slope == Fraction(1, 2)
    assert Concentrated(0.5).nats == pytest.approx(1)


def test_a_concentrated_price_buys_more_than_the_pure_one_that_implies_it():
    assert Concentrated(0.125).bounded_range > 1
    assert Approx(1, 1e-6).bounded_range > 1


@pytest.mark.parametrize("price", [Pure(1), Concentrated(0.5), Approx(1, 1e-6)])
def test_shares_compose_to_the_price(price):
    parts = [price.share(Fraction(1, 7)), price.share(Fraction(2, 7)), price.share(Fraction(4, 7))]
    assert compose(parts) == price


def test_a_bounded_range_is_not_shared():
    """Ranges of adaptive parts do not add up (tests/privacy/test_bounded_range.py)."""
    assert BoundedRange(2).share(1) == BoundedRange(2)
    for part in (Fraction(1, 7), 0):
        with pytest.raises(Unsupported, match="single draw"):
            BoundedRange(2).share(part)


def test_a_price_without_a_theorem_is_refused():
    with pytest.raises(Unsupported, match="Geo"):
        Geo(1, per=10).bounded_range  # noqa: B018


def test_a_mechanism_follows_the_neighbours_of_the_statistic():
    from sordino.mechanisms import matched

    chosen = choose(Mode("x", keys=("a", "b")), Pure(1))
    other = Mode("x", keys=("a", "b"), neighbors=Neighbors.ADD_REMOVE_ONE)
    assert matched(chosen, other).slope == 2 * chosen.slope
    median = Median("x", low=0, high=9, neighbors=Neighbors.ADD_REMOVE_ONE)
    assert choose(median, Pure(1)).neighbors is Neighbors.ADD_REMOVE_ONE
