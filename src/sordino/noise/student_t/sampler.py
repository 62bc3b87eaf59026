"""Student's t noise by Bailey's polar form, for every real number of degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.exact.balls import rational
from sordino.exact.recipe import Fast, Guard, Recipe, tail_index

if TYPE_CHECKING:
    from sordino.exact.balls import Ball
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform

_TOLERANCE = 2.0**-41


@dataclass(frozen=True, slots=True)
class StudentTRecipe(Recipe):
    """The law with density proportional to (1 + x^2/d)^(-(d+1)/2).

    Args:
        degrees: Degrees of freedom d, at least 1/1024.

    Example:
        >>> StudentTRecipe(3).degrees
        Fraction(3, 1)
    """

    guards: ClassVar[tuple[Guard, ...]] = (Guard.ENDS, Guard.NONE)

    degrees: Fraction
    proved: bool = field(init=False, repr=False, compare=False)
    _floats: tuple[float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        degrees = tail_index("student-t", degrees=self.degrees)
        object.__setattr__(self, "degrees", degrees)
        # From d = 1/25 on the argument of expm1, at most 2*13.87/d, stays inside its domain.
        object.__setattr__(self, "proved", degrees >= Fraction(1, 25))
        object.__setattr__(self, "_floats", (float(degrees), float(-2 / degrees)))

    def fast(self, f: Functions, *x: Any) -> Fast:
        """Z = R cos(pi X2), R = sqrt(d expm1(-(2/d) log U)); the error is below tol (1+1/d)(1+R)."""
        radius, angle = x
        degrees, exponent = self._floats
        r = f.log(f.absolute(radius))
        r *= exponent
        r = f.expm1(r)
        r *= degrees
        r = f.sqrt(r)
        constant = _TOLERANCE * (1.0 + 1.0 / degrees)
        tolerance = r * constant
        tolerance += constant
        r *= f.cospi(angle)
        return Fast(r, tolerance)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same formula in balls."""
        radius, angle = u
        degrees = rational(self.degrees)
        return (
            degrees * (radius.magnitude().log() * (-2 / degrees)).expm1()
        ).sqrt() * angle.signed().cos_pi()
