"""Sharp edges and heavy tails: error of maxima beside that with the fourth power and a twentieth of the price."""

import math
from fractions import Fraction

import numpy as np

import sordino as sd
from benchmarks.tuning.moved import Cell, set_to
from sordino.mechanisms.tuned import ForExtreme

SIZES = ((1001, 1), (5001, 0.3), (5001, 1), (20_001, 1))
WIDER = (1, 10, 300)


def shapes(rows):
    """Columns by how they end, with bounds that fit: bells, tails of several weights, sharp edges, heaps, cuts."""
    random = np.random.default_rng([11, rows])
    yield "bell", random.normal(0, 1, rows), -5, 5
    yield "uniform", random.uniform(0, 1, rows), 0, 1
    yield "log-normal", random.lognormal(0, 0.8, rows), 0, 40
    yield "wide log-normal", random.lognormal(0, 1.3, rows), 0, 200
    yield "Pareto 3", 1 + random.pareto(3, rows), 0, 60
    yield "Pareto 2", 1 + random.pareto(2, rows), 0, 400
    yield "edge and tail", -(1 + random.pareto(3, rows)), -40, 0
    yield "edge", -(2 + random.exponential(1, rows)), -20, 0
    yield "far", 1000 + random.normal(0, 1, rows), 990, 1010
    yield "cut", np.minimum(random.lognormal(0, 0.8, rows), 3), 0, 6
    yield "late", 20 + random.beta(2, 1, rows), 20, 21
    yield "years", np.rint(random.normal(40, 15, rows).clip(0, 100)), 0, 120
    yield "zeros", np.where(random.random(rows) < 0.6, 0, random.gamma(2, 1, rows)), 0, 20


def cells(rows, epsilon):
    """The maximum of each, in bounds that fit and wider ones; a bound at zero stays where it is."""
    for name, values, low, high in shapes(rows):
        for wider in WIDER:
            more = (wider - 1) * (high - low)
            below = 0 if low == 0 else more if high == 0 else 0.3 * more
            bounds = {"low": low - below, "high": high + more - below}
            column = values.clip(bounds["low"], bounds["high"])
            yield Cell(f"{name} x{wider}", sd.Maximum("x", **bounds), sd.Pure(epsilon), column)


def tables():
    """Ratios by shape and size."""
    lines = {}
    for rows, epsilon in SIZES:
        asked = list(cells(rows, epsilon))
        shipped = [cell.error() for cell in asked]
        with set_to(ForExtreme, "STEADY", Fraction(4)), set_to(ForExtreme, "CHEAPEST", Fraction(1, 20)):
            before = [cell.error() for cell in asked]
        for cell, new, old in zip(asked, shipped, before, strict=True):
            lines.setdefault(cell.name.rsplit(" x", 1)[0], []).append(new / old)
    found = [
        (name, math.exp(float(np.mean(np.log(ratios)))), max(ratios), min(ratios))
        for name, ratios in lines.items()
    ]
    yield (
        "Maxima: error over that with the fourth power and a twentieth of the price.",
        ("shape", "geometric mean", "worst", "best"),
        found,
    )
