"""Speed for a million people, as ratios to numpy's Laplace draws in the same run.

The bars: value and bound of one query in 0.05 s (thresholds) and 0.1 s (kernel density) on one core; the noise of an
exactly rounded report at most four times `numpy.random.Generator.laplace`. The last table is a map of 60 x 60 places.
"""

import resource
import time

import numpy as np

from sordino.geo import (
    Disc,
    FunctionOnLine,
    KernelDensity,
    Logistic,
    QueryMechanism,
    Threshold,
    TwoWayThreshold,
    mechanism_for,
    survey,
)
from sordino.privacy import Geo

PEOPLE = 1_000_000


def seconds(function, *arguments, repeat=5):
    """Least CPU time of a few runs."""
    best = np.inf
    for _ in range(repeat):
        start = time.process_time()
        function(*arguments)
        best = min(best, time.process_time() - start)
    return best


def tables():
    """Yield the speed of queries and reports, and of a map."""
    rng = np.random.default_rng(0)
    income = np.exp(rng.normal(11.494, 0.829, PEOPLE))
    both = np.stack([income, income * rng.uniform(0.5, 3.0, PEOPLE)], axis=1)
    city = rng.normal(0.0, 5000.0, (PEOPLE, 2))
    money, metres = Geo(1, per=12_000), Geo(1, per=1000)
    cases = [
        ("threshold", Threshold(at=1e5, width=2e4), money, income),
        ("two-way threshold", TwoWayThreshold(at=(1e5, 2e5), width=2.4e4), money, both),
        ("disc", Disc(centre=(0.0, 0.0), radius=2000.0, width=500.0), metres, city),
        ("kernel density", KernelDensity(at=(0.0, 0.0), bandwidth=2370.0), metres, city),
        ("logistic", Logistic(weights=(0.001, 0.002)), metres, city),
        ("tanh, generic", FunctionOnLine.of(lambda x: np.tanh(x / 1e5), low=-1e6, high=1e6), money, income),
    ]
    laplace = seconds(rng.laplace, 0.0, 1.0, PEOPLE)
    rows = []
    for name, query, price, points in cases:
        made = QueryMechanism.choose(query, price)
        bound = seconds(query.value_and_bound, points, made.smoothing)
        whole = seconds(made.draw, points)
        rows.append([name, made.noise, bound, bound / laplace, whole, (whole - bound) / laplace])
    yield (
        f"a million people, one query; numpy's Laplace draws take {laplace:.3g} s",
        ("query", "noise", "value+bound s", "x laplace", "report s", "(report-bound) x laplace"),
        rows,
    )
    grid = KernelDensity.grid(low=(-3e4, -3e4), high=(3e4, 3e4), shape=(60, 60), bandwidth=1000)
    some = city[:100_000]
    start = time.process_time()
    survey(some, grid, Geo(1, per=500))
    spent = time.process_time() - start
    made = mechanism_for(grid, Geo(1, per=500))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield (
        "a map of 60 x 60 places, 100,000 people (time is proportional to people)",
        ("blocks", "answers each", "seconds", "seconds per million", "peak memory MB"),
        [[str(len(made.blocks)), made.widest, spent, spent * 10, peak]],
    )
