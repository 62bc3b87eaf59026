"""Intervals for the population: how often they cover, and how wide they are beside the usual ones without privacy.

Slope of a regression, Gini index of a log-normal column and correlation of a pair, 50,000 rows, with the jackknife, as
a release with ``interval=0.95`` has them by default. Limits: at least 92 of 100 covered, at most 1.3 times as wide.
"""

import math
from fractions import Fraction

import numpy as np

import sordino as sd
from sordino.exact.bits import SeededBits
from sordino.lattice import Lattice
from sordino.mechanisms.blocks.centre import Centre, located
from sordino.mechanisms.blocks.pivot import half_width
from sordino.mechanisms.blocks.plan import BlockPlan

ROWS, SAMPLES, LEVEL, COVERED, WIDE = 50_000, 200, 0.95, 0.92, 1.3


def pairs(random, *shape):
    """Normal pairs with correlation one half, and slope one half."""
    x = random.normal(size=shape)
    return np.stack([x, 0.5 * x + math.sqrt(0.75) * random.normal(size=shape)])


def slope(sample):
    """Of every row of a matrix."""
    x, y = sample
    return ((x - x.mean(-1, keepdims=True)) * y).sum(-1) / ((x - x.mean(-1, keepdims=True)) ** 2).sum(-1)


def correlation(sample):
    """Of every row of a matrix."""
    x, y = sample
    return slope(sample) * x.std(-1) / y.std(-1)


def incomes(random, *shape):
    """One log-normal column."""
    return random.lognormal(size=(1, *shape))


def gini(sample):
    """Of every row of a matrix."""
    ordered = np.sort(sample[0], axis=-1)
    rows = ordered.shape[-1]
    weights = 2 * np.arange(1, rows + 1) - rows - 1
    return (weights * ordered).sum(-1) / (rows * ordered.sum(-1))


WORLDS = {  # what is drawn, the function, its value, its bounds
    "slope": (pairs, slope, 0.5, (-100.0, 100.0)),
    "Gini": (incomes, gini, math.erf(0.5), (0.0, 1.0)),
    "correlation": (pairs, correlation, 0.5, (-1.0, 1.0)),
}


def bent(f, sample, parts):
    """The group jackknife inside every block."""
    rows = sample.shape[-1]
    edges = [rows * part // parts for part in range(parts + 1)]
    rest = [f(np.delete(sample, np.s_[edges[part] : edges[part + 1]], axis=-1)) for part in range(parts)]
    return parts * f(sample) - (parts - 1) * np.mean(rest, axis=0)


def tables():
    """For the runner."""
    lines = []
    for name, (draw, f, truth, (low, high)) in WORLDS.items():
        random = np.random.default_rng([11, len(name)])
        usual = 2 * 1.96 * np.std([f(draw(random, ROWS)) for _ in range(SAMPLES)])
        asked = sd.Function(len, columns=["x"], low=low, high=high)
        for price in (sd.Pure(1), sd.Concentrated(0.5)):
            plan = BlockPlan.of(asked, price, ROWS, interval=True)
            centre, grid = Centre(price, plan.blocks, low, high), Lattice.for_range(low, high)
            bits, covered, widths = SeededBits(len(name)), 0, []
            for _ in range(SAMPLES):
                values = bent(f, draw(random, plan.blocks, plan.rows_per_block), plan.debias)
                middle, spread = located(np.clip(values, low, high), centre, grid, bits)
                half = float(spread) * half_width(
                    LEVEL,
                    price=price,
                    blocks=plan.blocks,
                    width=Fraction(high) - Fraction(low),
                    spread=spread,
                )
                covered += abs(float(middle) - truth) <= half
                widths.append(2 * half / usual)
            lines.append(
                (
                    name,
                    str(price),
                    plan.blocks,
                    covered / SAMPLES,
                    COVERED,
                    np.mean(widths),
                    np.median(widths),
                    WIDE,
                )
            )
    names = ("function", "price", "blocks", "covered", "at least", "width", "median width", "at most")
    yield f"95 % intervals for the population, {ROWS:,} rows, {SAMPLES} samples", names, lines
