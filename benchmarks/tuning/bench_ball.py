"""Means of many columns in a ball: constants moved one by one, and the error beside columns one by one.

Root mean square of (answer - mean) / deviation over columns; shapes are generated, other seeds and shapes judge.
"""

import math

import numpy as np

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, sweep
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.mechanisms.choose import choose, output_grid
from sordino.mechanisms.clip.box_means import BoxMeans
from sordino.mechanisms.tuned_tables import ForBall
from sordino.statistics.means import Means

RELEASES = 6
WIDE = 1000.0
ROWS = 10_000


def rows_of(shape, columns, seed, rows=ROWS):
    """Generated rows, about 0 with deviations near 1."""
    random = np.random.default_rng([seed, columns])
    size = (columns, rows)
    if shape == "bell":
        return random.normal(0, 1, size)
    if shape == "t with 3":
        return random.standard_t(3, size)
    if shape == "t with 5":
        return 4 + random.standard_t(5, size)
    if shape == "skewed":
        return random.lognormal(0, 0.8, size)
    if shape == "exponential":
        return random.exponential(1, size)
    if shape == "of other scales":
        return random.normal(2, 1, size) * np.geomspace(0.1, 30, columns)[:, None]
    if shape == "one factor":
        return random.normal(0, 1, rows) + 0.5 * random.normal(0, 1, size)
    return np.where(random.random(size) < 0.5, 0, random.exponential(2, size))  # half zeros


TUNING = ("bell", "t with 3", "skewed", "half zeros")
JUDGING = ("t with 5", "exponential", "of other scales", "one factor")


def asked(columns, neighbors="replace-one"):
    """All columns within bounds far too wide."""
    names = tuple(f"c{place}" for place in range(columns))
    return Means(names, low=-WIDE, high=WIDE, neighbors=neighbors)


def mean_error(mechanism, statistic, table, seed):
    """One release, in deviations of the columns."""
    source = Memory(dict(zip(statistic.columns, table, strict=True)))
    answer = mechanism.answer(
        statistic, lambda request: source.summary(request)[0], output_grid(statistic), bits=SeededBits(seed)
    )
    gaps = (np.array([float(one) for one in answer.value]) - table.mean(axis=1)) / table.std(axis=1)
    return float(np.mean(gaps**2))


def one_by_one(statistic, price, table, seed):
    """Every column by itself with an equal part of the price."""
    each, total = price.share(sd.Pure(1).epsilon / statistic.dimension), 0.0
    for place, part in enumerate(statistic.parts):
        made = choose(part, each, rows=table.shape[1], loose=True)
        source = Memory({part.column: table[place]})
        answer = made.answer(
            part,
            lambda request: source.summary(request)[0],
            output_grid(part),
            bits=SeededBits([seed, place]),
        )
        total += ((float(answer.value) - table[place].mean()) / table[place].std()) ** 2
    return total / statistic.dimension


class Ball(Cell):
    """Root mean square error of a few releases."""

    def error(self):
        made = BoxMeans(price=self.price, rows=self.column.shape[1], round=True)
        return math.sqrt(
            np.mean([mean_error(made, self.statistic, self.column, seed) for seed in range(RELEASES)])
        )


def cells():
    """Shapes for tuning, ten and thirty columns, two prices."""
    for shape in TUNING:
        for columns in (10, 30):
            for rho in ("0.05", "0.5"):
                name = f"{shape}, {columns} columns, rho {rho}"
                yield Ball(name, asked(columns), sd.Concentrated(float(rho)), rows_of(shape, columns, 1))


def beside(shapes=(*TUNING, *JUDGING)):
    """The ball, the box with independent noise, and columns one by one."""
    for shape in shapes:
        for columns in (2, 10, 30, 100):
            for rho in (0.05, 0.5):
                statistic, price = asked(columns), sd.Concentrated(rho)
                found = []
                tries = max(2, RELEASES * 10 // columns)
                for ways in ("ball", "box", "one"):
                    errors = []
                    for seed in range(tries):
                        table = rows_of(shape, columns, 100 + seed)
                        if ways == "one":
                            errors.append(one_by_one(statistic, price, table, seed))
                        else:
                            made = BoxMeans(price=price, rows=ROWS, round=ways == "ball")
                            errors.append(mean_error(made, statistic, table, seed))
                    found.append(math.sqrt(np.mean(errors)))
                yield shape, columns, rho, *found, found[0] / found[2], found[1] / found[2]


def tables():
    """Beside others, then the constants one by one."""
    header = ("shape", "columns", "rho", "ball", "box", "one by one", "ball / one", "box / one")
    yield f"Means of {ROWS:,} rows in bounds about a thousand deviations wide", header, list(beside())
    yield "Constants of the ball, one by one", COLUMNS, sweep(ForBall, list(cells()))
