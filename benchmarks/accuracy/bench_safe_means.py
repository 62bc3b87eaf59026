"""The three modes of a mean by their exact laws, on generated shapes that the constants of plain-or-cut were chosen by.

RMSE over that of plain noise for the same bounds, and over the best clip in hindsight. `loose=True` has no closed law:
its answers are drawn, so its figures are rough. Shapes with an H are in the grey zone that no mechanism escapes.
"""

import math
from fractions import Fraction

import numpy as np

from sordino.exact.bits import SeededBits
from sordino.mechanisms.choose import choose, output_grid
from sordino.mechanisms.clip.clipped_error import clipped_error
from sordino.mechanisms.clip.column import SortedColumn
from sordino.mechanisms.clip.plain_or_cut import PlainOrCut
from sordino.mechanisms.clip.plain_or_cut_error import outcome_errors
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.statistics.mean import Mean

SETTINGS = (
    (51, Pure(1)), (201, Pure(1)), (1001, Pure(0.1)), (1001, Pure(0.3)), (1001, Pure(1)), (1001, Pure(3)),
    (10_001, Pure(0.1)), (10_001, Pure(1)), (100_001, Pure(1)), (1001, Concentrated(0.5)),
)  # fmt: skip
KINDS = ("fit", "x10", "x1000", "x1e6", "off centre")
CLIPS = 24


def shapes(rows, random):
    """Smooth, heavy-tailed, mostly one value, two values, top-coded and hostile columns."""
    pay = random.lognormal(10, 0.8, rows)
    some = random.random(rows)
    yield "normal", random.normal(0, 1, rows)
    yield "uniform", random.random(rows)
    yield "log-normal", pay
    yield "Pareto 2.5", random.pareto(2.5, rows) + 1
    yield "Pareto 1.5", random.pareto(1.5, rows) + 1
    yield "Cauchy", np.clip(random.standard_cauchy(rows), -1e3, 1e3)
    yield "two bumps", np.where(some < 0.5, random.normal(-3, 1, rows), random.normal(3, 1, rows))
    for share in (0.5, 0.9, 0.97, 0.99):
        yield f"{share:.0%} zeros", np.where(random.random(rows) < share, 0, pay)
    for share in (0.5, 0.1, 0.03, 0.01):
        yield f"{share:.0%} at the bound", np.where(random.random(rows) < share, 100.0, 0.0)
    wages = np.where(random.random(rows) < 0.46, 0, pay)
    cap = np.quantile(wages, 0.988)
    yield "wages, top codes", np.where(wages >= cap, 3 * cap, wages)
    yield "80% heap", np.where(some < 0.8, 50, random.normal(50, 15, rows).clip(0, 100))
    yield "constant", np.full(rows, 7.0)
    yield "half at the bound", np.where(some < 0.5, random.random(rows), 1.0)
    yield "ages", np.rint(random.gamma(4, 10, rows).clip(0, 99))
    yield "counts", random.poisson(3, rows).astype(float)
    yield "exponential", random.exponential(1, rows)
    yield "H 5% at 11 times", np.where(random.random(rows) < 0.05, 1100, random.random(rows) * 100)
    yield (
        "H 3% at 64 times",
        np.where(random.random(rows) < 0.03, 64 + random.random(rows), random.random(rows)),
    )
    yield "H two clusters", np.where(some < 0.5, random.random(rows), 20 + random.random(rows))


def fresh(rows, random):
    """Shapes that no constant of plain-or-cut was chosen by."""
    some = random.random(rows)
    yield "gamma 0.5", random.gamma(0.5, 1, rows)
    yield "Weibull 0.6", random.weibull(0.6, rows)
    yield "log-normal 1.3", random.lognormal(9, 1.3, rows)
    yield "Student 3", random.standard_t(3, rows)
    yield "arcsine", random.beta(0.5, 0.5, rows)
    yield "triangle", random.triangular(0, 0.2, 1, rows)
    yield "70% zeros, exponential", np.where(some < 0.7, 0, random.exponential(1, rows))
    yield "95% zeros, gamma", np.where(some < 0.95, 0, random.gamma(2, 500, rows))
    yield (
        "heaped pay",
        np.where(some < 0.6, 500 * np.rint(random.gamma(3, 2, rows)), random.gamma(3, 1000, rows)),
    )
    yield "top codes on 2%", np.minimum(random.lognormal(10, 0.6, rows), 22026 * math.exp(0.6 * 2.05))
    yield "visits", random.geometric(0.15, rows).astype(float)
    yield "yes or no, 20%", (some < 0.2).astype(float)
    yield "two incomes", np.where(some < 0.8, random.lognormal(9, 0.4, rows), random.lognormal(11, 0.5, rows))
    yield "far from zero", random.normal(1000, 10, rows)
    yield "five grades", random.choice([1.0, 2, 3, 4, 5], rows, p=[0.1, 0.3, 0.3, 0.2, 0.1])


def bounds(kind, rows):
    """Bounds that fit, or are too wide."""
    low, high = float(rows.min()), float(rows.max())
    low, high = min(low, 0.0), (high if high > low else low + 10)
    slack = (high - low) / 50
    low, high = (low - slack if low < 0 else 0.0), high + slack
    if kind == "fit":
        return low, high
    if kind == "off centre":
        return low - 25 * (high - low), high + 4 * (high - low)
    factor = float(kind[1:])
    return low * factor, high * factor


def best_clip(rows, price):
    """The least error of a clipped mean with plain noise, had one known where to clip."""
    times = 1 if price.gaussian else math.sqrt(2)
    lower = [0.0, *np.quantile(rows, [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25])]
    upper = np.quantile(rows, [1, 0.999, 0.997, 0.99, 0.97, 0.9, 0.75])
    errors = [
        math.hypot(
            np.clip(rows, low, high).mean() - rows.mean(), times * (high - low) / len(rows) / price.strength
        )
        for low in lower
        for high in upper
        if low < high
    ]
    return max(min(errors, default=0.0), 1e-12)


def modes(rows, low, high, price, neighbors, *, loose):
    """RMSE of plain noise, of the default and of `loose=True`."""
    statistic = Mean("x", low=low, high=high, neighbors=neighbors)
    column, truth = SortedColumn(statistic.grid.codes(rows), statistic.grid), Fraction(float(rows.mean()))
    grid, found = output_grid(statistic), []
    for tight in (True, False):
        mechanism = PlainOrCut(
            price=price, rows=len(rows), low=low, high=high, tight=tight, neighbors=neighbors
        )
        found.append(math.sqrt(outcome_errors(mechanism, column, grid, truth, 1).mean_square))
    if not loose:
        return [*found, math.nan]
    search, bits = choose(statistic, price, rows=len(rows), loose=True), SeededBits(1)
    laws = [clipped_error(search, column, grid, truth, contribution=1, bits=bits) for _ in range(CLIPS)]
    return [*found, math.sqrt(np.mean([law.mean_square for law in laws]))]


def summary(neighbors, *, loose=True, drawn=shapes):
    """One line per setting and kind of bounds."""
    for rows, price in SETTINGS:
        for kind in KINDS:
            safe, wild, clip = {}, [], []
            for name, column in drawn(rows, np.random.default_rng(5)):
                low, high = bounds(kind, column)
                plain, default, search = modes(
                    column, low, high, price, neighbors, loose=loose and rows < 50_000
                )
                safe[name] = default / plain
                wild.append(search / plain)
                clip.append(default / best_clip(column, price))
            usual = {name: ratio for name, ratio in safe.items() if name[0] != "H"}
            worst = max(usual, key=usual.get)
            hostile = max((ratio for name, ratio in safe.items() if name[0] == "H"), default=math.nan)
            mean = math.exp(np.mean(np.log(list(safe.values()))))
            yield (
                rows, repr(price), kind, mean, f"{usual[worst]:.2f} {worst}", hostile,
                float(np.median(clip)), float(np.exp(np.mean(np.log(wild)))), float(np.max(wild)),
            )  # fmt: skip


def tables():
    """For the runner."""
    names = (
        "rows", "price", "bounds", "default/plain", "worst", "worst H", "default/best clip", "loose/plain", "worst",
    )  # fmt: skip
    yield "Three modes of a mean, replace-one", names, list(summary(Neighbors.REPLACE_ONE))
    unseen = list(summary(Neighbors.REPLACE_ONE, loose=False, drawn=fresh))
    yield "Shapes that no constant was chosen by, replace-one", names, unseen
    yield "Three modes of a mean, add/remove", names, list(summary(Neighbors.ADD_REMOVE_ONE, loose=False))
