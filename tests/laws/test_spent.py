"""Pairs of tables that spend a price to the last: nothing that the promise leaves unused could be used."""

import math
from fractions import Fraction

import pytest

import sordino as sd
from sordino import catalogue
from sordino.mechanisms.additive.additive import Additive
from sordino.mechanisms.choose import choose
from sordino.mechanisms.clip.box_means import BoxMeans
from sordino.mechanisms.extreme.extreme import Extreme
from sordino.mechanisms.quantile.order_interval import OrderInterval
from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
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


# Defaults whose table shows less, for the pairs that it tries are not these ------------------------------------------

FINE = Fraction(1, 2**20)


def spent(mechanism, statistic, common, gone, come=None):
    """The part of its price that one row costs, which goes, or goes elsewhere."""
    table, other = ({"x": [*common, *(() if row is None else (row,))]} for row in (gone, come))
    seen = replay(mechanism, statistic, table, other, walks=0)
    assert seen.problems == []
    return seen.worst


def test_means_in_a_box_spend_their_price():
    """A row at the ends of two columns where their anchors are: it is at its worst in both searches and in the box."""
    means = sd.Means(("u", "v"), low=0, high=4)
    common, mechanism = [4.0] * 30, BoxMeans(price=Pure(1), rows=1000)
    table, other = ({name: [*common, row] for name in "uv"} for row in (0.0, 4.0))
    seen = replay(mechanism, means, table, other, walks=0)
    assert seen.problems == []
    assert seen.worst > 0.9999


def test_a_concentrated_maximum_spends_its_price():
    """A quarter of the range beyond all others: few rows pay for more, so that the heap and the row weigh the same."""
    maximum = sd.Maximum("x", low=0, high=1000, step=FINE, neighbors=REPLACE)
    mechanism = Extreme(
        price=Concentrated(Fraction(1, 2)), lattice=maximum.grid.answers, upper=True, rows=1000
    )
    assert spent(mechanism, maximum, [1e-5] * 35 + [14.0] * 41 + [397.0] * 113, 0.0, 746.0) > 0.99


@pytest.mark.parametrize("q", [0, Fraction(1, 2)], ids=str)
def test_a_quantile_after_its_magnitude_spends_its_price(q):
    """Half of the rows in one class of magnitude and half in the next: one row more tells in both draws."""
    quantile = sd.Quantile("x", q=q, low=0, high=1000, step=FINE, neighbors=ADD)

    def planned(price, rows):
        return PrivateQuantile(
            price=price, lattice=quantile.grid.answers, rows=rows, rank=rows - 3, flip=False, neighbors=ADD
        )

    common = [1e-5] + [248.0] * 25 + [1000.0] * 26
    assert spent(planned(Pure(1), 74), quantile, common, 0.0) > 0.95
    if not q:
        small = planned(Concentrated(Fraction(1, 2)), 36)
        assert spent(small, quantile, [640.0] * 2 + [60.0] * 3, 0.0) > 0.95


def test_a_second_moment_spends_its_price():
    """The row that leaves the interval that is chosen moves its squares by all of their range."""
    moment = sd.SecondMoment("x", low=0, high=1000, centre=0, step=FINE, neighbors=REPLACE)
    mechanism = choose(moment, Pure(1), rows=1000)
    assert mechanism.name == "plain-or-cut-squares"
    assert spent(mechanism, moment, [0.0] * 100 + [50.0] * 100 + [1000.0] * 30, 0.0, 1000.0) > 0.95
