"""Generalized Cauchy noise, density proportional to (1 + |x|^p)^-theta, for every p and theta.

Two rejection methods, e = p theta - 1: Johnk's, |Z| = U V^(-1/e) given U^p + V^(p/e) <= 1, and, where it
would accept too rarely, the power-tail envelope of docs/proofs/exact_sampler.md. Both replace the numeric
inverse cdf of Liang and Yi 2024, Appendix C.1. Which one serves depends on p and theta alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import ParameterError
from sordino.exact.balls import is_less, precision, rational, to_float
from sordino.exact.recipe import Fast, Guard, Recipe

if TYPE_CHECKING:
    from sordino.exact.balls import Ball
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform

_TOLERANCE = 2.0**-41
_GAP_TOLERANCE = 2.0**-40
# Whole powers up to this are products: cheaper than exp(p log x), and as accurate.
_PRODUCTS = 8
# From this index on every exp of the fast path stays in its domain (13.87/e <= 700 with room).
_LEAST_PROVED = Fraction(1, 48)
_LARGEST_PROVED = 1 << 20
# Below this acceptance of Johnk's method the envelope is faster.
_FAIR_ACCEPTANCE = 0.45


@dataclass(frozen=True, slots=True)
class _Johnk(Recipe):
    """|Z| = U/Y with Y = V^(1/e), given U^p + Y^p <= 1."""

    guards: ClassVar[tuple[Guard, ...]] = (Guard.ZERO, Guard.ZERO)
    rejects: ClassVar[bool] = True

    p: Fraction
    excess: Fraction
    proved: bool = field(init=False, repr=False, compare=False)
    _floats: tuple[float, ...] = field(init=False, repr=False, compare=False)
    _power: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        p, e = self.p, self.excess
        proved = e >= _LEAST_PROVED and p <= _LARGEST_PROVED and p / e <= _LARGEST_PROVED
        object.__setattr__(self, "proved", proved)
        object.__setattr__(self, "_floats", (float(p), float(1 / e), float(p / e)))
        object.__setattr__(self, "_power", int(p) if p.denominator == 1 and p <= _PRODUCTS else 0)

    def fast(self, f: Functions, *x: Any) -> Fast:
        """Relative error (1/e) 2^-42 + 2^-43 + 2^-46, below 2^-41 (1+1/e)."""
        v, other = x
        p, inverse, power = self._floats
        u, y = f.absolute(v), f.absolute(other)
        log_y = None
        if inverse != 1.0:
            log_y = f.log(y)
            y = f.exp(log_y * inverse)
        if self._power:
            gap = _product(u, self._power)
            gap += _product(y, self._power)
        else:
            gap = f.exp(f.log(u) * p)
            gap += f.exp((f.log(y) if log_y is None else log_y) * power)
        gap -= 1.0
        u /= y
        tolerance = u * (_TOLERANCE * (1.0 + inverse))
        return Fast(f.copysign(u, v), tolerance, gap, _GAP_TOLERANCE * (1.0 + p + power))

    def accepts(self, *u: LazyUniform) -> bool:
        """Decide U^p + V^(p/e) < 1."""
        v, other = u
        p, e = rational(self.p), rational(self.excess)
        left = (v.magnitude().log() * p).exp() + (other.magnitude().log() * (p / e)).exp()
        return is_less(left, rational(1))

    def ball(self, *u: LazyUniform) -> Ball:
        """The same formula in balls."""
        v, other = u
        return v.magnitude() * (other.magnitude().log() / -rational(self.excess)).exp() * v.sign()


@dataclass(frozen=True, slots=True)
class _Envelope(Recipe):
    """|Z| = c (U^(-1/e) - 1), c = e^(1-1/p), given log V <= theta (p L/e - log(1+Z^p) - (p-1) log(1+1/e)),
    where L = -log U. For p >= 1.
    """  # noqa: D205

    guards: ClassVar[tuple[Guard, ...]] = (Guard.ENDS, Guard.ZERO)
    rejects: ClassVar[bool] = True

    p: Fraction
    excess: Fraction
    proved: bool = field(init=False, repr=False, compare=False)
    _floats: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        p, e = self.p, self.excess
        proved = _LEAST_PROVED <= e <= _LARGEST_PROVED and p <= _LARGEST_PROVED
        object.__setattr__(self, "proved", proved)
        with precision(128):
            c, level = (to_float(b) for b in self._constants())
        theta, inverse = float((e + 1) / p), float(1 / e)
        gap = _GAP_TOLERANCE * (1 + inverse) * (1 + c)
        gap += 2.0**-43 * (1 + float(e)) * (2 + 14 * inverse + abs(math.log(c)))
        object.__setattr__(self, "_floats", (float(p), theta, inverse, c, level, float((e + 1) / e), gap))

    def _constants(self) -> tuple[Ball, Ball]:
        """Return c and theta (p-1) log(1+1/e)."""
        p, e = rational(self.p), rational(self.excess)
        return (e.log() * (1 - 1 / p)).exp(), (e + 1) / p * (p - 1) * (1 / e).log1p()

    def fast(self, f: Functions, *x: Any) -> Fast:
        """|dZ| <= ((Z+c)/e) 2^-42 + 2^-46 Z; the gap uses log(1+z^p) = max(l,0) + log1p(e^-|l|)."""
        v, other = x
        p, theta, inverse, c, level, slope, gap_tolerance = self._floats
        log_u = f.log(f.absolute(v))
        z = f.expm1(log_u * -inverse)
        z *= c
        power = f.log(z)
        power *= p
        rest = f.log1p(f.exp(-f.absolute(power)))
        rest += f.maximum(power, 0.0)
        rest *= theta
        gap = f.log(f.absolute(other))
        log_u *= slope
        gap += log_u
        gap += rest
        gap += level
        tolerance = z * (_TOLERANCE * inverse + 2.0**-45)
        tolerance += _TOLERANCE * inverse * c
        return Fast(f.copysign(z, v), tolerance, gap, gap_tolerance)

    def accepts(self, *u: LazyUniform) -> bool:
        """Decide the condition of the class in balls."""
        v, other = u
        _, level = self._constants()
        p, e = rational(self.p), rational(self.excess)
        z = abs(self.ball(*u))
        right = -v.magnitude().log() * ((e + 1) / e) - (e + 1) / p * (z.log() * p).exp().log1p() - level
        return is_less(other.magnitude().log(), right)

    def ball(self, *u: LazyUniform) -> Ball:
        """The same formula in balls."""
        v, _ = u
        c, _ = self._constants()
        return c * (v.magnitude().log() / -rational(self.excess)).expm1() * v.sign()


@dataclass(frozen=True, slots=True)
class GeneralizedCauchyRecipe(Recipe):
    """The law with density proportional to (1 + |x|^p)^-theta.

    Args:
        p: The power, positive.
        theta: The decay, with p * theta - 1 at least 1/1024.

    Example:
        >>> GeneralizedCauchyRecipe(4, 1).excess
        Fraction(3, 1)
    """

    guards: ClassVar[tuple[Guard, ...]] = (Guard.ENDS, Guard.ZERO)  # the stricter of both methods
    rejects: ClassVar[bool] = True

    p: Fraction
    theta: Fraction = Fraction(1)
    proved: bool = field(init=False, repr=False, compare=False)
    _method: Recipe = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        p = checks.positive("generalized-cauchy", p=self.p)
        theta = checks.positive("generalized-cauchy", theta=self.theta)
        if p * theta - 1 < Fraction(1, 1024):
            raise ParameterError(
                "generalized-cauchy",
                "p * theta must be greater than 1 by at least 1/1024",
                got={"p": p, "theta": theta},
                why="The density is integrable only for p * theta > 1.",
                hint="p=4, theta=1",
            )
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "theta", theta)
        a, b = float(1 / p), float(theta - 1 / p)
        acceptance = math.exp(math.lgamma(a + 1) + math.lgamma(b + 1) - math.lgamma(a + b + 1))
        rare = p >= 1 and acceptance < _FAIR_ACCEPTANCE
        method = (_Envelope if rare else _Johnk)(p, self.excess)
        object.__setattr__(self, "_method", method)
        object.__setattr__(self, "proved", method.proved)

    @property
    def excess(self) -> Fraction:
        """The tail index e = p theta - 1."""
        return self.p * self.theta - 1

    def fast(self, f: Functions, *x: Any) -> Fast:
        """Evaluate a try in floats."""
        return self._method.fast(f, *x)

    def accepts(self, *u: LazyUniform) -> bool:
        """Decide a try exactly."""
        return self._method.accepts(*u)

    def ball(self, *u: LazyUniform) -> Ball:
        """Enclose an accepted try."""
        return self._method.ball(*u)


def _product(x: Any, power: int) -> Any:
    """Return x^power by repeated squaring, never x itself."""
    result = None
    square = x
    while power:
        if power & 1:
            result = square * 1.0 if result is None else result * square
        power >>= 1
        if power:
            square = square * square
    return result
