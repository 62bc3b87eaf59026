"""Constants of a quantile's bar: error of the answer beside it with each moved, over the error as shipped."""

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, shapes, sweep
from sordino.mechanisms.tuned import ForQuantileBar


def cells():
    """Questions on generated shapes."""
    for name, column in shapes(1001).items():
        for high in (100, 100_000):
            statistic = sd.Median("x", low=0, high=high)
            yield Cell(f"{name} high={high}", statistic, sd.Pure(1), column, (("interval", 0.95),))


def tables():
    """What becomes of the error."""
    yield (
        "Constants of a quantile's bar: error of the answer beside it with each moved, over the error as shipped.",
        COLUMNS,
        sweep(ForQuantileBar, list(cells())),
    )
