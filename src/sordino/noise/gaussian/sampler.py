"""Gaussian noise by the polar form: sqrt(-2 log U) cos(pi X), which needs no inverse error function.

Its two formulas also serve the families that are functions of a Gaussian variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.exact.recipe import Fast, Guard, Recipe

if TYPE_CHECKING:
    from sordino.exact.balls import Ball
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform

#: Guards of the radius and the angle.
GAUSSIAN_GUARDS = (Guard.ENDS, Guard.NONE)
#: Bound on the error of `gaussian_float` outside the guards (docs/proofs/exact_sampler.md).
GAUSSIAN_ERROR = 2.0**-42.5
#: Outside the guards the radius is at most sqrt(40 log 2).
GAUSSIAN_LIMIT = 5.27


def gaussian_float(f: Functions, radius: Any, angle: Any) -> Any:
    """Return sqrt(-2 log|X1|) cos(pi X2) in floats."""
    r = f.log(f.absolute(radius))
    r *= -2.0
    r = f.sqrt(r)
    r *= f.cospi(angle)
    return r


def gaussian_ball(radius: LazyUniform, angle: LazyUniform) -> Ball:
    """Enclose the same number."""
    return (radius.magnitude().log() * -2).sqrt() * angle.signed().cos_pi()


@dataclass(frozen=True, slots=True)
class GaussianRecipe(Recipe):
    """The standard normal law.

    Example:
        >>> GaussianRecipe().words
        2
    """

    guards: ClassVar[tuple[Guard, ...]] = GAUSSIAN_GUARDS

    def fast(self, f: Functions, *x: Any) -> Fast:
        """Error 2^-42.5, and 5.27 * 2^-49 for the product and the sum: below 2^-42."""
        return Fast(gaussian_float(f, *x), 2.0**-42)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same formula in balls."""
        return gaussian_ball(*u)
