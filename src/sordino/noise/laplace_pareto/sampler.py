"""Laplace-Pareto noise: exponential up to 1 + alpha, then a power tail with continuous density.

For queries that move only where their sensitivity stands still (plateau queries); see docs/proofs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.exact.balls import is_less, precision, rational, to_float
from sordino.exact.recipe import Fast, Guard, Recipe, tail_index

if TYPE_CHECKING:
    from sordino.exact.balls import Ball
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform

_TOLERANCE = 2.0**-41


@dataclass(frozen=True, slots=True)
class LaplaceParetoRecipe(Recipe):
    """Density proportional to e^-|x| for |x| <= b, then e^-b (|x|/b)^-b, with b = 1 + alpha.

    Args:
        alpha: The tail index, at least 1/1024.

    Example:
        >>> LaplaceParetoRecipe(9).alpha
        Fraction(9, 1)
    """

    guards: ClassVar[tuple[Guard, ...]] = (Guard.ZERO,)

    alpha: Fraction
    proved: bool = field(init=False, repr=False, compare=False)
    _floats: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        alpha = tail_index("laplace-pareto", alpha=self.alpha)
        object.__setattr__(self, "alpha", alpha)
        # The argument of exp, at most log(1+alpha) + 13.87/alpha, stays in its domain from 1/48 on.
        object.__setattr__(self, "proved", alpha >= Fraction(1, 48))
        with precision(192):
            tail, mass, excess = self._constants()
            a = rational(alpha)
            start = (1 + a).log() + tail.log() / a
            numbers = (1 / a, tail, start, mass, excess)
            object.__setattr__(self, "_floats", tuple(to_float(n) for n in numbers))

    def _constants(self) -> tuple[Ball, Ball, Ball]:
        """Return p_t = P(|Z| > b), the mass M = 1 + e^-b/alpha of e^-|x|, and M - 1."""
        a = rational(self.alpha)
        excess = (-1 - a).exp() / a
        mass = 1 + excess
        return excess * (1 + a) / mass, mass, excess

    def fast(self, f: Functions, *x: Any) -> Fast:
        """|Z| = exp(start - log(U)/alpha) in the tail, -log(U M - (M-1)) in the centre."""
        (v,) = x
        inverse, tail, start, mass, excess = self._floats
        u = f.absolute(v)
        is_tail = f.less(u, tail)
        w = u * mass
        w -= excess
        z = f.log(f.where(is_tail, u, w))  # one logarithm serves both branches
        e = z * -inverse
        e += start
        z = f.where(is_tail, f.exp(f.where(is_tail, e, 0.0)), z)
        tolerance = f.absolute(z)
        tolerance += 1.0
        tolerance *= _TOLERANCE * (1.0 + inverse)
        return Fast(f.copysign(z, v), tolerance)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same in balls; the branch is decided, not guessed."""
        (v,) = u
        tail, mass, excess = self._constants()
        m = v.magnitude()
        if is_less(m, tail):
            a = rational(self.alpha)
            return (1 + a) * (-((m / tail).log()) / a).exp() * v.sign()
        return (m * mass - excess).log() * -v.sign()
