"""Theil-Sen's slope: what is answered is answered in seconds, what would not be is refused before the debit."""

import numpy as np

import sordino as sd
from benchmarks.bars.clock import least

BOUNDS = {"x_low": 0, "x_high": 1, "y_low": 0, "y_high": 10, "low": -20, "high": 20}


def people(rows):
    """Points about a line."""
    rng = np.random.default_rng(0)
    x = rng.random(rows)
    return sd.open({"x": x, "y": 3 * x + rng.normal(2, 0.5, rows)}, budget=sd.Pure(100))


def lines():
    """Name, seconds, bar."""
    slope = sd.TheilSen("x", "y", **BOUNDS)
    some = people(10_000)
    yield "Theil-Sen, 10,000 rows, s", least(lambda: some.release(slope, sd.Pure(1)), turns=2)[0], 5.0
    many = people(10**6)
    before = many.remaining
    try:
        many.release(slope, sd.Pure(1))
    except sd.SordinoError:
        yield "Theil-Sen, 1,000,000 rows: spent on a refusal", float(before != many.remaining), 0.0
