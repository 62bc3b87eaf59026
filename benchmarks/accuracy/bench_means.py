"""Accuracy of means, sums and variances with loose bounds: exact draws on fresh samples.

RMSE against the statistic of the sample. `plain` is Laplace or Gaussian noise for the declared bounds; the symmetric
promise answers a trimmed mean. Rare far draws are simulated here, so differences below 15 % mean little.
"""

import math

import numpy as np

from benchmarks.accuracy.columns import BOUNDS, column
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.mechanisms.choose import choose, output_grid
from sordino.mechanisms.clip.column import SortedColumn
from sordino.privacy import Concentrated, Pure
from sordino.statistics.mean import Mean
from sordino.statistics.variance import Variance

NAMES = ("gauss", "income", "unif", "bimodal", "pareto", "far", "zeros")
SETTINGS = ((201, Pure(1)), (1001, Pure(1)), (1001, Pure(0.1)), (10_001, Pure(1)), (1001, Concentrated(0.5)))
SAMPLES = 120


def codes_of(data, grid):
    """The codes of the rows on the public lattice."""
    units = grid.endless
    return np.rint((np.clip(data, grid.low, grid.high) - grid.low) / float(units.step)).astype(np.int64)


def errors(name, rows, price, *, statistic, truth, samples, bits, **hints):
    """Errors of the chosen mechanism on fresh samples, by exact draws."""
    mechanism = choose(statistic, price, rows=rows, **hints)
    grid = output_grid(statistic)
    found = []
    for seed in range(samples):
        data = np.clip(column(name, rows, seed + 900), *BOUNDS[name])
        if hasattr(mechanism, "converse"):
            answer = mechanism.converse(
                SortedColumn(codes_of(data, statistic.grid), statistic.grid), grid, bits=bits
            )
        else:
            source = Memory({"x": data})
            answer = mechanism.answer(statistic, lambda ask, s=source: s.summary(ask)[0], grid, bits=bits)
        found.append(float(answer) - truth(data))
    return np.array(found)


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def means():
    """One line per column and setting."""
    bits = SeededBits(1)
    for name in NAMES:
        low, high = BOUNDS[name]
        statistic = Mean("x", low=low, high=high)
        for rows, price in SETTINGS:
            samples = SAMPLES if rows < 5000 else SAMPLES // 4
            found = errors(name, rows, price, statistic=statistic, truth=np.mean, samples=samples, bits=bits)
            plain = (math.sqrt(2) if price.kind == "pure" else 1) * (high - low) / rows / price.strength
            yield (
                name,
                rows,
                repr(price),
                rms(found),
                float(np.median(np.abs(found))),
                float(found.mean()),
                plain,
            )


def promised():
    """The symmetric promise, on symmetric columns."""
    bits = SeededBits(2)
    for name in ("gauss", "unif", "bimodal50"):
        low, high = BOUNDS[name]
        for rows, price in ((201, Pure(1)), (1001, Pure(1)), (1001, Pure(0.1)), (1001, Concentrated(0.5))):
            found = errors(
                name, rows, price, statistic=Mean("x", low=low, high=high), truth=np.mean, samples=SAMPLES, bits=bits,
                symmetric=True,
            )  # fmt: skip
            yield name, rows, repr(price), rms(found)


def variances():
    """Two-step variance."""
    bits = SeededBits(3)
    for name in ("gauss", "income", "unif", "bimodal"):
        low, high = BOUNDS[name]
        statistic = Variance("x", low=low, high=high)
        for rows, price in ((201, Pure(1)), (1001, Pure(1)), (10_001, Pure(1)), (1001, Concentrated(0.5))):
            samples = SAMPLES // 2 if rows < 5000 else SAMPLES // 6
            found = errors(name, rows, price, statistic=statistic, truth=np.var, samples=samples, bits=bits)
            yield name, rows, repr(price), rms(found), float(np.median(np.abs(found)))


def tables():
    """For the runner."""
    names = ("column", "rows", "price", "RMSE", "median error", "bias", "plain")
    yield f"Mean, loose bounds, {SAMPLES} samples", names, list(means())
    yield "Mean, symmetry promised", ("column", "rows", "price", "RMSE"), list(promised())
    yield "Variance, loose bounds", ("column", "rows", "price", "RMSE", "median error"), list(variances())
