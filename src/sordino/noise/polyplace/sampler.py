"""PolyPlace noise (Hladík and Tětek 2022, Definition 7; corrected closed forms in docs/proofs/exact_sampler.md).

W is alpha times the unit-scale variable, so that large alpha (a nearly Laplace law) keeps its accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.exact.balls import Ball, is_less, precision, rational, to_float
from sordino.exact.recipe import Fast, Guard, Recipe

if TYPE_CHECKING:
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform

_TOLERANCE = 2.0**-40
# Nearer to 1 the argument of the logarithm in the centre, at least (1 - 1/alpha)^alpha, gets too small.
_LEAST_EXCESS = Fraction(1, 1 << 20)


@dataclass(frozen=True, slots=True)
class PolyPlaceRecipe(Recipe):
    """PolyPlaceRecipe(1, alpha): density alpha(alpha-1)/(2C) (1-|x|)^(alpha-1) for |x| < 1/alpha, then a
    power tail (1+|x|)^(-alpha-1), with C = alpha - 1 + 2 (1-1/alpha)^alpha.

    Args:
        alpha: The shape, greater than 1.

    Example:
        >>> PolyPlaceRecipe(10).unit
        Fraction(1, 10)
    """  # noqa: D205

    guards: ClassVar[tuple[Guard, ...]] = (Guard.ZERO,)

    alpha: Fraction
    unit: Fraction = field(init=False, repr=False, compare=False)
    proved: bool = field(init=False, repr=False, compare=False)
    _floats: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        alpha = checks.greater_than("polyplace", 1, alpha=self.alpha)
        object.__setattr__(self, "alpha", alpha)
        object.__setattr__(self, "unit", 1 / alpha)  # W is in units of the branch point
        object.__setattr__(self, "proved", alpha >= 1 + _LEAST_EXCESS)  # uniform in alpha from there on
        with precision(192):
            tail, width = self._constants()
            a = rational(alpha)
            start = (1 / a).log1p() + tail.log() / a
            numbers = (alpha, 1 / a, tail, start, width)
            object.__setattr__(
                self, "_floats", tuple(float(n) if isinstance(n, Fraction) else to_float(n) for n in numbers)
            )

    def _constants(self) -> tuple[Ball, Ball]:
        """Return the tail probability p_t = (alpha+1) r/C and C/(alpha-1), r = (1-1/alpha)^alpha."""
        a = rational(self.alpha)
        r = (a * (-1 / a).log1p()).exp()
        c = a - 1 + 2 * r
        return (a + 1) * r / c, c / (a - 1)

    def fast(self, f: Functions, *x: Any) -> Fast:
        """|W| = a expm1(start - log(U)/a) in the tail, -a expm1(log(1-(1-U)C/(a-1))/a) in the centre."""
        (v,) = x
        alpha, inverse, tail, start, width = self._floats
        u = f.absolute(v)
        is_tail = f.less(u, tail)
        w = 1.0 - u
        w *= -width
        w += 1.0
        # One logarithm and one expm1 serve both branches; in the centre expm1 is negative, and only its
        # magnitude is used.
        e = f.log(f.where(is_tail, u, w))
        e *= inverse
        e = f.where(is_tail, start - e, e)
        e = f.expm1(e)
        e *= alpha
        tolerance = f.absolute(e)
        tolerance += 1.0
        tolerance *= _TOLERANCE
        return Fast(f.copysign(e, v), tolerance)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same in balls; the branch is decided, not guessed."""
        (v,) = u
        tail, width = self._constants()
        a = rational(self.alpha)
        m = v.magnitude()
        if is_less(m, tail):
            w = a * ((1 / a).log1p() - (m / tail).log() / a).expm1()
        else:
            w = -a * ((1 - (1 - m) * width).log() / a).expm1()
        return w * v.sign()
