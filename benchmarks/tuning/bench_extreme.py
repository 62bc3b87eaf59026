"""Constants of minima and maxima: error with each moved, over the error as shipped."""

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, bounded, sweep
from sordino.mechanisms.tuned import ForExtreme


def tables():
    """What becomes of the error."""
    yield (
        "Constants of minima and maxima: error with each moved, over the error as shipped.",
        COLUMNS,
        sweep(ForExtreme, list(bounded((sd.Minimum, sd.Maximum), (100, 100_000)))),
    )
