"""The law: the same summary from every source, to the bit, on hostile columns."""

from __future__ import annotations

import csv
import gzip

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from sordino.data import expressions, grouped, open_source
from sordino.errors import DataError
from sordino.lattice import RAISED, RowLattice
from sordino.privacy import Unit
from sordino.reading.requests import Bundle, Cells, Columns, Condition, Rank, Request, Window
from sordino.testing.source_laws import differences
from sordino.testing.source_reading import asked, defined, fine, shown
from tests.support.data_columns import COLUMNS, TEXTS, arrow, spelled


def csv_file(path, header, rows):
    """Write fields as they are; an absent one is an empty field."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    return str(path)


def parquet(table, folder):
    path = folder / "table.parquet"
    pq.write_table(table, path, row_group_size=64)
    return str(path)


def parquet_glob(table, folder):
    half = len(table) // 2
    pq.write_table(table.slice(0, half), folder / "part1.parquet")
    pq.write_table(table.slice(half), folder / "part2.parquet")
    return str(folder / "part*.parquet")


SOURCES = {
    "pyarrow": lambda table, folder: table,
    "polars": lambda table, folder: pl.from_arrow(table),
    "pandas": lambda table, folder: table.to_pandas(),
    "pandas on arrow": lambda table, folder: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars lazy": lambda table, folder: pl.from_arrow(table).lazy(),
    "polars scan": lambda table, folder: pl.scan_parquet(parquet(table, folder)),
    "duckdb on arrow": lambda table, folder: duckdb.connect().from_arrow(table),
    "parquet": parquet,
    "parquet glob": parquet_glob,
}


@pytest.mark.covering
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("column", COLUMNS)
def test_every_source_reads_alike(source, column, tmp_path):
    """Rows, total, squares, windows, sums below them, counts below cuts."""
    _, values, grid = COLUMNS[column]
    opened = open_source(SOURCES[source](arrow(column), tmp_path), numbers=("x",))
    opened.check(asked(grid))
    (summary,) = opened.summary(asked(grid))
    assert shown(summary) == defined(values, asked(grid))
    assert opened.rows == len(values)


@pytest.mark.covering
@pytest.mark.parametrize("source", ["pyarrow", "pandas", "polars lazy", "duckdb on arrow", "parquet glob"])
@pytest.mark.parametrize("column", COLUMNS)
def test_every_source_reads_alike_on_the_fine_lattice(source, column, tmp_path):
    """The same columns on 2^44 points, which engines read in three passes."""
    _, values, coarse = COLUMNS[column]
    grid = fine(coarse)
    (summary,) = open_source(SOURCES[source](arrow(column), tmp_path), numbers=("x",)).summary(asked(grid))
    assert shown(summary) == defined(values, asked(grid))


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("column", COLUMNS)
def test_a_csv_file_reads_alike(ending, column, tmp_path):
    """All fields are text, and nothing is guessed from them."""
    _, values, grid = COLUMNS[column]
    path = csv_file(tmp_path / f"table.{ending}", ["row", "x"], enumerate(spelled(column)))
    source = open_source(path, quoted_line_breaks=True)
    (summary,) = source.summary(asked(grid))
    assert shown(summary) == defined(values, asked(grid))
    assert source.rows == len(values)


def test_the_law_notices_a_planted_error(monkeypatch, tmp_path):
    """Rounding half up instead of half to even is seen on the column of halves."""

    def half_up(value, grid, *, once=False):
        assert once in (False, True)
        return ((value.clip(grid.low, grid.high) - grid.low) / float(grid.step) + 0.5).floor()

    def half_up_here(values, grid):
        yield np.floor((np.clip(values, grid.low, grid.high) - grid.low) / float(grid.step) + 0.5)

    monkeypatch.setattr("sordino.data.lazy_rows.code", half_up)
    monkeypatch.setattr("sordino.data.streamed.blocks", half_up_here)
    _, values, grid = COLUMNS["halves"]
    for source in (pl.from_arrow(arrow("halves")).lazy(), parquet(arrow("halves"), tmp_path)):
        (summary,) = open_source(source).summary(asked(grid))
        assert shown(summary) != defined(values, asked(grid))
    assert RAISED == expressions.RAISED == 2.0**52


ENGINES = {name: SOURCES[name] for name in ("pyarrow", "polars lazy", "duckdb on arrow", "parquet")}


COMBINED = [
    (("g", "k"), (("b", 1), ("a", 2**60), ("nobody", 1), ("a", 2), ("c é", 9))),
    (("k", "t", "g"), ((1, 5, "a"), (2, 1, "b"), (3, 5, "b"), (2, 5, "a"))),
]
"""Key columns and combinations of their keys."""


def people(seed=3, rows=400):
    """Rows of people in groups, some without a number, a group or a person."""
    rng = np.random.default_rng(seed)
    some = rng.normal(5, 3, rows)
    return pl.DataFrame(
        {
            "x": [None if rng.random() < 0.1 else float(v) for v in some],
            "t": [TEXTS[i] for i in rng.integers(0, len(TEXTS), rows)],
            "g": [[None, "a", "b", "c é", ""][i] for i in rng.integers(0, 5, rows)],
            "k": [[None, 1, 2, 3, 2**60][i] for i in rng.integers(0, 5, rows)],
            "u": [[None, *range(60)][i] for i in rng.integers(0, 61, rows)],
            "row": rng.permutation(rows),
        },
        schema_overrides={"k": pl.Int64, "u": pl.Int64},
    ).to_arrow()


@pytest.mark.few(1)
@pytest.mark.parametrize("unit", [None, Unit("u", 3), Unit("g", 20)])
@pytest.mark.parametrize("source", ENGINES)
def test_units_conditions_groups_and_counts_are_alike(source, unit, tmp_path):
    """Against the memory kernel, whose rules are tested by their definitions."""
    table = people()
    row = None if unit is None else "row"
    grids = (
        RowLattice(0, 10, missing="drop"),
        RowLattice(0, 10, step=1, missing=2),
        RowLattice(0, 10, bits=45),
    )
    requests = tuple(Request("x", grid, (Window(Rank(1, 2), 5),), cuts=(3, 10**6)) for grid in grids)
    requests += (Request("t", grids[0], (Window(Rank(1, 2), 5),)),)
    reference = open_source(
        {name: table[name] for name in table.column_names}, unit=unit, row=row, numbers=("t",)
    )
    other = open_source(ENGINES[source](table, tmp_path), unit=unit, row=row, numbers=("t",))
    conditions = [
        (),
        (Condition("x", ">", 1), Condition("x", "!=", 3.5)),
        (Condition("g", "in", ("a", "b")),),
        (Condition("g", "!=", "a"), Condition("k", "in", (1, 2, 3))),
        (Condition("t", "==", 5),),
        (Condition("x", ">", 1e9),),
    ]
    for condition in conditions[:: 1 if unit is None else 3]:
        one, two = reference.where(*condition), other.where(*condition)
        groups = (
            ("g", ("b", "a", "nobody", "c é")),
            ("k", (3, 2**60, 1, 9)),
            ("t", (5, 1)),
            *COMBINED,
        )
        assert list(differences(one, two, requests, groups)) == []
        bundle = Bundle(
            (
                requests[0],
                Cells("g", ("a", "b")),
                Columns(("x", "row"), (grids[0], RowLattice(0, 400, step=1))),
            )
        )
        (left,), (right,) = one.summary(bundle), two.summary(bundle)
        assert (left.rows, left.parts[1].counts) == (right.rows, right.parts[1].counts)
        assert shown(left.parts[0]) == shown(right.parts[0])
        rows = [sorted(map(tuple, part.codes.T.tolist())) for part in (left.parts[2], right.parts[2])]
        assert rows[0] == rows[1]
        (left, *_), (right, *_) = one.summaries("g", ("a",), bundle), two.summaries("g", ("a",), bundle)
        assert shown(left[0].parts[0]) == shown(right[0].parts[0])


def test_more_keys_than_an_engine_is_sent():
    """Long lists are matched outside the engine, with the same answer."""
    rng = np.random.default_rng(5)
    table = pl.DataFrame({"x": rng.normal(5, 2, 9000), "k": rng.integers(0, 3000, 9000)})
    table = table.with_columns(g=pl.col("k").cast(pl.String))
    request = Request("x", RowLattice(0, 10), (Window(Rank(1, 2), 1),))
    for by, keys in (("k", tuple(range(2000))), ("g", tuple(map(str, range(2000))))):
        one = open_source(table).summaries(by, keys, request)
        two = open_source(table.lazy()).summaries(by, keys, request)
        assert [shown(a[0]) for a in one] == [shown(b[0]) for b in two]


@pytest.mark.parametrize("source", ENGINES)
def test_keys_are_held_some_at_a_time(source, tmp_path, monkeypatch):
    """However many keys are read at once, the answers are the same."""
    monkeypatch.setattr(grouped, "NEAR", 7)
    table = people()
    request = Request("x", RowLattice(0, 10), (Window(Rank(1, 2), 2),), cuts=(9,))
    pairs = tuple((g, k) for g in ("b", "a", "") for k in (1, 2, 3))
    for by, keys in (("u", tuple(range(50))), ("g", ("b", "a", "", "nobody")), (("g", "k"), pairs)):
        one = open_source({name: table[name] for name in table.column_names}).summaries(by, keys, request)
        two = open_source(ENGINES[source](table, tmp_path)).summaries(by, keys, request)
        assert [shown(a[0]) for a in one] == [shown(b[0]) for b in two]


@pytest.mark.parametrize("source", ENGINES)
def test_both_zeros_are_one_key(source, tmp_path):
    """Engines may group them apart; both are 0, for counts, groups and conditions."""
    table = pl.DataFrame(
        {"x": [0.0, -0.0, 1.0, None, float("nan")], "t": ["0", "-0", "1", None, "nan"]}
    ).to_arrow()
    opened = open_source(ENGINES[source](table, tmp_path))
    request = Request("x", RowLattice(0, 2, step=1, missing="drop"))
    assert opened.counts("t", (1, 0)) == (1, 2)
    assert [group[0].rows for group in opened.summaries("t", (1, 0), request)] == [1, 2]
    assert opened.where(Condition("x", "==", 0)).rows == 2
    assert opened.where(Condition("x", "in", (0, 1))).rows == 3
    with pytest.raises(ValueError, match="NaN"):
        opened.where(Condition("x", "!=", float("nan")))


@pytest.mark.parametrize("source", ENGINES)
def test_a_text_is_one_key_even_where_doubles_are_shared(source, tmp_path):
    """Texts read as doubles; of two keys that share one, the first has the row, and no row counts twice."""
    table = pl.DataFrame({"x": [1.0, 1.0], "t": [str(2**53), str(2**53 + 1)]}).to_arrow()
    opened = open_source(ENGINES[source](table, tmp_path))
    request = Request("x", RowLattice(0, 2, step=1))
    for keys, counts in (((2**53, 2**53 + 1), (2, 0)), ((2**53 + 1, 2**53), (2, 0))):
        assert opened.counts("t", keys) == counts
        assert tuple(group[0].rows for group in opened.summaries("t", keys, request)) == counts
    assert opened.counts("t", (2**53 + 1,)) == (2,)


@pytest.mark.parametrize("source", ENGINES)
def test_floating_columns_are_no_keys_and_no_units(source, tmp_path):
    """By their type: nine people near 2^60 would be one."""
    table = pl.DataFrame({"x": [1.0, 2.0], "row": [1, 2]}).to_arrow()
    data = ENGINES[source](table, tmp_path)
    with pytest.raises(DataError, match="floating-point"):
        open_source(data).check(Cells("x", (1,)))
    with pytest.raises(DataError, match="floating-point"):
        open_source(data, unit=Unit("x"), row="row").check()
