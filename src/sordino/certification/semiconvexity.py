"""The constant of Lemma 3 for laws without a closed form: a cover of the line by monotone pieces.

k(z) = -(z+e)[(z+e) psi'(z) + psi(z)] is enclosed on cells where psi and the factors of psi' are monotone,
so that end values bound them. No derivative of higher order, no sampling.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sordino.certification.shape import FloatArray

Enclosure = Callable[[FloatArray, FloatArray], FloatArray]


def enclose_kappa(
    score: Callable[[FloatArray], FloatArray],
    derivative: Enclosure,
    beyond: Callable[[float], float],
    knots: tuple[float, ...],
    shift: float,
    *,
    cells: int = 3000,
) -> float:
    """An upper bound of sup max(k, 0).

    Args:
        score: psi on x >= 0, monotone between the knots.
        derivative: Bounds psi' (even) from below on cells a < b of the positive half-line.
        beyond: For z, a nonincreasing bound of -y psi'(y) over y >= z.
        knots: Every point where psi or a factor of psi' turns.
        shift: The e of the formula.
        cells: How many cells the positive half-line gets.

    For z < -e the constant is nonpositive: (v psi)' >= 0 and psi >= 0 (docs/proofs/certification.md).
    For z > 0, (z psi)' >= 0 gives (z+e) psi' + psi >= e psi', hence k <= -(z+e) e psi' beyond the last cell.
    """
    last = 4.0 * max(*knots, shift, 1.0)
    target = 0.02 * min(1.0, shift)
    while (1 + shift / last) * beyond(last) > target and last < 1e12:
        last *= 2
    first = min(*knots, shift, 1.0) * 1e-3
    inner = np.concatenate([np.linspace(0, first, 4), np.geomspace(first, last, cells), knots, [shift]])
    x = np.unique(inner)
    a, b = x[:-1], x[1:]
    psi_low, psi_high = _ordered(score(a), score(b))
    slope = derivative(a, b)

    # z in [a, b]: (z+e)^2 psi' + (z+e) psi from below, with z+e > 0 and psi >= 0
    low, high = a + shift, b + shift
    right = -(np.minimum(slope * low**2, slope * high**2) + low * psi_low)

    # z in [-b, -a] with b <= e: psi(z) = -psi(|z|), psi' even, z+e in [e-b, e-a]
    inside = b <= shift * (1 + 1e-12)
    low, high = np.maximum(shift - b[inside], 0.0), shift - a[inside]
    least = np.minimum(slope[inside] * low**2, slope[inside] * high**2)
    left = -least + high * psi_high[inside]

    tail = shift * (1 + shift / last) * beyond(last)
    bound = max(float(np.max(right)), float(np.max(left, initial=0.0)), tail, 0.0)
    if not np.isfinite(bound) or np.isnan(slope).any() or np.isnan(psi_high).any():
        raise ArithmeticError("the semi-convexity constant is not finite")
    return bound * (1 + 1e-9)


def _ordered(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Elementwise minimum and maximum."""
    return np.minimum(first, second), np.maximum(first, second)
