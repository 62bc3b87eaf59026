"""Constants of means within loose bounds: error with each moved, over the error as shipped."""

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, shapes, sweep
from sordino.mechanisms.tuned_means import ForLoose


def cells():
    """Questions on generated shapes."""
    for rows, epsilon in ((201, 1), (1001, 0.3)):
        for name, column in shapes(rows).items():
            for high in (10_000, 1_000_000):
                statistic = sd.Mean("x", low=0, high=high)
                yield Cell(
                    f"{name} high={high} n={rows}", statistic, sd.Pure(epsilon), column, (("loose", True),)
                )


def tables():
    """What becomes of the error."""
    yield (
        "Constants of means within loose bounds: error with each moved, over the error as shipped.",
        COLUMNS,
        sweep(ForLoose, list(cells())),
    )
