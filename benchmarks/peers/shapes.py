"""How the generated columns are drawn: textbook shapes, and what real tables have that those lack.

Zeros, heaps, top codes, whole numbers, dates and values far from zero. No constant of Sordino was chosen on these.
"""

import numpy as np


def gauss(random, rows):
    """A normal column."""
    return random.normal(0, 1, rows)


def incomes(random, rows):
    """Log-normal incomes."""
    return random.lognormal(11, 0.9, rows)


def uniform(random, rows):
    """A uniform column."""
    return random.uniform(0, 1, rows)


def two_bumps(random, rows):
    """Two groups with a gap between them."""
    first = random.random(rows) < 0.6
    return np.where(first, random.normal(25, 5, rows), random.normal(75, 5, rows))


def pareto(random, rows):
    """A sharp lower edge and a heavy tail."""
    return 1 + random.pareto(2.5, rows)


def wages(random, rows):
    """Nearly half do not earn, the others' wages are log-normal in dollars; about one in a hundred is top-coded."""
    earned = np.rint(random.lognormal(10.6, 1.0, rows))
    return np.where(random.random(rows) < 0.46, 0.0, earned)


def benefits(random, rows):
    """Most get nothing, the others some thousands."""
    return np.where(random.random(rows) < 0.85, 0.0, np.rint(random.gamma(2.0, 1500.0, rows)))


def pay(random, rows):
    """One grade holds three tenths, half of the others say round thousands."""
    own = random.lognormal(11, 0.4, rows)
    own = np.where(random.random(rows) < 0.5, np.rint(own / 1000) * 1000, np.rint(own))
    return np.where(random.random(rows) < 0.3, 65_000.0, own)


def ages(random, rows):
    """Ages in whole years."""
    return np.rint(random.normal(40, 15, rows))


def visits(random, rows):
    """Counts with more spread than a Poisson law."""
    return random.negative_binomial(1.2, 0.25, rows).astype(float)


def dates(random, rows):
    """Days of six years, more of them late."""
    return 18_262 + np.floor(2192 * random.beta(2.0, 1.0, rows))


def weights(random, rows):
    """Grams of parcels that should weigh a ton: far from zero beside their spread."""
    return random.normal(1_000_000, 15, rows)


SHAPES = {
    "gauss": gauss,
    "incomes": incomes,
    "uniform": uniform,
    "two bumps": two_bumps,
    "pareto": pareto,
    "wages": wages,
    "benefits": benefits,
    "pay": pay,
    "cut incomes": incomes,
    "ages": ages,
    "visits": visits,
    "dates": dates,
    "weights": weights,
}
