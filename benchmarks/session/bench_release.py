"""One release at a thousand rows with its ledger in memory, and one plan: CPU time beside its limit.

A question that was asked before is not rehearsed again, and a plan that was made is remembered by its public
parameters, so the second time counts for a release, and both times for a plan.
"""

import time

import numpy as np

import sordino as sd

ROWS, TIMES = 1000, 30
LIMITS = {  # statistic: milliseconds of a release
    "count": (sd.Count("x"), 1.0),
    "median": (sd.Median("x", low=0, high=1000), 2.0),
    "mean": (sd.Mean("x", low=0, high=1000), 4.0),
    "9 quantiles": (
        sd.Quantiles("x", qs=tuple(tenth / 10 for tenth in range(1, 10)), low=0, high=1000),
        10.0,
    ),
}
PLANNED = ("count", "median", "mean")
FIRST, AGAIN = 1000.0, 10.0  # milliseconds of a plan


def spent(run):
    """CPU milliseconds."""
    start = time.process_time()
    run()
    return 1000 * (time.process_time() - start)


def tables():
    """For the runner."""
    column = np.random.default_rng(1).lognormal(3, 1, ROWS)
    lines = []
    for name, (statistic, limit) in LIMITS.items():
        people = sd.open({"x": column}, budget=sd.Pure(10_000))

        def release(people=people, statistic=statistic):
            people.release(statistic, sd.Pure(1))

        release()
        found = [spent(release) for _ in range(TIMES)]
        lines.append((name, float(np.median(found)), min(found), limit))
    yield f"One release at n = {ROWS:,}, CPU ms", ("statistic", "median", "least", "limit"), lines
    lines = []
    for name in PLANNED:
        statistic = LIMITS[name][0]
        first, again = (spent(lambda s=statistic: str(sd.plan(s, sd.Pure(1), rows=ROWS))) for _ in range(2))
        lines.append((name, first, FIRST, again, AGAIN))
    yield f"One plan at n = {ROWS:,}, CPU ms", ("statistic", "first", "limit", "again", "limit"), lines
