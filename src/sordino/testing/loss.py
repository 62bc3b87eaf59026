"""What two laws tell apart, in the terms of a price: pure loss, bounded range, Renyi divergences, hockey sticks.

Ratios are of the loss to the price: 1 is a price that is spent to the last, more is a breach.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import Unsupported
from sordino.privacy import (
    Approx,
    ApproxConcentrated,
    BoundedRange,
    Concentrated,
    Pure,
    TruncatedConcentrated,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sordino.privacy import Guarantee
    from sordino.testing.steps import Parts

    Floats = NDArray[np.float64]

ORDERS = (1.05, 1.5, 2.0, 3.0, 6.0, 16.0, 64.0)
ROUNDING = 4 * float(np.finfo(float).eps)


def orders(price: Guarantee) -> tuple[float, ...]:
    """The orders at which a concentrated price is looked at."""
    if isinstance(price, TruncatedConcentrated):
        below = float(price.omega)
        return (*(order for order in ORDERS if order < below), below)
    return ORDERS


def renyi(parts: Parts, wanted: Sequence[float]) -> Floats:
    """Renyi divergences of the table from the neighbour; from their range alone where no masses are known."""
    asked = "renyi", *wanted
    if asked not in parts.known:
        parts.known[asked] = _renyi(parts, wanted)
    found: Floats = parts.known[asked]
    return found


def _renyi(parts: Parts, wanted: Sequence[float]) -> Floats:
    if parts.exact is not None:
        return parts.exact.renyi(wanted)
    if parts.here is None or parts.there is None:
        width = float(parts.loss.max() - parts.loss.min())
        if not math.isfinite(width):
            return np.full(len(wanted), math.inf)
        rho = float(BoundedRange(width).to(Concentrated).rho) if width > 1e-6 else width**2 / 8
        return np.array([rho * order for order in wanted])
    here, there = parts.here, parts.there
    some = ~np.isneginf(here)
    here, there, loss = here[some], there[some], parts.loss[some]
    # A mass below the smallest float has a density all the same.
    there = np.where(np.isneginf(there) & np.isfinite(loss), here - loss, there)
    found = []
    for order in wanted:
        with np.errstate(all="ignore"):
            terms = order * here + (1 - order) * there
        top = terms.max()
        if math.isinf(top):
            found.append(math.inf)
        else:
            found.append(max(0.0, (top + math.log(float(np.exp(terms - top).sum()))) / (order - 1)))
    return np.array(found)


def conditioned(parts: Parts) -> tuple[Parts, Floats]:
    """Both laws given outcomes that both have, and the probability of the others under either."""
    assert parts.here is not None
    assert parts.there is not None
    both = ~np.isneginf(parts.here) & ~np.isneginf(parts.there)
    laws, failing = [], []
    for law in (parts.here, parts.there):
        failing.append(float(np.exp(law[~both]).sum()))
        laws.append(law[both] - math.log(float(np.exp(law[both]).sum())))
    outcomes = [parts.outcomes[place] for place in np.flatnonzero(both).tolist()]
    return _parts(outcomes, laws[0], laws[1]), np.array(failing)


def _parts(outcomes: Sequence[object], here: Floats, there: Floats) -> Parts:
    from sordino.testing.steps import Parts as Two

    return Two(outcomes, here, there, here - there)


def hockey(parts: Parts, epsilon: float) -> float:
    """Mass of the table beyond ``e^epsilon`` times that of the neighbour."""
    if parts.exact is not None:
        return parts.exact.stick(epsilon)
    if parts.here is None or parts.there is None:
        # Of all laws with this range and this largest loss, two points tell most apart.
        most, width = float(parts.loss.max()), float(parts.loss.max() - parts.loss.min())
        if most <= epsilon:
            return 0.0
        if not math.isfinite(width):
            return 1.0
        return (math.exp(width) - math.exp(most)) / math.expm1(width) * -math.expm1(epsilon - most)
    return float(beyond(parts.here, parts.there, epsilon).sum())


def beyond(here: Floats, there: Floats, epsilon: Any) -> Floats:
    """By how much each mass of the first law exceeds ``e^epsilon`` times that of the second, from their logarithms.

    What the two logarithms may be off by is taken from their difference: it would count for more than a small delta.

    Example:
        >>> third, rest = np.log([1 / 3]), np.log([2 / 3])
        >>> beyond(rest, third, math.log(2)).tolist(), beyond(rest, third, 0.0).round(6).tolist()
        ([0.0], [0.333333])
    """
    with np.errstate(all="ignore"):
        gap = here - (epsilon + there)
        gap -= np.where(np.isinf(gap), 0.0, ROUNDING * (1 + np.abs(here) + np.abs(there) + np.abs(epsilon)))
        # What the other law never says has an infinite gap, and counts whole.
        found = np.where(gap > 0, np.exp(here) * -np.expm1(-gap), 0.0)
    return np.asarray(found)


def ratio(parts: Parts, price: Guarantee) -> float:
    """How much of a price one choice uses, in the worse of the two directions.

    Example:
        >>> from sordino.testing.steps import Parts
        >>> here, there = np.log([0.75, 0.25]), np.log([0.25, 0.75])
        >>> round(ratio(Parts([0, 1], here, there, here - there), Pure(2)), 6)
        0.549306
    """
    if isinstance(price, Pure):
        return _over(float(np.abs(parts.loss).max()), float(price.epsilon))
    if isinstance(price, BoundedRange):
        return _over(float(parts.loss.max() - parts.loss.min()), float(price.epsilon))
    if isinstance(price, Concentrated | TruncatedConcentrated):
        wanted = orders(price)
        both = np.maximum(renyi(parts, wanted), renyi(parts.flipped(), wanted))
        return float(
            max(_over(one, float(price.rho) * order) for one, order in zip(both, wanted, strict=True))
        )
    if isinstance(price, Approx):
        pure = _over(float(np.abs(parts.loss).max()), float(price.epsilon))
        if pure <= 1 + 1e-9 or not price.delta:
            return pure
        epsilon = float(price.epsilon)
        return _over(max(hockey(parts, epsilon), hockey(parts.flipped(), epsilon)), float(price.delta))
    if isinstance(price, ApproxConcentrated):
        certain, failing = conditioned(parts)
        both = np.maximum(renyi(certain, ORDERS), renyi(certain.flipped(), ORDERS))
        used = max(_over(one, float(price.rho) * order) for one, order in zip(both, ORDERS, strict=True))
        return float(max(used, _over(float(failing.max()), float(price.delta))))
    raise Unsupported("replay", f"does not know the price {type(price).__name__}", hint="Pure(1)")


def _over(loss: float, price: float) -> float:
    return loss / price if price > 0 else (0.0 if loss <= 1e-12 else math.inf)
