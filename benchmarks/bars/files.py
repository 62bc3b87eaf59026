"""Parquet and CSV files, times DuckDB: whole releases, and the reading of a CSV file from its opening on."""

import csv
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sordino as sd
from benchmarks.bars.clock import ratio
from benchmarks.bars.columns import BOUNDS, PRICE, column

ROWS, RECORDS = 10**7, 10**6
REGIONS = ("north", "south", "east", "west")


def write_csv(path, quoting):
    """Four columns: person, income, age, region."""
    rng = np.random.default_rng(0)
    columns = (
        range(RECORDS),
        np.round(rng.lognormal(10, 1, RECORDS), 2).tolist(),
        rng.integers(18, 90, RECORDS).tolist(),
        rng.choice(REGIONS, RECORDS).tolist(),
    )
    with path.open("w", newline="") as file:
        writer = csv.writer(file, quoting=quoting)
        writer.writerow(("person", "income", "age", "region"))
        writer.writerows(zip(*columns, strict=True))


def parquet_lines(folder):
    """Medians and means of one column."""
    path = Path(folder) / "people.parquet"
    pq.write_table(pa.table({"x": column(ROWS)}), path, row_group_size=122_880)
    people = sd.open(path, budget=sd.Pure(10**9))
    for name, statistic, sql, bar in (
        ("median", sd.Median("x", **BOUNDS), "median(x)", 2.0),
        ("tight mean", sd.Mean("x", **BOUNDS), "avg(x)", 1.5),
    ):
        hints = {"tight": True} if name == "tight mean" else {}

        def ours(statistic=statistic, hints=hints):
            people.release(statistic, PRICE, **hints)

        ours()
        theirs = duckdb.connect()
        yield f"{name}, Parquet of {ROWS:,}, times DuckDB", ratio(
            ours, lambda sql=sql, one=theirs: one.sql(f"select {sql} from '{path}'").fetchall(), 5
        ), bar


def csv_lines(folder):
    """Open a file and release one median, times DuckDB's reader taking the median of the same column."""
    for name, quoting, bar in (("CSV", csv.QUOTE_MINIMAL, 4.0), ("CSV, texts quoted", csv.QUOTE_NONNUMERIC, 6.0)):
        path = Path(folder) / f"{len(name)}.csv"
        write_csv(path, quoting)

        def ours(path=path):
            sd.open(path, budget=sd.Pure(10)).release(sd.Median("income", **BOUNDS), PRICE)

        ours()
        theirs = duckdb.connect()
        yield f"{name} of {RECORDS:,}: open and median, times DuckDB", ratio(
            ours, lambda path=path, one=theirs: one.sql(f"select median(income) from '{path}'").fetchall(), 5
        ), bar


def lines():
    """Name, ratio, bar."""
    with tempfile.TemporaryDirectory() as folder:
        yield from csv_lines(folder)
        yield from parquet_lines(folder)
