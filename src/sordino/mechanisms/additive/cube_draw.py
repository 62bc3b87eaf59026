"""An exact draw of cube noise: one radius for all coordinates, a point of the cube, each rounded to the grid.

The density falls with the largest scaled coordinate: with r a sum of d + 1 exponential variables and u uniform on
``[-1, 1]^d``, ``r u`` has density ``~ exp(-|z|_max)``. Proof: docs/proofs/mechanism_cube.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sordino.exact.balls import Undecided, floor, precision, rational
from sordino.exact.uniforms import LazyUniform

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice


@dataclass(frozen=True, slots=True, repr=False)
class Cube:
    """Numbers that one person moves all at once, and the noise for that.

    Attributes:
        centre: The numbers; private.
        scales: What stands for one unit of the noise in each; public.
    """

    centre: tuple[Fraction, ...]
    scales: tuple[Fraction, ...]

    def draw(self, grid: Lattice, bits: Bits) -> list[int]:
        """Draw and round, refining all variables until every rounding is certain; none is ever drawn again."""
        dimension = len(self.centre)
        uniforms = [LazyUniform(bits.word(), bits) for _ in range(2 * dimension + 1)]
        working = 128
        while True:
            with precision(working):
                try:
                    return self._points(uniforms, grid)
                except Undecided:
                    pass
            for uniform in uniforms:
                uniform.refine(64)
            working += 64

    def _points(self, uniforms: list[LazyUniform], grid: Lattice) -> list[int]:
        dimension = len(self.centre)
        radius = rational(0)
        for uniform in uniforms[: dimension + 1]:
            radius = radius - uniform.magnitude().log()
        half = rational(Fraction(1, 2))
        return [
            floor(
                (rational(value) + rational(scale) * radius * uniform.signed()) / rational(grid.step) + half
            )
            for value, scale, uniform in zip(self.centre, self.scales, uniforms[dimension + 1 :], strict=True)
        ]


def cube_tail(distance: float, dimension: int) -> float:
    """``P(|r u| > t)`` of one coordinate: ``Q(d+1, t) - t Q(d, t) / d`` with regularised upper gamma functions.

    Example:
        >>> round(cube_tail(0.0, 3), 6), round(cube_tail(2.0, 1), 6)
        (1.0, 0.135335)
    """
    from scipy.special import gammaincc

    return float(gammaincc(dimension + 1, distance) - distance / dimension * gammaincc(dimension, distance))


def cube_half(miss: float, dimension: int) -> float:
    """The distance that one coordinate exceeds with this probability."""
    low, high = 0.0, 1.0
    while cube_tail(high, dimension) > miss:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if cube_tail(middle, dimension) > miss else (low, middle)
    return high * (1 + 1e-9)


def cube_deviation(dimension: int) -> float:
    """Standard deviation of one coordinate: ``sqrt((d+1)(d+2)/3)``.

    Example:
        >>> [round(cube_deviation(d), 2) for d in (2, 5, 10, 30)]
        [2.0, 3.74, 6.63, 18.18]
    """
    return math.sqrt((dimension + 1) * (dimension + 2) / 3)
