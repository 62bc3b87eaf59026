"""One band for several quantiles: loss and simultaneous coverage by enumeration, and real releases."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.coverage import Population, Sample
from sordino.hints import Hints
from sordino.mechanisms.clip.column import SortedColumn
from sordino.mechanisms.quantile.quantiles_interval import QuantilesInterval

REPLACE, ADD = sd.Neighbors.REPLACE_ONE, sd.Neighbors.ADD_REMOVE_ONE
QS = (Fraction(1, 3), Fraction(2, 3))


@pytest.mark.parametrize("neighbors", [REPLACE, ADD], ids=str)
def test_every_tiny_dataset_is_covered_at_once_and_the_loss_is_the_price(neighbors):
    last, rows, miss = 4, 4, 0.1
    statistic = sd.Quantiles("x", qs=QS, low=0, high=last, step=1, neighbors=neighbors)
    (mechanism,) = QuantilesInterval.offers(statistic, sd.Pure(8), Hints(interval=Sample(1 - miss), rows=40))
    plan = mechanism.plan(statistic, 1)
    sizes = (rows,) if neighbors is REPLACE else (rows - 1, rows)
    data = [d for size in sizes for d in itertools.combinations_with_replacement(range(last + 1), size)]
    worst_miss = worst_loss = 0.0
    for centres in ((0, 0), (0, 2), (1, 3), (2, 2), (1, 4)):
        bands = mechanism.bands(plan, statistic, centres)
        chances = {
            one: plan.choice.chances(
                mechanism.spare(statistic, SortedColumn(one, statistic.grid), bands), plan.target
            )
            for one in data
        }
        for one, law in chances.items():
            truths = statistic.define(one)
            missed = [
                chance
                for place, chance in enumerate(law)
                if not all(
                    rungs.ends(place)[0] <= truth <= rungs.ends(place)[1]
                    for rungs, truth in zip(bands, truths, strict=True)
                )
            ]
            worst_miss = max(worst_miss, math.fsum(missed))
            for place in range(len(one)):
                less = one[:place] + one[place + 1 :]
                others = [less] if neighbors is ADD else [tuple(sorted((*less, c))) for c in range(last + 1)]
                for other in others:
                    if other in chances:
                        pairs = zip(law, chances[other], strict=True)
                        worst_loss = max(worst_loss, *(abs(math.log(a / b)) for a, b in pairs))
    assert 0 < worst_miss <= miss
    assert 0 < worst_loss <= float(mechanism.price.epsilon) + 1e-9
    assert mechanism.guarantee == sd.Pure(8)


def test_a_band_is_released_with_the_answers():
    random = np.random.default_rng(4)
    table = {"x": random.normal(5, 1, 2000)}
    people = sd.open(table, budget=sd.Pure(100))
    asked = sd.Quantiles("x", qs=(0.25, 0.5, 0.75), low=0, high=10)
    truths = [np.sort(table["x"])[math.ceil(q * 2000) - 1] for q in (0.25, 0.5, 0.75)]
    covered = 0
    for _ in range(40):
        release = people.release(asked, sd.Pure(2), interval=Sample(0.8))
        bar = release.interval
        assert bar.simultaneous
        assert bar.paid
        assert all(
            low <= value <= high for low, value, high in zip(bar.low, release.value, bar.high, strict=True)
        )
        covered += all(low <= t <= high for low, t, high in zip(bar.low, truths, bar.high, strict=True))
        assert max(np.subtract(bar.high, bar.low)) < 5
    assert covered / 40 >= 0.8 - 3 * math.sqrt(0.16 / 40)
    assert sd.Release.from_json(release.to_json()) == release
    with pytest.raises(sd.Unsupported, match="no such error bar"):
        people.release(asked, sd.Pure(2), interval=Population(0.8))


def test_without_a_number_of_rows_there_is_no_band():
    asked = sd.Quantiles("x", qs=(0.25, 0.5), low=0, high=10)
    assert not list(QuantilesInterval.offers(asked, sd.Pure(1), Hints(interval=Sample(0.9))))
    assert not list(QuantilesInterval.offers(asked, sd.Pure(1), Hints(rows=10)))
