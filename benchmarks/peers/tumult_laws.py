"""What Tumult Analytics answers to average, variance and get_bounds, written down from its sources.

`tmlt.core` 0.19.1, `measurements/aggregations.py`, under AddOneRow and pure epsilon: a float column gets Laplace noise,
its count too; a count that is asked for itself gets geometric noise. Checked against its draws on Spark.
"""

import numpy as np

from benchmarks.peers import scores
from benchmarks.peers.moment_laws import Sample, mixed, quotient

DRAWS, SEED = 400_000, 20190519
FRACTION = 0.95  # of the rows that get_bounds wants within its bounds
RANKS = np.arange(-100, 101)  # its bounds are powers of two


def average(values, low, high, epsilon, cells=3000):
    """Half for the sum of deviations from the middle, half for the count; the quotient is not cut to the bounds.

    A row moves the sum by at most (high - low)/2, so either noise has the scale 2/epsilon times what a row can do.
    """
    middle = (low + high) / 2
    total = float(np.sum(np.clip(values, low, high) - middle))
    return quotient(
        total, len(values), middle, sum_scale=(high - low) / epsilon, count_scale=2 / epsilon, cells=cells
    )


def variance(values, low, high, epsilon):
    """A third each for the sum, the sum of squares (about the middle of the squares' range) and the count.

    The unbiased form of the noisy three, cut to [0, (high - low)²/4]; no number where the noisy count is 1 or less.
    """
    random = np.random.default_rng(SEED)
    rows = np.clip(values, low, high)
    squares = [end**2 for end in (low, high)] + [0.0] * (low <= 0 <= high)
    middle, square = (low + high) / 2, (min(squares) + max(squares)) / 2
    share = 3 / epsilon
    n = len(rows) + random.laplace(0, share, DRAWS)
    s = np.sum(rows - middle) + random.laplace(0, share * (high - low) / 2, DRAWS)
    q = np.sum(rows**2 - square) + random.laplace(0, share * (max(squares) - min(squares)) / 2, DRAWS)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = q / (n - 1) + square * n / (n - 1) - (s / n + middle) ** 2 * n / (n - 1)
    found = np.where(n <= 1, np.nan, np.clip(found, 0, (high - low) ** 2 / 4))
    return Sample(found, scores.score("", found, float(np.var(values, ddof=1))).doubt)


def bounds(values, epsilon):
    """How often get_bounds answers ±2^k: the first k where the noisy number of rows within reaches a noisy threshold.

    Sparse vector over the prefix sums: geometric noise of scale 4/epsilon on each and of half of that on the threshold;
    where none reaches it, the last.
    """
    alpha = 4 / epsilon
    with np.errstate(divide="ignore"):
        rank = np.clip(np.ceil(np.log2(np.abs(values))), RANKS[0], RANKS[-1])
    within = np.searchsorted(np.sort(rank), RANKS, "right")
    middle, reach = int(FRACTION * len(values)), int(30 * alpha)
    noise = np.arange(-reach, reach + 1)
    weight = np.exp(-np.abs(noise) / (alpha / 2))
    passed = at_least(middle + noise[:, None] - within[None, :], alpha)
    passed[:, -1] = 1.0
    missed = np.cumprod(np.concatenate([np.ones((len(noise), 1)), 1 - passed[:, :-1]], axis=1), axis=1)
    return 2.0**RANKS, (weight / weight.sum()) @ (missed * passed)


def at_least(number, alpha):
    """P(G >= number) of two-sided geometric noise of scale alpha."""
    decay = np.exp(-1 / alpha)
    return np.where(
        number >= 0,
        decay ** np.maximum(number, 0) / (1 + decay),
        1 - decay ** np.maximum(1 - number, 0) / (1 + decay),
    )


def automatic_average(values, low, high, epsilon):
    """Half for get_bounds, which cut the declared bounds, half for the average within them."""
    parts = [
        (share, average(values, max(low, -bound), min(high, bound), epsilon / 2, cells=400))
        for bound, share in zip(*bounds(values, epsilon / 2), strict=True)
        if share > 1e-13  # less does not show
    ]
    return mixed(parts)
