"""What OpenDP and diffprivlib answer to a variance, and to a mean whose clipping points are looked for first.

Variances have closed forms; the two-stage mean is drawn many times from the exact laws of its parts, without the
library. Checked against the libraries' own draws like every other law.
"""

import math

import numpy as np

from benchmarks.peers import laws, scores
from benchmarks.peers.moment_laws import Sample, laplace

DRAWS, SEED = 40_000, 20190519
ENDS = (0.05, 0.95)  # quantiles between which the mean is clipped
HALVINGS = 200


def opendp_variance(values, low, high, epsilon):
    """Laplace noise on the unbiased variance; its sensitivity is (high - low)²/n where n is public."""
    rows = np.clip(values, low, high)
    return laplace(float(np.var(rows, ddof=1)), (high - low) ** 2 / len(rows) / epsilon)


def diffprivlib_variance(values, low, high, epsilon):
    """Laplace noise on the biased variance, drawn again until it lies in [0, (high - low)²/4]; then made unbiased.

    The scale is larger than sensitivity/epsilon, for the probability of being drawn again depends on the rows.
    """
    rows = np.clip(values, low, high)
    n, widest = len(rows), (high - low) ** 2 / 4
    found = float(np.var(rows))
    scale = bounded_scale((high - low) ** 2 * (n - 1) / n**2, widest, epsilon)
    ends = [0.5 * math.exp(min(end, 0.0)) if end <= 0 else 1 - 0.5 * math.exp(-end)
            for end in (-found / scale, (widest - found) / scale)]  # fmt: skip
    at = ends[0] + (ends[1] - ends[0]) * (np.arange(DRAWS) + 0.5) / DRAWS
    away = np.where(at < 0.5, np.log(2 * at), -np.log(2 * (1 - at)))
    return Sample(np.clip(found + scale * away, 0, widest) * n / (n - 1))


def bounded_scale(sensitivity, widest, epsilon):
    """The scale of Laplace noise conditioned on [0, widest]: s = sensitivity / (epsilon - ln C(s)), by bisection."""

    def wanted(scale):
        inner = 2 - math.exp(-sensitivity / scale) - math.exp(-(widest - sensitivity) / scale)
        return sensitivity / (epsilon - math.log(inner / -math.expm1(-widest / scale)))

    low, high = sensitivity / epsilon, wanted(sensitivity / epsilon)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if wanted(middle) >= middle else (low, middle)
    return (low + high) / 2


def two_stage(library, values, low, high, epsilon, points):
    """A quarter of epsilon for either clipping point, half for the mean between them.

    Args:
        library: `opendp`, whose points are among candidates, or `diffprivlib`, whose answer is cut to the points.
        values: The rows.
        low: Declared bound.
        high: Declared bound.
        epsilon: The whole price.
        points: OpenDP's candidates.
    """
    random = np.random.default_rng(SEED)
    found = []
    for q in ENDS:
        law = (
            laws.opendp(values, points, q, epsilon / 4)
            if library == "opendp"
            else laws.diffprivlib(values, low, high, q, epsilon / 4)
        )
        piece = random.choice(len(law.chance), DRAWS, p=law.chance / law.chance.sum())
        found.append(law.low[piece] + (law.high[piece] - law.low[piece]) * random.random(DRAWS))
    lower, upper = np.minimum(*found), np.maximum(*found)
    if library == "opendp":
        upper = np.maximum(upper, np.nextafter(lower, np.inf) + 1e-9 * (high - low))
    means = clipped_means(np.sort(values), lower, upper)
    answers = means + random.laplace(0, 1, DRAWS) * (upper - lower) / len(values) / (epsilon / 2)
    if library == "diffprivlib":
        answers = np.clip(answers, lower, upper)
    return Sample(answers, scores.score("", answers, float(np.mean(values))).doubt)


def clipped_means(ordered, lower, upper):
    """Means of the ordered rows clipped to many intervals at once."""
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    below, upto = np.searchsorted(ordered, lower), np.searchsorted(ordered, upper)
    total = below * lower + (sums[upto] - sums[below]) + (len(ordered) - upto) * upper
    return total / len(ordered)
