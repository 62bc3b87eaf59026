"""PipelineDP: private partition selection and counts of people, with bounded partitions per person."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import pipeline_dp
from keys_protocol import serve


def ask(people, keys, epsilon, delta, most):
    """Keys and counts: half of the budget selects keys, as the library does by default."""
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    params = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=most,
        max_contributions_per_partition=1,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: 0,  # noqa: ARG005
    )
    result = engine.aggregate(list(zip(people.tolist(), keys.tolist(), strict=True)), params, extractors)
    accountant.compute_budgets()
    return {int(key): float(found[0]) for key, found in result}


def select(people, keys, epsilon, delta, most):
    """Keys alone, with the whole budget."""
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    params = pipeline_dp.SelectPartitionsParams(max_partitions_contributed=most)
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
    )
    result = engine.select_partitions(
        list(zip(people.tolist(), keys.tolist(), strict=True)), params, extractors
    )
    accountant.compute_budgets()
    return dict.fromkeys(map(int, result))


if __name__ == "__main__":
    serve({"counts": ask, "keys": select})
