"""Weighted sums of numbers that are drawn together: how far they may be off, however flat the top of their noise is.

With weights c and plain noise ``P(|c t| > w)`` is a sum of exponentials; with a flat top every one of them bends alike.
Floats, for ends of bars alone. Proof: docs/proofs/mean_bars.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sordino.mechanisms.clip.flat_top import log_weight, top_weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sordino.mechanisms.clip.cut_tails import Rarity

    Floats = NDArray[np.float64]

APART = 2.0**-8
"""Weights are moved apart by this part of them, upwards: equal ones have no partial fractions."""
LEAST = 2.0**-9
"""No weight is less than this part of the largest one."""
CELLS = 4  # flat tops per nat that are looked at


def apart(weights: Floats) -> Floats:
    """Absolute weights in order, each row with all of them different, and none smaller than before."""
    found = np.sort(np.abs(weights), axis=-1)
    found = np.maximum(found, LEAST * found[..., -1:])
    for place in range(1, found.shape[-1]):
        found[..., place] = np.maximum(found[..., place], (1 + APART) * found[..., place - 1])
    return found


def missed(weights: Floats, flats: Floats, widths: Floats) -> Floats:
    """Probability of more than each width, per row of weights that are `apart` and per flat top.

    Example:
        >>> float(missed(np.array([[1.0, 2.0]]), np.zeros(1), np.array([3.0]))[0, 0])  # (4 exp(-1.5) - exp(-3)) / 3
        0.2809...
    """
    numbers = weights.shape[-1]
    squares = weights**2
    gaps = squares[:, :, None] - squares[:, None, :]
    ratios = np.where(np.eye(numbers, dtype=bool), 1.0, squares[:, :, None] / np.where(gaps == 0, 1.0, gaps))
    left = flats[None, :, None] - (widths[:, None] / weights)[:, None, :]
    bent = np.exp(np.minimum(left, 0.0)) * top_weight(np.maximum(left, 0.0), numbers)
    found: Floats = (bent * ratios.prod(axis=2)[:, None, :]).sum(axis=2) / top_weight(flats, numbers)
    return found


def quantiles(weights: Sequence[Sequence[float]], rarities: Sequence[Rarity], miss: float) -> Floats:
    """Widths that each weighted sum exceeds rarely, rounded up: with a flat top or, without rarities, with none.

    With x nats of flat top the outcome is at most ``min(1, weight W(x) exp(-x))`` likely, W the weight of the top;
    what it then adds to ``miss`` may be no more than it is allowed.

    Example:
        >>> from sordino.mechanisms.clip.cut_tails import Rarity
        >>> some = [(0.0, 0.0, 1.0), (0.25, -0.25, 0.25), (1.0, 1.0, 1.0)]
        >>> [round(float(one), 2) for one in quantiles(some, [], 0.05)]
        [3.0, 1.25, 4.99]
        >>> [round(float(one), 2) for one in quantiles(some, [Rarity(0.8, 0.03)], 0.015)]
        [3.22, 1.36, 5.44]
    """
    rows = np.asarray(weights, np.float64)
    if any(
        one.allowed <= 0 for one in rarities
    ):  # intervals that are charged much are likelier than that together
        return np.full(len(rows), math.inf)
    size = np.maximum(np.abs(rows).max(axis=1), 1e-300)
    rows = apart(rows / size[:, None])
    numbers = rows.shape[1]
    low, high = np.zeros(len(rows)), np.full(len(rows), -math.log(miss) * math.sqrt(numbers) + 1)
    laws = [_tops(one, numbers) for one in rarities] or [(np.zeros(1), np.ones(1), 0.0)]
    high += max(float(flats[-1]) for flats, _, _ in laws)

    def covers(widths: Floats) -> NDArray[np.bool_]:
        kept = np.ones(len(rows), bool)
        for flats, likely, allowed in laws:
            more = likely * np.maximum(missed(rows, flats, widths) - miss, 0.0)
            kept &= more.max(axis=1) <= allowed
        return kept

    while not covers(high).all():
        high *= 2
    for _ in range(24):
        middle = (low + high) / 2
        enough = covers(middle)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high * size


def _tops(rarity: Rarity, numbers: int) -> tuple[Floats, Floats, float]:
    """Flat tops with how likely they are at most: of each cell the widest top and the chance of the narrowest."""
    widest = max(math.log(rarity.weight / rarity.allowed), 0.0) + 1
    for _ in range(60):
        widest = max(math.log(rarity.weight / rarity.allowed) + log_weight(widest, numbers), 1.0)
    cells = np.arange(math.ceil(CELLS * widest) + 1) / CELLS
    likely = np.minimum(1.0, rarity.weight * top_weight(cells, numbers) * np.exp(-cells))
    likely[0] = 1.0
    return cells + 1 / CELLS, likely, rarity.allowed
