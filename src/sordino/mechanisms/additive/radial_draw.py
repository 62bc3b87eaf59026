"""An exact draw in d dimensions: a radius by shells, an independent direction, every coordinate rounded to the grid.

The radius is a mixture of positive terms, so nothing is rejected: pick the shell, pick a term, invert one incomplete
gamma function. The mechanism is radial.py, its law radial_law.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.exact.balls import Undecided, floor, precision, rational
from sordino.exact.uniforms import LazyUniform

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice


@dataclass(frozen=True, slots=True, repr=False)
class Shells:
    """The law of a point in space around a private centre.

    Attributes:
        centre: The truth; private.
        radii: Widths of the shells, from the innermost; private.
        tail: Width of every later shell; public.
        norm: 1, 2 or inf.
        slope: Nats per shell.
    """

    centre: tuple[Fraction, ...]
    radii: tuple[Fraction, ...]
    tail: Fraction
    norm: float
    slope: Fraction

    def draw(self, grid: Lattice, bits: Bits) -> list[int]:
        """Draw a radius and a direction and round every coordinate."""
        dimension = len(self.centre)
        # All uniforms of the draw: one for shell and term, one for the place, and the direction's own.
        uniforms = [LazyUniform(bits.word(), bits) for _ in range(2 + 2 * dimension)]
        face = bits.below(dimension)
        working = 128
        while True:
            with precision(working):
                try:
                    return self._points(uniforms, face, grid)
                except Undecided:
                    pass
            for uniform in uniforms:
                uniform.refine(64)
            working += 64

    def _points(self, uniforms: list[LazyUniform], face: int, grid: Lattice) -> list[int]:
        dimension = len(self.centre)
        radius = _radius(uniforms[:2], list(self.radii), self.tail, dimension, self.slope)
        direction = _direction(uniforms[2:], dimension, self.norm, face)
        half = rational(Fraction(1, 2))
        return [
            floor((rational(value) + radius * part) / rational(grid.step) + half)
            for value, part in zip(self.centre, direction, strict=True)
        ]


def _radius(
    uniforms: list[LazyUniform], radii: list[Fraction], tail: Fraction, dimension: int, slope: Fraction
) -> Any:
    """Enclose the radius: shell and term by cumulative weights, then a (truncated) gamma variable.

    Inside a shell ``(B + R t)^(d-1) e^(-slope t) R dt`` expands into d positive terms ``t^j e^(-slope t)``, and beyond
    the last one ``r = B + tail t`` with t from 0 to infinity: the same expansion with complete gamma functions.
    """
    rate = rational(slope)
    inner = Fraction(0)
    terms: list[tuple[Any, Fraction, Fraction, int, bool]] = []
    for level, width in enumerate([*radii, tail]):
        open_end = level == len(radii)
        if width > 0:
            decay = rational(-slope * level).exp()
            for j in range(dimension):
                binomial = math.comb(dimension - 1, j)
                scale = rational(binomial * inner ** (dimension - 1 - j) * width ** (j + 1))
                mass = _gamma(j + 1, None if open_end else rate) / rate ** (j + 1)
                terms.append((decay * scale * mass, inner, width, j, open_end))
        inner += width
    total = sum((term[0] for term in terms), start=rational(0))
    target = (uniforms[0].signed() + 1) / 2 * total
    border = rational(0)
    for mass, start, width, j, open_end in terms:
        border = border + mass
        if target < border:
            place = _gamma_place(uniforms[1], j + 1, rate, open_end=open_end)
            return rational(start) + rational(width) * place
        if not target > border:
            raise Undecided
    raise Undecided


def _gamma(order: int, limit: Any) -> Any:
    """Lower incomplete gamma of an integer order, complete when the limit is None: finite sums, no cancellation.

    ``gamma(m, x) = (m-1)! (1 - e^-x sum_{i<m} x^i/i!) = (m-1)! e^-x sum_{i>=m} x^i/i!``.
    """
    from flint import arb

    if limit is None:
        return rational(math.factorial(order - 1))
    return arb(limit).gamma_lower(rational(order))


def _gamma_place(uniform: LazyUniform, order: int, rate: Any, *, open_end: bool) -> Any:
    """Enclose the t with ``gamma(order, rate t) = U gamma(order, rate)`` by bisection on dyadic points."""
    whole = _gamma(order, None if open_end else rate)
    target = uniform.magnitude() * whole
    low, high = Fraction(0), Fraction(1)
    if open_end:
        while _gamma(order, rate * rational(high)) < target:
            high *= 2
            if high > 2**40:
                raise Undecided
    for _ in range(120):
        middle = (low + high) / 2
        value = _gamma(order, rate * rational(middle))
        if value < target:
            low = middle
        elif value > target:
            high = middle
        else:  # the bits drawn so far do not tell the halves apart
            break
    return rational(low).union(rational(high))


def _direction(uniforms: list[LazyUniform], dimension: int, norm: float, face: int) -> list[Any]:
    """Enclose a direction on the unit sphere of the norm with the cone measure."""
    if norm == math.inf:
        parts = [uniform.signed() for uniform in uniforms[:dimension]]
        parts[face] = rational(uniforms[face].sign())
        return parts
    if norm == 1:
        parts = [-uniform.magnitude().log() * uniform.sign() for uniform in uniforms[:dimension]]
        size = sum((abs(part) for part in parts), start=rational(0))
    else:
        parts = []
        for first, second in zip(uniforms[:dimension], uniforms[dimension:], strict=True):
            parts.append((-2 * first.magnitude().log()).sqrt() * second.signed().cos_pi())
        size = sum((part * part for part in parts), start=rational(0)).sqrt()
    return [part / size for part in parts]
