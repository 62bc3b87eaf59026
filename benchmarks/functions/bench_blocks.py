"""What it costs to run a function on blocks apart: a million rows in 200 blocks, beside a bare loop of the same calls.

Best of three. A process per block costs a few milliseconds, nearly all of it page faults after a fork, so what a
function costs itself decides the ratio: with isolation "none" it is that of a loop.
"""

import time

import numpy as np

import sordino as sd

ROWS, BLOCKS = 1_000_000, 200


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


def seconds(run):
    """The best of three."""
    found = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def tables():
    """For the runner."""
    random = np.random.default_rng(1)
    x = random.normal(size=ROWS)
    table = {"x": x, "y": 2 * x + random.normal(size=ROWS)}
    lines = []
    for f in (slope, median):
        for parts in (0, 5):
            loop = seconds(lambda f=f, parts=parts: bare(f, table, parts))
            for isolation in ("none", "process"):
                function = sd.Function(
                    f, columns=["x", "y"], low=-100, high=100, frame="numpy", isolation=isolation,
                    blocks=BLOCKS, debias=parts,
                )  # fmt: skip
                people = sd.open(table, budget=sd.Pure(10))
                ours = seconds(lambda people=people, function=function: people.release(function, sd.Pure(1)))
                lines.append((f.__name__, parts, isolation, loop, ours, ours / loop))
    names = ("function", "jackknife", "isolation", "bare loop, s", "release, s", "ratio")
    yield f"{ROWS:,} rows in {BLOCKS} blocks", names, lines
