"""Constants of a quantile's bar: how wide the bar is, and the error of the answer beside it with each moved."""

import sordino as sd
from benchmarks.tuning import bar_widths
from benchmarks.tuning.moved import COLUMNS, Cell, shapes, sweep
from sordino.mechanisms.tuned import ForQuantileBar


def cells():
    """Questions on generated shapes."""
    for name, column in shapes(1001).items():
        for high in (100, 100_000):
            statistic = sd.Median("x", low=0, high=high)
            yield Cell(f"{name} high={high}", statistic, sd.Pure(1), column, (("interval", 0.95),))


def tables():
    """Half widths over e95, and what becomes of the error."""
    for title, chosen, each in (
        (
            "Half width of a median's bar over e95, on the shapes on which constants were chosen.",
            bar_widths.SHAPES,
            False,
        ),
        ("The same on other shapes.", bar_widths.OTHERS, False),
        ("The same on other shapes, e95 of each column by itself.", bar_widths.OTHERS, True),
    ):
        yield title, bar_widths.COLUMNS, bar_widths.rows_of(chosen, each=each)
    yield (
        "Error of the answer beside a bar with each constant moved, over the error as shipped.",
        COLUMNS,
        sweep(ForQuantileBar, list(cells()), lambda name: name == "ANSWER"),
    )
