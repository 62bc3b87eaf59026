"""Constants of one quantile: error with each moved, over the error as shipped."""

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, shapes, sweep
from sordino.mechanisms.tuned import ForQuantile


def cells():
    """Questions on generated shapes."""
    for rows, epsilon in ((201, 1), (1001, 0.3)):
        for name, column in shapes(rows).items():
            for q in (0.1, 0.5, 0.99):
                for high in (100, 100_000):
                    statistic = sd.Quantile("x", q=q, low=0, high=high)
                    yield Cell(f"{name} q={q:g} high={high} n={rows}", statistic, sd.Pure(epsilon), column)
        for name in ("bell", "zeros", "far"):
            for hints in ({"centre": 40, "spread": 12}, {"centre": 400, "spread": 1}, {"centre": 40}):
                statistic, said = (
                    sd.Median("x", low=0, high=100_000),
                    ", ".join(f"{k}={v}" for k, v in hints.items()),
                )
                column, asked = shapes(rows)[name], f"{name} n={rows} {said}"
                yield Cell(asked, statistic, sd.Pure(epsilon), column, tuple(hints.items()))


def tables():
    """What becomes of the error."""
    yield (
        "Constants of one quantile: error with each moved, over the error as shipped.",
        COLUMNS,
        sweep(ForQuantile, list(cells())),
    )
