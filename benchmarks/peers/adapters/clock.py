"""How long a library takes: `clock.py NAME` reads one JSON task and writes CPU seconds and peak memory.

Runs inside the library's own environment. `first` is the first answer of the process, late imports included; `fresh`
goes from the array to an answer when all is loaded; `again` is one more answer of the same question, so that what a
library builds once and keeps is not held against it.
"""

import importlib
import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np

GROUPS = 1000
PATIENCE = 5.0  # CPU seconds after which the first answer has to do


def column(rows):
    """Incomes between public bounds."""
    return np.clip(np.random.default_rng(7).lognormal(11, 0.9, rows), 0, 5e6)


def descendants():
    """The processes that this one started, and theirs: a Java machine, workers."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents.setdefault(int(_fields(place)[1]), []).append(place)
        except OSError:  # it has just ended
            continue
    found, waiting = [], [os.getpid()]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += [int(place.name) for place in children]
    return found


def _fields(place):
    """The fields of /proc/PID/stat behind the command, which may hold anything: state, parent, ..."""
    return (place / "stat").read_text().rpartition(")")[2].split()


def elsewhere():
    """CPU seconds so far of the processes that this one started, ended ones included."""
    ticks = 0
    for place in descendants():
        try:
            ticks += sum(map(int, _fields(place)[11:15]))  # user, system, and both of its ended children
        except OSError:
            continue
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ticks / os.sysconf("SC_CLK_TCK") + ended.ru_utime + ended.ru_stime


def memory():
    """Peak memory in kilobytes, of this process and of those it started that still live."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for place in descendants():
        try:
            lines = (place / "status").read_text().splitlines()
        except OSError:
            continue
        peak += sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return peak


def timed(action):
    """CPU seconds of an action: all threads of this process, and all that it starts."""
    before, started = elsewhere(), time.process_time()  # in this order: looking around takes time itself
    action()
    spent = time.process_time() - started
    return spent + elsewhere() - before


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
    made = []
    first = timed(lambda: (made.append(build()), made[0]()))
    ask = made[0]
    again, fresh = [first], [first]
    if first < task.get("patience", PATIENCE):
        again = [timed(ask) for _ in range(task["repeats"])]
        fresh = [
            timed(lambda: build()())  # noqa: PLW0108 - both calls are timed
            for _ in range(task["repeats"])
        ]
    return {
        "first": first, "again": float(np.median(again)), "fresh": float(np.median(fresh)),
        "peak_mb": memory() / 1024, "load": os.getloadavg()[0],
    }  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(main(sys.argv[1], json.loads(sys.stdin.readline()))))
