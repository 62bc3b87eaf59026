"""Reachable intervals of many groups at once are those of the single readings, over all tiny datasets."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sordino.data.memory import Memory
from sordino.privacy import Neighbors
from sordino.reading.requests import Rank
from sordino.reading.summaries import GroupColumns
from sordino.statistics.maximum import Maximum
from sordino.statistics.median import Median
from sordino.statistics.minimum import Minimum
from sordino.statistics.quantile import Quantile, Reaches, ranks_among, reachable_ranks

DATASETS = [
    rows for size in range(5) for rows in itertools.combinations_with_replacement((0.0, 1.0, 4.0, 5.0), size)
]
BOUNDS = {"low": 0, "high": 5, "step": 1}
STATISTICS = [
    Median("x", **BOUNDS),
    Median("x", rule="upper", **BOUNDS),
    Quantile("x", q=Fraction(1, 3), **BOUNDS),
    Quantile("x", q=0.9, shift=-1, **BOUNDS),
    Quantile("x", q=0, **BOUNDS),
    Maximum("x", shift=1, **BOUNDS),
    Minimum("x", shift=2, **BOUNDS),
]


def summaries(statistic, depth, datasets):
    request = statistic.request(depth=depth)
    return [Memory({"x": np.array(rows)}).summary(request)[0] for rows in datasets]


@pytest.mark.few(7)
@pytest.mark.parametrize(
    ("relation", "missing"),
    [
        (Neighbors.REPLACE_ONE, None),
        (Neighbors.ADD_REMOVE_ONE, None),
        (Neighbors.ADD_REMOVE_ONE, "drop"),
    ],
)
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: f"{s.name} {s.rule} {s.q} {s.shift}")
def test_many_readings_at_once_equal_the_single_ones(statistic, relation, missing):
    statistic = replace(statistic, neighbors=relation, missing=missing)
    datasets = DATASETS if missing is None else [*DATASETS, (np.nan, 1.0, 4.0, 4.0), (np.nan,)]
    for depth, people in itertools.product((0, 1, 3, 6), (1, 2, 3)):
        found = summaries(statistic, depth, datasets)
        together = statistic.reaches(found).by(people)
        for group, summary in enumerate(found):
            reach = statistic.read(summary).by(people).open().reach
            last = together.low.shape[1] - 1
            distances = range(max(last, reach.distance[-1]) + 1)
            places = [min(l, last) for l in distances]
            ends = list(zip(together.low[group, places], together.high[group, places], strict=True))
            assert ends == [reach.at(l) for l in distances], (datasets[group], depth, people)


def test_a_rank_too_far_is_refused_instead_of_guessed():
    statistic = STATISTICS[0]
    rows = tuple(float(i % 6) for i in range(40))
    (summary,) = summaries(statistic, 2, [rows])
    far = np.array([[20, 12]])
    with pytest.raises(IndexError):
        Reaches.at(GroupColumns.of([summary]), far, 40 - far, top=5)


def test_interpolated_quantiles_are_read_one_by_one():
    assert Quantile("x", q=0.3, rule="interpolated", **BOUNDS).reaches([]) is None


def test_reachable_ranks_are_those_of_every_split_of_the_steps():
    """By brute force: remove any rows, add any rows, and see which rank of the data the answer has become."""
    for rank in (Rank(1, 2), Rank(1, 3), Rank(9, 10, offset=-1), Rank(1, 1)):
        for rows in range(1, 7):
            lowest, highest = reachable_ranks(rank, np.array([rows]), 4)
            for steps in range(5):
                found = set()
                for gone in range(min(steps, rows) + 1):
                    for added in range(steps - gone + 1):
                        size = rows - gone + added
                        if size:
                            middle = min(max(rank.of(size), 1), size)
                            # All removals below the answer, or all additions.
                            found |= {min(middle + gone, rows + 1), max(middle - added, 0)}
                ends = max(int(lowest[0, steps]), 0), min(int(highest[0, steps]), rows + 1)
                assert ends == (min(found), max(found))


def test_ranks_of_long_fractions_do_not_overflow():
    rank = Rank(3333333333333333, 10**16)
    sizes = np.array([10**6, 3 * 10**6, 1])
    assert ranks_among(rank, sizes).tolist() == [rank.of(10**6), rank.of(3 * 10**6), 1]
