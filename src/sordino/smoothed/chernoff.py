"""An upper bound on the divergence of a pair of types in closed form, falling with both counts.

D(K_i, K_j) <= min over mu > 0 of S(mu)^(L+1) / (e (L+1) mu),
S(mu) = 1 - k_i (1 - exp(-e^eps mu / k_i)) + k_j (exp(mu / k_j) - 1),   k = K / n,

when one of K_i records changes to a type that has K_j, and L of n are held back. Derived, with the proof that every S
falls in k_i and in k_j, in docs/proofs/smoothed_certificate.md. Loose by one or two powers of ten at any size, which
is enough to skip sums that cannot matter and to certify averages over millions of records.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sordino.smoothed.mass import Floats

    Numbers = np.ndarray[Any, np.dtype[Any]]

_HALVINGS = 44
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def log_pair_ceiling(
    n: Numbers | int, L: Numbers | int, lose: Numbers, gain: Numbers, epsilon: float
) -> Floats:
    """Return ln of the bound for pairs of counts, at most 0; fractions are allowed.

    Args:
        n: Records.
        L: Records held back.
        lose: Records of the type that loses one.
        gain: Records of the type that gains one.
        epsilon: The privacy parameter.

    Example:
        >>> from sordino.smoothed.histogram import log_pairs
        >>> exact = log_pairs(100_000, 98_000, np.array([4_000]), np.array([9_000]), 1.0)
        >>> bound = log_pair_ceiling(100_000, 2_000, np.array([4e3]), np.array([9e3]), 1.0)
        >>> bool(0.0 < bound[0] - exact[0] < 3.0)
        True
    """
    total = np.asarray(n, dtype=np.float64)
    held = np.asarray(L, dtype=np.float64)
    i, j, held = np.broadcast_arrays(np.asarray(lose) / total, np.asarray(gain) / total, held)
    usable = (i > 0.0) & (j > 0.0) & (held > 0.0) & (epsilon > 0.0)
    a, b = np.where(usable, i, 0.5), np.where(usable, j, 0.5)
    factor = math.exp(min(epsilon, 600.0))

    def value(log_mu: Floats) -> Floats:
        mu = np.exp(log_mu)
        with np.errstate(over="ignore"):
            grown = b * np.expm1(np.minimum(mu / b, 600.0))
        s = a * np.expm1(-factor * mu / a) + grown
        return (held + 1.0) * np.log1p(s) - log_mu

    # S has slope 1 - e^eps < 0 at 0 and is back at 1 before mu = k_j (eps + ln(1 + k_i / k_j) + 1): the minimum of a
    # function with one valley lies between
    right = np.log(b * (epsilon + np.log1p(a / b) + 1.0))
    left = right - 60.0
    x, y = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
    f, g = value(x), value(y)
    for _ in range(_HALVINGS):
        lower = f < g
        left, right = np.where(lower, left, x), np.where(lower, y, right)
        x_next = np.where(lower, right - _GOLDEN * (right - left), y)
        y_next = np.where(lower, x, left + _GOLDEN * (right - left))
        fresh = value(np.where(lower, x_next, y_next))
        f, g = np.where(lower, fresh, g), np.where(lower, f, fresh)
        x, y = x_next, y_next
    # any mu gives a bound, so a search that stops early is still on the safe side
    best = np.minimum(f, g) - 1.0 - np.log(held + 1.0)
    return np.where(usable, np.minimum(best + 1e-9, 0.0), 0.0)
