"""What it costs to run a function on blocks apart: a million rows in 200 blocks, beside a bare loop of the same calls.

The loop is what somebody would write: a random order, cut into parts, and the calls of the jackknife inside a block
where there is one (the default for blocks of 60 rows or more). CPU seconds of all processes together, and seconds on
the clock with two workers; best of three. The limit is three times the loop, on the clock.

A fork costs what it costs: here about half a millisecond for the pages of Python and numpy, and a microsecond or two
for each of the three to four hundred pages that a light function touches afterwards. So a function that takes less
than a millisecond on its block is dominated by that.
"""

import resource
import time

import numpy as np

import sordino as sd
from sordino.running import pool

ROWS, BLOCKS, LIMIT, RELEASES = 1_000_000, 200, 3.0, 4


def slope(block):
    """A regression slope."""
    return np.polyfit(block["x"], block["y"], 1)[0]


def median(block):
    """A median of ratios."""
    return np.median(block["y"] / (1 + block["x"] ** 2))


def bare(f, table, parts):
    """The loop that somebody would write, with the jackknife's calls."""
    order = np.random.default_rng(1).permutation(ROWS)
    for rows in np.array_split(order, BLOCKS):
        block = {name: values[rows] for name, values in table.items()}
        f(block)
        for places in np.array_split(np.arange(len(rows)), parts) if parts else ():
            f({name: np.delete(values, places) for name, values in block.items()})


def spent():
    """CPU seconds of this process and of all that have ended, and the time."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return np.array([sum(one.ru_utime + one.ru_stime for one in used), time.perf_counter()])


def cost(run, times=1):
    """CPU seconds and seconds of one run; processes that are kept are ended, so that they count."""
    start = spent()
    for _ in range(times):
        run()
    pool.end()
    return spent() - start


def tables():
    """For the runner."""
    random = np.random.default_rng(1)
    x = random.normal(size=ROWS)
    table = {"x": x, "y": 2 * x + random.normal(size=ROWS)}
    lines = []
    for f in (slope, median):
        for parts in (0, 5):
            loop = np.min([cost(lambda f=f, parts=parts: bare(f, table, parts)) for _ in range(3)], axis=0)
            for isolation in ("none", "process"):
                function = sd.Function(
                    f, columns=["x", "y"], low=-100, high=100, frame="numpy", isolation=isolation,
                    blocks=BLOCKS, debias=parts,
                )  # fmt: skip
                people = sd.open(table, budget=sd.Pure(1000))

                def release(people=people, function=function):
                    people.release(function, sd.Pure(1))

                each = np.min(
                    [(cost(release, RELEASES + 1) - cost(release)) / RELEASES for _ in range(3)], axis=0
                )
                lines.append((f.__name__, parts, isolation, *loop, *each, *(each / loop), LIMIT))
    names = (
        "function", "jackknife", "isolation", "loop, CPU s", "loop, s", "release, CPU s", "release, s",
        "CPU ratio", "ratio", "limit",
    )  # fmt: skip
    yield f"{ROWS:,} rows in {BLOCKS} blocks", names, lines
