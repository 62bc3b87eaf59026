"""Whole releases of a column in memory, times numpy's own work on the same column."""

import numpy as np

import sordino as sd
from benchmarks.bars.clock import ratio

PRICE, BOUNDS = sd.Pure(1), {"low": 0, "high": 500_000}
TENTHS = tuple(tenth / 10 for tenth in range(1, 10))
EDGES = tuple(np.linspace(0, 500_000, 21).tolist())


def column(rows):
    """Incomes, drawn from a log-normal law."""
    return np.random.default_rng(0).lognormal(10, 1, rows)


def lines():
    """Name, ratio, bar."""
    for rows, turns in ((10**6, 9), (10**7, 3)):
        values = column(rows)
        people = sd.open({"x": values}, budget=sd.Pure(10**9))
        asked = [
            ("9 quantiles", sd.Quantiles("x", qs=TENTHS, **BOUNDS), lambda v=values: np.quantile(v, TENTHS), 2.0),
            ("histogram", sd.Histogram("x", edges=EDGES), lambda v=values: np.histogram(v, EDGES), 1.5),
            ("count above", sd.CountAbove("x", threshold=50_000),
             lambda v=values: np.count_nonzero(v > 50_000), 3.0),
        ]  # fmt: skip
        if rows == 10**6:

            def median(v=values):
                return np.median(v)

            asked = [
                ("default mean, times np.median", sd.Mean("x", **BOUNDS), median, 0.7),
                ("default variance, times np.median", sd.Variance("x", **BOUNDS), median, 1.0),
                ("default maximum, times np.median", sd.Maximum("x", **BOUNDS), median, 0.5),
                *asked,
            ]
        for name, statistic, theirs, bar in asked:
            people.release(statistic, PRICE)  # the question is rehearsed once
            found = ratio(lambda s=statistic, p=people: p.release(s, PRICE), theirs, turns)
            yield f"{name}, {rows:,} floats", found, bar
