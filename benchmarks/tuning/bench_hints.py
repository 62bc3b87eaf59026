"""Constants of hints: error with each moved, over the error as shipped; hints are wrong by up to threefold."""

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, shapes, sweep
from sordino.mechanisms.tuned import ForHints


def cells():
    """Questions on generated shapes."""
    for rows, epsilon in ((201, 0.1), (201, 1), (1001, 0.3)):
        for name, column in shapes(rows).items():
            for wrong in (1 / 3, 1, 3):
                hints = (
                    ("centre", float(column.mean() + column.std())),
                    ("spread", float(wrong * column.std())),
                )
                for q in (0.1, 0.5, 0.99):
                    statistic = sd.Quantile("x", q=q, low=0, high=100_000)
                    yield Cell(
                        f"{name} q={q:g} hint x{wrong:g} n={rows}", statistic, sd.Pure(epsilon), column, hints
                    )


def tables():
    """What becomes of the error."""
    yield (
        "Constants of hints: error with each moved, over the error as shipped.",
        COLUMNS,
        sweep(ForHints, list(cells())),
    )
