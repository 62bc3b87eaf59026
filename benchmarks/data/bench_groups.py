"""Whole releases of many groups (question, debit, reading, draws, record) beside DuckDB's medians and PyDP in a loop.

Processor seconds of all threads. PyDP is measured where it is installed, from the same columns: split, then one
`Median(...).quick_result(list)` per group, as its documentation has it.
"""

import resource

import duckdb
import numpy as np
import pyarrow as pa

import sordino as sd
from benchmarks.data.clock import seconds

MEDIAN = sd.Median("x", low=0, high=500_000)
AGES = sd.Median("x", low=0, high=120, step=1)
PRICE = sd.Pure(1)


def columns(groups, each):
    """Incomes by group."""
    rng = np.random.default_rng(0)
    return {"g": rng.integers(0, groups, groups * each), "x": rng.lognormal(10, 1, groups * each)}


def released(table, keys, statistic):
    """One release with a ledger of its own."""

    def work():
        people = sd.open(table, budget=sd.Pure(2))
        people.release_by("g", keys, statistic, PRICE)

    return work


def pydp(table, groups):
    """A loop over groups, or None without the library."""
    try:
        from pydp.algorithms.laplacian import Median
    except ImportError:
        return None

    def work():
        order = np.argsort(table["g"], kind="stable")
        ends = np.searchsorted(table["g"][order], np.arange(1, groups))
        for part in np.split(table["x"][order], ends):
            median = Median(epsilon=1.0, lower_bound=0.0, upper_bound=500_000.0, dtype="float")
            median.quick_result(part.tolist())

    return work


def tables():
    """A thousand large groups, a hundred thousand small ones, and single answers."""
    rows = []
    for groups, each, repeats in ((1000, 1000, 7), (100_000, 10, 2)):
        table, keys = columns(groups, each), list(range(groups))
        engine = duckdb.connect()
        engine.register("people", pa.table(table))
        ages = {"g": table["g"], "x": np.round(table["x"] / 1000)}
        ours = seconds(released(table, keys, MEDIAN), repeats)
        short = seconds(released(ages, keys, AGES), repeats)
        query = "select g, median(x) from people group by 1"
        theirs = seconds(lambda engine=engine: engine.sql(query).fetchall(), repeats)
        loop = pydp(table, groups)
        peer = seconds(loop, repeats) if loop else float("nan")
        rows.append((f"{groups:,} x {each:,}", ours, short, theirs, ours / theirs, peer, peer / ours))
    yield (
        "Medians by group, whole release (bars: 3 times DuckDB, a third of PyDP, at 1,000 x 1,000)",
        ("groups x rows", "ours", "ages", "DuckDB", "ratio", "PyDP", "PyDP / ours"),
        rows,
    )
    single = []
    for count in (1000, 1_000_000):
        people = sd.open({"x": columns(1, count)["x"]}, budget=sd.Pure(10**6))
        wide = {"low": 0, "high": 1e7}
        for name, statistic in (("median", sd.Median("x", **wide)), ("mean", sd.Mean("x", **wide))):
            single.append((name, count, 1e3 * seconds(lambda s=statistic: people.release(s, PRICE), 7)))
    yield "One answer, whole release", ("statistic", "rows", "ms"), single
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield "Memory", ("what", "MB"), [("largest resident set of this run", largest)]
