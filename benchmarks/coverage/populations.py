"""How often intervals cover the number of a population, over fresh samples that are drawn from it independently."""

import math

import numpy as np

import sordino as sd
from benchmarks.coverage.columns import COLUMNS
from sordino.coverage import Population
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.session.quote import prepare

CELLS = 2**12  # values lie on a lattice of so many steps: a release is then a few milliseconds
MEMBERS = 400_000  # of the population from which samples are drawn


class People:
    """A population on a coarse public lattice, and the intervals that are released about samples of it.

    Args:
        name: Of the column.
        wide: How far the bounds reach, in units of the 99th percentile of the values; None takes those of the column.
        seed: Of samples and noise.
    """

    def __init__(self, name, wide=4.0, seed=9):
        low, high, draw = COLUMNS[name]
        values = draw(np.random.default_rng(8), MEMBERS)
        if wide is not None:
            low, high = min(float(np.quantile(values, 0.01)), 0.0), wide * float(np.quantile(values, 0.99))
        self.low, self.step = low, 2.0 ** math.ceil(math.log2((high - low) / CELLS))
        self.high = low + self.step * math.floor((high - low) / self.step)
        kept = np.clip(values, self.low, self.high)
        self.values = self.low + self.step * np.rint((kept - self.low) / self.step)
        self.seed, self.random = seed, np.random.default_rng(seed)

    def asked(self, kind, **more):
        """A statistic of the column."""
        return kind("x", low=self.low, high=self.high, step=self.step, **more)

    def truth(self, statistic, cut):
        """The number of the population, of values cut to a published interval."""
        if statistic.name == "mean":
            return float(np.mean(np.clip(self.values, *cut)))
        return float(np.quantile(self.values, float(statistic.q), method="inverted_cdf"))

    def intervals(self, statistic, rows, price, releases, *, coverage):
        """Released intervals with the number that they should cover."""
        part = prepare(
            statistic, price, neighbors=statistic.neighbors, unit=sd.Unit(), rows=rows, interval=coverage
        ).parts[0]
        bits, known = SeededBits(self.seed), {}
        for _ in range(releases):
            source = Memory({"x": self.random.choice(self.values, rows)})
            answer = part.mechanism.answer(
                part.statistic,
                lambda request, source=source: source.summary(request)[0],
                part.grid,
                bits=bits,
            )
            bar = part.bar.around(answer)
            cut = bar.cut or (self.low, self.high)
            if cut not in known:
                known[cut] = self.truth(statistic, cut)
            yield bar, known[cut]


def covered(name, statistic, rows, price, releases, *, level=0.95, narrower=0.8, wide=4.0, seed=9, **more):
    """How often intervals cover, how often narrower ones do, and the middle of what privacy adds to the width."""
    people = People(name, wide, seed)
    found = []
    asked = people.asked(statistic, **more)
    for bar, truth in people.intervals(asked, rows, price, releases, coverage=Population(level)):
        middle, half = (bar.low + bar.high) / 2, (bar.high - bar.low) / 2
        slack = 1e-9 * (people.high - people.low)
        off = abs(truth - middle) - slack
        found.append((off <= half, off <= narrower * half, math.nan if bar.added is None else bar.added))
    hits, fewer, added = np.array(found, dtype=float).T
    return (
        float(hits.mean()),
        float(fewer.mean()),
        float(np.nanmedian(added)) if np.isfinite(added).any() else math.nan,
    )
