"""Answers of many groups drawn together have the laws of single draws, and follow-up questions are put together."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.data import grouped, open_source, passes
from sordino.exact.bits import SeededBits
from sordino.lattice import Lattice, RowLattice
from sordino.mechanisms.additive.geometric import Geometric, two_sided_each
from sordino.mechanisms.clip.column import Clipped
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.lattice_answers import LatticeAnswers
from sordino.reading.requests import Rank, Request, Window
from sordino.session.rounds import in_step
from sordino.testing.source_reading import shown


def distance(drawn, rate):
    """Chi-square of whole numbers against the two-sided geometric law, cells -3 to 3 and beyond."""
    cells = np.clip(np.asarray(drawn), -4, 4)
    base = math.tanh(rate / 2)
    inner = {k: base * math.exp(-rate * abs(k)) for k in range(-3, 4)}
    inner[4] = inner[-4] = (1 - sum(inner.values())) / 2
    return sum(
        (np.count_nonzero(cells == k) - len(cells) * p) ** 2 / (len(cells) * p) for k, p in inner.items()
    )


def test_many_geometric_draws_have_the_law_of_one():
    drawn = two_sided_each(Fraction(4, 3), 40_000, bits=SeededBits(5))
    assert distance(drawn, 0.75) < 27  # 8 degrees of freedom, one in a thousand
    assert distance(drawn, 0.8) > 27
    assert distance([one + (one > 1) for one in drawn], 0.75) > 27


def test_many_noisy_values_have_the_law_of_one():
    """Against single draws, by the two-sample test of Kolmogorov and Smirnov."""
    values = [Fraction(place, 7) for place in range(6000)]
    draws, given = (
        Draws(SeededBits(3)),
        {"sensitivity": Fraction(2), "price": sd.Pure(1), "grid": Lattice.dyadic(-20)},
    )
    many = [one - value for one, value in zip(draws.noisy_each(values, **given), values, strict=True)]
    single = [draws.noisy(value, **given)[0] - value for value in values]
    for factor, fits in ((1.0, True), (1.3, False)):
        left, right = (
            np.sort(np.array(some, float)) for some in (many, [factor * one for one in map(float, single)])
        )
        both = np.concatenate([left, right])
        gaps = np.searchsorted(left, both, side="right") - np.searchsorted(right, both, side="right")
        assert (np.max(np.abs(gaps)) / math.sqrt(2 * len(values)) < 1.95) == fits


def test_seeded_answers_of_groups_are_marked():
    source = open_source({"x": np.arange(4.0), "g": np.array([0, 0, 1, 1])})
    talk = source.conversation("g", (0, 1))
    for statistic, mechanism in (
        (sd.Count("x"), Geometric(price=sd.Pure(1))),
        (sd.Histogram("x", edges=(0, 2, 4)), sd.AdditiveVector(price=sd.Pure(1))),
    ):
        asks = [lambda request, place=place: talk(place, request) for place in (0, 1)]
        found = mechanism.answers(statistic, asks, Lattice.dyadic(0), bits=SeededBits(1))
        assert [one.private for one in found] == [False, False]
        assert all(one.private for one in mechanism.answers(statistic, asks, Lattice.dyadic(0)))


def test_conversations_in_step_ask_together():
    """Groups that ask differently often; an error of one ends all, and no thread is left."""
    rounds = []

    def many(asked):
        rounds.append(len(asked))
        return [place * 100 + request for place, request in asked]

    works = [lambda ask, times=times: [ask(number) for number in range(times)] for times in (3, 0, 1, 2)]
    assert in_step(works, many) == [[0, 1, 2], [], [200], [300, 301]]
    assert rounds == [3, 2, 1]

    def fails(ask):
        ask(1)
        raise KeyError("canary")

    with pytest.raises(sd.SordinoError, match="could not be drawn"):
        in_step([*works, fails], many)


CUTTING = [(0, 10), (3, 7), (0, 1), (9, 10)]


@pytest.mark.parametrize("lazy", ["memory", "polars lazy", "far"])
def test_sums_within_an_interval_are_of_codes(lazy, monkeypatch):
    """Alone, by groups and again, by the definition, in memory and in engines here and elsewhere."""
    import polars as pl

    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"x": rng.uniform(-2, 12, 500), "g": rng.integers(0, 4, 500)})
    source = open_source(frame if lazy == "memory" else frame.lazy())
    if lazy == "far":
        source._nearby = False
    grid = RowLattice(0, 10, step=1, missing="drop")
    requests = [Request("x", grid, squares=True, within=within) for within in CUTTING]
    codes = np.rint(frame["x"].to_numpy().clip(0, 10)).astype(int)
    groups = frame["g"].to_numpy()

    def defined(rows, within):
        cut = [min(max(code, within[0]), within[1]) - within[0] for code in rows.tolist()]
        return len(cut), sum(cut), sum(one * one for one in cut)

    for within, found in zip(CUTTING, source.summary(*requests), strict=True):
        assert (found.rows, found.total, found.squares) == defined(codes, within)
    talk = source.conversation("g", (2, 0, 9))
    first = list(talk.first(*requests))
    for place, key in enumerate((2, 0, 9)):
        for at, (within, request) in enumerate(zip(CUTTING, requests, strict=True)):
            wanted = defined(codes[groups == key], within)
            for found in (first[place][at], talk(place, request)):
                assert (found.rows, found.total, found.squares) == wanted


ASKED = [
    sd.Mean("x", low=0, high=1e6), sd.Variance("x", low=0, high=1e6), sd.Median("x", low=0, high=1e6),
    sd.Histogram("x", edges=(0, 5, 10, 1e6)), sd.Maximum("x", low=0, high=1e6), sd.Categories("h", keys=(0, 1)),
]  # fmt: skip
BARRED = [one for one in ASKED if one.name != "maximum"]


def test_an_extreme_has_no_error_bar_by_group():
    people = sd.open({"x": [1.0, 2.0], "g": [0, 1]}, budget=sd.Pure(9), neighbors="add-remove-one", rows=2)
    with pytest.raises(sd.Unsupported, match="maximum"):
        people.release_by("g", [0, 1], sd.Maximum("x", low=0, high=9), sd.Pure(1), interval=0.9)
    assert people.remaining == sd.Pure(9)


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("statistic", "interval"), [*((one, None) for one in ASKED), *((one, 0.9) for one in BARRED)]
)
def test_scans_do_not_grow_with_the_groups(statistic, interval, monkeypatch):
    """One scan of a table here, and a number of queries elsewhere that is the same for three groups and for twelve."""
    import polars as pl

    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {"x": rng.lognormal(1, 1, 2400), "g": rng.integers(0, 12, 2400), "h": rng.integers(0, 3, 2400)}
    )
    scans, queries = [], []
    honest, collected = grouped._stretches, grouped.collected
    monkeypatch.setattr(grouped, "_stretches", lambda frame: scans.append(1) or honest(frame))
    for module in (grouped, passes):
        monkeypatch.setattr(module, "collected", lambda frame: queries.append(1) or collected(frame))
    found = {}
    for far, groups in ((False, 3), (False, 12), (True, 3), (True, 12)):
        people = sd.open(frame.lazy(), budget=sd.Pure(1e6), neighbors="add-remove-one", rows=2400)
        people._source._nearby = not far
        scans.clear()
        queries.clear()
        people.release_by("g", range(groups), statistic, sd.Pure(20), interval=interval)
        found[far, groups] = len(queries) if far else len(scans)
    assert found[False, 3] == found[False, 12] <= 1
    assert found[True, 12] <= found[True, 3] + 4
    assert found[True, 3] <= 12


def test_follow_ups_elsewhere_are_those_of_memory():
    """Different questions of different groups, in one go."""
    import polars as pl

    rng = np.random.default_rng(4)
    frame = pl.DataFrame({"x": rng.normal(5, 2, 900), "g": rng.integers(0, 90, 900)})
    near, far = open_source(frame), open_source(frame.lazy())
    far._nearby = False
    keys = tuple(range(80))
    grid = RowLattice(0, 10, missing="drop")
    asked = [
        (
            place,
            Request(
                "x", grid, (Window(Rank(1, 2), place % 3),), cuts=(place * 10**6,), within=(place, 10**7)
            ),
        )
        for place in range(79, -1, -1)
    ]
    answers = far.conversation("g", keys).many(asked)
    talk = near.conversation("g", keys)
    for (place, request), answer in zip(asked, answers, strict=True):
        assert shown(answer) == shown(talk(place, request))


def test_counted_codes_answer_what_sorted_ones_do():
    """Windows at both ends and in the middle, cuts, sums and squares within intervals, an empty group."""
    from sordino.data.counted_groups import CountedGroups
    from sordino.data.sorted_groups import SortedGroups
    from sordino.lattice import RowLattice
    from sordino.reading.requests import FIRST, LAST, Rank, Request, Window

    rng = np.random.default_rng(4)
    group, codes = rng.integers(0, 4, 500), rng.binomial(30, 0.3, 500)
    group[group == 2] = 3
    grid = RowLattice(0, 30, step=1)
    counts = np.zeros((4, 31), np.int64)
    np.add.at(counts, (group, codes), 1)
    counted, ordered = CountedGroups(counts), SortedGroups.of(group, codes, 4, 30)
    windows = tuple(
        Window(at, reach) for at in (FIRST, LAST, Rank(1, 2), Rank(9, 10)) for reach in (0, 3, 400)
    )
    for request in (
        Request("x", grid),
        Request("x", grid, windows, cuts=(0, 1, 9, 30, 31, 999)),
        Request("x", grid, squares=True),
        Request("x", grid, squares=True, within=(5, 11)),
    ):
        for place in range(4):
            one, other = counted.summary(place, request), ordered.summary(place, request)
            assert (one.rows, one.total, one.squares, one.below) == (
                other.rows, other.total, other.squares, other.below,
            )  # fmt: skip
            for left, right in zip(one.runs, other.runs, strict=True):
                assert (left.first, left.below, left.rows, left.top) == (
                    right.first, right.below, right.rows, right.top,
                )  # fmt: skip
                assert left.codes.tolist() == right.codes.tolist()


@pytest.mark.parametrize("kind", ["parquet", "polars"])
def test_cuts_that_an_engine_counts_are_those_of_memory(kind, tmp_path):
    """Missing numbers, groups without rows, rows of no group; then a question that counts do not answer."""
    import polars as pl

    rng = np.random.default_rng(6)
    x = rng.lognormal(3, 2, 3000)
    x[rng.random(3000) < 0.1] = np.nan
    table = {"x": x, "g": rng.integers(0, 40, 3000)}
    pl.DataFrame(table).write_parquet(tmp_path / "people.parquet")
    path = tmp_path / "people.parquet"
    engine = open_source(path if kind == "parquet" else pl.scan_parquet(path))
    asked = [sd.Count("x").request(), sd.Histogram("x", edges=(0, 5, 10, 1e6)).request()]
    grid = asked[1].grid
    later = [
        Request("x", grid, cuts=(7,)),
        Request("x", grid, within=(9, 2**30)),
        Request("x", grid, (Window(Rank(1, 2), 3),)),
    ]
    keys = (*range(30), 77)
    here, there = (source.conversation("g", keys) for source in (open_source(table), engine))
    for request in asked:
        for mine, theirs in zip(here.first(request), there.first(request), strict=True):
            assert shown(mine[0]) == shown(theirs[0])
    for request in later:
        assert shown(here(3, request)) == shown(there(3, request))


@pytest.mark.parametrize("total", [True, False])
def test_what_groups_share_of_a_mean_is_what_each_has_alone(total):
    """Value and rows are all that differs where rows come and go."""
    statistic = (sd.Sum if total else sd.Mean)("x", low=-3, high=50, neighbors=sd.Neighbors.ADD_REMOVE_ONE)
    mechanism = sd.PlainOrCut(
        price=sd.Pure(1), rows=500, low=-3, high=50, total=total, neighbors=statistic.neighbors
    )
    assert mechanism.alike
    units, last = statistic.grid.endless, statistic.grid.last
    first, *others = [
        mechanism.summand(Clipped.of(rows, rows * last // 3 + rows, None, units, last), sd.Pure(1), 2)
        for rows in (7, 0, 90)
    ]
    for rows, one in zip((0, 90), others, strict=True):
        assert first.again(Clipped.of(rows, rows * last // 3 + rows, None, units, last)) == one


def test_answers_on_a_lattice_are_the_numbers_that_they_stand_for():
    """Also of points whose floats overflow, and joined with those of other groups."""
    lattice = Lattice(Fraction(-1, 3), Fraction(1, 7))
    some = LatticeAnswers(lattice, [0, -5, 2**60 + 1])
    assert some.floats() == [float(one.value) for one in some]
    assert [one.value for one in some[1:]] == [lattice.real(-5), lattice.real(2**60 + 1)]
    assert LatticeAnswers(Lattice(step=Fraction(10**200)), [10**200, 1, -(10**200)]).floats() == [
        math.inf,
        1e200,
        -math.inf,
    ]
    assert isinstance(LatticeAnswers.joined([some, some[:1]]), LatticeAnswers)
    other = LatticeAnswers(Lattice(), [4])
    assert [one.value for one in LatticeAnswers.joined([some[:1], other])] == [Fraction(-1, 3), 4]
