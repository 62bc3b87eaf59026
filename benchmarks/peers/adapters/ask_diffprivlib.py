"""diffprivlib's tools: replace-one, pure epsilon, declared bounds."""

import numpy as np
from diffprivlib import BudgetAccountant, tools
from protocol import Unsupported, serve


def prepare(task, column):
    """One call of a tool an answer; a fresh accountant, so that nothing adds up."""
    bounds, epsilon, query = (task["low"], task["high"]), task["epsilon"], task["query"]
    fresh = {"accountant": BudgetAccountant()}
    if query == "count":
        above = column > task["threshold"]
        return lambda: tools.count_nonzero(above, epsilon=epsilon, **fresh)
    if query == "mean":
        return lambda: tools.mean(column, epsilon=epsilon, bounds=bounds, **fresh)
    if query == "variance":
        rows = len(column)  # the number of rows is public: the unbiased form costs nothing
        return lambda: tools.var(column, epsilon=epsilon, bounds=bounds, **fresh) * rows / (rows - 1)
    if query == "mean_auto":
        return lambda: two_stage(column, epsilon, bounds, fresh)
    if "q" in task:
        return lambda: tools.quantile(column, task["q"], epsilon=epsilon, bounds=bounds, **fresh)
    raise Unsupported(query)


def two_stage(column, epsilon, bounds, fresh):
    """The advice for unknown bounds: a quarter of epsilon for either clipping point, half for the mean."""
    ends = [tools.quantile(column, q, epsilon=epsilon / 4, bounds=bounds, **fresh) for q in (0.05, 0.95)]
    lower, upper = min(ends), max(ends)
    return tools.mean(np.clip(column, lower, upper), epsilon=epsilon / 2, bounds=(lower, upper), **fresh)


if __name__ == "__main__":
    serve(prepare)
