"""Laplace log-normal noise (Bun and Steinke 2019, Section 3.1): a Laplace variable times exp(sigma * Gaussian)."""

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
class LaplaceLogNormalRecipe(LogNormalScaleRecipe):
    """The law of X exp(sigma Y), X standard Laplace and Y standard normal, independent.

    Example:
        >>> LaplaceLogNormalRecipe(0.5).words
        3
    """

    family: ClassVar[str] = "laplace-log-normal"
    guards: ClassVar[tuple[Guard, ...]] = (Guard.ZERO, *GAUSSIAN_GUARDS)

    def fast(self, f: Functions, *x: Any) -> Fast:
        """|dZ| <= e^(sigma Y) (dX + |X| (sigma dY + 2^-46)): below 2^-41 (1+sigma) (1+|X|) e^(sigma Y)."""
        v, radius, angle = x
        y = self.scale(f, radius, angle)
        z = f.log(f.absolute(v))  # minus |X|
        tolerance = 1.0 - z
        tolerance *= y
        tolerance *= self.tolerance
        z *= y
        return Fast(f.copysign(z, v), tolerance)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same formula in balls."""
        v, radius, angle = u
        return v.magnitude().log() * -v.sign() * self.scale_ball(radius, angle)
