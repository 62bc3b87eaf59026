"""A bounded range is the price of a single draw: ranges of questions that follow one another add to e1 + 2 e2."""

import math
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.data.memory import Memory
from sordino.lattice import FiniteLattice
from sordino.mechanisms.extreme.anchor_search import AnchorSearch
from sordino.mechanisms.extreme.extreme import Extreme
from sordino.mechanisms.parts.loss import loss_range
from sordino.mechanisms.parts.measure import Measure
from sordino.privacy import BoundedRange, Concentrated, Neighbors, Pure, compose
from sordino.statistics.maximum import Maximum


def two_points(epsilon, loss):
    """Two laws on two answers whose losses are ``loss`` (of the first answer) and ``loss - epsilon``."""
    high, low = math.exp(loss), math.exp(loss - epsilon)
    other = (1 - low) / (high - low)  # probabilities add to one under both
    return [other * high, 1 - other * high], [other, 1 - other]


def joint_losses(first, seconds):
    """Losses of all pairs of answers when the second question depends on the first answer."""
    one, other = first
    return [
        math.log(one[a] / other[a]) + math.log(p / q)
        for a, second in enumerate(seconds)
        for p, q in zip(*second, strict=True)
    ]


def spread(losses):
    return max(losses) - min(losses)


@pytest.mark.parametrize(("e1", "e2"), [(1.0, 1.0), (0.5, 2.0), (0.3, 0.7)])
def test_adaptive_ranges_add_to_the_first_and_twice_the_second(e1, e2):
    """After the answer that the first dataset favours a question whose loss is near +e2, else one near -e2."""
    nearly = e2 * (1 - 1e-6)
    first = two_points(e1, e1 / 2)
    seconds = [two_points(e2, nearly), two_points(e2, e2 - nearly)]
    assert spread([math.log(a / b) for a, b in zip(*first, strict=True)]) == pytest.approx(e1)
    for second in seconds:
        assert spread([math.log(a / b) for a, b in zip(*second, strict=True)]) == pytest.approx(e2)
    losses = joint_losses(first, seconds)
    assert spread(losses) == pytest.approx(e1 + 2 * e2, rel=1e-5)
    # What is promised instead: pure losses and concentrated ones do add up.
    assert max(map(abs, losses)) <= float((BoundedRange(e1) + BoundedRange(e2)).epsilon)
    rho = float(compose([BoundedRange(e1).to(Concentrated), BoundedRange(e2).to(Concentrated)]).rho)
    one = [first[0][a] * p for a, second in enumerate(seconds) for p in second[0]]
    other = [first[1][a] * p for a, second in enumerate(seconds) for p in second[1]]
    for order in (1.01, 1.5, 2, 4, 16):
        moment = math.fsum(p**order * q ** (1 - order) for p, q in zip(one, other, strict=True))
        assert math.log(moment) / (order - 1) <= rho * order * (1 + 1e-9)


def test_no_adaptive_pair_of_random_laws_goes_beyond():
    random = np.random.default_rng(4)
    worst = 0.0
    for _ in range(4000):
        e1, e2 = random.uniform(0.1, 2, size=2)
        first = two_points(e1, e1 * random.uniform(0.01, 0.99))
        seconds = [two_points(e2, e2 * random.uniform(0.01, 0.99)) for _ in range(2)]
        ratio = (spread(joint_losses(first, seconds)) - e1) / e2
        assert ratio <= 2
        worst = max(worst, ratio)
    assert worst > 1.5


def test_anchor_and_answer_of_an_extreme_range_over_more_than_their_sum():
    """A kept case: each part keeps its share of 1, and together they range over more than 1."""
    top = 2**12 - 1
    mechanism = Extreme(
        price=Pure(1), lattice=FiniteLattice(Fraction(0), Fraction(1), top), upper=True, rows=40,
        search=AnchorSearch(20, Fraction(1, 5), Measure.uniform(top), nats=8.0),
    )  # fmt: skip
    statistic = Maximum("x", low=0, high=top, step=1, neighbors=Neighbors.REPLACE_ONE)

    def read(*rows):
        (summary,) = Memory({"x": np.asarray(rows, dtype=float)}).summary(statistic.request(depth=80))
        return statistic.read(summary)

    one, other = read(top, top // 2), read(top, top)
    first, second = mechanism.anchor_law(one), mechanism.anchor_law(other)
    of_anchor, ends = [], []
    for at in (0, 9, 255, 1023, 2046, 2047, 2048, 2052, 3071, top - 1, top):
        shift = first.log_probability(at) - second.log_probability(at)
        low, high = loss_range(mechanism.law_at(one, anchor=at), mechanism.law_at(other, anchor=at))
        assert high - low <= 0.8 * (1 + 1e-9)
        of_anchor.append(shift)
        ends += [shift + low, shift + high]
    assert spread(of_anchor) <= 0.2 * (1 + 1e-9)
    assert max(map(abs, ends)) <= 1  # the pure promise holds
    assert spread(ends) > 1.04  # the range of the whole is not the sum of the ranges


AGES = {"x": [float(k % 90) for k in range(400)]}
SINGLE = [
    sd.Count("x"), sd.Histogram("x", edges=(0, 30, 60, 120)),
    sd.InterquantileRange("x", lower=0.25, upper=0.75, low=0, high=120, step=1), sd.Mean("x", low=0, high=120),
]  # fmt: skip


@pytest.mark.parametrize("statistic", SINGLE, ids=lambda one: one.name)
def test_a_single_draw_may_be_priced_by_a_bounded_range(statistic):
    session = sd.open(AGES, budget=sd.Pure(3))
    release = session.release(statistic, sd.BoundedRange(1), tight=True)
    assert session.remaining == sd.Pure(3 - release.guarantee.to(sd.Pure).epsilon)


@pytest.mark.parametrize(
    ("statistic", "hints"),
    [
        (sd.Mean("x", low=0, high=10**6), {}),
        (sd.Variance("x", low=0, high=10**6), {}),
        (sd.Maximum("x", low=0, high=10**6), {"rows": 10**5}),
        (sd.Quantiles("x", qs=(0.25, 0.5, 0.75), low=0, high=120), {}),
        ([sd.Count("x"), sd.Count("x")], {}),
    ],
    ids=["mean", "variance", "extreme", "recursive", "batch"],
)  # fmt: skip
def test_conversations_are_not_priced_by_a_bounded_range(statistic, hints):
    session = sd.open(AGES, budget=sd.Pure(3), neighbors=Neighbors.ADD_REMOVE_ONE, rows=10**5)
    with pytest.raises(sd.Unsupported, match="single draw"):
        session.release(statistic, sd.BoundedRange(1), **hints)
    assert session.remaining == sd.Pure(3)


def test_a_bounded_range_is_no_budget():
    with pytest.raises(sd.Unsupported, match="cannot be a budget"):
        sd.open(AGES, budget=sd.BoundedRange(3))
    assert BoundedRange(3).bounded_range == 3
