"""A private median of every group: natively where a library can, in a loop where it cannot. Public keys, epsilon 1."""

LOW, HIGH = 0.0, 5e6


def _split(keys, values, groups):
    import numpy as np

    order = np.argsort(keys, kind="stable")
    ends = np.searchsorted(keys[order], range(1, groups))
    return np.split(values[order], ends)


def opendp(keys, values, groups):
    """Through Polars, 1,001 candidates; keys and a bound on the size of groups are public."""
    import numpy as np
    import opendp.prelude as dp
    import polars as pl

    frame = pl.LazyFrame({"g": keys, "x": values})
    size = int(2 * len(values) / groups)
    points = np.linspace(LOW, HIGH, 1001).tolist()

    def ask():
        context = dp.Context.compositor(
            data=frame,
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(epsilon=1.0),
            margins=[dp.polars.Margin(by=["g"], max_length=size, invariant="keys")],
        )
        cleaned = pl.col("x").fill_nan(0.0).fill_null(0.0)
        query = context.query(epsilon=1.0).group_by("g").agg(cleaned.dp.median(points))
        return query.release().collect()

    return ask


def diffprivlib(keys, values, groups):
    """A loop over groups."""
    from diffprivlib import BudgetAccountant, tools

    def ask():
        parts = _split(keys, values, groups)
        return [
            tools.median(part, epsilon=1.0, bounds=(LOW, HIGH), accountant=BudgetAccountant())
            for part in parts
        ]

    return ask


def pydp(keys, values, groups):
    """A loop over groups."""
    from pydp.algorithms import laplacian

    def ask():
        bounds = {"lower_bound": LOW, "upper_bound": HIGH, "dtype": "float"}
        parts = _split(keys, values, groups)
        return [laplacian.Median(epsilon=1.0, **bounds).quick_result(part.tolist()) for part in parts]

    return ask


def pipelinedp(keys, values, groups):
    """Natively, on the local backend."""
    import pipeline_dp

    rows = list(zip(range(len(values)), keys.tolist(), values.tolist(), strict=True))

    def ask():
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=0)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        params = pipeline_dp.AggregateParams(
            metrics=[pipeline_dp.Metrics.PERCENTILE(50)], max_partitions_contributed=1,
            max_contributions_per_partition=1, min_value=LOW, max_value=HIGH,
        )  # fmt: skip
        extractors = pipeline_dp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: row[2],
        )
        result = engine.aggregate(rows, params, extractors, public_partitions=list(range(groups)))
        accountant.compute_budgets()
        return list(result)

    return ask


def tmlt_spark(keys, values, groups):
    """Natively, on Spark."""
    import pandas as pd
    from ask_tmlt import evaluate, session
    from tmlt.analytics import KeySet, QueryBuilder

    people = session(pd.DataFrame({"g": keys, "x": values}))
    query = (
        QueryBuilder("people").groupby(KeySet.from_dict({"g": list(range(groups))})).median("x", LOW, HIGH)
    )
    return lambda: evaluate(people, query, 1.0)


def sordino(keys, values, groups):
    """Natively, add/remove as the others."""
    import sordino as sd

    people = sd.open(
        {"g": keys, "x": values},
        budget=sd.Pure(10**6),
        neighbors=sd.Neighbors.ADD_REMOVE_ONE,
        rows=len(values),
    )
    statistic = sd.Median("x", low=LOW, high=HIGH)
    return lambda: people.release_by("g", list(range(groups)), statistic, sd.Pure(1))
