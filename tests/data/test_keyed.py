"""Groups of a Parquet file, read in batches: what a table in memory answers, for every type of keys and numbers."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from sordino.data import keyed, open_source, parquet
from sordino.data.keyed import KeyedRows, KeyPlaces
from sordino.data.memory import Memory
from sordino.data.sorted_groups import SortedGroups
from sordino.lattice import RowLattice
from sordino.reading.requests import FIRST, LAST, Condition, Rank, Request, Window
from sordino.reading.split import Split
from sordino.reading.summaries import GroupColumns, Summaries
from sordino.testing.source_reading import shown

RNG = np.random.default_rng(3)
ROWS = 700
INSIDE = RNG.integers(0, 6, ROWS)
GONE = RNG.random(ROWS) < 0.1
FLOATS = np.where(RNG.random(ROWS) < 0.2, 7.0, RNG.normal(5, 4, ROWS))
FLOATS[:4] = np.nan, np.inf, -np.inf, -0.0
WORDS = np.array(["d", "ä", "", "b", "a", "c"])[INSIDE]
KEYS = {
    "close": (pa.array(INSIDE), (0, 1, 2, 3, 9)),
    "neighbours": (pa.array(INSIDE), (1, 2, 3)),
    "shuffled": (pa.array(INSIDE - 3, pa.int32()), (2, -3, 0, 7)),
    "missing": (pa.array(INSIDE, pa.int64(), mask=GONE), (3, 0, 5)),
    "far apart": (pa.array(INSIDE * 2**60, mask=GONE), (0, 3 * 2**60, -5, 2**70)),
    "small": (pa.array(INSIDE, pa.int8()), (1, 300, 4)),
    "unsigned": (pa.array(INSIDE, pa.uint32(), mask=GONE), (0, 2**32 + 1, 5, -1)),
    "texts": (pa.array(WORDS, mask=GONE), ("b", "nobody", "ä", "")),
    "large texts": (pa.array(WORDS, pa.large_string()), ("a", "b")),
}
NUMBERS = {
    "floats": pa.array(FLOATS, mask=np.roll(GONE, 5)),
    "short floats": pa.array(FLOATS, pa.float32()),
    "whole": pa.array(RNG.integers(-3, 14, ROWS), mask=GONE),
    "short": pa.array(RNG.integers(0, 14, ROWS), pa.uint8()),
}
GRIDS = [
    RowLattice.point(),
    RowLattice(0, 10, step=1, missing="drop"),
    RowLattice(-1.5, 9, missing=2),
    RowLattice(0, 10, bits=50, missing="drop"),
]
WINDOWS = (Window(FIRST, 3), Window(LAST, 1), Window(Rank(1, 2), 4))


def asked(grid):
    return [
        [Request("x", grid)],
        [Request("x", grid, cuts=(1, grid.last // 2, grid.last))],
        [Request("x", grid, WINDOWS, cuts=(1,)), Request("x", grid, within=(0, grid.last // 2))],
    ]


def opened(tmp_path, table):
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(table, path, row_group_size=300)
    return open_source(str(path)), Memory(table)


@pytest.mark.few(12)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("key", KEYS)
def test_a_file_in_batches_answers_as_a_table_in_memory(key, number, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "KEYED_BATCH", 90)
    column, keys = KEYS[key]
    file, memory = opened(tmp_path, pa.table({"k": column, "x": NUMBERS[number], "other": INSIDE}))
    monkeypatch.setattr(file, "_counting", lambda _: pytest.fail("an engine was asked"))
    for grid in GRIDS:
        for requests in asked(grid):
            here, there = memory.conversation("k", keys), file.conversation("k", keys)
            for mine, theirs in zip(here.first(*requests), there.first(*requests), strict=True):
                assert [shown(one) for one in mine] == [shown(one) for one in theirs]
            again = Request(
                "x", grid, (Window(Rank(1, 2), 9),), within=(1, grid.last) if grid.last > 1 else None
            )
            assert shown(here(1, again)) == shown(there(1, again))


def test_combinations_of_keys_and_several_columns_come_from_one_scan(tmp_path):
    numbers = {"x": NUMBERS["floats"], "y": NUMBERS["whole"]}
    file, memory = opened(tmp_path, pa.table({"k": KEYS["texts"][0], "g": KEYS["missing"][0], **numbers}))
    requests = [Request("x", GRIDS[1], WINDOWS), Request("y", GRIDS[2], cuts=(5,))]
    pairs = (("b", 3), ("b", 0), ("", 5), ("x", 1))
    both = (source.conversation(("k", "g"), pairs).first(*requests) for source in (memory, file))
    for mine, theirs in zip(*both, strict=True):
        assert [shown(one) for one in mine] == [shown(one) for one in theirs]


def test_what_numpy_would_read_otherwise_is_left_to_the_engine(tmp_path):
    """Keys that are truths or have 64 bits without a sign, decimals, derived columns, and rows that a filter left."""
    table = pa.table(
        {
            "k": INSIDE, "truth": INSIDE > 2, "x": FLOATS, "text": WORDS,
            "exact": pa.array([Decimal(one) / 4 for one in INSIDE.tolist()], pa.decimal128(20, 2)),
            "large": pa.array(INSIDE, pa.uint64()),
        }
    )  # fmt: skip
    file, memory = opened(tmp_path, table)
    grid = RowLattice(0, 10, step=1, missing="drop")
    for by, keys, name in (
        ("truth", (0, 1), "x"), ("k", (1, 2), "exact"), ("large", (1, 2), "x"), ("k", (1, 2), "(x + 1)"),
    ):  # fmt: skip
        request = Request(name, grid, WINDOWS)
        mine, theirs = (source.conversation(by, keys) for source in (memory, file))
        assert file._batched(Split.plain(by, keys), [(name, grid)]) is None
        assert [shown(one) for (one,) in mine.first(request)] == [
            shown(one) for (one,) in theirs.first(request)
        ]
    few = file.where(Condition("x", ">", 5.0))
    assert few.keyed_batches is None


def test_a_missing_key_is_no_key_that_is_too_large():
    found = KeyPlaces((2**70, 5, -(2**40)))(pa.array([None, 5, -(2**40), 6]))
    assert found.tolist() == [-1, 1, 2, -1]
    ends = (-(2**63), 2**63 - 1)
    assert KeyPlaces(ends)(pa.array([*ends, 0, None])).tolist() == [0, 1, -1, -1]
    near = KeyPlaces((-(2**63), 2 - 2**63))
    assert near(pa.array([2 - 2**63, 1 - 2**63, -(2**63), 2**63 - 1])).tolist() == [1, -1, 0, -1]


def test_codes_beside_too_many_groups_are_sorted_by_two_keys(monkeypatch):
    rows = [(np.array([2, 0, -1, 2]), [np.array([5, 1, 1, 3])]), (np.array([0]), [np.array([-1])])]
    (one,) = KeyedRows(rows, 3, [9]).ordered()
    monkeypatch.setattr(keyed, "fits_joined", lambda *_: False)
    (other,) = KeyedRows(rows, 3, [9]).ordered()
    for place in range(3):
        request = Request("x", RowLattice(0, 9, step=1), (Window(Rank(1, 2), 5),))
        assert shown(one.summary(place, request)) == shown(other.summary(place, request))


@pytest.mark.parametrize("together", [1, 1 << 17])
def test_columns_of_many_groups_are_their_summaries(together, monkeypatch):
    """Also of groups without rows, of some neighbouring groups, and where few of them are summed together."""
    monkeypatch.setattr("sordino.data.sorted_groups.TOGETHER", together)
    group, codes = RNG.integers(-1, 9, 400), RNG.binomial(40, 0.4, 400)
    group[(group == 3) | (group == 8)] = 5
    held = SortedGroups.of(group, codes, 9, 40)
    request = Request("x", RowLattice(0, 40, step=1), WINDOWS, cuts=(0, 7, 16, 41))
    whole = held.summaries(request)
    assert [shown(one) for one in whole] == [shown(held.summary(place, request)) for place in range(9)]
    for some in (whole, whole[2:6], whole[2:6][1:], whole[8:]):
        mine, theirs = some.columns, GroupColumns.of([held.summary(place, request) for place in some._places])
        assert mine.rows.tolist() == theirs.rows.tolist()
        assert mine.below.tolist() == theirs.below.tolist()
        for here, there in zip(mine.windows, theirs.windows, strict=True):
            for place in range(len(some)):
                stretches = [
                    one.codes[each.start[place] : each.start[place] + each.length[place]].tolist()
                    for one, each in ((mine, here), (theirs, there))
                ]
                assert stretches[0] == stretches[1]
            assert here.first.tolist() == there.first.tolist()
    assert isinstance(Summaries.of(whole), Summaries)
    assert Summaries.of(whole) is whole
