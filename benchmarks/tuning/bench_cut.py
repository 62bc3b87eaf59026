"""Constants of means and variances, plain or cut: error with each moved, over the error as shipped."""

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, shapes, sweep
from sordino.mechanisms.tuned import ForCut


def cells():
    """Questions on generated shapes."""
    for rows, epsilon in ((201, 1), (1001, 0.3)):
        for name, column in shapes(rows).items():
            for kind in (sd.Mean, sd.Variance):
                for high in (100, 10_000):
                    statistic = kind("x", low=0, high=high)
                    yield Cell(
                        f"{kind.name} of {name} high={high} n={rows}", statistic, sd.Pure(epsilon), column
                    )


def tables():
    """What becomes of the error."""
    yield (
        "Constants of means and variances, plain or cut: error with each moved, over the error as shipped.",
        COLUMNS,
        sweep(ForCut, list(cells())),
    )
