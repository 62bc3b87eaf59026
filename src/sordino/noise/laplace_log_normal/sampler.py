"""Laplace log-normal noise (Bun and Steinke 2019, Section 3.1): a Laplace variable times exp(sigma * Gaussian)."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.exact.balls import rational
from sordino.exact.recipe import Fast, Guard, Recipe
from sordino.noise.gaussian.sampler import GAUSSIAN_GUARDS, gaussian_ball, gaussian_float

if TYPE_CHECKING:
    from sordino.exact.balls import Ball
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform

_TOLERANCE = 2.0**-41
#: Up to here sigma times the largest Gaussian outside the guards stays in the domain of exp.
LARGEST_PROVED = Fraction(128)


@dataclass(frozen=True, slots=True)
class LaplaceLogNormalRecipe(Recipe):
    """The law of X exp(sigma Y), X standard Laplace and Y standard normal, independent.

    Args:
        sigma: The spread of the log-scale, positive.

    Example:
        >>> LaplaceLogNormalRecipe(0.5).words
        3
    """

    guards: ClassVar[tuple[Guard, ...]] = (Guard.ZERO, *GAUSSIAN_GUARDS)

    sigma: Fraction
    proved: bool = field(init=False, repr=False, compare=False)
    _float: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sigma = checks.positive("laplace-log-normal", sigma=self.sigma)
        object.__setattr__(self, "sigma", sigma)
        object.__setattr__(self, "proved", sigma <= LARGEST_PROVED)
        object.__setattr__(self, "_float", float(sigma))

    def fast(self, f: Functions, *x: Any) -> Fast:
        """|dZ| <= e^(sigma Y) (dX + |X| (sigma dY + 2^-46)): below 2^-41 (1+sigma) (1+|X|) e^(sigma Y)."""
        v, radius, angle = x
        y = gaussian_float(f, radius, angle)
        y *= self._float
        y = f.exp(y)
        z = f.log(f.absolute(v))  # minus |X|
        tolerance = 1.0 - z
        tolerance *= y
        tolerance *= _TOLERANCE * (1.0 + self._float)
        z *= y
        return Fast(f.copysign(z, v), tolerance)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same formula in balls."""
        v, radius, angle = u
        return v.magnitude().log() * -v.sign() * (rational(self.sigma) * gaussian_ball(radius, angle)).exp()
