"""One-sided exponential noise, for noisy maxima."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.exact.recipe import Fast, Guard, Recipe

if TYPE_CHECKING:
    from sordino.exact.balls import Ball
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform


@dataclass(frozen=True, slots=True)
class ExponentialRecipe(Recipe):
    """The law with density exp(-x) on x > 0.

    Example:
        >>> ExponentialRecipe().words
        1
    """

    guards: ClassVar[tuple[Guard, ...]] = (Guard.ZERO,)

    def fast(self, f: Functions, *x: Any) -> Fast:
        """The magnitude of the Laplace recipe, with its tolerance."""
        return Fast(-f.log(f.absolute(x[0])), 2.0**-41)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same formula in balls."""
        return -(u[0].magnitude().log())
