"""Tails of laws whose |Z|^p/(1+|Z|^p) is a beta variable: Student's t and generalized Cauchy share them.

Everything is a function of v = log(|x|^p), so nothing overflows and neither end of the beta cancels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FAR = -23.0  # below this log(y) two terms of the hypergeometric series are exact to 1e-20


def tail(a: float, b: float, v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give I_y(a, b) at y = 1/(1+e^v), accurate for every v."""
    from scipy.special import betainc, betaincc, expit

    flat = np.ravel(v)
    far = flat > -FAR
    near = flat <= 0
    result = np.empty_like(flat)
    result[~near] = betainc(a, b, expit(-flat[~near]))
    inside = betainc(b, a, expit(flat[near]))
    # The complement is slower; it is needed only where one minus the other side would cancel.
    result[near] = np.where(inside < 0.9, 1 - inside, 0.0)
    small = np.flatnonzero(near)[inside >= 0.9]
    result[small] = betaincc(b, a, expit(flat[small]))
    if np.any(far):
        result[far] = np.exp(_log_far(a, b, -np.logaddexp(0, flat[far])))
    return result.reshape(np.shape(v))


def _inside(a: float, b: float, v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give 1 - I_y(a, b), accurate where it is small."""
    from scipy.special import betainc, expit

    return betainc(b, a, expit(v))


def _log_far(a: float, b: float, log_y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give log I_y(a, b) for tiny y: y^a / (a B(a,b)) * (1 + a (1-b)/(a+1) y + ...)."""
    y = np.exp(log_y)
    series = y * a * (1 - b) / (a + 1) * (1 + y * (a + 1) * (2 - b) / (2 * (a + 2)))
    return a * log_y - np.log(a) - log_beta(a, b) + np.log1p(series)


def inverse(
    a: float, b: float, wanted: NDArray[np.float64], centre: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give the v with I_{1/(1+e^v)}(a, b) = wanted = 1 - centre, from whichever of the two is smaller."""
    from scipy.special import betaincinv, logit

    flat, other = np.ravel(wanted), np.ravel(centre)
    result = np.full(flat.shape, np.nan)
    middle = np.flatnonzero(flat >= 0.5)
    v = logit(betaincinv(b, a, other[middle]))
    result[middle] = _newton(a, b, v, other[middle], upper_side=False)
    far_log_y = (np.log(flat) + np.log(a) + log_beta(a, b)) / a
    far = np.flatnonzero((flat < 0.5) & (far_log_y < FAR))
    result[far] = _far_inverse(a, b, far_log_y[far])
    near = np.flatnonzero((flat < 0.5) & (far_log_y >= FAR))
    v = -logit(betaincinv(a, b, flat[near]))
    result[near] = _newton(a, b, v, flat[near], upper_side=True)
    return result.reshape(np.shape(wanted))


def _far_inverse(a: float, b: float, log_y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Undo the series once and return v = log(1/y - 1)."""
    y = np.exp(log_y)
    log_y = log_y - np.log1p(y * a * (1 - b) / (a + 1)) / a
    return -log_y + np.log1p(-np.exp(log_y))


def _newton(
    a: float, b: float, v: NDArray[np.float64], wanted: NDArray[np.float64], *, upper_side: bool
) -> NDArray[np.float64]:
    """Take a Newton step in v on the logarithm of the wanted side, and a second one where the first was not tiny."""
    active = np.flatnonzero(np.isfinite(v))
    for _ in range(3):
        at = v[active]
        side = tail(a, b, at) if upper_side else _inside(a, b, at)
        log_slope = -b * np.logaddexp(0, -at) - a * np.logaddexp(0, at) - log_beta(a, b)  # |d side/dv|
        step = (np.log(side) - np.log(wanted[active])) * side * np.exp(-log_slope)
        step = np.where(np.isfinite(step), np.clip(step, -1.0, 1.0), 0.0)
        v[active] = at + step if upper_side else at - step
        active = active[np.abs(step) > 1e-8 * np.maximum(1, np.abs(at))]
        if not active.size:
            break
    return v


def log_beta(a: float, b: float) -> float:
    """Give log B(a, b); for a large argument by Stirling's series, where differences of gammaln cancel."""
    from scipy.special import gammaln

    large, small = max(a, b), min(a, b)
    if large < 50:
        return float(gammaln(a) + gammaln(b) - gammaln(a + b))
    total = large + small
    # log Gamma(L) - log Gamma(L+s) with the leading terms joined by log1p.
    difference = (
        -small * np.log(total)
        - (large - 0.5) * np.log1p(small / large)
        + small
        + _stirling(large)
        - _stirling(total)
    )
    return float(gammaln(small) + difference)


def _stirling(x: float) -> float:
    """Give the correction of Stirling's formula, 1/(12x) - 1/(360x^3) + 1/(1260x^5) - 1/(1680x^7)."""
    r = 1 / (x * x)
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r / 1680))) / x
