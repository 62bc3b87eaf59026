"""Constants of discovery: keys that are found with each moved, as shipped over that (above 1: fewer are found)."""

import numpy as np

import sordino as sd
from benchmarks.tuning.answers import answers
from benchmarks.tuning.moved import COLUMNS, Cell, sweep
from sordino.mechanisms.tuned_tables import ForDiscovery

RELEASES = 8
MANY = 100_000  # keys that could occur


class Found(Cell):
    """One over the number of keys that are found, on average."""

    def error(self):
        unit = sd.Unit("person", max_rows=self.statistic.max_keys)
        found = answers(self.statistic, self.price, self.column, times=RELEASES, unit=unit)
        return RELEASES / max(sum(len(one.public["keys"]) for one, _ in found), 1)


def people_with(keys, tail, people=4000):
    """So many keys each, drawn by rank from a power law."""
    random = np.random.default_rng([keys, round(10 * tail)])
    ranks = np.minimum(random.pareto(tail, people * keys) * 3, MANY).astype(int)
    return {"person": np.repeat(np.arange(people), keys), "key": ranks}


def cells():
    """Light and heavy tails, few and many keys per person, both kinds of price."""
    for tail in (0.5, 1.0, 1.5):
        for keys in (1, 2, 3, 8, 30):
            for price in (sd.Approx(1, 1e-6), sd.ApproxConcentrated(0.1, 1e-6)):
                statistic = sd.Keys("key", max_keys=keys, neighbors=sd.Neighbors.ADD_REMOVE_ONE)
                yield Found(f"tail {tail}, {keys} keys, {price}", statistic, price, people_with(keys, tail))


def tables():
    """What becomes of the number of keys."""
    yield (
        "Constants of discovery: keys found as shipped, over keys found with each moved.",
        COLUMNS,
        sweep(ForDiscovery, list(cells())),
    )
