"""Rows counted first: shares, classes, groups, what it brings, and where it is not taken."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.mechanisms.choose import choose, output_grid
from sordino.mechanisms.quantile.counted import CountedFirst, boundary, class_of
from sordino.mechanisms.tuned import ForCounted
from sordino.privacy import Approx, BoundedRange, Concentrated, Neighbors, Pure, TruncatedConcentrated
from sordino.statistics.maximum import Maximum
from sordino.statistics.median import Median
from sordino.statistics.minimum import Minimum
from sordino.statistics.quantile import Quantile

PRIVATE = Neighbors.ADD_REMOVE_ONE
FAR = Quantile("x", q=Fraction(99, 100), low=0, high=100_000, neighbors=PRIVATE)


def asking(column):
    source = Memory({"x": np.asarray(column, float)})
    return lambda request: source.summary(request)[0]


@pytest.mark.parametrize(
    "price", [Pure(1), Concentrated(0.5), Approx(1, 0.001), TruncatedConcentrated(0.5, 12)]
)
def test_both_steps_compose_to_the_price(price):
    counted = choose(FAR, price)
    assert isinstance(counted, CountedFirst)
    first, rest = counted.parts
    assert (first + rest).within(price)
    assert counted.after(FAR, 1000).guarantee == rest


@pytest.mark.parametrize("column", [Maximum, Minimum])
def test_it_is_taken_where_rows_are_private_and_decide(column):
    bounds = {"low": 0, "high": 100}
    assert choose(column("x", neighbors=PRIVATE, **bounds), Pure(1)).name == "counted"
    assert choose(column("x", **bounds), Pure(1), rows=100).name == "extreme"
    assert choose(Quantile("x", q=0.9, **bounds), Pure(1), rows=100).name == "quantile"
    assert choose(Median("x", neighbors=PRIVATE, **bounds), Pure(1)).name == "quantile"


def test_a_bounded_range_pays_for_one_draw():
    assert choose(FAR, BoundedRange(1)).name == "quantile"


def test_classes_are_half_octaves():
    ends = sorted({boundary(half) for half in range(60)})
    for before, after in zip(ends, ends[1:], strict=False):
        assert class_of(Fraction(before)) == class_of(Fraction(after - 1)) == before
        assert class_of(Fraction(before), end=True) == class_of(Fraction(after - 1), end=True) == after
        assert after <= max(math.sqrt(2) * before + 1, 2)


def test_a_count_below_its_noise_is_not_believed():
    told, untold = CountedFirst(price=Pure(1), rows=700), CountedFirst(price=Pure(1))
    scale = untold.scale(1)
    for counted in (Fraction(-50), Fraction(0), ForCounted.TOLD * scale - 1):
        assert told.planned(counted, 1) == 700
        assert untold.planned(counted, 1) == class_of(ForCounted.TOLD * scale)
    assert told.planned(Fraction(5000), 1) == untold.planned(Fraction(5000), 1) == 5793
    assert untold.scale(3) == 3 * scale  # one person moves three rows


def test_a_count_that_would_tell_nothing_of_declared_rows_is_not_bought():
    """The maximum of 200 ages at epsilon .1 was answered by zero: its plan was that for 960 rows."""
    ages = np.rint(np.random.default_rng(2).normal(40, 15, 201).clip(1, 100))
    largest = Maximum("x", low=0, high=120, neighbors=PRIVATE)
    counted, declared = choose(largest, Pure(0.1)), choose(largest, Pure(0.1), rows=100)
    assert (counted.name, declared.name) == ("counted", "extreme")
    assert choose(largest, Pure(0.1), rows=200).name == "counted"
    errors = [
        one.error_laws(largest, asking(ages), output_grid(largest), Fraction(float(ages.max())))[
            0
        ].mean_square
        for one in (counted, declared)
    ]
    assert errors[1] < errors[0] / 9


@pytest.mark.statistical
def test_chances_of_the_classes_are_those_of_real_counts():
    """Held against 3,000 counts; noise of half the size is noticed."""
    counted, rows, tries = CountedFirst(price=Pure(1)), 300, 3000
    bits, ask = SeededBits(5), asking(np.arange(rows))
    request, scale = counted.count(FAR), counted.parts[0]
    assert ask(request).rows == rows
    from sordino.mechanisms.parts.draws import Draws

    def seen(price):
        drawn = Draws.of(bits).noisy_each(
            [Fraction(rows)] * tries, sensitivity=Fraction(1), price=price, grid=output_grid(FAR)
        )
        return [counted.planned(Fraction(round(one)), 1) for one in drawn]

    chances = {planned: chance for chance, planned in counted.chances(rows, 1)}
    assert math.isclose(sum(chances.values()), 1, abs_tol=1e-9)

    def worst(planned):
        sigmas = []
        for one, chance in chances.items():
            sigma = math.sqrt(tries * max(chance * (1 - chance), 1e-3))
            sigmas.append(abs(planned.count(one) - tries * chance) / sigma)
        return max(sigmas)

    assert worst(seen(scale)) < 4.5
    assert worst(seen(Pure(2 * scale.epsilon))) > 8


def test_groups_of_every_size_are_answered_in_their_order():
    """At a high price every group's answer is its own quantile; sizes from none to thousands lie in many classes."""
    random = np.random.default_rng(3)
    sizes = (0, 3, 40, 4000, 41, 900, 4001)
    columns = [random.uniform(100 * place, 100 * place + 1, size) for place, size in enumerate(sizes)]
    statistic = Maximum("x", low=0, high=1000, neighbors=PRIVATE)
    mechanism = choose(statistic, Pure(400))
    answers = mechanism.answers(
        statistic, [asking(one) for one in columns], output_grid(statistic), bits=SeededBits(1)
    )
    for place, (answer, size) in enumerate(zip(answers, sizes, strict=True)):
        assert abs(answer.public["rows"] - size) <= 3
        if size >= 40:
            assert abs(float(answer) - columns[place].max()) < 0.5


def test_it_brings_what_a_public_number_of_rows_brings():
    """The 99 % quantile of 1000 rows in bounds a thousand times too wide, by exact laws."""
    column = np.random.default_rng(8).gamma(4, 10, 1000)
    ask, grid = asking(column), output_grid(FAR)
    right = FAR.grid.endless.real(FAR.define([int(code) for code in FAR.grid.codes(column)]))

    def error(mechanism):
        return math.sqrt(mechanism.error_laws(FAR, ask, grid, right)[0].mean_square)

    counted = choose(FAR, Pure(1))
    known = error(counted.after(FAR, 1000))
    blind = error(next(iter(_without_rows())))
    assert error(counted) < 1.5 * known
    assert error(counted) < 0.1 * blind


def _without_rows():
    from sordino.hints import Hints
    from sordino.mechanisms.quantile.private_quantile import PrivateQuantile

    return PrivateQuantile.offers(FAR, Pure(1), Hints())
