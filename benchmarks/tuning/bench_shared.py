"""Where the interval of all groups ends, and what finds it: error of generated groups for other constants.

Root mean square of (answer - mean of the group) / deviation of its rows, over groups, beside groups that search for
themselves; shapes are generated, bounds are 0 to a million. Constants are moved on shapes of their own, others judge.
"""

import numpy as np

import sordino as sd
from benchmarks.tuning.moved import COLUMNS, Cell, sweep
from sordino.mechanisms.tuned_tables import ForShared

SIZES = ((1000, 50), (100, 400), (30, 200))
PRICES = (0.3, 1.0)


def shapes(groups, each):
    """Groups alike, groups with zeros, groups that lie apart, groups whose scales differ a thousandfold."""
    rng = np.random.default_rng(1)
    size = (groups, each)
    apart = rng.normal(0, 12_000, (groups, 1))
    found = {
        "log-normal": rng.lognormal(10, 1, size),
        "normal": rng.normal(60_000, 8_000, size),
        "t with 3": 60_000 + 8_000 * rng.standard_t(3, size),
        "with zeros": np.where(rng.random(size) < 0.4, 0, rng.lognormal(9, 1, size)),
        "apart": rng.normal(60_000, 8_000, size) + apart,
        "of other scales": rng.lognormal(4, 1, size) * 10 ** (3 * np.arange(groups) / groups)[:, None],
    }
    return {name: np.clip(values, 0, 1e6) for name, values in found.items()}


def tuning(groups, each):
    """Shapes on which constants are moved."""
    rng = np.random.default_rng(2)
    size = (groups, each)
    low = rng.random(size) < 0.7
    return {
        "gamma": 9_000 * rng.gamma(1.5, 1, size),
        "uniform": rng.uniform(20_000, 90_000, size),
        "two heaps": np.where(low, rng.normal(15_000, 2_000, size), rng.normal(70_000, 9_000, size)),
        "Pareto 3": np.clip(20_000 * (1 + rng.pareto(3, size)), 0, 1e6),
    }


class Groups(Cell):
    """Root mean square over groups of one release, on a few seeds."""

    def error(self):
        return float(np.sqrt(np.mean([error(self.column, self.price, "shared") ** 2 for _ in range(3)])))


def cells():
    """Shapes of their own, sizes, prices."""
    for size in SIZES:
        for name, values in tuning(*size).items():
            for price in PRICES:
                yield Groups(f"{name}, {size[0]} x {size[1]}, epsilon {price}", None, price, values)


def error(values, price, scale):
    """One release of all groups."""
    groups, each = values.shape
    people = sd.open(
        {"x": values.ravel(), "g": np.repeat(np.arange(groups), each)}, budget=sd.Pure(10), rows=values.size,
        neighbors="add-remove-one",
    )  # fmt: skip
    answer = people.release_by("g", range(groups), sd.Mean("x", low=0, high=1e6), sd.Pure(price), scale=scale)
    return float(np.sqrt(np.mean(((np.array(answer.value) - values.mean(1)) / values.std(1)) ** 2)))


def tables():
    """Both ways side by side, then the constants one by one."""
    rows = []
    for groups, each in SIZES:
        for name, values in shapes(groups, each).items():
            for price in PRICES:
                own, one = error(values, price, "own"), error(values, price, "shared")
                rows.append((name, f"{groups} x {each}", price, own, one, own / one))
    yield "Own or shared", ("shape", "groups x rows", "epsilon", "own", "shared", "ratio"), rows
    yield "Constants, one by one, on other shapes", COLUMNS, sweep(ForShared, list(cells()))
