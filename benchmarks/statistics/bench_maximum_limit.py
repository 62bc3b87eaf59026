"""A maximum in bounds twenty times too wide, and with a few rows on the bound: our error beside a limit."""

import math

import numpy as np

import sordino as sd
from benchmarks.tuning.moved import Cell

END = 0.05  # of the range: where all rows end but those on the bound


def column(rows, on_bound):
    """Gamma rows that end at a twentieth of the range, some of them moved to its end."""
    found = np.sort(np.random.default_rng([11, rows]).gamma(3, 1, rows))
    found *= END / found[-1]
    if on_bound:
        found[-on_bound:] = 1.0
    return found


def uniform(rows, epsilon):
    """The exponential mechanism on the rows beyond an answer, with no measure but the length."""
    ends = np.concatenate([[0.0], rows, [1.0]])
    with np.errstate(divide="ignore"):
        weight = np.log(np.diff(ends)) - epsilon * np.arange(len(rows), -1, -1)
    chance = np.exp(weight - weight.max())
    below, above = ends[:-1] - rows[-1], ends[1:] - rows[-1]
    squares = (below * below + below * above + above * above) / 3
    return math.sqrt(float(np.sum(chance * squares) / chance.sum()))


def tables():
    """Errors in ranges."""
    lines = []
    for rows, epsilon in ((1001, 0.1), (1001, 0.3), (201, 1), (5001, 0.1)):
        statistic = sd.Maximum("x", low=0, high=1)
        wide = Cell("", statistic, sd.Pure(epsilon), column(rows, 0)).error()
        for on_bound in (0, 1, 3):
            asked = column(rows, on_bound)
            ours = Cell("", statistic, sd.Pure(epsilon), asked).error()
            limit = (1 - END) - math.exp(on_bound * epsilon / 2) * wide if on_bound else math.nan
            theirs = uniform(asked, epsilon)
            lines.append((rows, epsilon, on_bound, ours, theirs, ours / theirs, limit))
    names = ("rows", "epsilon", "on the bound", "ours", "uniform", "ratio", "least possible with our gain")
    yield "Maximum of rows that end at a twentieth of the range: errors in ranges.", names, lines
