"""One release of a thousand rows, one plan, and one command, in processor time."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import sordino as sd
from benchmarks.bars.clock import least
from benchmarks.bars.columns import PRICE, TENTHS

ROWS = 1000
BOUNDS = {"low": 0, "high": 1000}
STATISTICS = {
    "count": (sd.Count("x"), 1.0),
    "median": (sd.Median("x", **BOUNDS), 2.0),
    "default mean": (sd.Mean("x", **BOUNDS), 4.0),
    "9 quantiles": (sd.Quantiles("x", qs=TENTHS, **BOUNDS), 10.0),
}
PLAN = """
import time
import sordino as sd
column = {"low": 0, "high": 1000}
statistic = {"count": sd.Count("x"), "median": sd.Median("x", **column), "default mean": sd.Mean("x", **column)}[NAME]
for _ in range(2):
    begun = time.process_time()
    str(sd.plan(statistic, sd.Pure(1), rows=1000))
    print(time.process_time() - begun)
"""


def spent(command, **options):
    """Processor seconds of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def lines():
    """Name, milliseconds or seconds, bar."""
    values = np.random.default_rng(1).lognormal(3, 1, ROWS)
    for name, (statistic, bar) in STATISTICS.items():
        people = sd.open({"x": values}, budget=sd.Pure(10**6))
        people.release(statistic, PRICE)
        (seconds,) = least(lambda s=statistic, p=people: p.release(s, PRICE), turns=30)
        yield f"{name}, {ROWS:,} rows, ms", 1000 * seconds, bar
    for name in ("count", "median", "default mean"):
        program = PLAN.replace("NAME", repr(name))
        found = [tuple(map(float, spent([sys.executable, "-c", program])[1].split())) for _ in range(5)]
        yield f"plan of a {name}, first, s", min(first for first, _ in found), 1.0
        yield f"plan of a {name}, again, ms", 1000 * min(again for _, again in found), 10.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        path.write_text("income\n" + "".join(f"{value:.2f}\n" for value in values))
        environment = os.environ | {"HOME": folder}
        command = [sys.executable, "-m", "sordino", "release", path, "median", "income", "--low", "0", "--high", "1000",
                   "--epsilon", "0.01", "--budget", "10"]  # fmt: skip
        spent(command, cwd=folder, env=environment)
        found = []
        for _ in range(7):
            begun = time.perf_counter()
            cpu, _ = spent(command, cwd=folder, env=environment)
            found.append((cpu, time.perf_counter() - begun))
        yield "`sordino release` of a small CSV file, s", min(cpu for cpu, _ in found), 0.5
