"""Constants of means and variances, plain or cut: error with each moved, over the error as shipped."""

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, bounded, sweep
from sordino.mechanisms.tuned_means import ForCut


def tables():
    """What becomes of the error."""
    yield (
        "Constants of means and variances, plain or cut: error with each moved, over the error as shipped.",
        COLUMNS,
        sweep(ForCut, list(bounded((sd.Mean, sd.Variance), (100, 10_000)))),
    )
