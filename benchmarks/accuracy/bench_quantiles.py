"""Accuracy of quantiles, minima and maxima by their closed-form laws, and of tied columns.

RMSE against the sample statistic on fresh samples: ours without hints, with rough hints, with `tight`, and the
exponential mechanism over gaps (what other libraries offer). Rare far draws count in full: no simulation.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from benchmarks.accuracy.columns import BOUNDS, column
from sordino.data.memory import Memory
from sordino.mechanisms.choose import choose
from sordino.mechanisms.nested.inverse_sensitivity import InverseSensitivity
from sordino.privacy import Pure
from sordino.reading.profile import Reading
from sordino.statistics.maximum import Maximum
from sordino.statistics.minimum import Minimum
from sordino.statistics.quantile import Quantile

HINTS = {
    "gauss": (1, 3),
    "income": (1e5, 1e5),
    "unif": (0.3, 0.5),
    "bimodal": (30, 30),
    "bimodal50": (30, 30),
    "pareto": (3, 3),
}
QUERIES = {"median": 0.5, "q10": 0.1, "q90": 0.9, "q99": 0.99, "min": 0.0, "max": 1.0}
SAMPLES = 2
SETTINGS = ((1001, 1), (1001, 0.1))
STEPS = {"ages": 1, "constant": 1, "mostly40": Fraction(1, 100), "heaped": 1}


def statistic_of(query, name, *, step=None):
    low, high = BOUNDS[name]
    fields = {"low": low, "high": high, "step": step}
    if query == "min":
        return Minimum("x", **fields)
    if query == "max":
        return Maximum("x", **fields)
    return Quantile("x", q=QUERIES[query], **fields)


def rmse(statistic, data, price, *, mechanism=None, **hints):
    """Root mean squared error by the exact law of the answer."""
    source = Memory({"x": data})
    chosen = mechanism or choose(statistic, price, rows=len(data), **hints)
    asked = statistic
    if getattr(chosen, "shift", None) is not None:
        asked = replace(statistic, shift=chosen.shift)
    request = replace(asked.request(depth=chosen.depth), cuts=getattr(chosen, "cuts", ()))
    (summary,) = source.summary(request)
    reading = Reading(replace(asked.read(summary).open(), below=summary.below))
    (plain,) = source.summary(statistic.request(depth=1))
    opened = statistic.read(plain).open()
    return math.sqrt(chosen.law(reading).mean_squared_error(opened.units.real(opened.value)))


def pooled(values):
    return math.sqrt(np.mean(np.square(values)))


def bars(samples):
    """The acceptance numbers, pooled over fresh samples of N(0, 1) in [-50, 1050]."""
    for query, rows, epsilon, bar, options in (
        ("median", 201, 1, 0.045, {}),
        ("median", 1001, 1, 0.0087, {}),
        ("median", 1001, 0.1, 0.031, {}),
        ("q99", 1001, 1, 3, {}),
        ("max", 1001, 1, 15, {}),
        ("max", 1001, 1, 1.5, {"loose": True}),
    ):
        statistic = statistic_of(query, "gauss")
        sizes = [
            rmse(statistic, column("gauss", rows, seed), Pure(epsilon), **options) for seed in range(samples)
        ]
        yield (
            f"{query} {'loose' if options else ''}",
            rows,
            epsilon,
            pooled(sizes),
            float(np.median(sizes)),
            bar,
        )


def ties():
    """The median of tied columns: declared step, and the default lattice."""
    for name, step in STEPS.items():
        for epsilon in (0.1, 1, 10):
            data = column(name, 1001, 1)
            declared = rmse(statistic_of("median", name, step=step), data, Pure(epsilon))
            yield name, epsilon, declared, rmse(statistic_of("median", name), data, Pure(epsilon))


def cells(samples, settings):
    """Ours, with a rough hint, with tight bounds, and the exponential mechanism over gaps, cell by cell."""
    for query in QUERIES:
        for name, (centre, spread) in HINTS.items():
            for rows, epsilon in settings:
                price, statistic = Pure(epsilon), statistic_of(query, name)
                found = [[], [], [], []]
                for seed in range(samples):
                    data = column(name, rows, seed)
                    found[0].append(rmse(statistic, data, price))
                    found[1].append(rmse(statistic, data, price, centre=centre, spread=spread))
                    found[2].append(rmse(statistic, data, price, tight=True))
                    gaps = InverseSensitivity(price=price, threshold=1)
                    found[3].append(rmse(statistic, data, price, mechanism=gaps))
                yield (f"{query} {name}", rows, epsilon, *(pooled(sizes) for sizes in found))


def summary(rows):
    """Geometric means and worst cells of the ratios to the exponential mechanism over gaps."""
    for place, kind in ((3, "no hint"), (4, "rough hint"), (5, "tight")):
        ratios = [row[place] / row[6] for row in rows]
        more = sum(ratio > 1.15 for ratio in ratios)
        yield kind, math.exp(np.mean(np.log(ratios))), max(ratios), f"{more} of {len(ratios)}"


def tables():
    """For the runner: bars, ties, all cells, and their summary."""
    yield (
        "Quantiles of N(0,1) in [-50, 1050]: RMSE by the exact law, 20 fresh samples",
        ("query", "rows", "epsilon", "pooled", "median sample", "bar"),
        list(bars(20)),
    )
    yield (
        "Median of tied columns, n = 1001: RMSE",
        ("column", "epsilon", "declared step", "default"),
        list(ties()),
    )
    rows = list(cells(SAMPLES, SETTINGS))
    names = ("query", "rows", "epsilon", "ours", "hint", "tight", "gaps")
    yield f"Replace-one, {SAMPLES} fresh samples per cell: RMSE", names, rows
    yield (
        "Ratio to the mechanism over gaps",
        ("kind", "geometric mean", "worst", "above 1.15"),
        list(summary(rows)),
    )
