"""The split of the price between a mean and the spread of its rows: width of the interval for the population."""

from fractions import Fraction

import numpy as np

import sordino as sd
from benchmarks.coverage.populations import People
from benchmarks.tuning.moved import COLUMNS, Cell, set_to, shapes, sweep
from sordino.coverage import Population
from sordino.mechanisms.tuned_means import ForMeanInterval

SPLITS = (Fraction(1, 2), Fraction(2, 3), Fraction(3, 4), Fraction(4, 5), Fraction(9, 10), Fraction(19, 20))
SETTINGS = ((401, 1), (1001, 1), (4001, 0.3))
BOUNDS = (1.0, 20.0)  # in units of the 99th percentile: bounds that fit, and far too wide ones
DRAWS = 24


def widths(name, wide, rows, epsilon):
    """The middle of the widths at every split, over that of the shipped one."""
    found = {}
    for split in (ForMeanInterval.ANSWER, *SPLITS):
        with set_to(ForMeanInterval, "ANSWER", split):
            people = People(name, wide)
            drawn = people.intervals(
                people.asked(sd.Mean), rows, sd.Pure(epsilon), DRAWS, coverage=Population(0.95)
            )
            found[split] = float(np.median([bar.high - bar.low for bar, _ in drawn]))
    return [found[split] / found[ForMeanInterval.ANSWER] for split in SPLITS]


def rows_of_widths():
    """One line for every column, its bounds and a setting."""
    every = []
    for name in ("normal", "uniform", "log-normal", "ages"):
        for wide in BOUNDS:
            for rows, epsilon in SETTINGS:
                every.append(widths(name, wide, rows, epsilon))
                yield name, wide, rows, epsilon, *every[-1]
    yield "geometric mean", "", "", "", *np.exp(np.mean(np.log(every), axis=0)).tolist()


def cells():
    """Questions on generated shapes."""
    for name, column in shapes(1001).items():
        yield Cell(name, sd.Mean("x", low=0, high=100), sd.Pure(1), column, (("interval", Population(0.95)),))


def tables():
    """Widths at seven splits, and what becomes of the error of the answer."""
    yield (
        "Width of the interval for a population's mean over that of the shipped split, by the answer's share.",
        ("column", "bounds", "rows", "epsilon", *map(str, SPLITS)),
        rows_of_widths(),
    )
    yield (
        "Error of the answer beside such an interval with the share moved, over the error as shipped.",
        COLUMNS,
        sweep(ForMeanInterval, list(cells())),
    )
