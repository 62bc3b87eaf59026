"""Everything that has one answer has groups: the right number from every source, and the law of a group by itself."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.data import open_source
from sordino.exact.bits import SeededBits
from sordino.mechanisms.choose import choose, output_grid
from sordino.privacy import Neighbors
from sordino.session.form import rehearse

RNG = np.random.default_rng(8)
GROUPS = ("a", "b", "c")
G = np.array(GROUPS)[RNG.integers(0, 2, 3000)]  # nobody is in c
X = np.round(RNG.gamma(3, 10, 3000) + 40 * (G == "b"))
EDGES = (0, 20, 40, 80, 200)

ASKED = {
    "minimum": (sd.Minimum("x", low=0, high=255, step=1), np.min, 40),
    "maximum": (sd.Maximum("x", low=0, high=200, step=1), np.max, 30),  # a is at 116, b at 175
    "quantiles": (
        sd.Quantiles("x", qs=(0.1, 0.5, 0.9), low=0, high=255, step=1),
        lambda x: np.quantile(x, (0.1, 0.5, 0.9), method="inverted_cdf"),
        1,
    ),
    "interquantile range": (
        sd.InterquantileRange("x", lower=0.25, upper=0.75, low=0, high=255, step=1),
        lambda x: np.subtract(*np.quantile(x, (0.75, 0.25), method="inverted_cdf")),
        1,
    ),
    "mean": (sd.Mean("x", low=0, high=255), np.mean, 0.1),
    "sum": (sd.Sum("x", low=0, high=255), np.sum, 10),
    "variance": (sd.Variance("x", low=0, high=255), np.var, 2),
    "deviation": (sd.StandardDeviation("x", low=0, high=255), np.std, 0.2),
    "histogram": (sd.Histogram("x", edges=EDGES), lambda x: np.histogram(x, EDGES)[0], 0.5),
    "count above": (sd.CountAbove("x", threshold=30), lambda x: np.sum(x > 30), 0.5),
}


def opened(kind, folder):
    """A session on the same rows, in memory, in engines here, and in one that hands out no rows."""
    frame = pl.DataFrame({"g": G, "x": X})
    path = folder / "people.parquet"
    pq.write_table(frame.to_arrow(), path)
    data = {"memory": frame, "polars": frame.lazy(), "parquet": path, "elsewhere": frame.lazy()}[kind]
    people = sd.open(data, budget=sd.Pure(1e9), neighbors="add-remove-one", rows=3000)
    people._source._nearby = kind != "elsewhere"
    return people


@pytest.mark.parametrize("kind", ["memory", "polars", "parquet", "elsewhere"])
def test_every_statistic_by_group_is_that_of_its_rows(kind, tmp_path):
    people = opened(kind, tmp_path)
    for name, (statistic, truth, close) in ASKED.items():
        if kind == "elsewhere" and name in ("interquantile range", "quantiles"):
            try:  # what needs the rows themselves says so before the debit
                people.quote(statistic, sd.Pure(1), by=("g", GROUPS))
            except sd.Unsupported:
                continue
        found = people.release_by("g", GROUPS, statistic, sd.Pure(300)).groups
        assert list(found) == list(GROUPS)
        for key in ("a", "b"):
            error = np.max(np.abs(np.asarray(found[key], float) - truth(X[key == G])))
            assert error <= close, (name, key)
        assert found["c"] is not None  # a group without rows is answered like any other


def both_laws(statistic, price, runs=1200):
    """How often each answer is drawn for a group among others, and for the same rows by themselves."""
    source = open_source({"x": X[:60] % 8, "g": np.arange(60) % 2})
    mechanism, grid = choose(statistic, price, rows=30), output_grid(statistic)
    first, _ = rehearse(statistic, mechanism, grid, 1)
    talk = source.conversation("g", (0, 1))
    (read, other) = [each[0] for each in talk.first(first)]

    def ask_of(place, known):
        return lambda request: known if request == first else talk(place, request)

    asks = [ask_of(0, read), ask_of(1, other)] * runs
    together = mechanism.answers(statistic, asks, grid, bits=SeededBits(1))[::2]
    bits = SeededBits(2)
    alone = [mechanism.answer(statistic, ask_of(0, read), grid, bits=bits) for _ in range(runs)]
    return [Counter(np.round(np.atleast_1d(np.array(one.value, float)), 6).tolist()[0] for one in some)
            for some in (together, alone)]  # fmt: skip


def two_samples(one, other):
    """Chi-square of two samples, in standard deviations from its mean; rare answers together."""
    cells = [(one[key], other[key]) for key in one | other if one[key] + other[key] >= 10]
    rest = (one.total() - sum(a for a, _ in cells), other.total() - sum(b for _, b in cells))
    cells += [rest] if sum(rest) else []
    value = sum((a - b) ** 2 / (a + b) for a, b in cells)
    return (value - (len(cells) - 1)) / np.sqrt(2 * max(len(cells) - 1, 1))


@pytest.mark.few(1)
@pytest.mark.parametrize("price", [sd.Pure(1), sd.Concentrated(0.3)], ids=["pure", "concentrated"])
@pytest.mark.parametrize("kind", [sd.Minimum, sd.Maximum, sd.Quantiles, sd.Median])
def test_a_group_among_others_has_the_law_of_its_rows(kind, price):
    more = {"qs": (0.2, 0.7)} if kind is sd.Quantiles else {}
    statistic = kind("x", low=0, high=7, step=1, neighbors=Neighbors.ADD_REMOVE_ONE, **more)
    together, alone = both_laws(statistic, price, runs=400 if kind is sd.Quantiles else 1200)
    assert two_samples(together, alone) < 5
    moved = Counter({key + 1: many for key, many in alone.items()})
    assert two_samples(together, moved) > 5  # another law is noticed


@pytest.mark.parametrize("epsilon", [1000, 1500, 1e9])
def test_prices_beyond_the_range_of_floats_tell_the_truth(epsilon):
    """Slopes above 700 nats: extremes of groups, one of them empty, and a range of quantiles."""
    people = sd.open({"g": G, "x": X}, budget=sd.Pure(1e12), neighbors="add-remove-one", rows=3000)
    found = people.release_by("g", GROUPS, ASKED["maximum"][0], sd.Pure(epsilon)).groups
    for key in ("a", "b"):
        assert abs(float(found[key]) - X[key == G].max()) <= 8
    statistic, truth, _ = ASKED["interquantile range"]
    assert people.release(statistic, sd.Pure(epsilon)).value == truth(X)
