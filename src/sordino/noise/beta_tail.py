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

    log_y = -np.logaddexp(0, v)
    near = np.where(v > 0, betainc(a, b, expit(-v)), betaincc(b, a, expit(v)))
    return np.where(log_y < FAR, np.exp(_log_far(a, b, log_y)), near)


def _log_far(a: float, b: float, log_y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give log I_y(a, b) for tiny y: y^a / (a B(a,b)) * (1 + a (1-b)/(a+1) y + ...)."""
    y = np.exp(log_y)
    series = y * a * (1 - b) / (a + 1) * (1 + y * (a + 1) * (2 - b) / (2 * (a + 2)))
    return a * log_y - np.log(a) - log_beta(a, b) + np.log1p(series)


def inverse(
    a: float, b: float, wanted: NDArray[np.float64], centre: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give the v with I_{1/(1+e^v)}(a, b) = wanted = 1 - centre."""
    from scipy.special import betaincinv, logit

    far_log_y = (np.log(wanted) + np.log(a) + log_beta(a, b)) / a
    from_tail = betaincinv(a, b, wanted)  # y
    from_centre = betaincinv(b, a, centre)  # 1 - y
    v = np.where(from_tail < 0.5, -logit(from_tail), logit(from_centre))
    v = np.where(far_log_y < FAR, _far_inverse(a, b, far_log_y), v)
    return _polish(a, b, _polish(a, b, v, wanted, centre), wanted, centre)


def _far_inverse(a: float, b: float, log_y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Undo the series once and return v = log(1/y - 1)."""
    y = np.exp(log_y)
    log_y = log_y - np.log1p(y * a * (1 - b) / (a + 1)) / a
    return -log_y + np.log1p(-np.exp(log_y))


def _polish(
    a: float, b: float, v: NDArray[np.float64], wanted: NDArray[np.float64], centre: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Take one Newton step in v, on the logarithm of whichever side is smaller."""
    from scipy.special import betainc, expit

    log_density = -b * np.logaddexp(0, -v) - a * np.logaddexp(0, v) - log_beta(a, b)  # -d tail / dv
    now = tail(a, b, v)
    other = betainc(b, a, expit(v))
    small = wanted < 0.5
    error = np.where(small, np.log(now / wanted), -np.log(other / centre))
    slope = np.exp(log_density) / np.where(small, now, other)
    step = error / slope
    usable = np.isfinite(step) & (np.abs(step) < 0.1)
    return v + np.where(usable, step, 0.0)


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
