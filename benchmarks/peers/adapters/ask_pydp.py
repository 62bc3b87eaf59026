"""PyDP (Google's library): add/remove, pure epsilon; `half` runs it at half of that, for replace-one.

`tree` is the quantile tree; `mean_auto` gives no bounds, so that the library searches them itself.
"""

from protocol import Unsupported, serve
from pydp.algorithms import laplacian
from pydp.algorithms.quantile_tree import QuantileTree

HEIGHT, BRANCHES = 4, 16


def prepare(task, column):
    """A new algorithm for every answer: each holds one budget."""
    half = task["variant"] == "half"
    epsilon = task["epsilon"] / 2 if half else task["epsilon"]
    bounds = {"lower_bound": float(task["low"]), "upper_bound": float(task["high"]), "dtype": "float"}
    rows, query = column.tolist(), task["query"]
    if task["variant"] == "tree":
        if "q" not in task:
            raise Unsupported(query)
        return lambda: tree(rows, task["q"], epsilon, bounds)
    if query == "count":
        above = [value for value in rows if value > task["threshold"]]
        return lambda: laplacian.Count(epsilon=epsilon, dtype="float").quick_result(above)
    if query == "mean":
        return lambda: laplacian.BoundedMean(epsilon=epsilon, **bounds).quick_result(rows)
    if query == "mean_auto":
        return lambda: laplacian.BoundedMean(epsilon=epsilon, dtype="float").quick_result(rows)
    if query == "variance":
        return lambda: laplacian.BoundedVariance(epsilon=epsilon, **bounds).quick_result(rows)
    if query in ("min", "max"):
        kind = laplacian.Min if query == "min" else laplacian.Max
        return lambda: kind(epsilon=epsilon, **bounds).quick_result(rows)
    if query == "median":
        return lambda: laplacian.Median(epsilon=epsilon, **bounds).quick_result(rows)
    if "q" in task:
        return lambda: laplacian.Percentile(epsilon=epsilon, percentile=task["q"], **bounds).quick_result(
            rows
        )
    raise Unsupported(query)


def tree(rows, q, epsilon, bounds):
    """A noisy tree of counts."""
    built = QuantileTree(bounds["lower_bound"], bounds["upper_bound"], HEIGHT, BRANCHES)
    for value in rows:
        built.add_entry(value)
    return built.compute_quantiles(epsilon, 0, 1, 1, [q])[0]


if __name__ == "__main__":
    serve(prepare)
