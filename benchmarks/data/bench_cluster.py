"""A Spark cluster of two workers in processes of their own: what releases cost there, beside Spark's own quantile.

    pip install -e ".[spark]" && SORDINO_ROWS=10000000 python -m benchmarks bench_cluster

Needs a Java. Log-normal doubles in bounds thirty times too wide, a thousand groups, in Parquet. Each question is put
four times (twice of more than 1e7 rows): what Java has not yet compiled makes the first slow, and of the others that
with the least CPU time counts, which is that of the executors by Spark's own account. Scans are stages that read the
table; the rows are counted once when it is opened, from the footers of the files. Limits: a quantile in two scans, a
default mean in three, with groups and without; a median in half of approx_percentile's CPU time, a thousand medians of
1e7 rows in 30 CPU seconds.
"""

import os
import tempfile
from pathlib import Path

import numpy as np

import sordino as sd
from benchmarks.data.cluster import Meter, cluster, session

ROWS = int(os.environ.get("SORDINO_ROWS", "1_000_000"))
GROUPS, PART = 1000, 2_500_000
BOUNDS = {"low": 0, "high": 1_000_000}


def written(folder):
    """The table, in several files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(7)
    for start in range(0, ROWS, PART):
        rows = min(PART, ROWS - start)
        columns = {"x": random.lognormal(10, 0.7, rows), "g": random.integers(0, GROUPS, rows)}
        pq.write_table(pa.table(columns), Path(folder) / f"{start}.parquet", row_group_size=500_000)
    return folder


def questions(people, frame):
    """What is asked, with the most scans that it may take."""
    keys, price = tuple(range(GROUPS)), sd.Pure(1)
    nine = [sd.Quantile("x", q=place / 10, **BOUNDS) for place in range(1, 10)]
    yield "approx_percentile", lambda: frame.selectExpr("approx_percentile(x, 0.5)").collect(), 1
    yield "median", lambda: people.release(sd.Median("x", **BOUNDS), price), 2
    yield "nine quantiles", lambda: people.release(nine, price), 2
    yield "default mean", lambda: people.release(sd.Mean("x", **BOUNDS), price), 3
    yield "1000 medians", lambda: people.release_by("g", keys, sd.Median("x", **BOUNDS), price), 2
    yield "1000 default means", lambda: people.release_by("g", keys, sd.Mean("x", **BOUNDS), price), 3


def tables():
    """For the runner."""
    lines = []
    with tempfile.TemporaryDirectory() as folder, cluster() as address, session(address) as spark:
        frame = spark.read.parquet(written(folder))
        people, meter = sd.open(frame, budget=sd.Pure(1000)), Meter(spark)
        for name, ask, limit in questions(people, frame):
            found = []
            for _ in range(2 if ROWS > 10**7 else 4):
                ask()
                found.append(meter.read())
            cpu, scans, shuffled, sent = min(found[1:])
            lines.append((name, cpu, scans, limit, shuffled, sent))
            print(*lines[-1], flush=True)  # a long run shows what it has found
    names = ("question", "executors, CPU s", "scans", "at most", "shuffled, MB", "to the driver, MB")
    yield f"{ROWS:,} rows on two workers", names, lines
