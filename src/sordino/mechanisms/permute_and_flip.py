"""Permute-and-flip on a short public list: the exact law (McKenna & Sheldon 2020, Prop. 1 and section 5).

Never worse than the exponential mechanism at the same pure epsilon, and up to twice as good; the gain vanishes as the
list gets long. Price: pure epsilon only. The draw itself is in sordino.exact; scores come from nested.py.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np


def probabilities(levels: Sequence[int], slope: float | Fraction) -> list[float]:
    """Probability of each candidate: ``q_i`` times the integral of ``prod_(j != i) (1 - t q_j)`` over [0, 1].

    ``q_i = exp(-slope (level_i - best level))``. The integrand is a polynomial of degree N - 1, so Gauss-Legendre with
    N/2 + 1 nodes is exact; candidates with equal levels share one integral.

    Example:
        >>> [round(p, 6) for p in probabilities([0, 1, 1], math.log(2))]
        [0.583333, 0.208333, 0.208333]
    """
    best = min(levels)
    groups = Counter(level - best for level in levels)
    rate = float(slope)
    chance = {gap: math.exp(-rate * gap) for gap in groups}
    nodes, weights = np.polynomial.legendre.leggauss(min(len(levels) // 2 + 1, 300))
    # The product falls like exp(-N t): below 600 candidates the rule is exact, above it the substitution
    # t = u^2 puts the nodes where the mass is.
    times = (nodes + 1) / 2
    share = weights / 2
    if len(levels) > 590:
        share = share * 2 * times
        times = times * times
    log_all = sum(count * np.log1p(-times * chance[gap]) for gap, count in groups.items())
    each = {
        gap: chance[gap] * float(np.sum(share * np.exp(log_all - np.log1p(-times * chance[gap]))))
        for gap in groups
    }
    return [each[level - best] for level in levels]
