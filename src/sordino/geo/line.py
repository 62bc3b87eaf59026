"""Queries about numbers on a line: a soft threshold, a soft range, any function on an interval.

A range is a trapezoid. The tent of Liang and Yi 2024, Appendix C.3, tends to zero at the ends of the range it should
count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.geo.band import Band
from sordino.geo.query import Query

if TYPE_CHECKING:
    from sordino.geo.query import Floats


class Sloped(Query):
    """What has slopes of one width, on a line."""

    __slots__ = ()

    if TYPE_CHECKING:
        width: float

    @property
    def dimension(self) -> int:
        """One."""
        return 1

    @property
    def curve(self) -> Band:
        """A band."""
        return Band(self.width)


@dataclass(frozen=True, slots=True, repr=False)
class Threshold(Sloped):
    """Is the number above a threshold? One above, zero below, a straight slope of the given width between.

    Args:
        at: The threshold.
        width: Over what distance the answer goes from zero to one.

    Example:
        >>> Threshold(at=50_000, width=10_000).bound([50_000, 80_000], 1e-4).round(8)
        array([1.00e-04, 8.21e-06])
    """

    name = "threshold"
    at: float
    width: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", float(checks.exact(self.name, at=self.at)))
        object.__setattr__(self, "width", float(checks.positive(self.name, width=self.width)))

    @property
    def anchor(self) -> tuple[float, ...]:
        """The threshold."""
        return (self.at,)

    def coordinate(self, points: Floats) -> Floats:
        """Signed distance to the numbers that count in full, those above at + width/2."""
        d = self.at - points
        d += 0.5 * self.width
        return d

    def coordinate_error(self, far: float, limit: float) -> float:  # noqa: ARG002
        """Two correctly rounded sums."""
        return 2.0**-51 * (far + self.width)


@dataclass(frozen=True, slots=True, repr=False)
class Range(Sloped):
    """Does the number lie in a range? One inside, zero outside, slopes of the given width at both ends.

    Args:
        low: Lower end.
        high: Upper end.
        width: Over what distance the answer changes, centred on the ends.

    Example:
        >>> Range(low=10.0, high=20.0, width=2.0).value([5.0, 10.0, 15.0, 20.5])
        array([0.  , 0.5 , 1.  , 0.25])
    """

    name = "range"
    low: float
    high: float
    width: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", float(checks.exact(self.name, low=self.low)))
        object.__setattr__(self, "high", float(checks.exact(self.name, high=self.high)))
        object.__setattr__(self, "width", float(checks.positive(self.name, width=self.width)))
        if not self.low < self.high:
            raise ParameterError(
                self.name, "high must be greater than low", got={"low": self.low, "high": self.high}
            )

    @property
    def anchor(self) -> tuple[float, ...]:
        """The middle of the range."""
        return (0.5 * (self.low + self.high),)

    def coordinate(self, points: Floats) -> Floats:
        """Signed distance to the shrunken range [low + width/2, high - width/2]."""
        below = self.low - points
        above = points - self.high
        d = np.maximum(below, above)
        d += 0.5 * self.width
        return d

    def coordinate_error(self, far: float, limit: float) -> float:  # noqa: ARG002
        """Two correctly rounded sums."""
        return 2.0**-51 * (far + self.width + (self.high - self.low))
