"""What an exact reading costs beside DuckDB's own median, from a Parquet file: processor seconds of all threads."""

import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.data.clock import seconds
from sordino.data import open_source
from sordino.statistics.median import Median

ROWS, GROUPS, EACH = 10_000_000, 1000, 1000


def tables():
    """Median of ten million rows; medians of a thousand groups."""
    median = Median("x", low=0, high=500_000)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        whole, split = Path(folder) / "whole.parquet", Path(folder) / "split.parquet"
        pq.write_table(pa.table({"x": rng.lognormal(10, 1, ROWS)}), whole, row_group_size=122_880)
        groups = rng.integers(0, GROUPS, GROUPS * EACH)
        columns = {
            "number": groups,
            "text": [f"region {group:04d}" for group in groups],
            "x": rng.lognormal(10, 1, len(groups)),
        }
        pq.write_table(pa.table(columns), split, row_group_size=122_880)
        source, rows = open_source(whole), []
        ours = seconds(lambda: source.summary(median.request(depth=1000)))
        theirs = seconds(lambda: duckdb.sql(f"select median(x) from '{whole}'").fetchall())
        rows.append(("median, 1e7 rows", ours, theirs, ours / theirs, 3.5))
        source = open_source(split)
        keys = {
            "number": tuple(range(GROUPS)),
            "text": tuple(f"region {group:04d}" for group in range(GROUPS)),
        }
        for by, public in keys.items():
            ours = seconds(lambda: list(source.summaries(by, public, median.request(depth=100))))
            theirs = seconds(
                lambda: duckdb.sql(f"select {by}, median(x) from '{split}' group by 1").fetchall()
            )
            rows.append((f"1000 medians by {by}, 1e6 rows", ours, theirs, ours / theirs, 3.0))
        yield "Readings from Parquet", ("what", "ours", "DuckDB", "ratio", "bar"), rows
