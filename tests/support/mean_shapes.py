"""Columns on which means are judged: smooth, heavy-tailed, mostly one value, two values, top-coded, whole numbers."""

import numpy as np


def shapes(size, random):
    """Names and generated rows."""
    pay, some = random.lognormal(10, 0.8, size), random.random(size)
    yield "normal", random.normal(0, 1, size)
    yield "uniform", random.random(size)
    yield "log-normal", pay
    yield "Pareto", random.pareto(2.5, size) + 1
    yield "two bumps", np.where(some < 0.5, random.normal(-3, 1, size), random.normal(3, 1, size))
    for share in (0.5, 0.9, 0.97):
        yield f"{share:.0%} zeros", np.where(random.random(size) < share, 0, pay)
    yield "3% at the bound", np.where(some < 0.03, 100.0, 0.0)
    yield "heap", np.where(some < 0.8, 50, random.normal(50, 15, size).clip(0, 100))
    yield "constant", np.full(size, 7.0)
    yield "ages", np.rint(random.gamma(4, 10, size).clip(0, 99))
    yield "counts", random.poisson(3, size).astype(float)
    yield "exponential", random.exponential(1, size)


def widened(kind, rows):
    """Bounds that fit, are so many times too wide, or are thirty times too wide and off centre."""
    low, high = min(float(rows.min()), 0.0), float(rows.max())
    high = high if high > low else low + 10
    slack = (high - low) / 50
    low, high = (low - slack if low < 0 else 0.0), high + slack
    if kind == "fit":
        return low, high
    if kind == "off centre":
        return low - 25 * (high - low), high + 4 * (high - low)
    return low * float(kind[1:]), high * float(kind[1:])
