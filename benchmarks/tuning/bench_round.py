"""Mass on round numbers: error of quantiles with it over the error without, on heaped and on smooth columns."""

import math
from fractions import Fraction

import numpy as np

import sordino as sd
from benchmarks.tuning.moved import Cell, set_to
from sordino.mechanisms.tuned import ForQuantile

SIZES = ((201, 1), (1001, 0.1), (1001, 1), (5001, 1), (20_001, 1))
NEGLIGIBLE = 1e-4  # of the spread: errors below it are not told apart


def heaped(random, rows):
    """What people write down: thousands, two digits, whole years, multiples of five, a top code, prices, minutes."""
    incomes = random.lognormal(10.4, 0.7, rows)
    years = np.rint(random.gamma(6, 7, rows).clip(0, 99))
    minutes = random.gamma(1.5, 25, rows)
    some = random.random(rows)
    yield "thousands", np.rint(incomes / 1000) * 1000, 500_000
    yield "fives", np.where(some < 0.6, np.rint(incomes / 5000) * 5000, np.rint(incomes)), 500_000
    yield "two digits", np.array([float(f"{income:.1e}") for income in incomes]), 500_000
    yield "years", np.rint(random.normal(43, 17, rows).clip(0, 99)), 120
    yield "rounded years", np.where(some < 0.3, np.rint(years / 5) * 5, years), 100
    yield "top code", np.minimum(2 * incomes, 100_000), 100_000
    yield "prices", np.maximum(np.rint(random.lognormal(2.5, 0.8, rows)), 1) - 0.01, 200
    yield "minutes", np.where(some < 0.7, np.rint(minutes / 15) * 15, np.rint(minutes / 5) * 5), 600


def smooth(random, rows):
    """Nothing tied; the quantiles of one lie beside a round number."""
    yield "log-normal", random.lognormal(10, 0.9, rows), 500_000
    yield "gamma", random.gamma(3, 4, rows), 50
    yield "uniform", random.uniform(3, 17, rows), 20
    yield "about 50", random.normal(50, 3, rows), 100
    yield "exponential", random.exponential(2, rows), 30


def cells(shapes, rows, epsilon):
    """Quantiles within bounds that fit, ten times and a thousand times too wide."""
    for name, column, high in shapes(np.random.default_rng([3, rows]), rows):
        for wider in (1, 10, 1000):
            for q in (0.1, 0.5, 0.9, 0.99):
                statistic = sd.Quantile("x", q=q, low=0, high=high * wider)
                yield Cell(
                    f"{name} q={q:g} x{wider}", statistic, sd.Pure(epsilon), column.clip(0, high * wider)
                )


def tables():
    """Ratios by kind of column and size."""
    lines = []
    for shapes in (heaped, smooth):
        for rows, epsilon in SIZES:
            asked = list(cells(shapes, rows, epsilon))
            floors = [NEGLIGIBLE * float(np.std(cell.column)) for cell in asked]
            shipped = [cell.error() for cell in asked]
            with set_to(ForQuantile, "ROUND", Fraction(0)):
                without = [cell.error() for cell in asked]
            ratios = [
                max(new, floor) / max(old, floor)
                for new, old, floor in zip(shipped, without, floors, strict=True)
            ]
            middle = math.exp(float(np.mean(np.log(ratios))))
            worst, best = int(np.argmax(ratios)), int(np.argmin(ratios))
            ends = (ratios[worst], asked[worst].name, ratios[best], asked[best].name)
            lines.append((shapes.__name__, rows, epsilon, middle, *ends))
    names = ("columns", "rows", "epsilon", "geometric mean", "worst", "worst cell", "best", "best cell")
    yield "Mass on round numbers: error with it over the error without.", names, lines
