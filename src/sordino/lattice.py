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

    Codes = NDArray[np.int64]


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
        if not self.origin and isinstance(k, int):  # one number instead of two
            return Fraction(self.step.numerator * k, self.step.denominator)
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
        if self.origin:
            value, low, high = value - self.origin, low - self.origin, high - self.origin
        above, below = self.step.numerator, self.step.denominator  # in whole numbers: many groups come here
        first = -(-low.numerator * below // (low.denominator * above))
        last = high.numerator * below // (high.denominator * above)
        steps, size = value.numerator * below, value.denominator * above
        nearest, rest = divmod(steps, size)
        if 2 * rest > size or (2 * rest == size and nearest % 2):  # half to even
            nearest += 1
        return self.real(min(max(nearest, first), last))

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

    def finer(self, bits: int) -> FiniteLattice:
        """The same ends, and ``2^bits`` steps in place of one.

        Example:
            >>> FiniteLattice(Fraction(0), Fraction(1), 120).finer(3).last
            960
        """
        return FiniteLattice(self.origin, self.step / 2**bits, self.last << bits)

    def index(self, value: checks.Number) -> int:
        """The number of the nearest point, clamped to the ends."""
        return min(max(Lattice.index(self, value), 0), self.last)

    def to_dict(self) -> dict[str, str | int]:
        """A plain record with exact numbers as text."""
        return {"low": str(self.origin), "step": str(self.step), "last": self.last}


BITS = 31
"""Default resolution of what is summed: 32 bits would give a range that is a power of two one code too many for uint32.

Roundings of many rows cancel in a sum, and sums of squares of such codes stay within the integers of an engine.
"""

FINE_BITS = 44
"""Default resolution of what is compared: order statistics, which are rounded as they are, and edges of cells.

Bounds a million times too wide leave 2^24 points across the column. More points would make a heap of equal rows harder
to find (each costs a tie ln 2 nats), and 2^44 codes leave 19 bits of an integer for the number of a group.
"""

RAISED = 2.0**52
"""Adding it rounds a small float to an integer, half to even, and leaves that integer in its low bits."""

Missing = float | str


@dataclass(frozen=True, slots=True, init=False)
class RowLattice(FiniteLattice):
    """The public lattice on which rows are counted: a row x becomes the integer ``rint((clip(x) - low) / step)``.

    Codes run from 0 to ``last``. Without a declared step the step is the power of two that gives the range at
    least ``2**(bits - 1)`` and at most ``2**bits`` codes. Rows without a number take the ``missing`` value, or
    are dropped with ``missing="drop"``; infinities and rows out of range are clamped to the bounds. Any such map sends
    neighbouring tables to neighbouring tables, so its rounding costs no privacy.

    Args:
        low: Lower bound, public.
        high: Upper bound, public.
        bits: Resolution when no step is declared, 0 to 50.
        missing: ``"drop"`` or a number; None takes 0 when it is in the range, else the bound nearer to 0.
        step: The lattice on which the data live (1 for ages, 0.01 for pay).

    Example:
        >>> RowLattice(0, 100, step=1).last
        100
        >>> RowLattice(0, 1000).step
        Fraction(1, 2097152)
    """

    low: float = 0.0
    high: float = 0.0
    bits: int = BITS
    missing: Missing = 0.0

    def __init__(
        self,
        low: float,
        high: float,
        *,
        bits: int = BITS,
        missing: Missing | None = None,
        step: Fraction | float | None = None,
    ) -> None:
        bottom, top = _range(low, high)
        if checks.whole("lattice", bits=bits) > 50:
            raise ParameterError(
                "lattice", "bits must be at most 50", got={"bits": bits}, why="Codes stay below 2^51."
            )
        exact = _step(top - bottom, bits, step)
        if missing is None:
            missing = 0.0 if bottom <= 0.0 <= top else min(bottom, top, key=abs)
        elif missing != "drop":
            missing = float(checks.exact("lattice", missing=missing))
        fields = {
            "origin": Fraction(bottom), "step": exact, "last": int(np.rint((top - bottom) / float(exact))),
            "low": bottom, "high": top, "bits": bits, "missing": missing,
        }  # fmt: skip
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def point(cls) -> RowLattice:
        """One code for whatever number a row has, where rows are counted and nothing else is asked of them.

        Example:
            >>> RowLattice.point().codes(np.array([3.0, np.nan, -7.0])).tolist()
            [0, 0]
        """
        one = cls(0, 1, bits=0, missing="drop")
        object.__setattr__(one, "high", 0.0)
        object.__setattr__(one, "last", 0)
        return one

    @property
    def drops(self) -> bool:
        """Whether rows without a number are dropped, which makes the number of rows private."""
        return self.missing == "drop"

    @property
    def answers(self) -> FiniteLattice:
        """The codes as answers: the same points, without the rule for rows."""
        return FiniteLattice(self.origin, self.step, self.last)

    def code(self, value: float) -> int:
        """The code of one public number (a threshold, an edge, a centre).

        Example:
            >>> RowLattice(0, 10, step=1).code(3.2)
            3
        """
        return int(self.codes(np.asarray([value], dtype=np.float64))[0])

    def codes(self, values: NDArray[np.float64]) -> Codes:
        """Quantise rows: per row, position independent, only ``- * / clip rint`` (sources must agree to the bit).

        Values that are not numbers become ``missing``, or are dropped.
        """
        nothing = np.isnan(values)
        if nothing.any():
            values = values[~nothing] if self.drops else np.where(nothing, float(self.missing or 0), values)
        raised = self.raised(values)
        return (raised - RAISED).astype(np.int64)

    def raised(
        self, values: NDArray[np.float64], *, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """The codes plus 2^52, as floats whose low bits are the codes; NaN stays NaN. No value raises.

        Clip first: low and high are then the true ends. Engines that raise on underflow also set differences below
        step/4 to zero; their code is 0 here without that. A step that is a power of two divides exactly.
        """
        step = float(self.step)
        steps: NDArray[np.float64] = np.clip(values, self.low, self.high, out=out)
        if self.low:
            steps -= self.low
        inverse = 1.0 / step
        if inverse * step == 1.0 and math.frexp(step)[0] == 0.5:
            steps *= inverse
        else:
            steps /= step
        steps += RAISED
        return steps


def _range(low: float, high: float) -> tuple[float, float]:
    """The bounds as the floats with which rows are compared."""
    bottom, top = float(checks.exact("lattice", low=low)), float(checks.exact("lattice", high=high))
    if not bottom < top:
        raise ParameterError(
            "lattice",
            "high must be greater than low",
            got={"low": low, "high": high},
            why="The range is public and fixes how far one person can move the answer.",
            hint="use the widest range that is plausible before seeing the data, e.g. low=0, high=500000.",
        )
    if not 1e-290 < top - bottom < 1e290 or max(abs(bottom), abs(top)) > 1e290:
        raise ParameterError(
            "lattice",
            "the range must be representable",
            got={"low": bottom, "high": top},
            why="Codes are computed in double precision.",
            hint="use bounds between 1e-290 and 1e290 apart",
        )
    return bottom, top


def _step(width: float, bits: int, step: Fraction | float | None) -> Fraction:
    """The declared step, or the power of two that gives the range its resolution."""
    if step is None:
        mantissa, exponent = math.frexp(width)
        return Fraction(2) ** ((exponent - 1 if mantissa == 0.5 else exponent) - bits)
    exact = checks.positive("lattice", step=step)
    if not 1 <= Fraction(width) / exact < 2**50:
        raise ParameterError(
            "lattice",
            "step must divide the range into 1 to 2^50 cells",
            got={"step": step},
            hint="leave step out unless the data live on a coarse lattice",
        )
    return exact
