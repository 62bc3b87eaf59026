"""The generic solver: any function on an interval is released as its piecewise linear interpolant.

The interpolant's slopes are exact numbers, two decaying passes make them smooth, and nothing is assumed of the
function itself: privacy holds for a discontinuous or a wrong one. Proof: docs/proofs/geo_tables.md.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.geo.curve import Curve, Scope, Slack, check_scope, check_smoothing
from sordino.geo.table import BoundTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.geo.curve import Floats

KNOTS = 4001


@dataclass(frozen=True, slots=True, eq=False)
class Interpolant(Curve):
    """The piecewise linear curve through values at even knots, constant beyond the ends.

    Args:
        low: First knot.
        high: Last knot.
        heights: Values at the knots.

    Example:
        >>> curve = Interpolant.of(np.sin, 0.0, 3.0)
        >>> float(curve.value(np.array([1.0]))[0].round(6)), round(curve.lipschitz, 4)
        (0.841471, 1.0)
    """

    floor: ClassVar[float] = 2.0**-12
    low: float
    high: float
    heights: Floats = field(repr=False)

    def __post_init__(self) -> None:
        low, high = checks.exact("interpolant", low=self.low), checks.exact("interpolant", high=self.high)
        heights = np.array(self.heights, dtype=np.float64)
        if high <= low:
            raise ParameterError(
                "interpolant", "high must be greater than low", got={"low": low, "high": high}
            )
        if heights.ndim != 1 or heights.size < 2 or not np.isfinite(heights).all():
            raise ParameterError(
                "interpolant",
                "the function must give one finite number at each knot",
                why="The curve that is released passes through these values.",
                hint="Interpolant.of(numpy.tanh, -5, 5)",
            )
        if np.ptp(heights) == 0:
            raise ParameterError(
                "interpolant", "the function must not be constant", why="A constant needs no report."
            )
        heights.setflags(write=False)
        object.__setattr__(self, "low", float(low))
        object.__setattr__(self, "high", float(high))
        object.__setattr__(self, "heights", heights)

    @classmethod
    def of(
        cls, function: Callable[[Any], Any], low: float, high: float, *, knots: int = KNOTS
    ) -> Interpolant:
        """Sample a function at even knots; it should take arrays."""
        at = np.linspace(float(low), float(high), checks.whole("interpolant", at_least=2, knots=knots))
        return cls(low, high, np.asarray(function(at), dtype=np.float64))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Interpolant) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def digest(self) -> str:
        """A fingerprint of the curve, for the query's name on the wire."""
        seal = hashlib.sha256(np.array([self.low, self.high]).tobytes())
        seal.update(self.heights.tobytes())
        return seal.hexdigest()

    @property
    def step(self) -> float:
        """Distance of the knots."""
        return (self.high - self.low) / (self.heights.size - 1)

    @property
    def lipschitz(self) -> float:
        """The steepest cell, rounded up."""
        return float(np.abs(np.diff(self.heights)).max() / self.step * (1 + 2.0**-48))

    @property
    def extremes(self) -> tuple[float, float]:
        """Smallest and largest knot value."""
        return float(self.heights.min()), float(self.heights.max())

    def value(self, u: Floats) -> Floats:
        """The curve at many coordinates."""
        return BoundTable(self.low, self.step, self.heights).at(np.asarray(u, dtype=np.float64))

    def bound(
        self, u: Floats, smoothing: float, *, scope: Scope = "local", growth: str = "exponential"
    ) -> Floats:
        """The table of the two passes at many coordinates."""
        return self.table(smoothing, scope=scope, growth=growth).at(np.asarray(u, dtype=np.float64))

    def table(self, smoothing: float, *, scope: Scope = "local", growth: str = "exponential") -> BoundTable:
        """The smooth table over the interval; beyond its ends the coordinate is clamped."""
        return _table(self, check_smoothing(smoothing), check_scope(scope, growth), growth)

    def far(self, smoothing: float, floor: float) -> float:  # noqa: ARG002
        """The interval itself: coordinates are clamped to it."""
        return max(abs(self.low), abs(self.high)) + (self.high - self.low)

    def slack(self, smoothing: float, floor: float) -> Slack:
        """Rounding of the interpolation against the floor of the bound; of the place inside the cell, in metres."""
        placed = 2.0**-50 * self.far(smoothing, floor)
        size = float(np.abs(self.heights).max())
        return Slack(placed + 2.0**-50 * size / (floor * self.lipschitz), placed + 2.0**-48 / smoothing)

    def both(
        self, u: Floats, smoothing: float, *, floor: float = 0.0, scope: Scope = "local"
    ) -> tuple[Floats, Floats]:
        """Value and bound from the same cells."""
        bound = self.bound(u, smoothing, scope=scope)
        return self.value(u), np.maximum(bound, floor * self.lipschitz)


@lru_cache(maxsize=32)
def _table(curve: Interpolant, smoothing: float, reach: float, growth: str) -> BoundTable:
    slopes = np.abs(np.diff(curve.heights)) / curve.step * (1 + 2.0**-48)
    cells = slopes if reach == 0.0 else _secants(curve, reach, slopes)
    make = BoundTable.exponential if growth == "exponential" else BoundTable.linear
    return make(curve.low, curve.step, cells, smoothing)


def _secants(curve: Interpolant, reach: float, slopes: Floats) -> Floats:
    """Supremum over each cell of the steepest secant to a knot within reach (rounded outwards by one knot).

    For a fixed far end the secant slope is monotone inside a cell at either of its ends, so knots suffice.
    """
    n = curve.heights.size
    widest = n - 1 if not np.isfinite(reach) else min(n - 1, int(np.ceil(reach / curve.step)) + 1)
    best = np.zeros(n)
    for k in range(1, widest + 1):
        secant = np.abs(curve.heights[k:] - curve.heights[:-k]) / (k * curve.step)
        np.maximum(best[k:], secant, out=best[k:])
        np.maximum(best[:-k], secant, out=best[:-k])
    best *= 1 + 2.0**-48
    return np.maximum(slopes, np.maximum(best[:-1], best[1:]))
