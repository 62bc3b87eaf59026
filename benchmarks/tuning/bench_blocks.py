"""Constants of functions of a table: error with each moved, over the error as shipped."""

import math

import numpy as np

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, shapes, sweep
from sordino.mechanisms.tuned_tables import ForBlocks


def middle_of_logs(table):
    """A function that no statistic of ours is."""
    return float(np.median(np.log1p(table["x"])))


class Released(Cell):
    """A function has no plan on given columns: released, again and again."""

    def error(self):
        errors = []
        truth = middle_of_logs({"x": np.asarray(self.column)})
        for seed in range(24):
            people = sd.open({"x": self.column}, budget=self.price, reason=f"tuning {seed}")
            errors.append(float(people.release(self.statistic, self.price)) - truth)
        return math.sqrt(sum(error**2 for error in errors) / len(errors))


def cells():
    """Questions on generated shapes."""
    for name, column in shapes(4000).items():
        statistic = sd.Function(middle_of_logs, columns=["x"], low=0, high=100, isolation="none")
        yield Released(name, statistic, sd.Pure(1), np.maximum(column, 0.0))


def tables():
    """What becomes of the error."""
    yield (
        "Constants of functions of a table: error with each moved.",
        COLUMNS,
        sweep(ForBlocks, list(cells())),
    )
