"""What the samplers of noise with a log-normal scale have in common (Bun and Steinke 2019, Sections 3.1 and 3.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.exact.balls import rational
from sordino.exact.recipe import Recipe
from sordino.noise.gaussian.sampler import gaussian_ball, gaussian_float

if TYPE_CHECKING:
    from sordino.exact.balls import Ball
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform

#: Up to here sigma times the largest Gaussian outside the guards stays in the domain of exp.
LARGEST_PROVED = Fraction(128)
_TOLERANCE = 2.0**-41


@dataclass(frozen=True, slots=True)
class LogNormalScaleRecipe(Recipe):
    """The law of X exp(sigma Y), Y standard normal, independent of X.

    Args:
        sigma: The spread of the log-scale, positive.
    """

    family: ClassVar[str]

    sigma: Fraction
    proved: bool = field(init=False, repr=False, compare=False)
    _float: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sigma = checks.positive(self.family, sigma=self.sigma)
        object.__setattr__(self, "sigma", sigma)
        object.__setattr__(self, "proved", sigma <= LARGEST_PROVED)
        object.__setattr__(self, "_float", float(sigma))

    @property
    def tolerance(self) -> float:
        """Of what exp(sigma Y) in floats may be wrong, relative to itself."""
        return _TOLERANCE * (1.0 + self._float)

    def scale(self, f: Functions, radius: Any, angle: Any) -> Any:
        """exp(sigma Y) in floats."""
        y = gaussian_float(f, radius, angle)
        y *= self._float
        return f.exp(y)

    def scale_ball(self, radius: LazyUniform, angle: LazyUniform) -> Ball:
        """The same in balls."""
        return (rational(self.sigma) * gaussian_ball(radius, angle)).exp()
