"""A middle that is released first: its constants moved, and what it brings by shape, bounds and relation."""

import math
from fractions import Fraction

import numpy as np

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, set_to, sweep
from sordino.mechanisms.tuned import ForAnchored

ADD = sd.Neighbors.ADD_REMOVE_ONE
REPLACE = sd.Neighbors.REPLACE_ONE
ASKED = (("q99", 1001, 1), ("q90", 5001, 0.1), ("q10", 5001, 0.1), ("q99", 5001, 1))
WIDER = (1, 10, 1000)
NEVER = 10.0**9
"""Nats on either side of the middle that no column has: nothing is released first."""


def shapes(rows, seed=13):
    """Columns near zero and far from it, with bounds that fit."""
    random = np.random.default_rng([seed, rows])
    yield "normal", random.normal(0, 1, rows).clip(-5, 5), -5, 5
    yield "gamma", random.gamma(4, 10, rows).clip(0, 150), 0, 150
    yield "log-normal", random.lognormal(3, 1, rows).clip(0, 1000), 0, 1000
    yield "zeros", np.where(random.random(rows) < 0.6, 0, random.lognormal(3, 1, rows)).clip(0, 1000), 0, 1000
    yield "temperatures", random.normal(290, 8, rows).clip(250, 330), 250, 330
    yield "years", np.rint(random.uniform(1950, 2000, rows)), 1945, 2005
    yield "weights", random.normal(1e6, 15, rows).clip(1e6 - 90, 1e6 + 90), 1e6 - 90, 1e6 + 90
    yield "days", random.uniform(17_000, 18_800, rows), 16_800, 19_000


def cells(asked=ASKED, relations=(REPLACE, ADD)):
    """Far quantiles of every shape."""
    for (what, rows, epsilon), relation in ((one, relation) for one in asked for relation in relations):
        for name, column, low, high in shapes(rows):
            for wider in WIDER:
                more = (wider - 1) * (high - low)
                below = 0 if low == 0 else 0.3 * more
                bounds = {"low": low - below, "high": high + more - below, "neighbors": relation}
                statistic = sd.Quantile("x", q=Fraction(int(what[1:]), 100), **bounds)
                said = (("rows", rows),) if relation is REPLACE else ()
                label = f"{what} n={rows} {relation.value} x{wider} {name}"
                yield Cell(label, statistic, sd.Pure(epsilon), column, said)


def tables():
    """What becomes of the error."""
    asked = list(cells())
    shipped = [cell.error() for cell in asked]
    with set_to(ForAnchored, "LEAST", NEVER), set_to(ForAnchored, "NEEDED", NEVER):
        before = [cell.error() for cell in asked]
    lines = {}
    for cell, new, old in zip(asked, shipped, before, strict=True):
        lines.setdefault(cell.name.rsplit(" ", 1)[0], []).append(new / old)
    yield (
        "A middle first: error over that without one.",
        ("question", "geometric mean", "worst", "best"),
        [
            (name, math.exp(float(np.mean(np.log(found)))), max(found), min(found))
            for name, found in lines.items()
        ],
    )
    yield (
        "Constants of a middle first: error with each moved, over the error as shipped.",
        COLUMNS,
        sweep(ForAnchored, list(cells(ASKED[:2], (ADD,)))),
    )
