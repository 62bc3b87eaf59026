"""What reading a statistic costs beside numpy on the same array, in one process.

Run `python benchmarks/statistics/reading.py`; it fails when a bar is missed. CPU seconds, best of several turns in
alternation, so that the load of the machine falls on both sides. Bars: order statistics and trimmed means 1.5 times
`numpy.partition` with as many ranks, a mean 15 times `numpy.sum`, memory beyond the column 0.5 of it.
"""

from __future__ import annotations

import sys
import time
import tracemalloc

import numpy as np

from sordino.data.memory import Memory
from sordino.statistics.mean import Mean
from sordino.statistics.median import Median
from sordino.statistics.quantiles import Quantiles
from sordino.statistics.trimmed_mean import TrimmedMean

ROWS = 10_000_000
DEPTH = 140
TURNS = 5


def compare(work, yardstick, turns: int = TURNS) -> tuple[float, float]:
    """CPU seconds of two functions, the best of turns in alternation."""
    best = [float("inf"), float("inf")]
    for _ in range(turns):
        for side, function in enumerate((work, yardstick)):
            start = time.process_time()
            function()
            best[side] = min(best[side], time.process_time() - start)
    return best[0], best[1]


def peak(work) -> int:
    """Bytes allocated beyond what was there before."""
    tracemalloc.start()
    work()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def rows(column: np.ndarray) -> list[tuple[str, float, float, float, float, float]]:
    """Name, seconds, seconds of numpy, ratio, bar, memory as a share of the column."""
    n = len(column)
    source = Memory({"x": column})
    common = {"low": -50, "high": 1050}
    plans = [
        ("median, one rank", Median("x", **common), lambda: np.partition(column, n // 2), 1.5),
        ("quartiles", Quantiles("x", qs=(0.25, 0.5, 0.75), **common),
         lambda: np.partition(column, [n // 4, n // 2, 3 * n // 4]), 1.5),
        ("trimmed mean, two ranks", TrimmedMean("x", trim=0.1, **common),
         lambda: np.partition(column, [n // 10, n - n // 10]), 1.5),
        ("mean", Mean("x", **common), lambda: np.sum(column), 15.0),
    ]  # fmt: skip
    table = []
    for name, plan, yardstick, bar in plans:
        request = plan.request(depth=DEPTH)

        def read(plan=plan, request=request):
            return plan.read(*source.summary(request))

        ours, numpy = compare(read, yardstick)
        table.append((name, ours, numpy, ours / numpy, bar, peak(read) / column.nbytes))
    return table


def main() -> int:
    """Print the table, and say whether every bar was kept."""
    rng = np.random.default_rng(1)
    fine = True
    for label, column in (
        ("normal", rng.normal(size=ROWS)),
        ("heaped", np.where(rng.random(ROWS) < 0.8, 65.0, rng.random(ROWS) * 1000)),
    ):
        for name, ours, numpy, ratio, bar, memory in rows(column):
            kept = ratio <= bar and memory <= 0.5 + 0.02
            fine &= kept
            mark = "" if kept else "  <- over the bar"
            print(
                f"{label:8}{name:26}{ours:8.3f} s  numpy {numpy:7.3f} s  ratio {ratio:6.2f} (bar {bar:g})"
                f"  memory {memory:.2f} of the column{mark}"
            )
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
