"""The non-negative table that fits noisy parts best: post-processing of what is published.

Least squares over tables without negative cells, by the alternating direction method of multipliers: its quadratic step
is diagonal in the parts (docs/proofs/mechanism_margins.md, Theorem 5).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sordino.mechanisms.table.interactions import Axes, part_of, whole_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STEPS = 300
"""Small tables are at their solution to 15 digits by then."""


def nonnegative(
    parts: Mapping[Axes, Floats], variances: Mapping[Axes, float], sizes: Sequence[int]
) -> Floats:
    """Minimise ``sum_T |part_T(x) - given part|^2 / variance_T`` over tables x without negative cells.

    A part whose variance is nothing (a public total) is kept exactly.

    Example:
        >>> import numpy as np
        >>> parts = {(): np.array(1.0), (0,): np.array([1.5, -1.5])}
        >>> nonnegative(parts, {(): 1.0, (0,): 1.0}, (2,)).round(4).tolist()
        [1.6667, 0.0]
    """
    unbiased = whole_table(parts, sizes)
    if unbiased.min() >= 0:
        return unbiased
    rests = {part: math.prod(size for axis, size in enumerate(sizes) if axis not in part) for part in parts}
    least = min((one for one in variances.values() if one > 0), default=1.0)
    weights = {part: rests[part] / max(variances[part], least * 1e-9) for part in parts}
    pace = min(weights.values())
    z, dual = np.maximum(unbiased, 0.0), np.zeros(tuple(sizes))
    for _ in range(STEPS):
        aim = z - dual
        # Components that no given part speaks of stay as they are.
        step = {}
        for part, given in parts.items():
            own = part_of(aim, part)
            step[part] = (weights[part] * given + pace * own) / (weights[part] + pace) - own
        x = aim + whole_table(step, sizes)
        z = np.maximum(x + dual, 0.0)
        dual = dual + x - z
    return z
