"""Intervals that hold at all places of a map at once: a bootstrap of the reports' own cells.

The plain multiplier band covers far less than it says where few reports fall; two precautions mend that: the variance
is never below its smoothed version, and four largest weights are added. docs/proofs/geo_points.md has the coverage.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from sordino.geo.deconvolution import factor
from sordino.geo.maps import fields_on, largest_weight, window_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.geo.maps import DensityMap

    Floats = NDArray[np.float64]

ROUNDS = 200
_SMOOTHING = 1.5  # bandwidths
_LARGEST_WEIGHTS = 4.0


def simultaneous(found: DensityMap, *, rounds: int = ROUNDS, seed: int = 0) -> Floats:
    """Half the width of the band at each place.

    Args:
        found: An unbiased map.
        rounds: Bootstraps; the random numbers are public and independent of the reports'.
        seed: Of the bootstrap.
    """
    spread = cautious_deviation(found.variance, found)
    return critical_value(found, rounds=rounds, seed=seed) * spread


def smoothed(variance: Floats, found: DensityMap) -> Floats:
    """A variance at even places of the map, averaged over the neighbourhood of 1.5 bandwidths."""
    from scipy.ndimage import gaussian_filter

    gaps = [(b - a) / (n - 1) for a, b, n in zip(found.low, found.high, variance.shape, strict=True)]
    smooth: Floats = gaussian_filter(
        variance, [_SMOOTHING * found.bandwidth / gap for gap in gaps], mode="nearest"
    )
    return smooth


def cautious_deviation(variance: Floats, found: DensityMap) -> Floats:
    """sqrt(max(V, V smoothed) + 4 (largest weight)^2)."""
    floor = max(largest_weight(group, found.bandwidth) for group in found.groups)
    most = np.maximum(variance, smoothed(variance, found))
    deviation: Floats = np.sqrt(most + _LARGEST_WEIGHTS * floor**2)
    return deviation


def critical_value(found: DensityMap, *, rounds: int = ROUNDS, seed: int = 0) -> float:
    """The quantile of the largest deviation over the map, in cautious standard deviations."""
    h = found.bandwidth
    # Places a third of a bandwidth apart see the whole field; finer ones would only cost time.
    shape = tuple(
        min(n, ceil(3 * (b - a) / h) + 1)
        for a, b, n in zip(found.low, found.high, found.density.shape, strict=True)
    )
    window = window_for(found.groups, h, found.low, found.high, shape, finest=0.5)
    _, variance, _, _ = fields_on(window, found.groups, h)
    spread = cautious_deviation(variance, found)
    generator = np.random.default_rng(seed)
    smooth = np.exp(-0.5 * h * h * window.waves) / window.area
    filters = [smooth * factor(window.waves, group.unit_loss, 2) * group.share for group in found.groups]
    counts = [window.counts([group.reports.metres]) for group in found.groups]
    largest = np.empty(rounds)
    for i in range(rounds):
        total = sum(
            window.forward(generator.poisson(count).astype(np.float64) - count) * shape_of
            for count, shape_of in zip(counts, filters, strict=True)
        )
        largest[i] = np.abs(window.back(total)[window.inner] / spread).max()
    return float(np.quantile(largest, found.confidence, method="higher"))
