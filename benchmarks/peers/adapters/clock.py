"""How long a library takes: `clock.py NAME` reads one JSON task and writes CPU seconds and peak memory.

Runs inside the library's own environment. `first` is from the array to the first answer, `again` one more answer of the
same question; what a library builds once and keeps is therefore not held against it in `again`.
"""

import importlib
import json
import resource
import sys
import time
import warnings

import numpy as np

GROUPS = 1000


def column(rows):
    """Incomes between public bounds."""
    return np.clip(np.random.default_rng(7).lognormal(11, 0.9, rows), 0, 5e6)


def timed(action):
    """CPU seconds of all threads of this process."""
    started = time.process_time()
    action()
    return time.process_time() - started


def plain(query, values):
    """The statistic without privacy, as the floor."""
    if query == "groupby":
        import pandas as pd

        frame = pd.DataFrame({"g": np.arange(len(values)) % GROUPS, "x": values})
        return frame.groupby("g")["x"].median
    if query in ("median", "q99"):
        return lambda: np.quantile(values, 0.5 if query == "median" else 0.99)
    return lambda: np.clip(values, 0, 5e6).mean()


def main(name, task):
    """Time one question and tell."""
    values, query = column(task["rows"]), task["query"]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    if name == "numpy":
        ask = plain(query, values)
    elif query == "groupby":
        grouped = importlib.import_module("grouped")
        importlib.import_module(f"ask_{name}")
        started = time.process_time()
        ask = getattr(grouped, name)(np.arange(len(values)) % GROUPS, values, GROUPS)
    else:
        adapter = importlib.import_module(f"ask_{name}")
        started = time.process_time()  # importing is measured elsewhere
        ask = adapter.prepare(task, values)
    ask()
    first = time.process_time() - started
    times = [timed(ask) for _ in range(task["repeats"])] or [first]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "first": first,
        "again": float(np.median(times)),
        "peak_mb": peak / 1024,
        "data_mb": before / 1024,
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(main(sys.argv[1], json.loads(sys.stdin.readline()))))
