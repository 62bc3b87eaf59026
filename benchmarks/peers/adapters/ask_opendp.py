"""OpenDP through its framework API: rows of known number, replace-one (`d_in=2`), pure epsilon.

Quantiles choose among equally spaced candidates over the declared bounds; the scale comes from OpenDP's own search.
"""

import numpy as np
import opendp.prelude as dp
from protocol import Unsupported, serve

dp.enable_features("contrib")
FINE, COARSE = 10_001, 1001
METRIC = dp.symmetric_distance()


def quantile(low, high, rows, epsilon, q, candidates):
    """A private quantile among equally spaced candidates."""
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=rows)
    points = np.linspace(low, high, candidates).tolist()
    return dp.binary_search_chain(
        lambda scale: dp.m.make_private_quantile(
            domain, METRIC, dp.max_divergence(), candidates=points, alpha=q, scale=scale
        ),
        d_in=2,
        d_out=epsilon,
        T=float,
    )


def moment(make, low, high, rows, epsilon):
    """A clamped mean or variance with exact discrete Laplace noise."""
    raw = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=rows)
    clamp = dp.t.make_clamp(raw, METRIC, (low, high))
    query = clamp >> make(clamp.output_domain, METRIC)
    return dp.binary_search_chain(
        lambda scale: query >> dp.m.then_laplace(scale), d_in=2, d_out=epsilon, T=float
    )


def count(rows, epsilon):
    """A sum of zeros and ones with discrete Laplace noise."""
    domain = dp.vector_domain(dp.atom_domain(bounds=(0, 1), T="i32"), size=rows)
    query = dp.t.make_sum(domain, METRIC)
    return dp.binary_search_chain(
        lambda scale: query >> dp.m.then_laplace(scale), d_in=2, d_out=epsilon, T=float
    )


def two_stage(low, high, rows, epsilon, column):
    """OpenDP's advice for unknown bounds: a quarter of epsilon for either clipping point, half for the mean."""
    ends = [quantile(low, high, rows, epsilon / 4, q, FINE) for q in (0.05, 0.95)]

    def ask():
        lower, upper = sorted(float(end(column)) for end in ends)
        upper = max(upper, np.nextafter(lower, np.inf) + 1e-9 * (high - low))
        return moment(dp.t.make_mean, lower, upper, rows, epsilon / 2)(column)

    return ask


def prepare(task, column):
    """Build the measurement once; every call draws anew."""
    low, high, epsilon = float(task["low"]), float(task["high"]), float(task["epsilon"])
    rows, query = len(column), task["query"]
    if query == "count":
        measurement, data = count(rows, epsilon), (column > task["threshold"]).astype(np.int32)
    elif query == "mean":
        measurement, data = moment(dp.t.make_mean, low, high, rows, epsilon), column
    elif query == "variance":
        measurement, data = moment(dp.t.make_variance, low, high, rows, epsilon), column
    elif query == "mean_auto":
        return two_stage(low, high, rows, epsilon, column)
    elif "q" in task:
        candidates = task.get("candidates") or (COARSE if query in ("min", "max") else FINE)
        measurement, data = quantile(low, high, rows, epsilon, float(task["q"]), candidates), column
    else:
        raise Unsupported(query)
    return lambda: measurement(data)


if __name__ == "__main__":
    serve(prepare)
