"""Releases by group: a thousand groups of a Parquet file, times DuckDB, and a hundred thousand, in microseconds."""

import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import sordino as sd
from benchmarks.bars.clock import least, ratio
from benchmarks.data.bench_groups import LINES, MEDIAN, PRICE, columns, released

MANY = 100_000


def lines():
    """Name, ratio or microseconds a group, bar."""
    with tempfile.TemporaryDirectory() as folder:
        path, keys = Path(folder) / "few.parquet", range(1000)
        pq.write_table(pa.table(columns(1000, 1000)), path, row_group_size=122_880)
        people = sd.open(path, budget=sd.Pure(10**9), neighbors="add-remove-one", rows=10**6)
        for name, statistic, sql, bar in LINES:

            def ours(statistic=statistic):
                people.release_by("g", keys, statistic, PRICE)

            ours()
            found = ratio(
                ours, lambda sql=sql: duckdb.sql(f"select g, {sql} from '{path}' group by g").fetchall()
            )
            yield f"{name}, 1,000 groups of 1,000 rows, times DuckDB", found, bar
        table, keys = columns(MANY, 10), list(range(MANY))
        path = Path(folder) / "many.parquet"
        pq.write_table(pa.table(table), path, row_group_size=122_880)
        for name, source in (("arrays", table), ("Parquet", path)):
            (seconds,) = least(released(source, keys, MEDIAN), turns=5)
            yield f"median of {MANY:,} groups, {name}, microseconds a group", 1e6 * seconds / MANY, 20
