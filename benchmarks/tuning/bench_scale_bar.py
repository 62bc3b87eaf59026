"""Constants of bars beside smooth noise: error of the answer with each moved, over the error as shipped."""

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, shapes, sweep
from sordino.mechanisms.tuned import ForScaleBar


def cells():
    """Questions on generated shapes."""
    for name, column in shapes(1001).items():
        statistic = sd.TrimmedMean("x", trim=0.1, low=0, high=100)
        yield Cell(name, statistic, sd.Pure(1), column, (("interval", 0.95),))


def tables():
    """What becomes of the error."""
    yield (
        "Constants of bars beside smooth noise: error of the answer with each moved, over the error as shipped.",
        COLUMNS,
        sweep(ForScaleBar, list(cells())),
    )
