"""PipelineDP on its local backend: add/remove, Laplace noise, one public partition, so that no delta is spent."""

import pipeline_dp
from protocol import Unsupported, serve

METRICS = {"mean": pipeline_dp.Metrics.MEAN, "variance": pipeline_dp.Metrics.VARIANCE}


def aggregate(rows, metric, epsilon, low, high):
    """One aggregation with the whole budget."""
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=0)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    bounds = {} if low is None else {"min_value": low, "max_value": high}
    params = pipeline_dp.AggregateParams(
        metrics=[metric],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        **bounds,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: 0,  # noqa: ARG005
        value_extractor=lambda row: row[1],
    )
    result = engine.aggregate(rows, params, extractors, public_partitions=[0])
    accountant.compute_budgets()
    return next(iter(result))[1][0]


def prepare(task, column):
    """Every row is a person of its own."""
    query, epsilon = task["query"], task["epsilon"]
    low, high = float(task["low"]), float(task["high"])
    rows = list(enumerate(column.tolist()))
    if query == "count":
        above = [row for row in rows if row[1] > task["threshold"]]
        return lambda: aggregate(above, pipeline_dp.Metrics.COUNT, epsilon, None, None)
    if "q" in task:
        metric = pipeline_dp.Metrics.PERCENTILE(100 * task["q"])
    elif query in METRICS:
        metric = METRICS[query]
    else:
        raise Unsupported(query)
    return lambda: aggregate(rows, metric, epsilon, low, high)


if __name__ == "__main__":
    serve(prepare)
