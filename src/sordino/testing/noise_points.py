"""Points of the line at which laws of noise are looked at, and the probabilities of the cells between cuts."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TAILS = np.concatenate((10.0 ** -np.arange(0.02, 290, 4.0), np.linspace(0.02, 0.98, 33)))


@lru_cache(maxsize=512)
def far_points(noise: Any) -> Floats:
    """Where the log ratio of two such laws is likely to be extreme, at unit scale: quantiles and kinks, both signs."""
    breaks = getattr(noise, "breaks", None)
    near = np.asarray(breaks(), float) if callable(breaks) else np.array([1.0])
    for shape in noise.shape.values():  # where families of two branches change over
        near = np.concatenate([near, [1 / float(shape), 1 + float(shape)]])
    with np.errstate(all="ignore"):
        sizes = np.concatenate([np.asarray(noise.isf(TAILS / 2)), near * (1 - 1e-9), near * (1 + 1e-9)])
    sizes = sizes[np.isfinite(sizes) & (sizes < 1e200)]
    return np.unique(np.concatenate([[0.0], sizes, -sizes]))


def log_cells(noise: Any, cuts: Floats) -> Floats:
    """Log probabilities of the cells between cuts, from the nearer tail so that nothing cancels."""
    with np.errstate(all="ignore"):
        below, above = np.asarray(noise.cdf(cuts)), np.asarray(noise.sf(cuts))
        lower, upper = np.diff(below, prepend=0.0), -np.diff(above, prepend=1.0)
        middle = np.concatenate([lower, [0.0]])
        right = np.concatenate([upper, above[-1:]])
        positive = np.concatenate([cuts > 0, [True]])
        mass = np.where(positive, right, middle)
        return np.log(np.maximum(mass, 0.0))
