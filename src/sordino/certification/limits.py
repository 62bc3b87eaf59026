"""How little noise is possible: proved lower bounds, and the best noise that programmes have found.

The bounds are Propositions 35 and 36 of Bun and Steinke 2019 with l = 0, the only form that smooth sensitivity allows.
The tables come from linear programmes (pure) and convex programmes (concentrated) over all symmetric laws on
a grid; they are estimates, good to about one percent (docs/proofs/limits.md). Nothing here prices anything.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sordino.checks import non_negative, positive
from sordino.privacy import Concentrated, Pure

if TYPE_CHECKING:
    from sordino.checks import Number
    from sordino.privacy import Guarantee

#: epsilon -> (smoothing/epsilon, least std per unit of smooth sensitivity). Without smoothing this is the
#: staircase law of Geng and Viswanath; where two extrapolations of the programme differ, the lower one is kept.
PURE: dict[float, tuple[tuple[float, float], ...]] = {
    0.1: ((0.0, 14.139), (0.1, 16.77), (0.2, 20.81), (0.4, 39.8)),
    0.5: ((0.0, 2.814), (0.02, 2.894), (0.1, 3.292), (0.2, 3.94), (0.4, 7.3)),
    1.0: ((0.0, 1.3850), (0.02, 1.433), (0.1, 1.6072), (0.2, 1.8996), (0.4, 3.52)),
    2.0: ((0.0, 0.6502), (0.02, 0.6705), (0.1, 0.7486), (0.2, 0.8532), (0.4, 1.43)),
    4.0: ((0.0, 0.2549), (0.02, 0.2635), (0.1, 0.2931), (0.2, 0.3221), (0.4, 0.428)),
}
#: rho -> (smoothing/sqrt(2 rho), least std per unit of smooth sensitivity).
CONCENTRATED: dict[float, tuple[tuple[float, float], ...]] = {
    0.02: ((0.02, 5.015), (0.1, 5.221), (0.3, 5.979), (0.5, 6.782)),
    0.5: ((0.02, 0.9959), (0.1, 0.9996), (0.3, 1.0574), (0.5, 1.1432)),
}


def variance_lower_bound(rho: Number, smoothing: Number) -> float:
    """A variance per squared unit of smooth sensitivity that no noise of price rho goes below.

    Prop. 36 of Bun and Steinke 2019 with l = 0:
    max over k of (e^(k t) - 1)^2 / ((e^t - 1)^2 (e^(2 rho k^2) - 1)), t the smoothing; with t = 0, 1/(e^(2 rho) - 1).
    It is weak: the best noise known stands up to a third above it in standard deviation.

    Example:
        >>> round(variance_lower_bound(0.5, 0.1), 12)
        0.581976706869
    """
    cost = 2 * float(positive("lower bound", rho=rho))
    t = float(non_negative("lower bound", smoothing=smoothing))
    if t == 0:
        return 1 / math.expm1(cost)
    # in log k the derivative is negative beyond t/cost + 2/sqrt(cost)
    last = math.ceil(t / cost + 2 / math.sqrt(cost)) + 2
    k = np.unique(np.geomspace(1, last, 200_000).round()) if last > 200_000 else np.arange(1.0, last + 1)
    with np.errstate(over="ignore"):
        grown = _log_expm1(k * t) - _log_expm1(np.array([t]))
        return float(np.exp(np.max(2 * grown - _log_expm1(cost * k * k))))


def _log_expm1(
    x: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """log(e^x - 1) without overflow."""
    return np.asarray(np.where(x > 1, x + np.log1p(-np.exp(-x)), np.log(np.expm1(np.minimum(x, 1)))))


def tail_lower_bound(rho: Number, smoothing: Number, distance: Number) -> float:
    """P(|noise| > distance), in units of smooth sensitivity, is at least this (Prop. 35 of Bun and Steinke 2019).

    e^(-2 rho k^2)/4 with k = ceil(log(1 + distance (e^t - 1))/t).

    Example:
        >>> tail_lower_bound(0.5, 0.1, 10) > 0
        True
    """
    cost = 2 * float(positive("lower bound", rho=rho))
    t = float(non_negative("lower bound", smoothing=smoothing))
    x = float(positive("lower bound", distance=distance))
    steps = x if t == 0 else math.log1p(x * math.expm1(t)) / t
    return 0.25 * math.exp(-cost * math.ceil(steps * (1 - 1e-12)) ** 2)


def best_known_std(price: Guarantee, smoothing: float) -> float | None:
    """The least standard deviation per unit of smooth sensitivity that a programme has found, between its cells.

    Interpolated linearly in 1/(std * price)^2, which bends upwards in the smoothing and in the logarithm of the
    price, so between cells the answer errs below the optimum rather than above. None outside the table.

    Example:
        >>> best_known_std(Pure(1), 0.1)
        1.6072
    """
    if isinstance(price, Pure):
        epsilon = float(price.epsilon)
        return _between(PURE, epsilon, epsilon, smoothing)
    if isinstance(price, Concentrated):
        rho = float(price.rho)
        return _between(CONCENTRATED, rho, math.sqrt(2 * rho), smoothing)
    return None


def _between(
    table: dict[float, tuple[tuple[float, float], ...]], price: float, scale: float, smoothing: float
) -> float | None:
    """Interpolate in the smoothing within two rows, then between the rows."""
    rows = sorted(table)
    ratio = smoothing / scale
    if not rows[0] <= price <= rows[-1]:
        return None
    below = max(row for row in rows if row <= price)
    above = min(row for row in rows if row >= price)
    values = [
        _along(table[row], ratio, row if table is PURE else math.sqrt(2 * row)) for row in (below, above)
    ]
    if values[0] is None or values[1] is None:
        return None
    if below == above:
        precision = values[0]
    else:
        weight = math.log(price / below) / math.log(above / below)
        precision = (1 - weight) * values[0] + weight * values[1]
    return round(1 / (scale * math.sqrt(precision)), 10)


def _along(row: tuple[tuple[float, float], ...], ratio: float, scale: float) -> float | None:
    """1/(std*price)^2 at a ratio of smoothing to price, or None off the row."""
    ratios = [cell[0] for cell in row]
    if not ratios[0] * (1 - 1e-9) <= ratio <= ratios[-1] * (1 + 1e-9):
        return None
    return float(np.interp(ratio, ratios, [1 / (std * scale) ** 2 for _, std in row]))
