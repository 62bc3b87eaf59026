"""Laws on [0, 1] that fill an interval of a piecewise density: uniform, exponential, staircase.

Each has density proportional to exp(-slope * h(t)) with h(t) = 0, t, or 1 for t > step; `mass` is the
integral, by which an interval is weighted. Which intervals there are is `pieces.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.exact.balls import is_less, precision, rational, to_float
from sordino.exact.recipe import Fast, Guard, Recipe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sordino.exact.balls import Ball
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform


class Filling(Recipe):
    """A law on [0, 1] with a known unnormalised mass."""

    __slots__ = ()

    def mass(self) -> Ball:
        """Enclose the integral of exp(-slope h(t)) over [0, 1]."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class FlatFilling(Filling):
    """The uniform law: what the inverse sensitivity mechanism puts on an interval."""

    guards: ClassVar[tuple[Guard, ...]] = (Guard.NONE,)

    def mass(self) -> Ball:
        """One."""
        return rational(1)

    def fast(self, f: Functions, *x: Any) -> Fast:
        """Error 2^-53 for the head, 2^-49 for product and sum."""
        return Fast(f.absolute(x[0]), 2.0**-48)

    def ball(self, *u: LazyUniform) -> Ball:
        """The magnitude itself."""
        return u[0].magnitude()


@dataclass(frozen=True, slots=True)
class Falling(Filling):
    """The truncated exponential law, density proportional to exp(-slope t): piecewise Laplace (paper 007).

    Args:
        slope: The exact fall over the interval, positive.
    """

    guards: ClassVar[tuple[Guard, ...]] = (Guard.NONE,)

    slope: Fraction

    @classmethod
    def cases(cls) -> Iterable[Recipe]:
        """From nearly flat to steep."""
        return tuple(cls(Fraction(slope)) for slope in ("1/1000", "1/10", "1", "7", "40"))

    proved: bool = field(init=False, repr=False, compare=False)
    _floats: tuple[float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        slope = checks.positive("truncated exponential", slope=self.slope)
        object.__setattr__(self, "slope", slope)
        # Above, 1 + a would come so near to zero that its float is worthless.
        object.__setattr__(self, "proved", Fraction(1, 1 << 100) <= slope <= 16)
        with precision(128):
            drop = to_float((-rational(slope)).expm1())
        object.__setattr__(self, "_floats", (drop, float(-1 / slope)))

    def mass(self) -> Ball:
        """(1 - e^-slope)/slope."""
        slope = rational(self.slope)
        return -((-slope).expm1()) / slope

    def fast(self, f: Functions, *x: Any) -> Fast:
        """T = -log1p(a)/slope, a = V expm1(-slope): error below 2^-46 + 2^-50/(1+a)."""
        drop, factor = self._floats
        a = f.absolute(x[0])
        a *= drop
        room = a + 1.0
        t = f.log1p(a)
        t *= factor
        tolerance = 2.0**-50 / room
        tolerance += 2.0**-46
        return Fast(t, tolerance)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same formula in balls."""
        slope = rational(self.slope)
        return -((u[0].magnitude() * (-slope).expm1()).log1p()) / slope


@dataclass(frozen=True, slots=True)
class Staircase(Filling):
    """Density proportional to 1 for t < step and exp(-slope) for t > step.

    Args:
        slope: The exact fall at the step, positive.
        step: Where it falls, strictly between 0 and 1.
    """

    guards: ClassVar[tuple[Guard, ...]] = (Guard.NONE,)

    slope: Fraction
    step: Fraction

    @classmethod
    def cases(cls) -> Iterable[Recipe]:
        """Flat and steep, the step near either end and between."""
        return tuple(
            cls(Fraction(s), Fraction(t)) for s in ("1/100", "1", "30") for t in ("1/10", "1/2", "9/10")
        )

    proved: bool = field(init=False, repr=False, compare=False)
    _floats: tuple[float, float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        slope = checks.positive("staircase", slope=self.slope)
        step = checks.between("staircase", 0, 1, step=self.step)
        object.__setattr__(self, "slope", slope)
        object.__setattr__(self, "step", step)
        object.__setattr__(self, "proved", slope <= 64)
        with precision(128):
            mass, stretch = to_float(self.mass()), to_float(rational(min(slope, Fraction(64))).exp())
        object.__setattr__(self, "_floats", (mass, float(step), stretch))

    def mass(self) -> Ball:
        """Step + (1 - step) e^-slope."""
        return rational(self.step) + rational(1 - self.step) * (-rational(self.slope)).exp()

    def fast(self, f: Functions, *x: Any) -> Fast:
        """V mass up to the step, then (V mass - step) e^slope beyond: error below 2^-51 e^slope + 2^-50."""
        mass, step, stretch = self._floats
        w = f.absolute(x[0])
        w *= mass
        beyond = w - step
        beyond *= stretch
        beyond += step
        return Fast(f.where(f.less(w, step), w, beyond), 2.0**-48 + 2.0**-50 * stretch)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same in balls; the branch is decided, not guessed."""
        w = u[0].magnitude() * self.mass()
        step = rational(self.step)
        return w if is_less(w, step) else step + (w - step) * rational(self.slope).exp()
