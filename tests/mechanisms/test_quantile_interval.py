"""Intervals for quantiles: the theorem by enumeration, planted errors that it notices, coverage of releases."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.coverage import Population, Sample
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.hints import Hints
from sordino.mechanisms.choose import choose, output_grid
from sordino.mechanisms.clip.column import SortedColumn
from sordino.mechanisms.quantile.crossing import Crossing, crossing_loss
from sordino.mechanisms.quantile.ladder import (
    Rungs,
    Weighing,
    exponents,
    miss_bound,
    nats_needed,
    on_target_lattice,
    population_rows,
    rung_chances,
    scores,
    spares,
)
from sordino.mechanisms.quantile.ladder_plan import margins
from sordino.mechanisms.quantile.quantile_interval import QuantileInterval
from sordino.session.quote import prepare
from sordino.statistics.quantile import Quantile

REPLACE, ADD = sd.Neighbors.REPLACE_ONE, sd.Neighbors.ADD_REMOVE_ONE
MISS = 0.05


class World:
    """All datasets of one size on a tiny lattice, and the exact law of the rung around every point."""

    def __init__(
        self,
        rows,
        last,
        epsilon,
        base=3,
        *,
        neighbors=REPLACE,
        q=Fraction(1, 2),
        flip=True,
        rule="lower",
        gap=None,
    ):
        self.rows, self.last, self.price = rows, last, float(epsilon)
        self.statistic = Quantile("x", q=q, rule=rule, low=0, high=last, step=1, neighbors=neighbors)
        growth = Fraction(math.log(base)).limit_denominator(1000)
        self.choice = Weighing(Fraction(epsilon) / 2, growth, last, flip=flip)
        if gap is not None:
            self.choice = Crossing.of(float(epsilon), contribution=1, gap=gap)
        self.radii = tuple(range(last + 1))
        self.target = self.choice.target(MISS) - (neighbors is REPLACE)
        self.unit = Fraction(1) if neighbors is REPLACE else max(q, 1 - q)

    def chances(self, data, centre):
        rungs = Rungs(centre, self.radii, self.last)
        below = {cut: sum(one < cut for one in data) for cut in rungs.cuts}
        allowed, needed = margins(self.statistic, len(data))
        spare = spares(rungs, below, needed=needed, allowed=allowed, unit=self.unit)
        ends = [rungs.ends(place) for place in range(rungs.size)]
        return ends, self.choice.chances(spare, self.target)

    def datasets(self, rows):
        return itertools.combinations_with_replacement(range(self.last + 1), rows)

    def neighbours(self):
        for data in self.datasets(self.rows):
            for place in range(len(data)):
                less = data[:place] + data[place + 1 :]
                if self.statistic.neighbors is ADD:
                    yield data, less
                else:
                    for code in range(self.last + 1):
                        yield data, tuple(sorted((*less, code)))

    def worst_miss(self):
        worst = 0.0
        sizes = [self.rows] if self.statistic.neighbors is REPLACE else range(self.rows + 1)
        for data in itertools.chain.from_iterable(map(self.datasets, sizes)):
            truth = self.statistic.define(data) if data else 0
            for centre in range(self.last + 1):
                ends, chances = self.chances(data, centre)
                missed = [c for (low, high), c in zip(ends, chances, strict=True) if not low <= truth <= high]
                worst = max(worst, math.fsum(missed))
        return worst

    def worst_loss(self):
        """Over the price."""
        worst = 0.0
        for one, other in set(self.neighbours()):
            for centre in range(self.last + 1):
                a, b = self.chances(one, centre)[1], self.chances(other, centre)[1]
                worst = max(worst, *(abs(math.log(x / y)) for x, y in zip(a, b, strict=True)))
        return worst / self.price


WORLDS = [
    World(3, 5, 1, 5),
    World(4, 4, 2, 5),
    World(5, 3, 6, 3),
    World(6, 3, 3, 3, flip=False),
    World(3, 5, 1, 5, neighbors=ADD),
    World(4, 4, 4, 5, neighbors=ADD, q=Fraction(3, 4)),
    World(4, 4, 2, 3, rule="interpolated"),
    World(4, 4, 2, 3, rule="interpolated", neighbors=ADD, q=Fraction(1, 3)),
    World(4, 4, 2, 3, rule="upper", neighbors=ADD, q=Fraction(1, 3)),
    World(4, 4, 2, gap=1.0),
    World(5, 3, 6, gap=3.4),
    World(9, 3, 3, gap=2.0),
    World(4, 4, 4, gap=2.0, neighbors=ADD, q=Fraction(3, 4)),
    World(4, 4, 2, gap=1.0, rule="interpolated", neighbors=ADD, q=Fraction(1, 3)),
]


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "world",
    WORLDS,
    ids=lambda one: f"{one.statistic.rule}-{one.rows}-{one.last}-{one.unit}-{type(one.choice).__name__}",
)
def test_every_tiny_dataset_is_covered_and_the_loss_is_the_price(world):
    assert world.worst_loss() <= 1 + 1e-9
    worst = world.worst_miss()
    assert worst <= MISS
    if world.statistic.rule == "lower":
        assert worst > 0.02  # no wider than it must be


def planted(kind, **changes):
    world = World(4, 4, 2, 5) if kind is Weighing else World(4, 4, 2, gap=1.0)
    for name, value in changes.items():
        if name == "target":
            world.target += value
        else:
            world.choice = replace(world.choice, **{name: value(getattr(world.choice, name))})
    return world


def test_planted_errors_are_noticed():
    assert planted(Weighing, slope=lambda slope: 2 * slope).worst_loss() > 1.5  # against the honest price
    assert planted(Weighing, target=-1).worst_miss() > 2 * MISS  # a nat
    assert planted(Weighing, growth=lambda growth: -growth).worst_miss() > 2 * MISS
    assert planted(Weighing, growth=lambda _: Fraction(0)).worst_miss() > 2 * MISS


def test_planted_errors_of_a_crossing_are_noticed():
    assert planted(Crossing).worst_loss() > 0.8
    assert planted(Crossing, rate=lambda rate: Fraction(3, 2) * rate).worst_loss() > 1.2
    assert planted(Crossing, gap=lambda gap: gap / 2).worst_loss() > 1.1
    assert planted(Crossing, target=-1).worst_miss() > 1.3 * MISS
    narrower = planted(Crossing)
    assert planted(Crossing, target=-(narrower.target + 1) / 5).worst_miss() > 1.3 * MISS  # a fifth nearer


def test_what_a_crossing_costs_is_what_two_rungs_can_lose():
    """Ends that move apart, anywhere under the noise: never more than the formula, and as much far out."""
    gap, nats = 2.0, 0.4
    reached = lambda x: 0.5 * math.exp(-x) if x >= 0 else 1 - 0.5 * math.exp(x)  # noqa: E731
    worst = 0.0
    for place in np.linspace(-12, 12, 97):
        for length in (gap, gap + 1, gap + 5):
            for low, high in itertools.product((-nats, 0, nats), repeat=2):
                if length + high - low >= gap:
                    one = reached(place) - reached(place + length)
                    other = reached(place + low) - reached(place + length + high)
                    worst = max(worst, abs(math.log(one / other)))
    assert worst <= crossing_loss(nats, gap) * (1 + 1e-9)
    assert worst > 0.99 * crossing_loss(nats, gap)


def test_rows_to_spare_by_hand():
    """Ties at both ends, and ends at both bounds: rows on an end are inside."""
    data = [1, 2, 2, 3, 3, 3, 5]
    statistic = Quantile("x", q=Fraction(1, 2), low=0, high=6, step=1)  # rank 4: the first 3
    allowed, needed = margins(statistic, 7)
    assert (allowed, needed) == (3, 4)
    rungs = Rungs(3, (0, 1, 2, 6), 6)
    below = {cut: sum(one < cut for one in data) for cut in rungs.cuts}
    found = spares(rungs, below, needed=needed, allowed=allowed, unit=Fraction(1))
    assert found == [0, 2, 3, None]
    assert scores(found, Fraction(2)) == [-2, 0, 0, -1]
    opened = replace(rungs, open_high=True)
    assert opened.ends(0) == (3, 6)
    assert spares(opened, {0: 0, 1: 0, 2: 1, 3: 3, 7: 7}, needed=needed, allowed=allowed, unit=Fraction(1)) == [
        0, 2, 3, None,
    ]  # fmt: skip


def test_two_sided_on_the_dataset_that_is_hardest():
    """A heap at v with the rank on top, the point in the gap behind it: neither wider nor narrower than it must be."""
    growth, slope = Fraction(math.log(3)).limit_denominator(10**6), Fraction(1, 2)
    needed = nats_needed(MISS, growth=float(growth), rungs=40, flip=True)
    target = on_target_lattice(needed / float(slope) - 1)
    found = []
    for first in (1, 2, 3, 8):
        # Rungs before `first` spare -1 row, from there on any number up to the last.
        spare = [Fraction(-1)] * first + [None]
        short = exponents(scores(spare, target), slope=slope, growth=growth)
        found.append(math.fsum(rung_chances(short, flip=True)[:first]))
    assert found == pytest.approx([0.0333, 0.044, 0.0474, 0.0492], abs=2e-3)
    assert max(found) <= MISS
    narrower = (target + 1) * Fraction(4, 5) - 1  # a target a fifth nearer
    short = exponents(scores([Fraction(-1)] * 8 + [None], narrower), slope=slope, growth=growth)
    assert math.fsum(rung_chances(short, flip=True)[:8]) > 1.3 * MISS


def test_the_bound_falls_with_the_distance_and_the_growth():
    assert miss_bound(-1, growth=1, rungs=3, flip=True) == 1
    assert miss_bound(2, growth=1, rungs=3, flip=True) < miss_bound(1, growth=1, rungs=3, flip=True)
    assert miss_bound(1, growth=2, rungs=3, flip=True) < miss_bound(1, growth=1, rungs=3, flip=True)
    assert miss_bound(1, growth=1, rungs=3, flip=False) > miss_bound(1, growth=1, rungs=3, flip=True)


def test_one_sum_over_the_sample_is_less_than_a_split_of_the_miss():
    from scipy.stats import binom

    for choice in (
        Weighing(Fraction(9, 40), Fraction(11, 10), 40, flip=True),
        Crossing.of(0.4, contribution=1, gap=3.0),
    ):
        joint = population_rows(0.05, choice, rows=1001, quantile=Fraction(1, 2), ranks=(501, 501))
        split = min(
            choice.target(0.05 - part) + 501 - binom.ppf(part / 2, 1001, 0.5)
            for part in (0.01, 0.02, 0.03, 0.04)
        )
        assert choice.target(0.05) < joint < split


MEDIAN = sd.Median("x", low=-50, high=1050)


def released(statistic, data, price, asked, draws, *, seed=1, **hints):
    part = prepare(
        statistic,
        price,
        neighbors=statistic.neighbors,
        unit=sd.Unit(),
        rows=len(data),
        interval=asked,
        hints=hints,
    ).parts[0]
    source, bits = Memory({"x": data}), SeededBits(seed)

    def ask(request):
        return source.summary(request)[0]

    return part, [
        part.mechanism.answer(part.statistic, ask, part.grid, contribution=part.contribution, bits=bits)
        for _ in range(draws)
    ]


@pytest.mark.few(1)
@pytest.mark.parametrize("neighbors", [REPLACE, ADD], ids=str)
@pytest.mark.parametrize("price", [sd.Pure(1), sd.Concentrated(0.125)], ids=repr)
def test_real_releases_cover(neighbors, price):
    data = np.random.default_rng(8).normal(1, 1, 1001)
    statistic = replace(MEDIAN, neighbors=neighbors)
    part, answers = released(statistic, data, price, 0.8, 120)
    assert part.mechanism.name == "quantile-interval"
    assert part.mechanism.guarantee == price
    truth = np.sort(data)[500]
    covered = [
        float(one.public["low"]) - 1e-6 <= truth <= float(one.public["high"]) + 1e-6 for one in answers
    ]
    assert np.mean(covered) >= 0.8 - 3 * math.sqrt(0.16 / 120)
    halves = [float(one.public["high"] - one.public["low"]) / 2 for one in answers]
    assert np.median(halves) < 0.1  # of a range of 1100 and a spread of 1
    assert all(one.public["low"] <= one.value <= one.public["high"] for one in answers)


def test_answer_and_rung_are_one_price_whatever_comes_out():
    """The joint loss of answer and interval by brute force on a short lattice."""
    last, rows = 3, 3
    statistic = sd.Median("x", low=0, high=last, step=1)
    (mechanism,) = QuantileInterval.offers(statistic, sd.Pure(2), Hints(interval=Sample(0.9), rows=rows))
    plan = mechanism.plan(statistic, 1)
    assert plan.mass is None

    def joint(data):
        column = SortedColumn(data, statistic.grid)
        summary = Memory({"x": [float(one) for one in data]}).summary(
            replace(statistic.request(depth=mechanism.point.depth), cuts=mechanism.point.cuts)
        )[0]
        law = mechanism.point.law(statistic.read(summary))
        found = Counter()
        for centre in range(last + 1):
            rungs = mechanism.rungs(plan, centre, None)
            spare = mechanism.spare(statistic, column, rungs)
            for place, chance in enumerate(plan.choice.chances(spare, plan.target)):
                found[centre, rungs.ends(place)] += chance * law.probability(centre)
        assert math.fsum(found.values()) == pytest.approx(1)
        return found

    laws = {data: joint(data) for data in itertools.combinations_with_replacement(range(last + 1), rows)}
    worst = 0.0
    for data, law in laws.items():
        for place, code in itertools.product(range(rows), range(last + 1)):
            other = laws[tuple(sorted((*data[:place], *data[place + 1 :], code)))]
            worst = max(worst, *(abs(math.log(law[key] / other[key])) for key in law))
    assert 1 < worst <= 2 + 1e-9


def test_few_rows_at_a_tail_leave_that_end_at_the_bound():
    data = np.random.default_rng(2).lognormal(10, 1, 2000)
    statistic = sd.Quantile("x", q=0.999, low=0, high=1e7)
    part, answers = released(statistic, data, sd.Pure(0.5), 0.95, 3)
    assert part.mechanism.plan(part.statistic, 1).open_high
    assert all(
        one.public["high"] == part.mechanism.lattice.real(part.mechanism.lattice.last) for one in answers
    )


def test_for_the_population_the_interval_is_wider_and_covers_it():
    asked, covered, rows = (Sample(0.8), Population(0.8)), Counter(), 401
    random, widths = np.random.default_rng(4), Counter()
    for draw in range(60):
        data = random.normal(1, 1, rows)
        for one in asked:
            _, (answer,) = released(MEDIAN, data, sd.Pure(3), one, 1, seed=draw)
            low, high = (float(answer.public[name]) for name in ("low", "high"))
            covered[one.target] += low <= 1 <= high
            widths[one.target] += high - low
    assert covered["population"] / 60 >= 0.8 - 3 * math.sqrt(0.16 / 60)
    assert widths["population"] > widths["sample"]
    assert covered["sample"] < covered["population"]


def test_a_population_needs_a_public_number_of_rows():
    people = sd.open({"x": [1.0, 2.0, 3.0]}, budget=sd.Pure(9), neighbors="add-remove-one")
    with pytest.raises(sd.Unsupported, match="no such error bar"):
        people.release(MEDIAN, sd.Pure(1), interval=Population(0.9))


def test_extremes_have_no_interval_and_keep_their_mechanism():
    people = sd.open({"x": [1.0, 2.0, 3.0]}, budget=sd.Pure(9))
    with pytest.raises(sd.Unsupported, match="no such error bar"):
        people.release(sd.Maximum("x", low=0, high=9), sd.Pure(1), interval=0.9)
    assert people.remaining == sd.Pure(9)


def test_groups_have_their_own_intervals():
    random = np.random.default_rng(1)
    table = {"x": random.normal(5, 1, 900), "g": random.choice(["a", "b", "c"], 900)}
    people = sd.open(table, budget=sd.Pure(20))
    question = ("g", ["a", "b", "c"], sd.Median("x", low=0, high=10), sd.Pure(4))
    each = people.release_by(*question, interval=Sample(0.9))
    every = people.release_by(*question, interval=Sample(0.9, simultaneous=True))
    assert len(each.interval) == 3
    assert all(bar.low <= value <= bar.high for bar, value in zip(each.interval, each.value, strict=True))
    levels = [release.event.mechanism["coverage"]["level"] for release in (each, every)]
    assert levels[0] == 0.9
    assert levels[1] == pytest.approx(0.9 ** (1 / 3))
    assert every.interval[0].level == 0.9


def test_the_work_is_a_function_of_public_numbers():
    (mechanism,) = QuantileInterval.offers(MEDIAN, sd.Pure(1), Hints(interval=Sample(0.9), rows=5000))
    asked = []
    for data in (np.zeros(5000), np.random.default_rng(1).normal(0, 100, 5000)):
        source, requests = Memory({"x": data}), []

        def ask(request, source=source, requests=requests):
            requests.append(request)
            return source.summary(request)[0]

        mechanism.answer(MEDIAN, ask, output_grid(MEDIAN), bits=SeededBits(1))
        asked.append(len(requests))
    assert asked[0] == asked[1] == 3


def test_the_default_with_a_bar_is_the_default():
    plain = choose(MEDIAN, sd.Pure(1), rows=500)
    barred = choose(MEDIAN, sd.Pure(1), rows=500, interval=0.9)
    assert type(barred.point) is type(plain)
    assert barred.point == replace(plain, price=barred.point.price)


def test_a_difference_of_groups_covers_and_says_which_is_higher():
    random = np.random.default_rng(1)
    table = {"x": np.r_[random.normal(5, 1, 500), random.normal(6, 1, 500)], "g": ["a"] * 500 + ["b"] * 500}
    people = sd.open(table, budget=sd.Pure(200))
    truth = np.sort(table["x"][500:])[249] - np.sort(table["x"][:500])[249]
    covered = narrow = 0
    for _ in range(40):
        release = people.release_by("g", ["a", "b"], sd.Median("x", low=0, high=10), sd.Pure(4), interval=0.9)
        gap = release.difference("b", "a")
        covered += gap.low <= truth <= gap.high
        narrow += gap.high - gap.low < 2
    assert gap.level == pytest.approx(0.81)
    assert covered / 40 >= 0.81 - 3 * math.sqrt(0.81 * 0.19 / 40)
    assert narrow > 20
    back = release.difference("a", "b")
    assert (back.low, back.high) == (-gap.high, -gap.low)
    assert gap.higher == ("b" if gap.low > 0 else "a" if gap.high < 0 else None)
    assert "81 % interval for these rows" in str(gap)
    assert str(replace(gap, low=1.0, high=2.0)).endswith("b is higher")
    assert str(replace(gap, low=-1.0, high=2.0)).endswith("not told")
    with pytest.raises(sd.ParameterError, match="two keys"):
        release.difference("a", "c")
    bare = people.release_by("g", ["a", "b"], sd.Median("x", low=0, high=10), sd.Pure(1))
    with pytest.raises(sd.ParameterError, match="error bars"):
        bare.difference("a", "b")
