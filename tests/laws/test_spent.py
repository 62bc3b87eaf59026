"""Pairs of tables that spend a price to the last: nothing that the promise leaves unused could be used."""

import math
from fractions import Fraction

import pytest

import sordino as sd
from sordino import catalogue
from sordino.mechanisms.additive.additive import Additive
from sordino.mechanisms.choose import choose
from sordino.mechanisms.quantile.order_interval import OrderInterval
from sordino.privacy import Approx, Concentrated, Neighbors, Pure
from sordino.testing import replay

REPLACE, ADD = Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE
RELATIONS = pytest.mark.parametrize("relation", [REPLACE, ADD], ids=lambda one: one.value)


def neighbours(rows, relation, high):
    """The lowest row goes: to the far end of the range, or out of the table."""
    kept, low = rows[1:], rows[0]
    return {"x": [*kept, low]}, {"x": [*kept, high] if relation is REPLACE else kept}


@RELATIONS
@pytest.mark.parametrize(
    ("price", "high", "least"),
    [
        (Pure(4), 1_000_000, 0.9999),
        (Concentrated(8), 400, 0.98),
        (Approx(4, Fraction(1, 1000)), 200, 0.98),
    ],
    ids=["pure", "concentrated", "approx"],
)
def test_an_order_interval_spends_its_price(relation, price, high, least):
    """Below each end a long gap without rows, above it the next row: every rank moves by one, and both ends tell."""
    median = sd.Median("x", low=0, high=high, step=1, neighbors=relation)
    mechanism = OrderInterval(price=price, lattice=median.grid)
    ranks, half = mechanism.ranks, high // 2
    size = 4 * ranks + (21 if relation is REPLACE else 22)
    middle = (size + 1) // 2
    rows = [0.0] * (middle - ranks - 1) + [half - 1.0] + [float(half)] * (2 * ranks - 1) + [high - 1.0]
    rows += [float(high)] * (size - len(rows))
    seen = replay(mechanism, median, *neighbours(rows, relation, float(high)), walks=0)
    assert seen.problems == []
    assert seen.worst > least


@RELATIONS
def test_a_median_spends_its_delta(relation):
    """A row that is rare on both tables, by just as much as two laws with this range can differ in."""
    price, (high, size, near) = (
        Approx(1, Fraction(1, 1000)),
        {REPLACE: (17, 101, 4), ADD: (31, 32, 1)}[relation],
    )
    median = sd.Median("x", low=0, high=high, step=1, neighbors=relation)
    middle = (size + 1) // 2
    rows = [0.0] * (middle - near) + [high - 1.0] * near + [float(high)] * (size - middle)
    seen = replay(choose(median, price, rows=size), median, *neighbours(rows, relation, float(high)), walks=0)
    assert seen.problems == []
    assert (
        abs(seen.most) > 1.02 or abs(seen.least) > 1.02
    )  # beyond epsilon, so that it is delta that is spent
    assert seen.worst > 0.999


@RELATIONS
@pytest.mark.parametrize("price", [Approx(1, Fraction(1, 1000)), Approx(3, Fraction(1, 10**5))], ids=str)
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_smooth_noise_spends_its_delta(relation, price, family):
    """A lone largest row: it moves the maximum by the smooth bound, and the bound by all that smoothness allows."""
    smoothing, high = Fraction(1, 10), 10**6
    maximum = sd.Maximum("x", low=0, high=high, step=1, neighbors=relation)
    mechanism = Additive(calibration=catalogue.noise_family(family).calibrate(price, smoothing=smoothing))
    others, alone = [0.0] * 200, math.floor(high * math.exp(-float(smoothing)))
    other = {"x": [*others, 0.0] if relation is REPLACE else others}
    seen = replay(mechanism, maximum, {"x": [*others, float(alone)]}, other, walks=0)
    assert seen.problems == []
    assert seen.most > float(price.epsilon) or seen.least < -float(price.epsilon)
    assert seen.worst > 0.99
