"""The Gaussian kernel as a function of the distance to its centre, with correct smooth bounds.

The published bounds (Liang and Yi 2024, Lemmas 4.6 and 4.7) are too small; the correct ones and the counterexample are
in docs/proofs/geo_kernel.md. All formulas are in units of the bandwidth: c = distance/bandwidth, phi(c) = c e^{-c^2/2}.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sordino import checks
from sordino.geo.curve import EXP_ERROR, Curve, Scope, Slack, check_scope, check_smoothing, exponential
from sordino.geo.table import BoundTable

if TYPE_CHECKING:
    from sordino.geo.curve import Floats

PEAK = float(np.exp(-0.5))  # max of phi, at c = 1
_END = 40.0  # the table ends here, in bandwidths; beyond it the bound stays constant
_STEP = 1.0 / 256


@dataclass(frozen=True, slots=True)
class GaussianCurve(Curve):
    """f(r) = exp(-r^2/(2 bandwidth^2)).

    Args:
        bandwidth: The kernel's standard deviation, in metres.

    Example:
        >>> GaussianCurve(2.0).bound(np.array([0.0, 2.0, 20.0]), 0.15).round(4)
        array([0.2295, 0.3033, 0.0209])
    """

    bandwidth: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", float(checks.positive("gaussian", bandwidth=self.bandwidth)))

    @property
    def lipschitz(self) -> float:
        """e^{-1/2}/bandwidth (Liang and Yi 2024, Claim 4.4)."""
        return PEAK / self.bandwidth

    @property
    def extremes(self) -> tuple[float, float]:
        """Zero and one."""
        return 0.0, 1.0

    def value(self, u: Floats) -> Floats:
        """The kernel at many distances."""
        c = u * (1.0 / self.bandwidth)
        c *= c
        c *= -0.5
        value: Floats = exponential(c)
        return value

    def bound(
        self, u: Floats, smoothing: float, *, scope: Scope = "local", growth: str = "exponential"
    ) -> Floats:
        """Smooth bound: closed forms for local and global exponential growth, a table for the rest."""
        reach = check_scope(scope, growth)
        g = check_smoothing(smoothing) * self.bandwidth
        c = np.abs(np.asarray(u, dtype=np.float64)) / self.bandwidth
        if growth == "exponential" and reach == 0.0:
            return local(c, g) / self.bandwidth
        if growth == "exponential" and reach == float("inf"):
            return everywhere(c, g) / self.bandwidth
        return self.table(smoothing, scope=scope, growth=growth).at(c) / self.bandwidth

    def table(self, smoothing: float, *, scope: Scope = "global", growth: str = "exponential") -> BoundTable:
        """A table of bandwidth * bound over c that is never below the truth and exactly smooth."""
        reach = check_scope(scope, growth) / self.bandwidth
        return _table(check_smoothing(smoothing) * self.bandwidth, reach, growth)

    def far(self, smoothing: float, floor: float) -> float:
        """The upper root, and log(1/floor)/g beyond it."""
        g = smoothing * self.bandwidth
        return self.bandwidth * (0.5 * (float(np.sqrt(g * g + 4.0)) + g) - float(np.log(floor * PEAK)) / g)

    def slack(self, smoothing: float, floor: float) -> Slack:
        """Value: a relative error e costs e f/B, and f/B is at most h/min(1, h B(0)) because phi >= f beyond 1."""
        h, g = self.bandwidth, smoothing * self.bandwidth
        at_centre = max(float(local(np.zeros(1), g)[0]), floor * PEAK)
        rounding = 2 * EXP_ERROR + 2.0**-48 - 2.0**-50 * float(np.log(floor * PEAK))
        return Slack((EXP_ERROR + 2.0**-50) * h / min(1.0, at_centre), rounding / smoothing)

    def both(
        self, u: Floats, smoothing: float, *, floor: float = 0.0, scope: Scope = "local"
    ) -> tuple[Floats, Floats]:
        """Value and bound in one go over float arrays that fit the cache."""
        c = np.abs(u) if scope != "local" else u * (1.0 / self.bandwidth)
        if scope != "local":
            c /= self.bandwidth
            table = self.table(smoothing, scope=scope)
            bound = table.at(c) / self.bandwidth
        else:
            bound = local(c, smoothing * self.bandwidth)
            bound *= 1.0 / self.bandwidth
        c *= c
        c *= -0.5
        if floor > 0:
            np.maximum(bound, floor * self.lipschitz, out=bound)
        return exponential(c), bound


def local(c: Floats, g: float) -> Floats:
    """Sup over z of phi(z) e^{-g|c - z|}: at c itself between two roots, else at the nearer root.

    z^2 +- g z - 1 = 0 gives the roots (sqrt(g^2+4) -+ g)/2: the published S_3 and S_4, which alone suffice.
    """
    high = 0.5 * (float(np.sqrt(g * g + 4.0)) + g)
    low = 1.0 / high  # the product of the roots is one; no cancellation for large g
    z = np.clip(c, low, high)
    exponent = c - z
    np.abs(exponent, out=exponent)
    exponent *= -g
    square = z * z
    square *= 0.5
    exponent -= square
    bound: Floats = exponential(exponent)
    bound *= z
    return bound


def tangent(z: Floats) -> Floats:
    """The point w whose secant to z is steepest: e^{-z^2/2} = e^{-w^2/2}(1 + w(w - z)), on the far side of 1.

    With t = w - z the equation is t w = expm1(t (z + w)/2): it is solved by bisection in t, which cannot go
    astray, then polished by Newton's method.
    """
    z = np.asarray(z, dtype=np.float64)
    right = z < 1.0
    # The root lies beyond 1: in (1, 3) for z < 1, in (0, 1) for z > 1.
    near, far = np.ones_like(z), np.where(right, 3.0, 0.0)

    def gap(w: Floats) -> Floats:
        t = w - z
        return np.expm1(np.clip(t * (z + w) / 2, -700, 700)) - t * w

    sign = np.sign(gap(far))
    for _ in range(60):
        middle = 0.5 * (near + far)
        inner = gap(middle) * sign <= 0
        near = np.where(inner, middle, near)
        far = np.where(inner, far, middle)
    return np.where(z == 1.0, 1.0, 0.5 * (near + far))


def steepest(z: Floats, reach: float = float("inf")) -> Floats:
    """L(z): the largest secant slope from z to a point within reach; increasing up to 1, then decreasing."""
    z = np.asarray(z, dtype=np.float64)
    w = np.clip(tangent(z), z - reach, z + reach)
    t = w - z
    middle = 0.5 * (z + w)
    # (e^{-z^2/2} - e^{-w^2/2})/t = e^{-m^2/2 - t^2/8} 2 sinh(m t/2)/t, without cancellation.
    x = 0.5 * middle * t
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ratio = np.where(np.abs(x) < 1e-5, 1.0 + x * x / 6.0, np.sinh(x) / x)
    # cosh-like growth is balanced by the two Gaussians; put in the exponent when large.
    big = np.abs(x) > 300
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        small = middle * np.exp(-0.5 * middle * middle - t * t / 8) * ratio
        large = np.abs(np.exp(-0.5 * np.minimum(z * z, w * w))) / np.maximum(np.abs(t), 1e-300)
    return np.where(big, large, np.abs(small))


def _logslope(z: Floats) -> Floats:
    """(log L)'(z) = (phi(z)/L(z) - 1)/(z - w)."""
    w = tangent(z)
    return (z * np.exp(-0.5 * z * z) / steepest(z) - 1.0) / (z - w)


@lru_cache(maxsize=256)
def _turning(g: float) -> tuple[float, float]:
    """Where |(log L)'| falls to g on the two sides of 1; outside them L itself is steeper than the growth.

    (log L)' falls from .6308 at 0 to 0 at 1; to the right its size rises to .3633 near 2.53 and falls again.
    """

    def root(low: float, high: float) -> float:
        at_low = float(abs(_logslope(np.array([low]))[0])) - g
        for _ in range(60):
            middle = 0.5 * (low + high)
            same = (float(abs(_logslope(np.array([middle]))[0])) - g) * at_low > 0
            low, high = (middle, high) if same else (low, middle)
        return 0.5 * (low + high)

    zero, top, height = _landmarks()
    left = 0.0 if g >= zero else root(0.0, 1.0 - 1e-9)
    right = float("inf") if g >= height else root(1.0 + 1e-9, top)
    return left, right


@lru_cache(maxsize=1)
def _landmarks() -> tuple[float, float, float]:
    """(log L)' at zero, and the place and size of its steepest fall."""
    grid = np.linspace(2.4, 2.7, 3001)
    slopes = np.abs(_logslope(grid))
    top = int(slopes.argmax())
    return float(_logslope(np.zeros(1))[0]), float(grid[top]), float(slopes[top])


def everywhere(c: Floats, g: float) -> Floats:
    """Sup over z of L(z) e^{-g|c - z|} for all pairs of points, to the accuracy of the roots."""
    left, right = _turning(g)
    z = np.clip(c, left, right)
    start = steepest(np.minimum(z, 1e150))
    with np.errstate(under="ignore"):
        decayed = start * np.exp(-g * np.abs(c - z))
    # Far out L falls like 1/c, slower than the exponential, so the larger of the two is taken.
    return np.maximum(steepest(c), decayed)


@lru_cache(maxsize=64)
def _table(g: float, reach: float, growth: str) -> BoundTable:
    """Tabulate: L is unimodal with peak at 1, so the supremum over a cell is at its ends or at the peak."""
    nodes: Floats = np.arange(round(_END / _STEP) + 1) * np.float64(_STEP)
    heights = nodes * np.exp(-0.5 * nodes * nodes) if reach == 0.0 else steepest(nodes, reach)
    heights = heights * (1.0 + 2.0**-40)  # pays for the rounding of the roots
    heights[round(1.0 / _STEP)] = PEAK * (1.0 + 2.0**-40)
    cells = np.maximum(heights[:-1], heights[1:])
    make = BoundTable.exponential if growth == "exponential" else BoundTable.linear
    return make(0.0, _STEP, cells, g)
