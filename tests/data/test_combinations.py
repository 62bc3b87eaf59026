"""Combinations of keys: the same counts from every source, and what is kept of one person depends on nobody else."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

from sordino.data.combinations import cell_counts, key_weights
from sordino.data.lazy import Lazy
from sordino.data.memory import Memory
from sordino.data.table import column_of
from sordino.errors import DataError, Unsupported
from sordino.privacy import Unit
from sordino.reading.requests import Combinations


def table(seed=1, rows=900):
    """Texts with missing ones, whole numbers, and people with several rows."""
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "who": [f"p{who}" for who in random.integers(0, 150, rows)],
            "k": [("a", "b", "c", None, "ü", "")[place] for place in random.integers(0, 6, rows)],
            "j": random.integers(0, 5, rows),
            "y": np.where(random.random(rows) < 0.2, np.nan, random.random(rows)),
            "row": np.arange(rows),
        }
    )


MAP, BIN = "map(k, {'a': 'A', 'b': 'B', 'ü': 'A'}, 'rest')", "bin(j, 0, 2, 5)"

REQUESTS = {
    "found": Combinations(("k", "j")),
    "cells": Combinations(("k", "j"), levels=(("a", "b"), (0, 3))),
    "other": Combinations(("k", "j"), levels=(("a", "b"), (0, 3)), other=True),
    "few": Combinations(("k",), most=2, weights=(10, 7)),
    "without": Combinations(("j",), most=5, weights=(10, 7, 6, 5, 4), without=((3,),)),
    "present": Combinations(("k",), present=("y",)),
    "derived": Combinations((MAP, BIN)),
    "derived cells": Combinations((BIN, MAP, "j"), levels=(("2 to 5", "0 to 2"), ("rest", "A"), (0, 3))),
    "derived other": Combinations((MAP, "j"), levels=(("B",), (0, 3)), other=True),
    "derived few": Combinations((MAP, "j"), most=2, weights=(10, 7), without=(("A", 3),)),
    "derived present": Combinations((BIN,), present=("(y / j)",)),
}


def sources(unit, request):
    """Every kind of source that needs no server."""
    import duckdb

    frame = table()
    lists = {name: frame[name].to_list() for name in frame.columns}
    yield Memory(lists, unit=unit, row="row")
    yield Memory(frame, unit=unit, row="row")
    yield Memory(frame.to_pandas(), unit=unit, row="row")
    yield Memory(frame.to_arrow(), unit=unit, row="row")
    yield Lazy(frame.lazy(), unit=unit, row="row")
    yield Lazy(duckdb.from_arrow(frame.to_arrow()), unit=unit, row="row")
    if unit is None or request.levels is not None or (request.most >= unit.max_rows and not request.without):
        yield Lazy(duckdb.from_arrow(frame.to_arrow()), unit=unit, row="row", nearby=False)


@pytest.mark.few(8)
@pytest.mark.parametrize("unit", [None, Unit("who", max_rows=5)], ids=["rows", "people"])
@pytest.mark.parametrize("name", REQUESTS)
def test_every_source_counts_alike(name, unit):
    found = []
    for source in sources(unit, REQUESTS[name]):
        source.check(REQUESTS[name])
        (summary,) = source.summary(REQUESTS[name])
        found.append((summary.keys, summary.codes.tolist(), summary.rows))
    assert all(one == found[0] for one in found[1:])
    assert found[0][1]


def test_counts_against_a_slow_line():
    frame = table()
    (summary,) = Memory(frame).summary(REQUESTS["found"])
    slow = Counter(row for row in zip(frame["k"], frame["j"], strict=True) if row[0] is not None)
    assert dict(zip(summary.keys, summary.codes.tolist(), strict=True)) == slow
    assert list(summary.keys) == sorted(slow)


def test_groups_of_derived_columns_are_found_by_their_names():
    frame = table()
    (summary,) = Memory(frame).summary(REQUESTS["derived"])
    named = {"a": "A", "b": "B", "ü": "A"}
    slow = Counter(
        (named.get(k, "rest"), "0 to 2" if j < 2 else "2 to 5")
        for k, j in zip(frame["k"], frame["j"], strict=True)
        if k is not None
    )
    assert dict(zip(summary.keys, summary.codes.tolist(), strict=True)) == slow
    assert list(summary.keys) == sorted(slow)


def test_what_is_kept_of_a_person_depends_on_nobody_else():
    """With one person less, everybody else gives the same keys the same weight."""
    frame, request = table(), Combinations(("j",), most=2, weights=(5, 3))

    def weights(without):
        kept = frame.filter(~pl.col("who").is_in(without))
        columns = [column_of(kept["j"])]
        return dict(zip(*key_weights(columns, request, column_of(kept["who"])), strict=True))

    one, other, both = weights(["p3"]), weights(["p4"]), weights(["p3", "p4"])
    everybody = weights([])
    for key in everybody:  # removals of two people commute
        assert everybody[key] - one.get(key, 0) == other.get(key, 0) - both.get(key, 0)
    most = max(sum(abs(everybody[key] - one.get(key, 0)) for key in everybody), 0)
    assert most <= 6


def test_a_table_of_a_billion_cells_is_counted_by_its_filled_cells():
    columns = [column_of(np.array([5, 5, 999_999])), column_of(np.array([0, 0, 999]))]
    request = Combinations(("a", "b"), levels=(tuple(range(10**6)), tuple(range(1000))))
    cells, counts = cell_counts(columns, request)
    assert cells.tolist() == [5000, 999_999_999]
    assert counts.tolist() == [2, 1]


def test_columns_that_hold_no_keys_are_refused_by_the_schema():
    for request in (Combinations(("y",)), Combinations(("nowhere",)), Combinations(("j",), levels=(("a",),))):
        with pytest.raises(DataError):
            Memory(table()).check(request)
    far = Lazy(table().lazy(), unit=Unit("who", max_rows=5), row="row", nearby=False)
    with pytest.raises(Unsupported, match="one pass"):
        far.check(REQUESTS["few"])
