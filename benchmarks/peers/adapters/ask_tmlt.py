"""Tumult: add/remove, pure epsilon. Quantiles by `tmlt.core`'s NoisyQuantile, which Tumult Analytics calls on Spark.

Averages, variances and counts exist on Spark only. One query answers many groups of public keys, each with noise of its
own, so copies of the column are grouped and one query draws all repetitions. `mean_auto` spends half on `get_bounds`,
cuts the declared bounds by what that says, and spends the other half on the average.
"""

import atexit
import shutil
import tempfile
from functools import cache

import numpy as np
import pandas as pd
import sympy
from protocol import Unsupported, serve
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.domains.pandas_domains import PandasSeriesDomain
from tmlt.core.measurements.pandas_measurements.series import NoisyQuantile
from tmlt.core.measures import PureDP

ROWS = 200_000  # of one Spark table


def prepare(task, column):
    """One measurement; every call draws anew."""
    if "q" in task:
        return quantile(task, column)
    if task["query"] not in ("mean", "mean_auto", "variance", "count"):
        raise Unsupported(task["query"])
    waiting = []

    def ask():
        if not waiting:
            waiting.extend(batch(task, column, max(1, min(task["repeats"], ROWS // len(column)))))
        return waiting.pop()

    return ask


def quantile(task, column):
    """Without Spark, whose part in it is to hand the rows over."""
    measurement = NoisyQuantile(
        PandasSeriesDomain(NumpyFloatDomain()),
        PureDP(),
        quantile=task["q"],
        lower=float(task["low"]),
        upper=float(task["high"]),
        epsilon=sympy.Rational(str(task["epsilon"])),
    )
    series = pd.Series(column)
    return lambda: measurement(series)


@cache
def spark():
    """One Spark on one thread, kept as long as the process lives; it says nothing."""
    from pyspark.sql import SparkSession

    tables = tempfile.mkdtemp(prefix="peers-spark-")
    atexit.register(shutil.rmtree, tables, ignore_errors=True)
    wanted = {
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "6g",
        "spark.sql.warehouse.dir": tables,
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    found = SparkSession.builder.master("local[1]").config(map=wanted).getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


def session(frame):
    """A session about a pandas frame, with more budget than is asked for."""
    from tmlt.analytics import AddOneRow, PureDPBudget, Session

    return Session.from_dataframe(
        privacy_budget=PureDPBudget(float("inf")),
        source_id="people",
        dataframe=spark().createDataFrame(frame),
        protected_change=AddOneRow(),
    )


def evaluate(people, query, epsilon):
    """The rows of an answer."""
    from tmlt.analytics import PureDPBudget

    return people.evaluate(query, PureDPBudget(float(epsilon))).collect()


def batch(task, column, copies):
    """So many answers, from as many copies of the column."""
    from tmlt.analytics import KeySet, QueryBuilder

    people = session(
        pd.DataFrame({"g": np.repeat(np.arange(copies), len(column)), "x": np.tile(column, copies)})
    )
    low, high, epsilon = float(task["low"]), float(task["high"]), task["epsilon"]
    start = QueryBuilder("people")
    grouped = start.groupby(KeySet.from_dict({"g": list(range(copies))}))
    if task["query"] == "count":
        above = start.filter(f"x > {task['threshold']!r}").groupby(
            KeySet.from_dict({"g": list(range(copies))})
        )
        return [row["count"] for row in evaluate(people, above.count(), epsilon)]
    if task["query"] == "mean":
        return [row["x_average"] for row in evaluate(people, grouped.average("x", low, high), epsilon)]
    if task["query"] == "variance":
        return [row["x_variance"] for row in evaluate(people, grouped.variance("x", low, high), epsilon)]
    bounds = {}
    for row in evaluate(people, grouped.get_bounds("x"), epsilon / 2):
        bounds.setdefault(row["x_upper_bound"], []).append(row["g"])
    found = []
    for bound, keys in bounds.items():
        part = start.groupby(KeySet.from_dict({"g": keys})).average("x", max(low, -bound), min(high, bound))
        found += [row["x_average"] for row in evaluate(people, part, epsilon / 2)]
    return found


if __name__ == "__main__":
    serve(prepare)
