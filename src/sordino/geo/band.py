"""The plateau curve: one inside a set, zero outside, and a straight slope across a band of given width.

The coordinate d is the signed distance to the set where the value is one (negative inside it), so this one formula
serves thresholds, ranges, discs and polygons. Liang and Yi 2024, Lemma 4.1; docs/proofs/geo_plateau.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sordino import checks
from sordino.geo.curve import EXP_ERROR, Curve, Scope, Slack, check_scope, check_smoothing, exponential

if TYPE_CHECKING:
    from sordino.geo.curve import Floats


@dataclass(frozen=True, slots=True)
class Band(Curve):
    """f(d) = 1 - d/width between 0 and 1.

    Args:
        width: Distance over which the value falls from one to zero.

    Example:
        >>> Band(4.0).value(np.array([-1.0, 1.0, 9.0]))
        array([1.  , 0.75, 0.  ])
        >>> Band(4.0).bound(np.array([2.0, 14.0]), 0.1).round(4)
        array([0.25 , 0.092])
    """

    plateau: ClassVar[bool] = True
    width: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", float(checks.positive("band", width=self.width)))

    @property
    def lipschitz(self) -> float:
        """1/width."""
        return 1.0 / self.width

    @property
    def extremes(self) -> tuple[float, float]:
        """Zero and one."""
        return 0.0, 1.0

    def value(self, u: Floats) -> Floats:
        """The curve at many signed distances."""
        f = u * (-1.0 / self.width)
        f += 1.0
        return np.clip(f, 0.0, 1.0, out=f)

    def outside(self, u: Floats) -> Floats:
        """Distance s from the band: max(-d, d - width, 0)."""
        s = u - 0.5 * self.width
        np.abs(s, out=s)
        s -= 0.5 * self.width
        return np.maximum(s, 0.0, out=s)

    def bound(
        self, u: Floats, smoothing: float, *, scope: Scope = "local", growth: str = "exponential"
    ) -> Floats:
        """Smooth bound: e^{-g s}/width locally, max(1/(s + width), e^{-g s}/width) globally, and between."""
        reach = check_scope(scope, growth)
        g = check_smoothing(smoothing)
        s = self.outside(np.asarray(u, dtype=np.float64))
        t = self.width
        if reach == 0.0:
            if growth == "linear":
                return 1.0 / (t * (1.0 + g * s))
            s *= -g
            local: Floats = exponential(s)
            local *= 1.0 / t
            return local
        # sup over r in [0, s] of L(r)/growth(s - r): between the corners of L a maximum is at an end, or, on the
        # straight piece of a finite reach, at reach - 1/g. See docs/proofs/geo_plateau.md.
        corners = [np.zeros_like(s), s]
        if np.isfinite(reach):
            corners += [np.clip(reach - t, 0.0, s), np.clip(reach - 1.0 / g, 0.0, s)]
        best = np.zeros_like(s)
        for r in corners:
            away = s - r
            decay = exponential(-g * away) if growth == "exponential" else 1.0 / (1.0 + g * away)
            np.maximum(best, self.secant(r, reach) * decay, out=best)
        return best

    def secant(self, r: Floats, reach: float) -> Floats:
        """Largest slope from a point at distance r from the band to another one within reach."""
        wide = 1.0 / (r + self.width)
        if not np.isfinite(reach):
            return wide
        narrow = np.maximum(reach - r, 0.0) / (self.width * reach)
        return np.where(r + self.width <= reach, wide, narrow)

    def far(self, smoothing: float, floor: float) -> float:
        """The width, and log(1/floor)/g beyond it."""
        return self.width - float(np.log(floor)) / smoothing

    def slack(self, smoothing: float, floor: float) -> Slack:
        """A product and a sum in the band (value at most one); an exponential and two products for the bound."""
        rounding = 2 * EXP_ERROR + 2.0**-50 - 2.0**-51 * float(np.log(floor))
        return Slack(2.0**-50 * self.width, rounding / smoothing)

    def both(
        self, u: Floats, smoothing: float, *, floor: float = 0.0, scope: Scope = "local"
    ) -> tuple[Floats, Floats]:
        """Value and bound with few passes: half the width and the distance from the middle serve both."""
        if scope != "local":
            return Curve.both(self, u, smoothing, floor=floor, scope=scope)
        half = 0.5 * self.width
        d = u - half
        s = np.abs(d)
        d *= -1.0 / self.width
        d += 0.5
        np.clip(d, 0.0, 1.0, out=d)
        s -= half
        s *= -smoothing
        np.minimum(s, 0.0, out=s)
        if floor > 0:
            np.maximum(s, float(np.log(floor)), out=s)
        bound = exponential(s)
        bound *= 1.0 / self.width
        return d, bound
