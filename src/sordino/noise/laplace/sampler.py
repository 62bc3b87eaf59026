"""Laplace noise: sign and -log of one uniform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.exact.recipe import Fast, Guard, Recipe

if TYPE_CHECKING:
    from sordino.exact.balls import Ball
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform

_TOLERANCE = 2.0**-41


@dataclass(frozen=True, slots=True)
class LaplaceRecipe(Recipe):
    """The law with density exp(-|x|)/2.

    Example:
        >>> LaplaceRecipe().words
        1
    """

    guards: ClassVar[tuple[Guard, ...]] = (Guard.ZERO,)

    def fast(self, f: Functions, *x: Any) -> Fast:
        """Z = -sign(X) log|X|: |d log| <= 2^-43 + 2^-53 + 13.87*2^-47 and 13.87*2^-49: below 2^-41."""
        (v,) = x
        return Fast(f.copysign(f.log(f.absolute(v)), v), _TOLERANCE)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same formula in balls."""
        (v,) = u
        return v.magnitude().log() * -v.sign()
