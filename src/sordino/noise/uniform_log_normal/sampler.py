"""Uniform log-normal noise (Bun and Steinke 2019, Section 3.2): a uniform variable times exp(sigma * Gaussian)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.exact.recipe import Fast, Guard
from sordino.noise.gaussian.sampler import GAUSSIAN_GUARDS
from sordino.noise.log_normal_scale import LogNormalScaleRecipe

if TYPE_CHECKING:
    from sordino.exact.balls import Ball
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform


@dataclass(frozen=True, slots=True)
class UniformLogNormalRecipe(LogNormalScaleRecipe):
    """The law of X exp(sigma Y), X uniform on [-1, 1] and Y standard normal, independent.

    Example:
        >>> UniformLogNormalRecipe(1.5).sigma
        Fraction(3, 2)
    """

    family: ClassVar[str] = "uniform-log-normal"
    guards: ClassVar[tuple[Guard, ...]] = (Guard.NONE, *GAUSSIAN_GUARDS)

    def fast(self, f: Functions, *x: Any) -> Fast:
        """|dZ| <= e^(sigma Y) (2^-53 + sigma dY + 2^-46): below 2^-41 (1+sigma) e^(sigma Y)."""
        v, radius, angle = x
        y = self.scale(f, radius, angle)
        tolerance = y * self.tolerance
        y *= v
        return Fast(y, tolerance)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same formula in balls."""
        v, radius, angle = u
        return v.signed() * self.scale_ball(radius, angle)
