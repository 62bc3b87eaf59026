"""The threshold of a noisy table with the least estimated squared error: an exact unbiased estimate, from noisy counts.

Post-processing of geometric noise: what is estimated, and that it is unbiased for every count, is Theorem 2 of
docs/proofs/mechanism_high_pass.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def risk(counts: NDArray[np.int64], threshold: int, rate: float) -> Floats:
    """``E (T(c + Z) - c)^2`` for whole numbers c, where T keeps what reaches the threshold and is zero below.

    Example:
        >>> risk(np.array([0]), 1, 1.0).round(6).tolist()  # half of the variance of the noise
        [0.920674]
    """
    c = counts.astype(np.float64)
    gap = threshold - counts  # noise must reach this
    share = math.exp(-rate)
    # P(Z >= g) for g >= 1, and 1 - P(Z >= 1 - g) below.
    far, near = (share ** np.maximum(one, 0) / (1 + share) for one in (gap, 1 - gap))
    reach = np.where(gap >= 1, far, 1 - near)
    return c * c * (1 - reach) + _square_beyond(gap, share)


def _square_beyond(gap: NDArray[np.int64], share: float) -> Floats:
    """``E [Z^2; Z >= g]`` of two-sided geometric noise."""
    whole = 2 * share / (1 - share) ** 2

    def above(start: NDArray[np.float64]) -> Floats:
        # sum over z >= s of z^2 q^z (1-q)/(1+q) = q^s ((s + q/(1-q))^2 + q/(1-q)^2) / (1+q)
        rest = share / (1 - share)
        return np.asarray(share**start * ((start + rest) ** 2 + rest / (1 - share)) / (1 + share))

    far = above(np.maximum(gap, 0).astype(np.float64))
    near = whole - above(np.maximum(1 - gap, 0).astype(np.float64))
    return np.where(gap >= 1, far, near)


NO_NOISE = 600.0
"""From such a rate on the estimate is the count itself, and its correction no double."""


def unbiased_risk(noisy: NDArray[np.int64], threshold: int, rate: float) -> Floats:
    """An estimate of the risk of each cell from its noisy count alone, whose mean is the risk."""
    rate = min(rate, NO_NOISE)
    middle, up, down = (risk(noisy + step, threshold, rate) for step in (0, 1, -1))
    return middle - (up - 2 * middle + down) / (4 * math.sinh(rate / 2) ** 2)


def best_threshold(noisy: NDArray[np.int64], rate: float, highest: int) -> int:
    """The threshold from 1 to ``highest`` with the least estimated squared error over all cells."""
    values, many = np.unique(noisy, return_counts=True)
    totals = [float(np.dot(many, unbiased_risk(values, at, rate))) for at in range(1, highest + 1)]
    return 1 + int(np.argmin(totals))
