"""The numpy kernel against the definition in Python's own integers, on hostile columns."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.data import kernel, open_source
from sordino.data.memory import Memory
from sordino.data.table import column_of
from sordino.errors import DataError, ParameterError
from sordino.lattice import RowLattice
from sordino.privacy import Unit
from sordino.reading.requests import (
    FIRST,
    LAST,
    Bundle,
    Cells,
    Columns,
    Condition,
    Links,
    Rank,
    Request,
    Window,
)

NAN, INF = math.nan, math.inf
COLUMNS = {
    "ties": [3.0, 3.0, 3.0, 7.0, 3.0, 1.0, 7.0],
    "equal": [5.0] * 6,
    "empty": [],
    "one": [4.25],
    "nothing": [NAN, NAN],
    "edges": [NAN, -INF, INF, -0.0, 0.0, 1e300, -1e300, 5e-324],
    "halves": [0.5, 1.5, 2.5, math.nextafter(0.5, 0), math.nextafter(2.5, 9), 9.5],
    "whole": list(range(50)),
    "random": np.random.default_rng(3).normal(5, 4, 300).tolist(),
}
GRIDS = [
    RowLattice(0, 10, step=1),
    RowLattice(0, 10, step=1, missing="drop"),
    RowLattice(0, 10, missing=3),
    RowLattice(-3, 8, bits=45, missing="drop"),
    RowLattice(0.1, 9.7, step=0.01),
    RowLattice(-1e200, 1e200),
    RowLattice(-3, 9, step=1),
]


def code(x: float, grid: RowLattice) -> int | None:
    """The definition with Fractions; double rounding of the difference and the quotient is part of it."""
    if math.isnan(x):
        if grid.drops:
            return None
        x = float(grid.missing)
    d = min(max(x, grid.low), grid.high) - grid.low
    return round(Fraction(d / float(grid.step)))  # half to even


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_a_summary_is_the_definition(name, grid):
    """Rows, total, squares, windows with the sums below them, and cuts."""
    codes = [code(x, grid) for x in COLUMNS[name]]
    codes = sorted(k for k in codes if k is not None)
    n = len(codes)
    windows = (Window(FIRST, 2), Window(Rank(1, 2), 3), Window(LAST, 1), Window(Rank(1, 2), 0))
    cuts = (0, 1, grid.last // 3, grid.last // 2, grid.last, grid.last + 1, 3, 4, 5)
    squares = grid.last <= 2**32
    request = Request("x", grid, windows, squares=squares, cuts=cuts)
    (summary,) = Memory({"x": np.array(COLUMNS[name], float)}).summary(request)
    assert (summary.rows, summary.total) == (n, sum(codes))
    assert summary.squares == (sum(k * k for k in codes) if squares else 0)
    assert summary.below == tuple(sum(k < cut for k in codes) for cut in cuts)
    for window, run in zip(windows, summary.runs, strict=True):
        first, last = window.ranks(n)
        assert run.codes.tolist() == codes[first - 1 : last]
        assert run.codes.dtype == np.int64
        if first <= last:
            assert run.first == first
            assert run.below == sum(codes[: first - 1])


@given(
    st.lists(st.integers(0, 40), max_size=60),
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 9)), max_size=5),
)
@settings(max_examples=150, deadline=None)
def test_windows_are_slices_of_the_sorted_codes(values, windows):
    """Overlapping, nested and empty windows alike."""
    grid = RowLattice(0, 40, step=1)
    asked = tuple(Window(Rank(num, 7), reach) for num, reach in windows)
    (summary,) = Memory({"x": np.array(values, float)}).summary(Request("x", grid, asked))
    ordered = sorted(values)
    for window, run in zip(asked, summary.runs, strict=True):
        first, last = window.ranks(len(values))
        assert run.codes.tolist() == ordered[first - 1 : last]
        for rank in range(first, last + 1):
            assert run.at(rank) == ordered[rank - 1]
        assert run.at(0) == 0
        assert run.at(len(values) + 1) == 40


def test_a_rank_outside_its_window_is_a_bug_and_raises():
    """A statistic that asks for too little must not read a wrong row."""
    (summary,) = Memory({"x": np.arange(30.0)}).summary(
        Request("x", RowLattice(0, 40, step=1), (Window(Rank(1, 2), 1),))
    )
    run = summary.runs[0]
    with pytest.raises(IndexError):
        run.at(20)
    with pytest.raises(IndexError):
        run.ranks(10, 15)
    assert run.ranks(14, 16).tolist() == [13, 14, 15]
    assert run.ranks(-1, 0).tolist() == [0, 0]
    assert run.ranks(31, 32).tolist() == [40, 40]


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.uint8, bool])
def test_every_numeric_type_is_read(dtype):
    """Types convert to double, row by row."""
    column = np.array([0, 1, 1, 0, 1], dtype)
    (summary,) = Memory({"x": column}).summary(Request("x", RowLattice(0, 1, step=1)))
    assert (summary.rows, summary.total) == (5, 3)


def test_large_sums_do_not_overflow():
    """Totals and squares beyond 64 bits come out as Python integers."""
    grid = RowLattice(0, 2.0**32, step=1)
    column = np.full(70_000, 2.0**32)
    (summary,) = Memory({"x": column}).summary(Request("x", grid, squares=True))
    assert summary.total == 70_000 * 2**32
    assert summary.squares == 70_000 * 2**64
    wide = RowLattice(0, 2.0**49, step=1)
    (summary,) = Memory({"x": np.full(70_000, 2.0**49)}).summary(Request("x", wide))
    assert summary.total == 70_000 * 2**49
    assert kernel.exact_squares(np.full(70_000, 2**49 - 1), 2**49) == 70_000 * (2**49 - 1) ** 2


def test_blocks_with_and_without_missing_rows_meet():
    """The fast path and the path with missing rows give one sequence of codes."""
    rng = np.random.default_rng(5)
    column = rng.normal(size=3 * kernel.BLOCK + 17)
    column[kernel.BLOCK + 3] = NAN
    for grid in (RowLattice(-4, 4, missing="drop"), RowLattice(-4, 4, missing=1), RowLattice(-4, 4, bits=40)):
        assert kernel.coded(column, grid).tolist() == grid.codes(column).tolist()
    assert not np.isnan(column).sum() > 1


def test_categories_rows_and_bundles():
    """Counts of public keys; aligned columns lose a row when any dropping column misses it."""
    source = Memory(
        {"k": np.array(["a", "b", "a", "c"]), "x": np.array([1.0, NAN, 3.0, 4.0]), "y": [4.0, 3, 2, 1]}
    )
    keys = Cells("k", ("b", "a", "z"))
    drop, keep = RowLattice(0, 4, step=1, missing="drop"), RowLattice(0, 4, step=1)
    both = Columns(("x", "y"), (drop, keep))
    (summary,) = source.summary(Bundle((keys, both)))
    assert summary.parts[0].counts == (1, 2, 0)
    assert summary.parts[1].codes.tolist() == [[1, 3, 4], [4, 2, 1]]


def test_links_are_canonical_and_weights_follow_the_topology():
    """Loops, repetitions and unknown vertices go; weights take the smallest, or the top where there is none."""
    source = Memory(
        {"a": [0, 1, 2, 2, 5, 1, NAN], "b": [1, 0, 2, 0, 1, 1.5, 2], "w": [3.0, 2, 1, NAN, 1, 1, 1]}
    )
    (summary,) = source.summary(Links("a", "b", 3))
    assert summary.links.tolist() == [[0, 1], [0, 2]]
    topology = ((0, 1), (1, 2), (0, 2))
    (summary,) = source.summary(Links("a", "b", 3, "w", RowLattice(0, 9, step=1, missing=9), topology))
    assert summary.codes.tolist() == [2, 9, 9]


def test_where_and_summaries():
    """Conditions never pass on missing values; groups come in the order of the keys, absent ones empty."""
    source = Memory({"x": [NAN, 2.0, 0.0, 5.0], "k": np.array(["a", "a", "b", "c"])})
    request = Request("x", RowLattice(0, 9, step=1))
    assert source.where(Condition("x", "!=", 0)).summary(request)[0].total == 7
    assert (
        source.where(Condition("x", ">", 1), Condition("k", "in", ("a", "b"))).summary(request)[0].total == 2
    )
    groups = list(source.summaries("k", ("b", "a", "z"), request))
    assert [(group[0].rows, group[0].total) for group in groups] == [(1, 0), (2, 2), (0, 0)]
    with pytest.raises(ParameterError):
        Condition("x", "~", 1)


@pytest.mark.parametrize(
    ("columns", "request_"),
    [
        ({"x": [1.0]}, Request("y", RowLattice(0, 1))),
        ({"x": np.array(["a"])}, Request("x", RowLattice(0, 1))),
        ({"x": np.array([b"1"])}, Request("x", RowLattice(0, 1))),
        ({"x": np.array([1.0])}, Cells("x", (1,))),
        ({"x": np.array(["2020-01-01"], "datetime64[D]")}, Request("x", RowLattice(0, 1))),
        ({"x": [1.0]}, Bundle((Cells("k", ("a",)),))),
    ],
)
def test_a_schema_that_does_not_fit_is_refused_before_reading(columns, request_):
    """Missing columns, text, bytes, dates and floats as keys raise in `check`, and say nothing of the values."""
    with pytest.raises(DataError):
        Memory(columns).check(request_)


def test_columns_of_different_length_are_refused():
    """A table has one number of rows."""
    with pytest.raises(DataError):
        Memory({"x": [1.0], "y": [1.0, 2.0]})


def test_a_source_does_not_print_its_data():
    """Only the names of its columns."""
    assert "13.375" not in repr(Memory({"x": [13.375]}))


def test_requests_on_one_grid_share_a_pass_and_keep_their_answers(monkeypatch):
    """Each request gets what it would get alone."""
    rng = np.random.default_rng(9)
    source = Memory({"x": rng.normal(5, 2, 500), "y": rng.normal(5, 2, 500)})
    grid, other = RowLattice(0, 10), RowLattice(0, 10, step=1)
    requests = [
        Request("x", grid, (Window(Rank(1, 2), 3), Window(LAST, 2))),
        Request("x", grid, (Window(LAST, 2),), cuts=(5, 9), depth=4),
        Request("x", other, squares=True),
        Request("y", grid, (Window(FIRST, 1),), cuts=(5,)),
        Bundle((Request("x", grid, (Window(FIRST, 1),)), Columns(("x",), (grid,)))),
    ]
    passes = []
    honest = kernel.summarise
    monkeypatch.setattr(kernel, "summarise", lambda *args: passes.append(1) or honest(*args))
    together = source.summary(*requests)
    assert len(passes) == 3
    for request, summary in zip(requests, together, strict=True):
        (alone,) = source.summary(request)
        for one, two in zip(alone.parts or (alone,), summary.parts or (summary,), strict=True):
            assert one.request is two.request
            assert (one.rows, one.total, one.squares, one.below) == (
                two.rows,
                two.total,
                two.squares,
                two.below,
            )
            for a, b in zip(one.runs, two.runs, strict=True):
                assert (a.first, a.below, a.codes.tolist()) == (b.first, b.below, b.codes.tolist())


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        (np.array(["b", "a", "c", "a", ""]), ("a", "z", "b", "")),
        (np.array(["b", None, 3, 2.5, NAN, ("a",), [1]], object), ("b", 3)),
        (np.array([1.0, NAN, 2.0, 1.0, INF]), (2, 1, 7)),
        (np.array([3, 1, 1, 2**60]), (1, 2**60, 5)),
        (np.array([7, -3, 2**63 - 1, -(2**63), 5, 6]), (5, -3, 7)),
        (np.array([2**63 - 1, 2**63 - 3, -(2**63), 0]), (2**63 - 1, 2**63 - 2)),
        (np.array([-(2**63), 2**63 - 1, 1 - 2**63]), (1 - 2**63, -(2**63))),
        (np.array([127, -128, 5], np.int8), (300, 5, -128, -129)),
        (np.array([2**64 - 1, 5, 2**63], np.uint64), (5, 6)),
        (np.array([True, False, True]), (1, 0)),
        (np.array([1.0, 2.0]), ("a", "b")),
        (np.array(["a", "b"]), (1, 2)),
        (np.array([], float), (1, 2)),
        (np.array(["a"]), ()),
    ],
)
def test_keys_are_found_by_equality_whatever_the_column_holds(column, keys):
    """As a loop over rows and keys finds them."""
    found = kernel.key_index(column_of(column), keys).tolist()
    for value, place in zip(column.tolist(), found, strict=True):
        same = [i for i, key in enumerate(keys) if isinstance(value, str | int | float) and value == key]
        assert place == (same[0] if same else -1)


def test_many_groups_take_one_sort():
    """A thousand groups of a thousand rows, each with its own median."""
    rng = np.random.default_rng(8)
    groups, values = rng.integers(0, 1000, 200_000), rng.normal(size=200_000)
    grid = RowLattice(-5, 5)
    request = Request("x", grid, (Window(Rank(1, 2), 2),))
    answers = Memory({"g": groups, "x": values}).summaries("g", tuple(range(1000)), request)
    for key, (summary,) in enumerate(answers):
        if key % 97:
            continue
        codes = np.sort(grid.codes(values[groups == key]))
        middle = (len(codes) + 1) // 2
        assert summary.runs[0].at(middle) == codes[middle - 1]
        assert summary.total == codes.sum()


@pytest.mark.parametrize("unit", [Unit(), Unit("who", 2)], ids=["rows", "units"])
@pytest.mark.parametrize("missing", [0, "drop"])
def test_a_conversation_about_groups_hears_what_one_pass_would(unit, missing):
    """Group by group from one split, or key by key from the whole table: the same summaries."""
    rng = np.random.default_rng(11)
    x = np.where(rng.random(300) < 0.2, NAN, rng.normal(0, 3, 300))
    table = {"g": rng.integers(0, 6, 300), "who": rng.integers(0, 90, 300), "x": x, "y": rng.random(300)}
    source = Memory(table, unit=unit).where(Condition("y", "<", 0.8))
    grid = RowLattice(-5, 5, missing=missing)
    requests = [
        Request("x", grid, (Window(Rank(1, 2), 3),), squares=True, cuts=(5, 10**9)),
        Cells("who", (1, 2, 3)),
        Columns(("x", "y"), (grid, RowLattice(0, 1))),
    ]
    keys = (4, 1, 9, 0)  # one key has no rows
    talk = source.conversation("g", keys)
    for request in requests:
        (*together,) = source.summaries("g", keys, request)
        for place, key in enumerate(keys):
            (alone,) = next(iter(source.summaries("g", (key,), request)))
            for other in (talk(place, request), together[place][0]):
                assert (other.rows, other.total, other.squares, other.below, other.counts) == (
                    alone.rows, alone.total, alone.squares, alone.below, alone.counts,
                )  # fmt: skip
                assert [run.codes.tolist() for run in other.runs] == [
                    run.codes.tolist() for run in alone.runs
                ]
                if alone.codes is not None:
                    assert sorted(map(tuple, other.codes.T)) == sorted(map(tuple, alone.codes.T))


@pytest.mark.parametrize("lazily", [False, True])
@pytest.mark.parametrize("bits", [31, 32, 33])
def test_groups_are_sorted_where_the_largest_code_is_a_power_of_two(bits, lazily):
    """The code 2^32 needs 33 bits: beside a key it would be taken for the first code of the next one."""
    import polars as pl

    columns = {"x": [1.0, 0.0, 1.0, 0.5, 1.0, 0.0], "k": [0, 0, 1, 1, 2, 2]}
    grid = RowLattice(0, 1, bits=bits)
    assert grid.last == 2**bits
    request = Request("x", grid, (Window(Rank(1, 2), 5),))
    source = open_source(pl.LazyFrame(columns) if lazily else columns)
    groups = [group for (group,) in source.summaries("k", (0, 1, 2), request)]
    assert [group.total for group in groups] == [grid.last, grid.last + grid.last // 2, grid.last]
    assert [group.runs[0].codes.tolist() for group in groups] == [
        [0, grid.last], [grid.last // 2, grid.last], [0, grid.last],
    ]  # fmt: skip


@given(st.lists(st.integers(0, 2**50), min_size=1, max_size=40), st.data())
@settings(max_examples=200, deadline=None)
def test_running_sums_may_wrap_and_stay_exact(codes, data):
    """Also where the sum of a group needs more than 64 bits: halves are summed then."""
    start = data.draw(st.integers(0, len(codes)))
    stop = data.draw(st.integers(start, len(codes)))
    # Rows of 2^50 repeated until sums wrap: differences are what counts.
    many = np.repeat(np.array(codes, np.int64), 2**9)
    before = np.full(2**14 + 5, 2**50, np.int64)
    column = np.concatenate([before, many])
    first, last = len(before) + start * 2**9, len(before) + stop * 2**9
    wanted = sum(codes[start:stop]) * 2**9
    for longest in (last - first, 2**30):
        assert kernel.RunningSums(column, 2**50, longest)(first, last) == wanted
    assert kernel.RunningSums(column, 2**50, 2**30)(0, len(column)) == sum(column.tolist())


def test_a_wrapped_sum_alone_would_be_wrong_for_long_groups():
    column = np.full(2**15, 2**50, np.int64)
    assert kernel.RunningSums(column, 2**50, 2**10)(0, 2**15) == 2**65 % 2**64
    assert kernel.RunningSums(column, 2**50, 2**15)(0, 2**15) == 2**65


@pytest.mark.parametrize("bits", [20, 31, 32, 44, 50])
@pytest.mark.parametrize("groups", [3, 40_000])
def test_groups_are_sorted_alike_by_one_key_and_by_two(bits, groups):
    """A key and a code share one integer where it holds them; 40,000 groups beside 50 bits do not fit."""
    rng = np.random.default_rng(bits)
    index = rng.integers(-1, groups, 5000)
    codes = rng.integers(0, 2**bits + 1, 5000)
    codes[:50] = 2**bits
    narrow = codes.astype(np.uint32) if 2**bits < 2**32 else codes
    found, starts = kernel.sorted_by_group(index, narrow, groups, 2**bits)
    pairs = sorted((i, c) for i, c in zip(index.tolist(), codes.tolist(), strict=True) if i >= 0)
    assert found.tolist() == [c for _, c in pairs]
    assert starts.tolist() == np.searchsorted([i for i, _ in pairs], np.arange(groups + 1)).tolist()


@pytest.mark.few(2)
@pytest.mark.parametrize("bits", [31, 32, 44, 50])
def test_block_codes_are_the_grid_codes(bits):
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.normal(3, 4, kernel.BLOCK + 9), [NAN, INF, -INF, -0.0, 8.0, 5e-324]])
    for grid in (RowLattice(0, 8, bits=bits), RowLattice(-0.3, 7.7, bits=bits, missing="drop")):
        assert kernel.coded(values, grid).tolist() == grid.codes(values).tolist()
        clean = values[np.isfinite(values)]
        assert kernel.coded(clean, grid).tolist() == [code(x, grid) for x in clean.tolist()]
