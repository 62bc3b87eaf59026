"""The least excess variances of an earlier study, computed again at its own trimmings and smoothings.

Excess = n E[(trimmed - mean)^2] + n E[S^2] Var[Z] for N(0, 1) in [-50, 1050]. Var[Z] is exact. S is the smooth bound by
Proposition 40 of Bun and Steinke (2019): the maximum over all splits of e^(-t (j + l)) (U_j - L_l) / (n - 2 m). Both
expectations are means over fresh columns, whose relative standard error is shown. The stored values were read off a
spline across a knee of the bound and lie 2 to 12 percent too low.
"""

import math

import numpy as np

from reproductions.excess_variance import HIGH, LOW, trimming_costs
from reproductions.noise_lines import variances

SETTINGS = ((201, 1.0), (501, 1.0), (1001, 1.0), (5001, 1.0), (5001, 0.2))
# noise: (stored excess, rows trimmed, smoothing) per setting
STORED = {
    "Student t (3), Thm 31": (
        (0.694, 72, 0.106), (0.251, 80, 0.087), (0.126, 91, 0.072), (0.0300, 127, 0.049), (0.348, 700, 0.010),
    ),
    "Student t, exact": (
        (0.339, 45, 0.157), (0.148, 62, 0.106), (0.0779, 58, 0.108), (0.0205, 87, 0.072), (0.241, 700, 0.010),
    ),
    "PolyPlace, Thm 8": (
        (0.277, 37, 0.191), (0.118, 42, 0.157), (0.0629, 58, 0.108), (0.0161, 72, 0.087), (0.183, 579, 0.012),
    ),
    "PolyPlace": (
        (0.264, 37, 0.191), (0.113, 42, 0.157), (0.0612, 58, 0.108), (0.0156, 72, 0.087), (0.183, 579, 0.012),
    ),
    "Laplace-log-normal, Thm 18": (
        (0.521, 59, 0.129), (0.199, 62, 0.106), (0.103, 91, 0.072), (0.0241, 127, 0.049), (0.266, 700, 0.010),
    ),
    "Laplace-log-normal, numeric": (
        (0.138, 19, 0.34), (0.0628, 22, 0.28), (0.0358, 32, 0.19), (0.0098, 41, 0.16), (0.143, 224, 0.028),
    ),
    "arsinh-normal, certified": (
        (0.108, 19, 0.34), (0.0492, 22, 0.29), (0.0276, 18, 0.34), (0.0075, 28, 0.23), (0.0932, 224, 0.028),
    ),
}  # fmt: skip


def mean_square(rows, trimmed, smoothing, samples):
    """E[S^2] and its standard error, by the definition on fresh columns."""
    random = np.random.default_rng([61, rows, trimmed])
    up = np.arange(-1, trimmed + 1)
    weight = np.exp(-smoothing * (up[:, None] + np.arange(trimmed + 2)[None, :]))
    weight[0, 0] = 0.0  # no such distance
    found = np.empty(samples)
    for place in range(samples):
        x = np.sort(random.standard_normal(rows))
        high = np.append(x[rows - trimmed - 1 :], HIGH)
        low = np.append(x[trimmed::-1], LOW)
        found[place] = (weight * (high[:, None] - low[None, :])).max() / (rows - 2 * trimmed)
    squares = found**2
    return float(squares.mean()), float(squares.std(ddof=1) / math.sqrt(samples))


def tables():
    """For the runner."""
    for place, (rows, epsilon) in enumerate(SETTINGS):
        lines = []
        known = {}
        for noise, settings in STORED.items():
            stored, trimmed, smoothing = settings[place]
            if (trimmed, smoothing) not in known:
                samples = max(1500, min(20_000, 30_000_000 // trimmed**2))
                cost, doubt = trimming_costs(
                    rows=rows, trimmed=(trimmed,), samples=40_000_000 // rows, seed=62
                )[trimmed]
                known[trimmed, smoothing] = (*mean_square(rows, trimmed, smoothing, samples), cost, doubt)
            square, error, cost, doubt = known[trimmed, smoothing]
            variance = variances(epsilon, smoothing)[noise]
            excess = cost + rows * square * variance
            spread = math.hypot(doubt, rows * error * variance)
            ours = (
                f"{excess:.4g}",
                f"{100 * spread / excess:.2g} %",
                f"{100 * (excess / stored - 1):+.1f} %",
            )
            lines.append((noise, trimmed, smoothing, f"{stored:g}", *ours))
        columns = ("noise", "trimmed", "smoothing", "stored", "recomputed", "standard error", "difference")
        yield f"Excess variance at n = {rows}, epsilon = {epsilon:g}", columns, lines
