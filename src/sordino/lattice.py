"""The public lattice: the points on which rows are counted and answers lie.

A function of public bounds and steps alone. Nothing here accepts a scale: a lattice tied to a data-dependent scale
would publish it (docs/explanation/exact_release.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sordino import checks
from sordino.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

#: By default a release on a range has 2^32 lattice points across it.
_RANGE_BITS = 32


def ceil_log2(value: Fraction) -> int:
    """Return the smallest integer e with value <= 2^e, exactly.

    Example:
        >>> ceil_log2(Fraction(8)), ceil_log2(Fraction(9)), ceil_log2(Fraction(1, 3))
        (3, 4, -1)
    """
    e = value.numerator.bit_length() - value.denominator.bit_length()
    power = Fraction(2) ** e
    return e if value <= power else e + 1


@dataclass(frozen=True, slots=True)
class Lattice:
    """The public points ``origin + step k`` for every whole k.

    Example:
        >>> Lattice(Fraction(10), Fraction(1, 4)).real(6)
        Fraction(23, 2)
        >>> Lattice.for_range(0, 500_000).step
        Fraction(1, 8192)
    """

    origin: Fraction = Fraction(0)
    step: Fraction = Fraction(1)

    @classmethod
    def dyadic(cls, exponent: int) -> Lattice:
        """The multiples of 2^exponent.

        Example:
            >>> Lattice.dyadic(-1).number(7)
            3.5
        """
        if isinstance(exponent, bool) or not isinstance(exponent, int) or not -1074 <= exponent <= 971:
            raise ParameterError(
                "lattice",
                "exponent must be a whole number from -1074 to 971",
                got={"exponent": exponent},
                why="A release is a multiple of 2^exponent and is read as a float.",
                hint="Lattice.for_range(0, 100)",
            )
        return Lattice(Fraction(0), Fraction(2) ** exponent)

    @classmethod
    def for_range(cls, low: checks.Number, high: checks.Number, *, bits: int = _RANGE_BITS) -> Lattice:
        """Choose the multiples of a power of two from public bounds: about 2^bits points across the range."""
        width = checks.exact("lattice", high=high) - checks.exact("lattice", low=low)
        if width <= 0:
            raise ParameterError("lattice", "high must be greater than low", got={"low": low, "high": high})
        checks.whole("lattice", at_least=1, bits=bits)
        return cls.dyadic(max(-1074, min(971, ceil_log2(width) - bits)))

    @property
    def exponent(self) -> int:
        """The binary logarithm of the step, where that is a whole number; samplers ask for nothing else.

        Example:
            >>> Lattice.dyadic(-13).exponent
            -13
        """
        up, down = self.step.numerator, self.step.denominator
        exponent = up.bit_length() - down.bit_length()
        assert up == 1 << exponent if exponent >= 0 else down == 1 << -exponent, "the step is a power of two"
        return exponent

    @property
    def endless(self) -> Lattice:
        """The same points without ends."""
        return Lattice(self.origin, self.step)

    def index(self, value: checks.Number) -> int:
        """The number of the nearest point."""
        return round((Fraction(value) - self.origin) / self.step)

    def real(self, k: int | Fraction) -> Fraction:
        """The number for which k steps stand."""
        return self.origin + self.step * k

    def reals(self, many: Iterable[int]) -> list[Fraction]:
        """The numbers for which many points stand.

        Example:
            >>> Lattice(Fraction(1, 2), Fraction(1, 3)).reals([0, 3]) == [Fraction(1, 2), Fraction(3, 2)]
            True
        """
        below = math.lcm(self.origin.denominator, self.step.denominator)
        first, each = int(self.origin * below), int(self.step * below)
        return [Fraction(first + each * k, below) for k in many]

    def length(self, steps: int | Fraction) -> Fraction:
        """The length for which a difference in steps stands."""
        return self.step * steps

    def number(self, k: int) -> float:
        """Point k as a float: exact below 2^53 steps, else correctly rounded, at last an infinity."""
        try:
            return float(self.real(k)) + 0.0
        except OverflowError:
            return float("inf") if k > 0 else float("-inf")

    def numbers(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """The floats of many points; of multiples of a power of two."""
        result: NDArray[np.float64] = np.ldexp(k.astype(np.float64), self.exponent)
        return result

    def inside(self, value: Fraction, low: Fraction, high: Fraction) -> Fraction:
        """The point nearest to a value, between two bounds; the last one below them where none lies between.

        Example:
            >>> Lattice().inside(Fraction(19, 2), Fraction(1, 3), Fraction(26, 3))
            Fraction(8, 1)
        """
        first, last = -(-(low - self.origin) // self.step), (high - self.origin) // self.step
        return self.real(min(max(round((value - self.origin) / self.step), first), last))

    def holds(self, number: float) -> bool:
        """Whether a published number is the float of a point.

        Example:
            >>> Lattice(step=Fraction(1, 100)).holds(0.29), Lattice(step=Fraction(1, 100)).holds(0.295)
            (True, False)
        """
        return float(self.real(Lattice.index(self, number))) == number

    def to_dict(self) -> dict[str, str | int]:
        """A plain record with exact numbers as text."""
        return {"origin": str(self.origin), "step": str(self.step)}

    @staticmethod
    def from_dict(record: Mapping[str, str | int]) -> Lattice:
        """Read what `to_dict` wrote."""
        if "last" in record:
            return FiniteLattice(Fraction(record["low"]), Fraction(record["step"]), int(record["last"]))
        return Lattice(Fraction(record["origin"]), Fraction(record["step"]))


@dataclass(frozen=True, slots=True)
class FiniteLattice(Lattice):
    """The public points ``origin + step k`` for k from 0 to ``last``.

    Example:
        >>> FiniteLattice(Fraction(0), Fraction(1), 120).index(39.6)
        40
    """

    last: int = 0

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The first and the last point."""
        return self.origin, self.real(self.last)

    @property
    def anchor(self) -> int:
        """The point nearest to zero: where magnitudes are counted from when nothing better is known."""
        return self.index(0)

    def index(self, value: checks.Number) -> int:
        """The number of the nearest point, clamped to the ends."""
        return min(max(Lattice.index(self, value), 0), self.last)

    def to_dict(self) -> dict[str, str | int]:
        """A plain record with exact numbers as text."""
        return {"low": str(self.origin), "step": str(self.step), "last": self.last}
