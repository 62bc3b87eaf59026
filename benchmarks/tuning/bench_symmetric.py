"""Constants of symmetric means: error with each moved, over the error as shipped."""

import numpy as np

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, sweep
from sordino.mechanisms.tuned_means import ForSymmetric


def symmetric(rows, seed=7):
    """Generated columns that are symmetric: bell, far from zero, flat, peaked, with heavy tails, two clusters."""
    random = np.random.default_rng([seed, rows])
    return {
        "bell": random.normal(40, 12, rows),
        "far": random.normal(95, 0.5, rows),
        "flat": random.uniform(20, 60, rows),
        "peaked": random.laplace(50, 5, rows),
        "heavy tails": 50 + 3 * random.standard_t(3, rows),
        "two clusters": random.choice([30, 70], rows) + random.normal(0, 2, rows),
    }


def cells():
    """Questions on generated shapes, with few rows for the price and with many."""
    for rows, epsilon in ((101, 0.15), (101, 0.25), (201, 0.2), (201, 0.3), (1001, 0.3), (4001, 1)):
        for name, column in symmetric(rows).items():
            asked = f"{name} n={rows} epsilon={epsilon}"
            statistic = sd.Mean("x", low=0, high=100)
            yield Cell(asked, statistic, sd.Pure(epsilon), column.clip(0, 100), (("symmetric", True),))


def tables():
    """What becomes of the error."""
    yield (
        "Constants of symmetric means: error with each moved, over the error as shipped.",
        COLUMNS,
        sweep(ForSymmetric, list(cells())),
    )
