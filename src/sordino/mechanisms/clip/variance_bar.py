"""The bar of a variance from three noisy sums (three_sums.py), all of which are published and paid for.

The noisy variance is the true one, plus noise with three weights, less the square of what the mean is
off by. The weights are private, but they hang on mean and variance alone: the mean lies near its noisy value, and the
variance is what the bar asks about. Proof: docs/proofs/mean_bars.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sordino.mechanisms.clip.three_sums import slopes
from sordino.mechanisms.tuned_means import ForMeanBar

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUNDS = 3  # of the search for ends that appear in their own weights
ROUNDED = 2.0**-31  # more than what rounding the sums to their lattice moves anything by, in rows
LARGEST = 0.25  # variance, in squared lengths

Widths = Callable[[Sequence[Sequence[float]], float], "NDArray[np.float64]"]
"""How far sums of noise with some weights may be off, in scales, if so large a part of all misses is theirs."""


def variance_ends(sums: Sequence[float], scale: float, widths: Widths) -> tuple[float, float]:
    """The bar in squared lengths.

    Args:
        sums: As they were published.
        scale: Of the noise in each.
        widths: The widths of weighted sums.

    Example:
        >>> from sordino.mechanisms.clip.slants import quantiles
        >>> plain = lambda weights, part: quantiles(weights, [], 0.05 * part)
        >>> [round(end, 4) for end in variance_ends((250.0, 500.0, 250.0), 1.0, plain)]  # all in the middle
        [-0.0013, 0.0013]
        >>> [round(end, 4) for end in variance_ends((1000.0, 0.0, 0.0), 1.0, plain)]  # all at one end
        [-0.0031, 0.0031]
    """
    count = sum(sums)
    nothing = 0.0, LARGEST
    if count <= 0:
        return nothing
    unit, (low, between, high) = scale / count, (one / count for one in sums)
    mean, found = between / 2 + high, low * high - between * between / 4
    part = ForMeanBar.SQUARE
    far, all_far = (unit * float(one) for one in widths([(-mean, 0.5 - mean, 1 - mean), (1, 1, 1)], part))
    if not all_far < 0.5:  # so few rows that nothing is known of where they lie
        return nothing
    off = (far + ROUNDED / count) / (1 - all_far)
    means = [min(max(mean + side * off, 0.0), 1.0) for side in (-1, 1)]
    (everywhere,) = widths([(1, 1, 1)], 1 - part)
    bent = unit * float(everywhere)
    ends = np.array([found, found])
    step = np.zeros(2)
    for _ in range(ROUNDS):
        known = np.clip(ends, 0.0, LARGEST).tolist()
        each = (
            widths([slopes(one, end) for end in known for one in means], 1 - part).reshape(2, 2).max(axis=1)
        )
        width = unit * each + bent * ((means[1] - means[0]) / 2) ** 2 + ROUNDED / count
        step, ends = ends, found + np.array([-1.0, 1.0]) * width + np.array([0.0, off * off])
    more = np.abs(ends - step) * bent / (1 - bent)
    return float(ends[0] - more[0]), float(ends[1] + more[1])
