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
from sordino.exact.grid import ceil_log2

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
    """Multiples of a power of two, clamped to a box around an anchor.

    Args:
        exponent: The step is 2^exponent.
        anchor: Centre of the box, itself on the lattice.
        reach: Half the side of the box, a whole number of steps.

    Example:
        >>> lattice = PointLattice(exponent=-1, anchor=(0.0, 0.0), reach=10.0)
        >>> lattice.snap(np.array([[0.3, 99.0], [np.nan, 0.2]]))
        array([[  0.5,  10. ],
               [-10. ,   0. ]])
    """

    exponent: int
    anchor: tuple[float, ...]
    reach: float

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
        return cls(exponent, anchor, reach)

    @property
    def step(self) -> float:
        """Distance of neighbouring lattice points along an axis."""
        return float(2.0**self.exponent)

    def snap(self, points: Floats) -> Floats:
        """Move points to the lattice, coordinate by coordinate; NaN counts as the far low end. Nothing raises."""
        at = points * 2.0**-self.exponent
        np.rint(at, out=at)
        at *= self.step
        for axis, a in enumerate(self.anchor):
            column = at if at.ndim == 1 else at[:, axis]
            np.fmax(column, a - self.reach, out=column)  # of a number and NaN it takes the number
            np.fmin(column, a + self.reach, out=column)
        return at

    def to_dict(self) -> dict[str, Any]:
        """Give a record."""
        return {"exponent": self.exponent, "anchor": list(self.anchor), "reach": self.reach}


def _size(query: Query) -> float:
    """A bound on how far the action is from the anchor."""
    places = getattr(query, "places", None)
    if places is not None:
        return float(np.abs(places - np.array(query.anchor)).sum(axis=1).max())
    return float(getattr(query, "size", 0.0))
