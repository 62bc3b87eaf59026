"""The map with the smallest error: each frequency keeps the share of it that the reports can show.

With n reports the power of their spectrum is n(1 - |p^|^2) of noise and |p^|^2 times that of the people; the
least-squares factor on the unbiased spectrum follows from the power itself (docs/proofs/geo_points.md). Here
too: non-negative maps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.geo.deconvolution import factor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.geo.window import MapWindow

    Floats = NDArray[np.float64]


def weights_by_wave(window: MapWindow, spectrum: Any, count: int, unit_loss: float) -> Floats:
    """The share of each frequency to keep, between 0 and 1, non-increasing in the wave number."""
    waves = np.sqrt(window.waves)
    step = 2 * np.pi / max(n * c for n, c in zip(window.shape, window.cell, strict=True))
    ring = np.rint(waves / step).astype(np.int64)
    rings = int(ring.max()) + 1
    twice = np.full(window.waves.shape, 2.0)  # the half spectrum stands for both halves
    twice[:, 0] = 1.0
    if window.shape[1] % 2 == 0:
        twice[:, -1] = 1.0
    power = np.bincount(ring.ravel(), (twice * np.abs(spectrum) ** 2).ravel(), rings)
    modes = np.bincount(ring.ravel(), twice.ravel(), rings)
    # Pool ring j with its 1 + j/8 neighbours on each side.
    j = np.arange(rings)
    reach = 1 + j // 8
    begin, end = np.maximum(j - reach, 0), np.minimum(j + reach, rings - 1) + 1
    pooled, members = (
        np.concatenate([[0.0], np.cumsum(values)])[end] - np.concatenate([[0.0], np.cumsum(values)])[begin]
        for values in (power, modes)
    )
    mean = pooled / np.maximum(members, 1.0)
    seen = 1.0 / factor((j * step) ** 2, unit_loss, 2) ** 2  # |p^|^2
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = 1.0 - count * (1.0 - seen) / mean
    kept[~(mean > count * (1.0 + 3.0 / np.sqrt(np.maximum(members, 1.0))))] = 0.0
    kept = np.clip(kept, 0.0, 1.0)
    kept[:2] = 1.0
    kept = np.minimum.accumulate(kept)
    weights: Floats = kept[ring]
    return weights


def non_negative(values: Floats) -> Floats:
    """The nearest map in least squares that is nowhere negative and has the same sum: max(v - tau, 0).

    Example:
        >>> non_negative(np.array([3.0, -1.0, 2.0])).tolist()
        [2.5, 0.0, 1.5]
    """
    total = float(values.sum())
    if total <= 0:
        return np.zeros_like(values)
    ordered = np.sort(values, axis=None)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, ordered.size + 1)
    last = int(np.flatnonzero(ordered > excess)[-1])
    return np.maximum(values - excess[last], 0.0)
