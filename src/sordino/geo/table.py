"""Tables of smooth bounds: never below the suprema of their cells, and exactly smooth between the nodes too.

Exponential growth takes the linear interpolant of node values, linear growth the harmonic one (linear in 1/B);
why these two and no other is in docs/proofs/geo_tables.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SAFETY = 1.0 - 2.0**-48  # closures are rounded to the smooth side


@dataclass(frozen=True, slots=True)
class BoundTable:
    """Node values on an even grid; constant beyond both ends.

    Attributes:
        start: Coordinate of the first node.
        step: Distance of neighbouring nodes.
        nodes: The bound at the nodes, or its reciprocal if `harmonic`.
        harmonic: Whether the reciprocal is interpolated.

    Example:
        >>> table = BoundTable.exponential(0.0, 1.0, np.array([1.0, 8.0, 0.0, 0.0]), 1.0)
        >>> table.at(np.array([0.0, 1.5, 4.0])).round(3)
        array([4., 8., 2.])
    """

    start: float
    step: float
    nodes: Floats = field(repr=False)
    harmonic: bool = False

    @classmethod
    def exponential(cls, start: float, step: float, cells: Any, smoothing: float) -> BoundTable:
        """The smallest table with |slope| <= smoothing * bound that dominates the cells' suprema."""
        v = _at_nodes(cells)
        ratio = 1.0 / (1.0 + smoothing * step) / _SAFETY
        # V_j <- max(V_j, V_{j-1} ratio): in logarithms a running maximum.
        return cls(start, step, _decay(_decay(v, ratio)[::-1], ratio)[::-1].copy())

    @classmethod
    def linear(cls, start: float, step: float, cells: Any, smoothing: float) -> BoundTable:
        """The smallest harmonic table with B(u) <= (1 + smoothing |u - v|) B(v) that dominates the cells."""
        h = 1.0 / _at_nodes(cells)
        place = np.arange(h.size) * (smoothing * step)
        closed = np.empty_like(h)
        for begin in range(0, h.size, 256):  # all pairs, in blocks
            here = place[begin : begin + 256, None]
            growth = 1.0 + np.abs(here - place)
            closed[begin : begin + 256] = (growth * h).min(axis=1)
        return cls(start, step, closed * _SAFETY, harmonic=True)

    def at(self, u: Floats) -> Floats:
        """The bound at many coordinates."""
        last = self.nodes.size - 1
        x = u - self.start
        x *= 1.0 / self.step
        np.clip(x, 0.0, last, out=x)
        cell = np.minimum(x.astype(np.int64), last - 1)
        x -= cell
        low = self.nodes[cell]
        rise = np.diff(self.nodes)[cell]
        rise *= x
        rise += low
        return 1.0 / rise if self.harmonic else rise


def _at_nodes(cells: Any) -> Floats:
    """Give each node the larger supremum of its two cells, and no less than a tiny number."""
    cells = np.maximum(np.asarray(cells, dtype=np.float64), 1e-290)
    return np.maximum(np.append(cells, cells[-1]), np.insert(cells, 0, cells[0]))


def _decay(v: Floats, ratio: float) -> Floats:
    """One pass: each node at least `ratio` times its left neighbour."""
    out = v.copy()
    best = 0.0
    for i, height in enumerate(v.tolist()):
        best = max(height, best * ratio)
        out[i] = best
    return out
