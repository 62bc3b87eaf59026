"""The shipped table of certified nodes: good shapes and shifts for the usual prices and smoothings.

`calibrate` takes starting points from here and certifies them again. `lookup` is safe by itself: a larger
smoothing or shift only enlarges the set of pairs, so a node with at least the smoothing and at most the
price keeps the promise. ``python -m reproductions.certification_table`` computes the table anew.
"""

from __future__ import annotations

import functools
import json
import math
from typing import Any, NamedTuple

#: From far below any single release to far above.
# fmt: off
PRICES = (
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.125, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0,
)
# fmt: on
#: Smoothings as multiples of sqrt(2 rho), rounded to three digits as the default smoothing is.
RATIOS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8)


class Node(NamedTuple):
    """A certified calibration: noise (S/shift) Z of the shape costs at most rho_hi <= rho."""

    rho: float
    smoothing: float
    shape: float
    shift: float
    rho_hi: float


def node_smoothing(rho: float, ratio: float) -> float:
    """The smoothing of a node."""
    return float(f"{ratio * math.sqrt(2 * rho):.3g}")


@functools.cache
def nodes(family: str) -> dict[tuple[float, float], Node]:
    """The nodes of a family by (rho, ratio)."""
    from importlib.resources import files

    raw: dict[str, Any] = json.loads(files("sordino.certification").joinpath("table.json").read_text("utf-8"))
    rows = raw["families"].get(family, [])
    return {(row[0], row[1]): Node(row[0], node_smoothing(row[0], row[1]), *row[2:]) for row in rows}


def lookup(family: str, rho: float, smoothing: float) -> Node | None:
    """The node of least noise that keeps the promise: smoothing rounded up, price rounded down to the grid.

    Example:
        >>> node = lookup("arsinh-normal", 0.5, 0.1)
        >>> node.rho, node.smoothing
        (0.5, 0.1)
    """
    safe = [node for node in nodes(family).values() if node.rho <= rho and node.smoothing >= smoothing]
    if not safe:
        return None
    from sordino.certification.certificate import make_shape

    return min(safe, key=lambda node: make_shape(family, node.shape).std() / node.shift)


def starting_point(family: str, rho: float, smoothing: float) -> tuple[float, float] | None:
    """A good shape and shift for a price: a node's own, or interpolated between four; None off the grid."""
    known = nodes(family)
    ratio = smoothing / math.sqrt(2 * rho)
    for (price, _), node in known.items():
        if price == rho and node.smoothing == smoothing:
            return node.shape, node.shift
    if rho > PRICES[-1] or ratio > RATIOS[-1]:
        return None
    ratio = max(ratio, RATIOS[0])  # below, the shape hardly changes
    scale = math.sqrt(rho)
    rho = max(rho, PRICES[0])  # below, everything scales with the root of the price
    i = min(max(k for k, price in enumerate(PRICES) if price <= rho), len(PRICES) - 2)
    j = min(max(k for k, value in enumerate(RATIOS) if value <= ratio), len(RATIOS) - 2)
    u = math.log(rho / PRICES[i]) / math.log(PRICES[i + 1] / PRICES[i])
    v = math.log(ratio / RATIOS[j]) / math.log(RATIOS[j + 1] / RATIOS[j])
    log_shape = log_shift = 0.0
    for a, weight_u in ((i, 1 - u), (i + 1, u)):
        for b, weight_v in ((j, 1 - v), (j + 1, v)):
            corner = known.get((PRICES[a], RATIOS[b]))
            if corner is None:
                return None
            weight = weight_u * weight_v
            log_shape += weight * math.log(corner.shape)
            log_shift += weight * math.log(corner.shift / math.sqrt(corner.rho))
    return math.exp(log_shape), math.exp(log_shift) * scale
