"""Groups whose values are cut to one interval: the price, what is refused, what is told, and what it is worth."""

from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.mechanisms import Answer
from sordino.mechanisms.tuned_tables import ForShared
from sordino.testing.replay import replay

MEAN = sd.Mean("x", low=0, high=1e6)


def table(groups, each):
    rng = np.random.default_rng(3)
    return {"x": rng.lognormal(10, 1, groups * each), "g": np.repeat(np.arange(groups), each)}


def opened(groups, each, neighbors="add-remove-one", **options):
    return sd.open(table(groups, each), budget=options.pop("budget", sd.Pure(100)), neighbors=neighbors,
                   rows=groups * each, **options)  # fmt: skip


@pytest.mark.parametrize("groups", [1, 2, 1000])
@pytest.mark.parametrize("neighbors", ["add-remove-one", "replace-one"])
@pytest.mark.parametrize(
    "price", [sd.Pure(1), sd.Pure(Fraction(1, 3)), sd.Concentrated(Fraction(1, 2)), sd.Approx(1, 1e-6)]
)
def test_the_parts_add_up_to_the_price(groups, neighbors, price):
    people = opened(groups, 5, neighbors, budget=sd.Approx(100, 1e-3))
    question = people.question(MEAN, price, by=("g", range(groups)), scale="shared")
    assert question.event.guarantee.within(price)
    assert question.shared is not None
    finding = question.shared.finding.mechanism.guarantee
    moved = 2 if neighbors == "replace-one" else 1
    each = question.parts[0].mechanism.guarantee
    assert sd.compose([finding, each if moved == 1 else each.for_group(2)]) == question.event.guarantee
    assert finding.strength >= 0.99 * price.strength * float(ForShared.LEAST) ** (
        1 if price.gaussian is False else 0.5
    )


def test_many_small_groups_err_less_and_say_what_was_cut():
    people = opened(300, 50)
    truth = table(300, 50)["x"].reshape(300, 50).mean(axis=1)
    errors = {}
    for scale in ("own", "shared"):
        answer = people.release_by("g", range(300), MEAN, sd.Pure(1), scale=scale)
        errors[scale] = np.sqrt(np.mean((np.array(answer.value) - truth) ** 2))
    assert errors["shared"] < errors["own"] / 2
    told = answer.event.by["shared"]
    assert 0 <= told["low"] < 22_000 < told["high"] < 500_000
    assert any("values of all groups were cut" in line for line in answer.assumptions)
    assert people.history[-1] == answer
    assert people.remaining == sd.Pure(98)


def test_asked_again_with_its_token_it_costs_nothing():
    people = opened(20, 30)
    first = people.release_by(
        "g", range(20), sd.Sum("x", low=0, high=1e6), sd.Pure(1), scale="shared", token="t"
    )
    again = people.release_by(
        "g", range(20), sd.Sum("x", low=0, high=1e6), sd.Pure(1), scale="shared", token="t"
    )
    assert again == first
    assert people.remaining == sd.Pure(99)


@pytest.mark.parametrize(
    ("statistic", "options"),
    [
        (sd.Median("x", low=0, high=9), {}), ([MEAN], {}), (MEAN, {"interval": 0.9}), (MEAN, {"keys": sd.discover()}),
        (MEAN, {"scale": "each"}),
    ],
)  # fmt: skip
def test_what_does_not_go_with_it_is_refused_before_the_debit(statistic, options):
    people = opened(3, 5)
    keys = options.pop("keys", range(3))
    with pytest.raises(sd.SordinoError, match="scale"):
        people.release_by("g", keys, statistic, sd.Pure(1), **{"scale": "shared", **options})
    with pytest.raises(sd.SordinoError, match="scale"):
        people.release(MEAN, sd.Pure(1), scale="shared")
    assert people.remaining == sd.Pure(100)


def test_an_interval_has_a_length_whatever_was_found():
    people = opened(3, 5)
    question = people.question(MEAN, sd.Pure(1), by=("g", range(3)), scale="shared")
    for low, high in ((7.0, 7.0), (0.0, 0.0), (1e6, 1e6), (9.0, 3.0)):
        first, last = question.shared._ends(low, high)
        assert 0 <= first < last <= 1e6


def replayed(neighbors, table, neighbour, low, high):
    """What a path of the whole release costs at most, as a part of its price: the interval, then every group in it."""
    people = sd.open(table, budget=sd.Pure(9), neighbors=neighbors, rows=len(table["x"]))
    question = people.question(sd.Mean("x", low=0, high=64), sd.Pure(1), by=("g", range(2)), scale="shared")
    finding = question.shared.finding
    within = question.shared.within(question, Answer((Fraction(low), Fraction(high))))
    (part,) = within.parts
    assert (part.statistic.low, part.statistic.high) == (low, high)

    def cost(one, *pair):
        asked = [{"x": side} for side in pair]
        seen = replay(one.mechanism, one.statistic, *asked, contribution=one.contribution)
        assert seen.kept, seen.problems
        return seen.worst * float(one.mechanism.guarantee.epsilon)

    found = cost(finding, table["x"], neighbour["x"])
    for group in (0, 1):
        rows = [
            [x for x, g in zip(side["x"], side["g"], strict=True) if g == group]
            for side in (table, neighbour)
        ]
        found += cost(part, *rows) if rows[0] != rows[1] else 0.0
    return found / float(question.event.guarantee.epsilon)


@pytest.mark.parametrize(("low", "high"), [(0.0, 64.0), (3.0, 5.0)])
def test_a_changed_row_is_within_the_price_on_every_path(low, high):
    """Both choices by replay, in intervals as wide as the bounds and in narrow ones."""
    here = {"x": [1.0, 4.0, 60.0, 2.0], "g": [0, 0, 1, 1]}
    less = {"x": [1.0, 4.0, 60.0], "g": [0, 0, 1]}
    moved = {"x": [1.0, 4.0, 60.0, 64.0], "g": [0, 0, 1, 0]}  # into the other group
    assert replayed("add-remove-one", here, less, low, high) <= 1 + 1e-9
    assert 0.5 < replayed("replace-one", here, moved, low, high) <= 1 + 1e-9
