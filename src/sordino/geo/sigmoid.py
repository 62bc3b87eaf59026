"""The logistic curve, for queries that are a logistic function of a linear form.

Its slope is unimodal, so all scopes follow from one tangent point; docs/proofs/geo_tables.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sordino import checks
from sordino.geo.curve import EXP_ERROR, Curve, Scope, Slack, check_scope, check_smoothing, exponential
from sordino.geo.table import BoundTable

if TYPE_CHECKING:
    from sordino.geo.curve import Floats

_END, _STEP = 60.0, 1.0 / 128


@dataclass(frozen=True, slots=True)
class Sigmoid(Curve):
    """f(u) = 1/(1 + e^{-steepness u}).

    Example:
        >>> Sigmoid(4.0).bound(np.array([0.0, 2.0]), 0.4).round(4)
        array([1.    , 0.4539])
    """

    floor: ClassVar[float] = 2.0**-14
    steepness: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "steepness", float(checks.positive("sigmoid", steepness=self.steepness)))

    @property
    def lipschitz(self) -> float:
        """A quarter of the steepness."""
        return self.steepness / 4.0

    @property
    def extremes(self) -> tuple[float, float]:
        """Zero and one."""
        return 0.0, 1.0

    def value(self, u: Floats) -> Floats:
        """The curve at many coordinates: e^{-|v|} and a division, so that neither end cancels."""
        v = u * self.steepness
        e = exponential(-np.abs(v))
        return np.where(v >= 0, 1.0, e) / (1.0 + e)

    def bound(
        self, u: Floats, smoothing: float, *, scope: Scope = "local", growth: str = "exponential"
    ) -> Floats:
        """Local: the slope up to the point where its logarithm falls at the rate g, then e^{-g t}."""
        reach = check_scope(scope, growth)
        g = check_smoothing(smoothing) / self.steepness
        v = np.abs(np.asarray(u, dtype=np.float64)) * self.steepness
        if growth == "exponential" and reach == 0.0:
            return self.steepness * _local(v, g)
        return self.steepness * _table(g, reach * self.steepness, growth).at(v)

    def far(self, smoothing: float, floor: float) -> float:
        """Both the slope and its decay have reached the floor beyond log(4/floor)(1 + steepness/smoothing)."""
        return float(np.log(4.0 / floor)) * (1.0 / self.steepness + 1.0 / smoothing)

    def slack(self, smoothing: float, floor: float) -> Slack:
        """With e = e^{-|v|} the value is off by 2^-52 + 2^-45 e at most, and B >= steepness max(floor, e)/4."""
        value = (4.0 * 2.0**-52 / floor + 4.0 * 2.0**-45) / self.steepness
        rounding = 4 * EXP_ERROR + 2.0**-48 - 2.0**-50 * float(np.log(floor / 4.0))
        return Slack(value, rounding / smoothing)


def _local(v: Floats, g: float) -> Floats:
    """Sup over z of s'(z) e^{-g|v - z|}, s' = s(1 - s): |1 - 2s| = g at z = log((1+g)/(1-g))."""
    turn = float("inf") if g >= 1.0 else float(np.log1p(g) - np.log1p(-g))
    z = np.minimum(v, turn)
    e = exponential(-z)
    bound: Floats = exponential(-g * (v - z)) * e / (1.0 + e) ** 2
    return bound


def steepest(z: Floats, reach: float = float("inf")) -> Floats:
    """Largest secant slope of the unit sigmoid from distance z >= 0 of the centre to a point within reach."""
    z = -np.abs(np.asarray(z, dtype=np.float64))

    def secant(w: Floats) -> Floats:
        t = np.maximum(w - z, 1e-300)
        # (s(w) - s(z))/(w - z) = (1 - e^{-t}) / (t (1 + e^{-w})(1 + e^{z})) for z <= w
        return -np.expm1(-t) / (t * (1.0 + np.exp(-w)) * (1.0 + np.exp(z)))

    near, far = np.zeros_like(z), -z
    for _ in range(60):
        w = 0.5 * (near + far)
        e = np.exp(-w)
        before = secant(w) < e / (1.0 + e) ** 2
        near, far = np.where(before, w, near), np.where(before, far, w)
    end = np.minimum(0.5 * (near + far), z + reach)
    e = np.exp(z)
    own = e / (1.0 + e) ** 2
    return np.where(end - z < 1e-12, own, np.maximum(secant(end), own))


@lru_cache(maxsize=64)
def _table(g: float, reach: float, growth: str) -> BoundTable:
    """Tabulate: the secant slope falls from the centre outwards, so a cell's supremum is at its inner end."""
    nodes: Floats = np.arange(round(_END / _STEP) + 1) * np.float64(_STEP)
    if reach == 0.0:
        e = np.exp(-nodes)
        heights = e / (1.0 + e) ** 2
    else:
        heights = steepest(nodes, reach)
    cells = heights[:-1] * (1.0 + 2.0**-36)
    make = BoundTable.exponential if growth == "exponential" else BoundTable.linear
    return make(0.0, _STEP, cells, g)
