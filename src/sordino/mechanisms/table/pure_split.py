"""Margins under pure prices: geometric noise on every margin, the best split of epsilon, and least squares over all.

A part is seen in every drawn margin above it; the weighted mean of what they say of it is the least-squares estimate
(docs/proofs/mechanism_margins.md, Theorem 3). Public arithmetic: no data.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.table.interactions import Axes, Design, centred, subsets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST = 0.01
"""Margins with a smaller share of epsilon are not drawn: what they would say, others say better."""

NO_NOISE = 600.0
"""From such a rate on whole numbers have no noise to speak of, and its variance no double."""

SIMULATED = 200_000
"""Simulated cells from which the quantiles of bars are taken."""


def geometric_variance(epsilon: float) -> float:
    """Variance of two-sided geometric noise.

    Example:
        >>> round(geometric_variance(1.0), 6)
        1.841347
    """
    return 0.5 / math.sinh(min(epsilon, NO_NOISE) / 2) ** 2


def part_weights(design: Design, variances: Mapping[Axes, float]) -> dict[Axes, dict[Axes, float]]:
    """For every part, how much each drawn margin above it counts; and each weighs by its precision."""
    found: dict[Axes, dict[Axes, float]] = {}
    for part in design.parts:
        found[part] = {
            margin: _seen(design, part, margin) / variance
            for margin, variance in variances.items()
            if set(part) <= set(margin)
        }
    return found


def part_variances(design: Design, variances: Mapping[Axes, float]) -> dict[Axes, float]:
    """Variance of the noise on every part after least squares."""
    return {
        part: 1 / sum(each.values()) if each else math.inf
        for part, each in part_weights(design, variances).items()
    }


def combined(
    design: Design, noisy: Mapping[Axes, Floats], variances: Mapping[Axes, float]
) -> dict[Axes, Floats]:
    """Least-squares estimates of all parts from noisy margins."""
    found = {}
    for part, precision in part_weights(design, variances).items():
        total = sum(precision.values())
        estimate = np.zeros(tuple(design.sizes[axis] for axis in part))
        for margin, weight in precision.items():
            others = tuple(place for place, axis in enumerate(margin) if axis not in part)
            table = noisy[margin]
            estimate = estimate + weight / total * centred(table.sum(axis=others) if others else table)
        found[part] = estimate
    return found


@lru_cache(maxsize=256)
def split(design: Design, epsilon: Fraction, *, replaced: bool, closed: bool) -> dict[Axes, Fraction]:
    """Shares of epsilon for the margins that are drawn, with the least weighted error; they cost epsilon at most."""
    from scipy.optimize import minimize

    margins = [margin for margin, _ in design.margins if not (closed and replaced and not margin)]
    if not margins:
        return {}
    total = min(float(epsilon), NO_NOISE)

    parts = [part for part in design.parts if part or not (closed and replaced)]
    costs = np.array([design.cost(part) for part in parts])

    def best(among: list[Axes]) -> dict[Axes, float]:
        # Precision of every part per precision of every margin, and what each margin counts in the price.
        seen = np.array([[_seen(design, part, margin) for margin in among] for part in parts])
        twice = np.array([2.0 if margin else 0.0 for margin in among])

        def shares(logits: Floats) -> Floats:
            weights = np.exp(logits - logits.max())
            most = max(weights.sum(), float(weights @ twice)) if replaced else weights.sum()
            return np.asarray(total * weights / most)

        def error(logits: Floats) -> float:
            precision = seen @ (2 * np.sinh(np.maximum(shares(logits), 1e-9) / 2) ** 2)
            return float(np.log(np.sum(costs / precision)))

        starts = [slope * np.array([len(margin) for margin in among], float) for slope in (0.0, 0.5, -0.5)]
        found = []
        for start in starts:
            rough = minimize(error, start, method="L-BFGS-B")
            fine: Any = {"maxiter": 60 * len(among), "xatol": 1e-5, "fatol": 1e-10, "adaptive": True}
            found.append(minimize(error, rough.x, method="Nelder-Mead", options=fine))
        first = min(found, key=lambda one: float(one.fun))
        return dict(zip(among, shares(first.x).tolist(), strict=True))

    chosen = best(margins)
    kept = [
        m for m in margins if chosen[m] >= LEAST * total or not _covered(design, m, margins, chosen, total)
    ]
    if len(kept) < len(margins):
        chosen = best(kept)
    larger = float(epsilon) / total
    return {margin: Fraction(f"{share * larger * (1 - 1e-9):.9g}") for margin, share in chosen.items()}


def _seen(design: Design, part: Axes, margin: Axes) -> float:
    """How precisely a margin of unit variance tells a part."""
    if not set(part) <= set(margin):
        return 0.0
    return 1 / math.prod(design.sizes[axis] for axis in margin if axis not in part)


def _covered(
    design: Design, margin: Axes, margins: list[Axes], chosen: Mapping[Axes, float], total: float
) -> bool:
    """Whether every part of a margin is seen in another that is drawn."""
    others = [one for one in margins if one != margin and chosen[one] >= LEAST * total]
    wanted = [part for part in subsets(margin) if part in design.parts]
    return all(any(set(part) <= set(one) for one in others) for part in wanted)


@lru_cache(maxsize=64)
def half_widths(
    design: Design,
    drawn_shares: tuple[tuple[Axes, Fraction], ...],
    miss: float,
    *,
    scale: float,
    exact_total: bool,
) -> dict[Axes, float]:
    """Half widths of bars for the cells of every asked margin, from simulations of public noise.

    A cell is a weighted sum of the noise of all drawn cells; those that agree with it in the same axes count alike, and
    the sum of m two-sided geometric numbers is a difference of two negative binomial ones.
    """
    shares = dict(drawn_shares)
    variances = {margin: geometric_variance(float(share) / scale) for margin, share in shares.items()}
    weights = part_weights(design, variances)
    random = np.random.default_rng(20_200_101)  # public noise about nobody
    found = {}
    for margin, _ in design.margins:
        noise = np.zeros(SIMULATED)
        for drawn, share in shares.items():
            chance = -math.expm1(-float(share) / scale)
            common = tuple(axis for axis in drawn if axis in margin)
            for agree in subsets(common):
                many = math.prod(design.sizes[axis] for axis in drawn if axis not in margin)
                many *= math.prod(design.sizes[axis] - 1 for axis in common if axis not in agree)
                factor = _coefficient(design, weights, margin, drawn, agree, exact_total=exact_total)
                if many and abs(factor) > 1e-12:
                    up, down = (random.negative_binomial(many, chance, SIMULATED) for _ in range(2))
                    noise += factor * (up - down)
        sure = min(1.0, 1 - miss + 0.002)
        found[margin] = (
            float(np.quantile(np.abs(noise), sure)) if sure < 1 else float(np.abs(noise).max() * 1.5)
        )
    return found


def _coefficient(
    design: Design,
    weights: Mapping[Axes, Mapping[Axes, float]],
    margin: Axes,
    drawn: Axes,
    agree: Axes,
    *,
    exact_total: bool,
) -> float:
    """What one drawn cell counts in a cell of a margin with which it agrees in some axes."""
    total = 0.0
    for part in subsets(axis for axis in drawn if axis in margin):
        if drawn not in weights.get(part, {}) or (exact_total and not part):
            continue
        share = weights[part][drawn] / sum(weights[part].values())
        share /= math.prod(design.sizes[axis] for axis in margin if axis not in part)
        total += share * math.prod((axis in agree) - 1 / design.sizes[axis] for axis in part)
    return total
