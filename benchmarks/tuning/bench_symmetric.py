"""Constants of symmetric means: error with each moved, over the error as shipped."""

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, shapes, sweep
from sordino.mechanisms.tuned import ForSymmetric


def cells():
    """Questions on generated shapes."""
    for rows, epsilon in ((101, 0.5), (201, 0.3), (1001, 0.3)):
        for name in ("bell", "far"):
            statistic = sd.Mean("x", low=0, high=100)
            column = shapes(rows)[name]
            yield Cell(f"{name} n={rows}", statistic, sd.Pure(epsilon), column, (("symmetric", True),))


def tables():
    """What becomes of the error."""
    yield (
        "Constants of symmetric means: error with each moved, over the error as shipped.",
        COLUMNS,
        sweep(ForSymmetric, list(cells())),
    )
