"""The public lattice of points: a device first moves its point to the nearest lattice point, then asks the query.

On a lattice two different points are never closer than a step, so the rounding of floats can be charged to the
distance; docs/proofs/geo_numerics.md. The lattice is a function of public numbers alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import ParameterError
from sordino.lattice import FiniteLattice, Lattice, ceil_log2

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.geo.query import Query

    Floats = NDArray[np.float64]

#: A step is this power of two below the distance at which the privacy loss is one.
_FINE = 16
#: Points are told apart up to this many such distances from the anchor, and clamped beyond.
_WIDE = 16


@dataclass(frozen=True, slots=True)
class PointLattice:
    """A finite lattice along each axis: multiples of a power of two, in a box around an anchor.

    Example:
        >>> lattice = PointLattice.around((0.0, 0.0), exponent=-1, reach=10.0)
        >>> lattice.snap(np.array([[0.3, 99.0], [np.nan, 0.2]]))
        array([[  0.5,  10. ],
               [-10. ,   0. ]])
    """

    axes: tuple[FiniteLattice, ...]

    @classmethod
    def around(cls, anchor: tuple[float, ...], *, exponent: int, reach: float) -> PointLattice:
        """The box around an anchor, itself on the lattice; half a side is a whole number of steps."""
        step = Lattice.dyadic(exponent).step
        last = int(2 * Fraction(reach) / step)
        return cls(tuple(FiniteLattice(Fraction(a) - Fraction(reach), step, last) for a in anchor))

    @classmethod
    def for_query(cls, query: Query, rate: Fraction) -> PointLattice:
        """Choose the lattice from the query and the loss per metre, both public."""
        unit = ceil_log2(1 / rate)  # the distance with loss one, as a power of two
        exponent = unit - 1 - _FINE
        step = 2.0**exponent
        reach = 2.0 ** (unit + _WIDE)
        extent = query.curve.far(float(rate) / 4, query.curve.floor) + _size(query)
        while reach < 4.0 * extent:
            reach *= 2.0
        anchor = tuple(float(np.rint(a / step) * step) for a in query.anchor)
        if max(abs(a) for a in anchor) + reach > 2.0**52 * step:
            raise ParameterError(
                query.name,
                "the place is too far from the origin for so fine a privacy distance",
                got={"anchor": anchor, "distance": float(1 / rate)},
                why="Coordinates must be whole numbers of lattice steps.",
                hint="move the origin nearer to the data",
            )
        return cls.around(anchor, exponent=exponent, reach=reach)

    @property
    def step(self) -> float:
        """Distance of neighbouring lattice points along an axis."""
        return float(self.axes[0].step)

    @property
    def reach(self) -> float:
        """Half a side of the box."""
        return float(self.axes[0].length(self.axes[0].last) / 2)

    @property
    def anchor(self) -> tuple[float, ...]:
        """The centre of the box."""
        return tuple(float(sum(axis.ends) / 2) for axis in self.axes)

    def snap(self, points: Floats) -> Floats:
        """Move points to the lattice, coordinate by coordinate; NaN counts as the far low end. Nothing raises."""
        step = self.step
        at = points * (1.0 / step)
        np.rint(at, out=at)
        at *= step
        for place, axis in enumerate(self.axes):
            column = at if at.ndim == 1 else at[:, place]
            low, high = axis.ends
            np.fmax(column, float(low), out=column)  # of a number and NaN it takes the number
            np.fmin(column, float(high), out=column)
        return at

    def to_dict(self) -> dict[str, Any]:
        """Give a record."""
        return {"exponent": self.axes[0].exponent, "anchor": list(self.anchor), "reach": self.reach}


def _size(query: Query) -> float:
    """A bound on how far the action is from the anchor."""
    places = getattr(query, "places", None)
    if places is not None:
        return float(np.abs(places - np.array(query.anchor)).sum(axis=1).max())
    return float(getattr(query, "size", 0.0))
