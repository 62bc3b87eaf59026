"""FLINT balls: exact numbers in, enclosures out, and the one way to turn an enclosure into an integer.

A ball holds a real number for certain, whatever the working precision, so precision settings change the
speed of a draw and never its value. Which ball belongs to which law is the business of `recipes/`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flint import arb, ctx, fmpq

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

#: The type of a ball; python-flint has no type stubs.
Ball = Any


class Undecided(Exception):
    """The bits drawn so far do not decide the question."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with this many bits and restore the global setting afterwards."""
    with ctx.workprec(bits):
        yield


def rational(value: int | Fraction) -> Ball:
    """Enclose an exact rational number.

    Example:
        >>> from fractions import Fraction
        >>> bool(rational(Fraction(1, 3)) * 3 == 1), bool((rational(Fraction(1, 3)) * 3).contains(1))
        (False, True)
    """
    if isinstance(value, int):
        return arb(value)
    if value.denominator == 1:
        return arb(value.numerator)
    return arb(fmpq(value.numerator, value.denominator))


def dyadic(mantissa: int, exponent: int, radius: int = 0) -> Ball:
    """Enclose (mantissa ± radius) * 2^exponent exactly."""
    return arb((mantissa, exponent), (radius, exponent)) if radius else arb((mantissa, exponent))


def floor(ball: Ball) -> int:
    """Return the integer part that every number of the ball shares, or raise `Undecided`."""
    whole = ball.floor().unique_fmpz() if ball.is_finite() else None
    if whole is None:
        raise Undecided
    return int(whole)


def is_less(left: Ball, right: Ball) -> bool:
    """Decide left < right, or raise `Undecided` when the balls touch."""
    if left < right:
        return True
    if left > right:
        return False
    raise Undecided


def to_float(ball: Ball) -> float:
    """Return the float next to the midpoint; the error is the caller's to bound."""
    return float(ball.mid())


def everything() -> Ball:
    """Enclose the whole real line."""
    return arb(0, float("inf"))
