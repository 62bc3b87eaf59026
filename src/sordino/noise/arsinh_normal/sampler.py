"""Arsinh-normal noise (Bun and Steinke 2019, Section 3.3): sinh(sigma * Gaussian)/sigma."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.exact.balls import rational
from sordino.exact.recipe import Fast, Guard, Recipe
from sordino.noise.gaussian.sampler import GAUSSIAN_GUARDS, gaussian_ball, gaussian_float
from sordino.noise.log_normal_scale import LARGEST_PROVED

if TYPE_CHECKING:
    from sordino.exact.balls import Ball
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform

_GAUSSIAN = 2.0**-42
_RELATIVE = 2.0**-45


@dataclass(frozen=True, slots=True)
class ArsinhNormalRecipe(Recipe):
    """The law of sinh(sigma Y)/sigma, Y standard normal. W is sinh(sigma Y).

    Args:
        sigma: The shape, at least 2^-100.

    Example:
        >>> ArsinhNormalRecipe(2).unit
        Fraction(1, 2)
    """

    guards: ClassVar[tuple[Guard, ...]] = GAUSSIAN_GUARDS

    sigma: Fraction
    unit: Fraction = field(init=False, repr=False, compare=False)
    proved: bool = field(init=False, repr=False, compare=False)
    _float: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sigma = checks.greater_than("arsinh-normal", Fraction(1, 1 << 100), sigma=self.sigma)
        object.__setattr__(self, "sigma", sigma)
        object.__setattr__(self, "proved", sigma <= LARGEST_PROVED)
        object.__setattr__(self, "unit", 1 / sigma)  # exact, so small sigma costs no accuracy
        object.__setattr__(self, "_float", float(sigma))

    def fast(self, f: Functions, *x: Any) -> Fast:
        """|dW| <= (1+|W|) sigma dY + 2^-46 |W|, because cosh <= 1 + |sinh|."""
        w = gaussian_float(f, *x)
        w *= self._float
        w = f.sinh(w)
        tolerance = f.absolute(w)
        tolerance *= _GAUSSIAN * self._float + _RELATIVE
        tolerance += _GAUSSIAN * self._float
        return Fast(w, tolerance)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same formula in balls."""
        return (rational(self.sigma) * gaussian_ball(*u)).sinh()
