"""Constants of counting rows first, where their number is private: error with each moved, over the error as shipped."""

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, shapes, sweep
from sordino.mechanisms.tuned import ForCounted


def cells():
    """Far quantiles and maxima of generated shapes, in bounds that fit and that do not; nobody says how many rows."""
    for rows, epsilon in ((201, 1), (1001, 0.3), (4001, 1)):
        for name, column in shapes(rows).items():
            for high in (100, 100_000):
                bounds = {"low": 0, "high": high, "neighbors": sd.Neighbors.ADD_REMOVE_ONE}
                far = [sd.Quantile("x", q=q, **bounds) for q in (0.2, 0.99)]
                for statistic in (*far, sd.Maximum("x", **bounds)):
                    asked = f"{statistic.name} of {name} high={high} n={rows}"
                    yield Cell(asked, statistic, sd.Pure(epsilon), column)


def tables():
    """What becomes of the error."""
    yield (
        "Constants of counting first: error with each moved, over the error as shipped.",
        COLUMNS,
        sweep(ForCounted, list(cells())),
    )
