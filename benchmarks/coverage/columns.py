"""Columns on which coverage is measured: smooth, heavy-tailed, heaped, tied, with a gap at the quantile."""

import numpy as np

import sordino as sd

REPLACE, ADD = sd.Neighbors.REPLACE_ONE, sd.Neighbors.ADD_REMOVE_ONE


def edge(random, rows):
    """Half of the rows tied with the median on top, a gap behind them."""
    return np.where(np.arange(rows) < (rows + 1) // 2, 40.0, 900.0 + random.random(rows))


def heaped(random, rows):
    """More than half of the pay in whole thousands."""
    pay = random.lognormal(10.8, 0.9, rows)
    return np.where(random.random(rows) < 0.6, np.round(pay, -3), pay)


COLUMNS = {  # bounds, and how rows are drawn
    "normal": (-50, 1050, lambda random, rows: random.normal(1, 1, rows)),
    "log-normal": (0, 5e6, lambda random, rows: random.lognormal(10.8, 0.9, rows)),
    "uniform": (0, 1, lambda random, rows: random.random(rows)),
    "pareto": (0, 1e9, lambda random, rows: 1000 * (1 + random.pareto(1.1, rows))),
    "ages": (0, 120, lambda random, rows: np.floor(np.clip(random.normal(42, 22, rows), 0, 110))),
    "heaped": (0, 1e7, heaped),
    "bimodal": (0, 100, lambda random, rows: random.choice([20, 80], rows) + random.normal(0, 1, rows)),
    "edge": (0, 1000, edge),
    "one value": (0, 1000, lambda _random, rows: np.full(rows, 77.0)),
}
