"""Constants of minima and maxima: error with each moved, over the error as shipped."""

import math
from itertools import product

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, bounded, set_to, shapes, sweep
from sordino.mechanisms.tuned import ForExtreme

NEVER = 10**9
"""Nats of a row for each power of the fall that no row has: answers always fall with the fourth power."""
BOUNDS = (200, 100_000)


def tables():
    """What becomes of the error."""
    yield (
        "Constants of minima and maxima: error with each moved, over the error as shipped.",
        COLUMNS,
        sweep(ForExtreme, list(bounded((sd.Minimum, sd.Maximum), (100, 100_000)))),
    )
    yield (
        "Large prices: error over that with the fourth power at every price, seven shapes in two bounds.",
        ("statistic", "rows", "epsilon", "geometric mean", "worst", "best"),
        list(strong()),
    )


def strong(sizes=(30, 100, 1000), prices=(10, 30, 100)):
    """The steeper fall of large prices against the fourth power, on the same columns."""
    for kind, rows, epsilon in product((sd.Minimum, sd.Maximum), sizes, prices):
        ratios = []
        for (name, column), high in product(shapes(rows).items(), BOUNDS):
            cell = Cell(name, kind("x", low=0, high=high), sd.Pure(epsilon), column, (("rows", rows),))
            with set_to(ForExtreme, "STEEP", NEVER):
                before = cell.error()
            after = cell.error()
            ratios.append(after / before if before else 1.0)
        middle = math.exp(sum(map(math.log, ratios)) / len(ratios))
        yield kind.name, rows, epsilon, f"{middle:.2f}", f"{max(ratios):.2f}", f"{min(ratios):.2f}"
