"""Coverage of intervals for the population over 2,000 fresh samples a line; a planted interval a fifth narrower beside.

A share and a count have exact intervals: the law of the published number is summed, and nothing is drawn.
"""

import math

import numpy as np
from scipy.stats import binom

import sordino as sd
from benchmarks.coverage.columns import ADD, COLUMNS, REPLACE
from benchmarks.coverage.populations import covered
from sordino.mechanisms.parts.population import share_limits
from sordino.mechanisms.parts.public_noise import PublicNoise
from sordino.privacy import Pure

RELEASES, LEVEL = 2000, 0.95
LEAST = LEVEL - 3 * math.sqrt(LEVEL * (1 - LEVEL) / RELEASES)
MEANS = ((201, 1, REPLACE), (1001, 0.3, ADD), (1001, 3, REPLACE), (10_001, 0.1, ADD))
MEDIANS = ((201, 1), (401, 3), (1001, 1), (10_001, 0.3))
SHARES = (
    (200, 0.1, 0.02),
    (200, 1, 0.3),
    (1000, 0.1, 0.3),
    (1000, 1, 0.5),
    (10_000, 0.1, 0.3),
    (10_000, 1, 0.01),
)
NAMES = ("column", "rows", "epsilon", "relation", "covered", "at least", "a fifth narrower", "privacy adds")
SMOOTH = [name for name in COLUMNS if name != "one value"]


def means(releases=RELEASES, settings=MEANS, columns=SMOOTH):
    """Of values cut to the published interval; approximate, by the central limit theorem."""
    for rows, epsilon, neighbors in settings:
        for name in columns:
            found = covered(name, sd.Mean, rows, sd.Pure(epsilon), releases, neighbors=neighbors)
            yield name, rows, epsilon, neighbors.value, found[0], LEAST, *found[1:]


def medians(releases=RELEASES, settings=MEDIANS, columns=SMOOTH):
    """With a public number of rows."""
    for rows, epsilon in settings:
        for name in columns:
            found = covered(name, sd.Median, rows, sd.Pure(epsilon), releases, wide=None)
            yield name, rows, epsilon, REPLACE.value, found[0], LEAST, *found[1:]


def share(rows, epsilon, chance, *, narrower=1.0):
    """How often the interval of a share misses, summed over the rows that have it and over the noise."""
    noise = PublicNoise(None, 2 / Pure(epsilon).epsilon, 1, aligned=True).of_counts()
    reach = math.ceil(40 * float(noise.scale))
    tallies = np.arange(rows + 1)
    weights = binom.pmf(tallies, rows, chance)
    kept = tallies[weights > 1e-9]
    rate, found = float(1 / noise.scale), 0.0
    offsets = np.arange(-reach, reach + 1)
    drawn = np.exp(-rate * np.abs(offsets)) * math.tanh(rate / 2)
    likely = np.convolve(weights[kept[0] : kept[-1] + 1], drawn)
    for place, weight in enumerate(likely.tolist()):
        if weight > 1e-7:
            value = int(kept[0]) - reach + place
            bar = share_limits(min(max(value, 0), rows), noise, rows=rows, unit=1, origin=0, miss=1 - LEVEL)
            middle, half = (bar.low + bar.high) / 2, narrower * (bar.high - bar.low) / 2
            found += weight * (abs(chance - middle) > half)
    return found


def shares():
    """Exactly."""
    for rows, epsilon, chance in SHARES:
        yield rows, epsilon, chance, share(rows, epsilon, chance), share(rows, epsilon, chance, narrower=0.8)


def tables():
    """For the runner."""
    yield (
        "Shares of a population, level 95 %: exact.",
        ("rows", "epsilon", "share", "miss", "planted"),
        shares(),
    )
    yield f"Medians of a population, level 95 %, {RELEASES} fresh samples.", NAMES, medians()
    yield f"Means of a population, level 95 %, {RELEASES} fresh samples.", NAMES, means()
