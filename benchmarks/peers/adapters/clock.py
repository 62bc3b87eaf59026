"""How long a library takes: `clock.py NAME` reads one JSON task and writes CPU seconds and peak memory.

Runs inside the library's own environment. `first` is the first answer of the process, late imports included; `fresh`
goes from the array to an answer when all is loaded; `again` is one more answer of the same question, so that what a
library builds once and keeps is not held against it.
"""

import importlib
import json
import resource
import sys
import time
import warnings

import numpy as np

GROUPS = 1000
PATIENCE = 5.0  # CPU seconds after which the first answer has to do


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


def builder(name, query, task, values):
    """A function that goes from the array to a function that answers."""
    if name == "numpy":
        return lambda: plain(query, values)
    adapter = importlib.import_module(f"ask_{name}")  # importing is measured elsewhere
    if query == "groupby":
        grouped = importlib.import_module("grouped")
        return lambda: getattr(grouped, name)(np.arange(len(values)) % GROUPS, values, GROUPS)
    return lambda: adapter.prepare(task, values)


def main(name, task):
    """Time one question and tell."""
    values, query = column(task["rows"]), task["query"]
    build = builder(name, query, task, values)
    started = time.process_time()
    ask = build()
    ask()
    first = time.process_time() - started
    again, fresh = [first], [first]
    if first < PATIENCE:
        again = [timed(ask) for _ in range(task["repeats"])]
        fresh = [
            timed(lambda: build()())  # noqa: PLW0108 - both calls are timed
            for _ in range(task["repeats"])
        ]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "first": first, "again": float(np.median(again)), "fresh": float(np.median(fresh)), "peak_mb": peak / 1024
    }  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(main(sys.argv[1], json.loads(sys.stdin.readline()))))
