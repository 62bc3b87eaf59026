"""Permute-and-flip on a public list or lattice: the exact law (McKenna and Sheldon 2020, Prop. 1 and section 5).

Never worse than the exponential mechanism at the same pure epsilon, and up to twice as good; the gain vanishes as the
list gets long. Price: pure epsilon only. The draw itself is in sordino.exact; scores come from nested.py.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from sordino.mechanisms.parts.law import LatticeLaw, ScoreCell
from sordino.mechanisms.parts.measure import Measure

# Nodes take much longer than the integral, and every longer list takes the same 300.
_quadrature = lru_cache(maxsize=64)(np.polynomial.legendre.leggauss)


def level_chances(counts: Mapping[float, int], slope: float | Fraction) -> dict[float, float]:
    """Probability of one candidate at each level, for so many candidates per level.

    ``q_i`` times the integral of ``prod_(j != i) (1 - t q_j)`` over [0, 1], where ``q_i`` is
    ``exp(-slope (level_i - best))``; beyond ``t = 60 / sum(q)`` the integrand is below e^-60 and is left out.

    Example:
        >>> chances = level_chances({0: 1, 1: 2}, math.log(2))
        >>> round(chances[0], 6), round(chances[1], 6)
        (0.583333, 0.208333)
    """
    return {level: math.exp(log) for level, log in level_logs(counts, slope).items()}


def level_logs(counts: Mapping[float, int], slope: float | Fraction) -> dict[float, float]:
    """The logarithms of these probabilities, also where no float holds them.

    Example:
        >>> round(level_logs({0: 1, 1000: 1}, 1)[1000], 6)
        -1000.693147
    """
    best = min(counts)
    away = {level: float(slope) * (level - best) for level in counts}
    chance = {level: math.exp(-nats) for level, nats in away.items()}
    upper = min(1.0, 60 / math.fsum(count * chance[level] for level, count in counts.items()))
    # A polynomial of degree N - 1 on a short list, an exponential fall otherwise: 300 nodes are exact for both.
    nodes, weights = _quadrature(min(sum(counts.values()) // 2 + 1, 300))
    times, share = (nodes + 1) / 2 * upper, weights / 2 * upper
    logs = {level: np.log1p(-times * chance[level]) for level in counts}
    total = sum(count * logs[level] for level, count in counts.items())
    return {
        level: math.log(float(np.sum(share * np.exp(total - logs[level])))) - away[level] for level in counts
    }


def probabilities(levels: Sequence[float], slope: float | Fraction) -> list[float]:
    """Probability of each candidate of a list.

    Example:
        >>> [round(p, 6) for p in probabilities([0, 1, 1], math.log(2))]
        [0.583333, 0.208333, 0.208333]
    """
    chances = level_chances(Counter(levels), slope)
    return [chances[level] for level in levels]


class FlipLaw(LatticeLaw):
    """The law of permute-and-flip over all points of a lattice.

    Example:
        >>> from sordino.mechanisms.parts.law import ScoreCell
        >>> law = FlipLaw([ScoreCell(0, 0, 0), ScoreCell(1, 2, 1)], math.log(2), last=2)
        >>> round(law.probability(0), 6)
        0.583333
    """

    def __init__(
        self,
        cells: Sequence[ScoreCell],
        slope: float | Fraction,
        *,
        last: int,
        low: Fraction = Fraction(0),
        step: Fraction = Fraction(1),
    ) -> None:
        super().__init__(list(cells), Measure.uniform(last), slope, low=low, step=step)

    @cached_property
    def _logs(self) -> dict[float, float]:
        counts: Counter[float] = Counter()
        for cell in self.cells:
            counts[cell.level] += cell.last - cell.first + 1
        return level_logs(counts, self.slope)

    def log_weight(self, level: int) -> float:
        """Log probability of one point at a level."""
        return self._logs[level]
