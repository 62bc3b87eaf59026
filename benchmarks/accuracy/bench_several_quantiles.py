"""Several quantiles at once: the recursive mechanism against one release per quantile at an equal share of the price.

Rank error in per cent of the rows, root mean square over draws and quantiles; exact draws on one sample per cell.
"""

from fractions import Fraction

import numpy as np

from benchmarks.accuracy.bench_means import codes_of
from benchmarks.accuracy.columns import BOUNDS, column
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.lattice import Lattice
from sordino.mechanisms.choose import choose
from sordino.privacy import Pure
from sordino.statistics.quantile import Quantile
from sordino.statistics.quantiles import Quantiles

DRAWS = 12


def rank_error(data, qs, answers):
    """Root mean square distance from q in per cent of the rows; a value inside a tie is right."""
    ordered = np.sort(data)
    low = np.searchsorted(ordered, answers, side="left") / len(data)
    high = np.searchsorted(ordered, answers, side="right") / len(data)
    targets = np.array([float(q) for q in qs])
    return 100 * np.sqrt(np.mean(np.maximum(0, np.maximum(low - targets, targets - high)) ** 2))


def rows():
    bits = SeededBits(7)
    for name, size, count in (("unif", 1001, 3), ("unif", 1001, 9), ("gauss", 1001, 3), ("income", 1001, 9),
                              ("ages", 1001, 3), ("heaped", 1001, 3)):  # fmt: skip
        low, high = BOUNDS[name]
        data = np.clip(column(name, size, 5), low, high)
        step = 1 if name in ("ages", "heaped") else None
        qs = tuple(Fraction(i + 1, count + 1) for i in range(count))
        statistic = Quantiles("x", qs=qs, low=low, high=high, step=step)
        together = choose(statistic, Pure(1), rows=size)
        codes = codes_of(data, statistic.grid)
        source = Memory({"x": data})
        recursive, single = [], []
        for _ in range(DRAWS):
            points = together.converse(codes, bits=bits)
            recursive.append(rank_error(data, qs, [float(together.lattice.real(point)) for point in points]))
            answers = []
            for q in qs:
                one = Quantile("x", q=q, low=low, high=high, step=step)
                mechanism = choose(one, Pure(Fraction(1, count)), rows=size)
                answers.append(
                    float(
                        mechanism.answer(
                            one, lambda ask, s=source: s.summary(ask)[0], Lattice.dyadic(0), bits=bits
                        )
                    )
                )
            single.append(rank_error(data, qs, answers))
        yield name, size, count, float(np.mean(recursive)), float(np.mean(single))


def tables():
    """For the runner."""
    names = ("column", "rows", "quantiles", "recursive", "one by one")
    yield f"Rank error in per cent, epsilon = 1 in all, {DRAWS} draws", names, list(rows())
