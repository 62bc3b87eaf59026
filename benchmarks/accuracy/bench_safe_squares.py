"""Variances by their exact laws, on the generated shapes that the constants of plain-or-cut were chosen by.

RMSE over that of Laplace or Gaussian noise for the square of the same bounds, and over the best clip in hindsight.
"""

import math
from fractions import Fraction

import numpy as np

from benchmarks.accuracy.bench_safe_means import KINDS, SETTINGS, bounds, shapes
from sordino.lattice import Lattice
from sordino.mechanisms.clip.column import SortedColumn
from sordino.mechanisms.clip.plain_or_cut_error import outcome_errors
from sordino.mechanisms.clip.plain_or_cut_squares import PlainOrCutSquares
from sordino.privacy import Neighbors
from sordino.statistics.variance import Variance


def best_clip(rows, price):
    """The least error of a clipped variance with plain noise, had one known where to clip."""
    times = 1 if price.gaussian else math.sqrt(2)
    lower = [0.0, *np.quantile(rows, [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25])]
    upper = np.quantile(rows, [1, 0.999, 0.997, 0.99, 0.97, 0.9, 0.75])
    errors = [
        math.hypot(
            np.clip(rows, low, high).var() - rows.var(),
            times * (high - low) ** 2 / len(rows) / price.strength,
        )
        for low in lower
        for high in upper
        if low < high
    ]
    return max(min(errors, default=0.0), 1e-12)


def errors(rows, low, high, price, neighbors, *, root=False):
    """RMSE of plain noise and of the default."""
    statistic = Variance("x", low=low, high=high, neighbors=neighbors)
    column = SortedColumn(statistic.grid.codes(rows), statistic.grid)
    truth = Fraction(float(rows.std() if root else rows.var()))
    mechanism = PlainOrCutSquares(
        price=price, rows=len(rows), low=low, high=high, root=root, neighbors=neighbors
    )
    times = 1 if price.gaussian else math.sqrt(2)
    plain = times * (high - low) ** 2 / len(rows) / price.strength
    found = outcome_errors(mechanism, column, Lattice.dyadic(-20), truth, 1)
    return plain, math.sqrt(found.mean_square)


def summary(neighbors):
    """One line per setting and kind of bounds."""
    for rows, price in SETTINGS:
        for kind in KINDS:
            safe, clip = {}, []
            for name, column in shapes(rows, np.random.default_rng(5)):
                plain, default = errors(column, *bounds(kind, column), price, neighbors)
                safe[name] = default / plain
                clip.append(default / best_clip(column, price))
            usual = {name: ratio for name, ratio in safe.items() if name[0] != "H"}
            worst = max(usual, key=usual.get)
            hostile = max(ratio for name, ratio in safe.items() if name[0] == "H")
            mean = math.exp(np.mean(np.log(list(safe.values()))))
            yield (
                rows, repr(price), kind, mean, f"{usual[worst]:.2f} {worst}", hostile, float(np.median(clip))
            )  # fmt: skip


def tables():
    """For the runner."""
    names = ("rows", "price", "bounds", "default/plain", "worst", "worst H", "default/best clip")
    yield "Variances, replace-one", names, list(summary(Neighbors.REPLACE_ONE))
    yield "Variances, add/remove", names, list(summary(Neighbors.ADD_REMOVE_ONE))
