"""Maps of real points by every method: error of the whole map in people per square km."""

import numpy as np

from benchmarks.geo import map_methods as methods
from sordino.privacy import Geo

HEADER = (
    "n; U, h (m)",
    "mean",
    "unbiased",
    "smallest error",
    "EM",
    "moved",
    "blocks",
    "OUE, eps 1",
    "per place",
)
RUNS = 3


def row(name, count, unit, h, runs=RUNS):
    """One setting: means of squared errors over a few draws."""
    points = methods.real_points(name, count)
    price = Geo(1, per=unit)
    true = methods.truth(points, h)
    errors = {key: [] for key in ("unbiased", "best", "likelihood", "moved", "response")}
    for run in range(runs):
        generator = np.random.default_rng(100 + run)
        reports = methods.reports_of(points, price, generator)
        for key, made in (
            ("unbiased", methods.unbiased(reports, h)),
            ("best", methods.best(reports, h)),
            ("likelihood", methods.likelihood(reports, h)),
            ("moved", methods.moved(reports, h)),
            ("response", methods.randomised_response(points, h, generator)),
        ):
            if made is not None:
                errors[key].append(methods.rms(made, true))
    mean = {key: float(np.sqrt(np.mean(np.square(found)))) if found else "-" for key, found in errors.items()}
    return (
        f"{count:,}; {unit}, {h}",
        float(true.mean()),
        mean["unbiased"],
        mean["best"],
        mean["likelihood"],
        mean["moved"],
        methods.blocks_error(price, h, count),
        mean["response"],
        methods.per_place_error(points, price, h),
    )


def tables():
    """By price and bandwidth at 100,000 people; by number of people; pickups."""
    real = "" if methods.DATA.exists() else " (generated city: the files are not here)"
    grid = [(unit, h) for unit in (200, 500, 1000, 2000) for h in (250, 500, 1000)]
    yield (
        f"New York collisions, 100,000 people{real}",
        HEADER,
        [row("nyc_collisions", 100_000, *s) for s in grid],
    )
    counts = (1000, 10_000, 100_000, 1_000_000)
    yield (
        "New York collisions, by number of people",
        HEADER,
        [row("nyc_collisions", n, 500, h) for n in counts for h in (250, 500, 1000)],
    )
    pickups = [row("nyc_uber_pickups", 100_000, 500, h) for h in (250, 500, 1000)]
    yield "New York pickups, 100,000 people", HEADER, pickups
