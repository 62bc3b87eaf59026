"""Coverage of bars for the rows, by the laws of all that is drawn; a planted bar that is a fifth narrower beside it.

Nine columns with ties, heaps, gaps and heavy tails, 201 to 100,000 rows, epsilon .1 to 3, both relations. A line is a
setting: the largest miss over the columns at a level of 95 %, the column, and the largest miss of the planted bar.
"""

import numpy as np

import sordino as sd
from benchmarks.coverage import quantile_laws
from benchmarks.coverage.clipped_laws import ClippedLaws
from benchmarks.coverage.columns import ADD, COLUMNS, REPLACE
from sordino.coverage import Sample
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.mechanisms.choose import choose
from sordino.session.quote import prepare

SETTINGS = (
    (201, 1), (201, 3), (1001, 0.1), (1001, 1), (1001, 3), (10_001, 0.1), (10_001, 1), (100_000, 0.1), (100_000, 3),
)  # fmt: skip
MISS, NARROWER = 0.05, 0.8
NAMES = ("asked", "rows", "price", "relation", "worst miss", "on", "planted")


def column(name, rows):
    """Bounds and rows."""
    low, high, draw = COLUMNS[name]
    return low, high, draw(np.random.default_rng([5, rows]), rows)


def worst(found):
    """The largest miss and its column, and the largest of the planted bar."""
    name = max(found, key=lambda one: found[one][0])
    return found[name][0], name, max(planted for _, planted in found.values())


def quantile_line(q, rows, price, neighbors, *, columns=COLUMNS, places=20):
    """Of one quantile on every column: over the answer, and around the worst answer."""
    found = {}
    for name in columns:
        low, high, data = column(name, rows)
        statistic = sd.Quantile("x", q=q, low=low, high=high, neighbors=neighbors)
        found[name] = quantile_laws.misses(statistic, data, price, Sample(1 - MISS), rows=rows, places=places)
    return (*worst({name: each[:2] for name, each in found.items()}), max(each[2] for each in found.values()))


def clipped_line(kind, rows, epsilon, neighbors, columns=COLUMNS):
    """Of a mean, sum or square on every column."""
    found = {}
    for name in columns:
        low, high, data = column(name, rows)
        more = {"centre": float(low)} if kind is sd.SecondMoment else {}
        statistic = kind("x", low=low, high=high, neighbors=neighbors, **more)
        mechanism = choose(statistic, sd.Pure(epsilon), rows=rows)
        found[name] = tuple(
            ClippedLaws(mechanism, statistic, data, MISS, narrower=part).miss() for part in (1.0, NARROWER)
        )
    return worst(found)


def free_line(statistic, rows, price):
    """Of noise whose law is public: exactly, from the law of the published number around the true one."""
    part = prepare(
        statistic, price, neighbors=statistic.neighbors, unit=sd.Unit(), rows=rows, interval=1 - MISS
    ).parts[0]
    source = Memory({"x": np.arange(rows) % 7.0})
    answer = part.mechanism.answer(
        part.statistic, lambda request: source.summary(request)[0], part.grid, bits=SeededBits(1)
    )
    noise = answer.noise.of_counts() if part.statistic.is_count else answer.noise
    half = float(noise.half(MISS))
    return 2 * noise.above(half), 2 * noise.above(float(noise.step) * (NARROWER * half // float(noise.step)))


def quantile_rows():
    """Medians at every setting, other quantiles and concentrated prices at some."""
    for rows, epsilon in SETTINGS:
        for neighbors in (REPLACE, ADD):
            found = quantile_line(0.5, rows, sd.Pure(epsilon), neighbors)
            yield "median", rows, f"epsilon {epsilon}", neighbors.value, *found
    for q in (0.1, 0.9):
        for price in (sd.Pure(1), sd.Concentrated(0.125)):
            found = quantile_line(q, 2001, price, REPLACE)
            yield f"q = {q}", 2001, str(price), REPLACE.value, *found


def group_rows():
    """Medians of three groups, all bars at once: draws are independent, so what all cover is a product."""
    level = (1 - MISS) ** (1 / 3)
    for rows, epsilon, neighbors in ((701, 2, REPLACE), (3001, 0.3, ADD)):
        found = {}
        for name in COLUMNS:
            each = []
            for seed in range(3):
                low, high, draw = COLUMNS[name]
                data = draw(np.random.default_rng([7, rows, seed]), rows)
                # Within groups the number of rows is private, whatever the relation.
                statistic = sd.Median("x", low=low, high=high, neighbors=ADD)
                price = sd.Pure(epsilon).per_row(2) if neighbors is REPLACE else sd.Pure(epsilon)
                each.append(
                    quantile_laws.misses(statistic, data, price, Sample(level), rows=rows, narrower=NARROWER)
                )
            found[name] = tuple(1 - np.prod([1 - one[place] for one in each]) for place in (0, 1))
        yield "medians of 3 groups", 3 * rows, f"epsilon {epsilon}", neighbors.value, *worst(found), ""


def clipped_rows():
    """Means, sums, variances and second moments; a deviation misses exactly where its variance does."""
    for kind in (sd.Mean, sd.Sum, sd.Variance, sd.SecondMoment):
        for rows, epsilon in SETTINGS:
            for neighbors in (REPLACE, ADD):
                found = clipped_line(kind, rows, epsilon, neighbors)
                yield kind.__name__, rows, f"epsilon {epsilon}", neighbors.value, *found


def free_rows():
    """Counts, histograms and plain means."""
    bins = sd.Histogram("x", edges=tuple(range(8)))
    mean = sd.Mean("x", low=0, high=7)
    for price in (sd.Pure(0.1), sd.Pure(1), sd.Pure(3), sd.Concentrated(0.005), sd.Concentrated(0.5)):
        for name, asked in (("count above", sd.CountAbove("x", threshold=3)), ("histogram", bins)):
            yield name, str(price), *free_line(asked, 1001, price)
    for price in (sd.Concentrated(0.005), sd.Concentrated(0.5)):
        yield "mean, concentrated", str(price), *free_line(mean, 1001, price)


def tables():
    """For the runner."""
    yield (
        "Bars of quantiles, level 95 %: largest miss over nine columns, and around any answer.",
        (*NAMES, "around the worst answer"),
        quantile_rows(),
    )
    yield (
        "Simultaneous bars of groups, level 95 %.",
        (*NAMES, ""),
        group_rows(),
    )
    yield (
        "Bars of means, sums and squares, level 95 %: largest miss over nine columns.",
        NAMES,
        clipped_rows(),
    )
    yield (
        "Bars that follow from public noise, level 95 %.",
        ("asked", "price", "miss", "planted"),
        free_rows(),
    )
