"""The law of rows: one row more, whatever it holds, moves that row alone, in every source and for every question.

What is compared is what the real summaries say: codes, keys, groups, units, conditions, what is refused and what is
printed. Each family of sources is also given a reader that breaks the law, and the law must notice.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import duckdb
import narwhals as nw
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sordino.data import lazy_rows, table
from sordino.testing.row_questions import violation
from tests.support.data_rows import (
    FAMILIES,
    TYPES,
    Family,
    base,
    csv_file,
    hostile,
    hostile_rows,
    parquet,
    writable,
)

ENGINES = {"polars lazy", "duckdb", "parquet", "csv", "csv, long", "csv.gz"}
QUICK = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None)


def law(family, examples, *, asked=6, phases=tuple(Phase)):
    """Read the base rows without and with a hostile row, and compare what some questions see."""
    rows, before = base(family), {}
    some_questions = st.lists(
        st.sampled_from(family.questions()), min_size=asked, max_size=asked, unique=True
    )

    with tempfile.TemporaryDirectory() as folder:

        @settings(QUICK, max_examples=examples, phases=phases)
        @given(hostile_rows(family), st.integers(0, 6), some_questions)
        def holds(drawn, place, some):
            row = hostile(family, drawn)
            more = {name: [*values[:place], row[name], *values[place:]] for name, values in rows.items()}
            after = family.ask(family.make(more, Path(folder)), some)
            if unseen := [question for question in some if question not in before]:
                before.update(family.ask(family.make(rows, Path(folder)), unseen))
            for question in some:
                wrong = violation(question, before[question], after[question])
                assert not wrong, f"{question}: {wrong}"

        holds()


def noticed(family):
    """Whether the law finds a row that moves another."""
    try:
        law(family, 300, asked=8, phases=(Phase.generate,))
    except AssertionError as error:
        return "moved" in str(error) or "came" in str(error) or "refused" in str(error)
    return False


@pytest.mark.few(4)
@pytest.mark.parametrize("name", FAMILIES)
def test_one_row_moves_that_row_alone(name):
    law(FAMILIES[name], 12 if name in ENGINES else 60, asked=6 if name in ENGINES else 20)


SERVER_TYPES = {
    "n": "int4",
    "f": "float8",
    "i": "int8",
    "b": "boolean",
    "t": "text",
    "d": "numeric(18, 3)",
    "u": "int8",
    "v": "text",
}


@pytest.fixture(scope="module")
def postgres(postgres_server):
    """The family of tables in a server."""
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("ibis")
    numbers = itertools.count()
    columns = ", ".join(f"{name} {kind}" for name, kind in SERVER_TYPES.items())
    with psycopg.connect(postgres_server, autocommit=True) as connection:

        def make(table, _):
            name = f"rows_{next(numbers)}"
            connection.execute(f"create table {name} ({columns})")
            with connection.cursor().copy(f"copy {name} from stdin") as copy:
                for row in zip(*(table[column] for column in SERVER_TYPES), strict=True):
                    copy.write_row(row)
            return f"{postgres_server}&table={name}"

        yield Family(make, far=True, takes=writable)


@pytest.mark.thorough
def test_one_row_moves_that_row_alone_in_postgres(postgres):
    law(postgres, 12)


@pytest.fixture(scope="module")
def spark(spark_session):
    """The family of Spark's tables."""
    numbers = itertools.count()

    def make(columns, folder):
        inner = folder / str(next(numbers))
        inner.mkdir()
        return spark_session.read.parquet(parquet(columns, inner))

    return Family(make, far=True)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_one_row_moves_that_row_alone_in_spark(spark):
    law(spark, 8, asked=5, phases=(Phase.generate,))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_cluster_that_looks_at_other_rows_is_noticed(spark, monkeypatch):
    monkeypatch.setattr(lazy_rows, "number", shifted_in_the_engine(lazy_rows.number))
    assert noticed(spark)


def typed_by_values(column):
    """The reader that lists had: numpy's type for all of them together."""
    try:
        values = np.asarray(column)
    except (TypeError, ValueError):
        values = table.gathered(column)
    return table.Column(table._word(values.dtype), values)


def read_together(values, *, text):
    """All are numbers, or none is."""
    try:
        return np.array(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.full(len(values), np.nan)


def filled_with_the_smallest(honest):
    """Numbers that are not there are taken from those that are."""

    def numeric(column, **options):
        values = honest(column, **options)
        if column.absent is None:
            return values
        return np.where(column.absent, np.nanmin(values, initial=9), values)

    return numeric


def by_category(honest):
    """Objects replaced by the number of their category, in the order of the table."""

    def series(one, kind):
        column = honest(one, kind)
        if kind != "object":
            return column
        seen = {}
        codes = [
            None if v is None or v != v else seen.setdefault((type(v), v), len(seen)) for v in column.values
        ]
        return table.Column(kind, table.gathered(codes))

    return series


def filled_with_the_mean(honest):
    """Numbers that are not there are taken from those that are."""

    def series(one, kind):
        column = honest(one, kind)
        if kind != table.FLOATS:
            return column
        gone = np.isnan(column.values)
        return table.Column(kind, np.where(gone, np.nanmean(np.clip(column.values, -9, 9)), column.values))

    return series


def shifted_in_the_engine(honest):
    """Every number moves with the number of rows."""

    def number(name, dtype, otherwise):
        return honest(name, dtype, otherwise) + nw.len().cast(nw.Float64) / 1024

    return number


MEMORY = {
    "lists": ("column_of", lambda honest: typed_by_values),
    "object arrays": ("numbers", lambda honest: read_together),
    "pandas objects": ("kind_of_series", lambda honest: lambda series: table.kind_of(series.dtype)),
    "pandas categories": ("_series", by_category),
    "pandas nullable": ("_series", filled_with_the_mean),
    "pandas on arrow": ("_series", filled_with_the_mean),
    "polars": ("_series", filled_with_the_mean),
    "pyarrow": ("_series", filled_with_the_mean),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", MEMORY)
def test_a_reader_that_looks_at_other_rows_is_noticed(name, monkeypatch):
    where, planted = MEMORY[name]
    monkeypatch.setattr(table, where, planted(getattr(table, where)))
    assert noticed(FAMILIES[name])


def test_an_array_that_is_filled_from_other_rows_is_noticed(monkeypatch):
    monkeypatch.setattr(table.Column, "numeric", filled_with_the_smallest(table.Column.numeric))
    assert noticed(FAMILIES["numpy arrays"])


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["polars lazy", "duckdb", "parquet"])
def test_an_engine_that_looks_at_other_rows_is_noticed(name, monkeypatch):
    monkeypatch.setattr(lazy_rows, "number", shifted_in_the_engine(lazy_rows.number))
    assert noticed(FAMILIES[name])


@pytest.mark.thorough
def test_a_server_that_looks_at_other_rows_is_noticed(postgres, monkeypatch):
    monkeypatch.setattr(lazy_rows, "number", shifted_in_the_engine(lazy_rows.number))
    assert noticed(postgres)


@pytest.mark.few(1)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_file_reader_that_guesses_types_is_noticed(ending):
    """Engines' own readers choose types by the first rows, and skip what then does not fit."""

    def sniffed(columns, folder):
        return duckdb.connect().read_csv(csv_file(columns, folder, ending=ending), ignore_errors=True)

    assert noticed(Family(sniffed, texts=True, takes=FAMILIES["csv"].takes))


def test_every_family_of_sources_is_under_the_law():
    assert len(FAMILIES) == 15
    assert set(SERVER_TYPES) == {"n", *TYPES}
