"""Drawing from a piecewise density: choose an interval by exact weights, then a point inside it, rounded.

Interval i has the density exp(-rate * levels[i]) * exp(-slope * h(t)) where t in [0, 1] runs outwards along
it: the laws of the piecewise Laplace, inverse sensitivity and staircase mechanisms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import ParameterError
from sordino.exact.bits import Bits
from sordino.exact.choice import CellWeights, choose
from sordino.exact.sampler import draw

if TYPE_CHECKING:
    from sordino.exact.shapes import Filling
    from sordino.lattice import Lattice


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Intervals with exact ends and integer levels.

    Args:
        starts: Integers: the inner end of each interval, in multiples of `unit` from `origin`.
        lengths: Integers: how far the interval runs from there; negative runs downwards, zero is empty.
        levels: Integers: the level of each interval.
        rate: The exact price of one level.
        shapes: The laws inside an interval.
        kinds: Index into `shapes` for each interval; by default all have the first.
        unit: Exact size of one step of `starts` and `lengths`.
        origin: Exact position of zero.

    Example:
        >>> from sordino.exact import SeededBits
        >>> from sordino.lattice import Lattice
        >>> from sordino.exact.shapes import Falling
        >>> kappa = Fraction(1, 2)
        >>> pieces = Pieces(starts=[5, 8, 5, 1], lengths=[3, 2, -4, -1], levels=[0, 1, 0, 1],
        ...                 rate=kappa, shapes=(Falling(kappa),))
        >>> 0 <= Lattice.dyadic(-10).number(pieces.draw(grid=Lattice.dyadic(-10), bits=SeededBits(3))) <= 10
        True
    """

    starts: Any = field(repr=False)
    lengths: Any = field(repr=False)
    levels: Any = field(repr=False)
    rate: Fraction
    shapes: tuple[Filling, ...]
    kinds: Any = field(default=None, repr=False)
    unit: Fraction = Fraction(1)
    origin: Fraction = Fraction(0)
    _weights: CellWeights = field(init=False, repr=False)

    def __post_init__(self) -> None:
        lengths = np.asarray(self.lengths)
        if len(self.starts) != len(lengths):
            raise ParameterError("pieces", "starts and lengths must have the same number of intervals")
        kinds = np.zeros(len(lengths), dtype=np.int64) if self.kinds is None else np.asarray(self.kinds)
        object.__setattr__(self, "kinds", kinds)
        # One common shape weighs all intervals alike, so its mass cancels.
        factors = tuple(shape.mass for shape in self.shapes) if len(self.shapes) > 1 else ()
        object.__setattr__(
            self, "_weights", CellWeights(np.abs(lengths), self.levels, self.rate, factors, kinds)
        )

    def draw(self, *, grid: Lattice, bits: Bits | None = None) -> int:
        """Draw one lattice point: the exact rounding of the ideal real draw.

        Args:
            grid: The public lattice.
            bits: A source of random words; by default a fresh key from the operating system.

        Returns:
            The integer k; the release is `grid.value(k)`.
        """
        source = Bits() if bits is None else bits
        i = choose(self._weights, bits=source)
        start = self.origin + self.unit * int(self.starts[i])
        length = self.unit * int(self.lengths[i])
        shape = self.shapes[int(self.kinds[i])]
        if length < 0:
            # Mirrored: floor(y + 1/2) and -floor(-y + 1/2) differ only where y is exactly half-way, which
            # has probability zero.
            return -draw(shape, location=-start, scale=-length, grid=grid, bits=source)
        return draw(shape, location=start, scale=length, grid=grid, bits=source)
