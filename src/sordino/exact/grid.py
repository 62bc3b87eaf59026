"""The public output lattice, and the quantisation of rows to integers.

Both are functions of public bounds and units alone. Nothing here accepts a scale: a lattice tied to a
data-dependent scale would publish it (docs/explanation/exact_release.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: By default a release on a range has 2^32 lattice points across it.
_RANGE_BITS = 32
#: Integer codes of rows; 31 bits so that a range that is a power of two still fits into uint32.
_ROW_BITS = 31
_ROUNDER = 4503599627370496.0  # 2^52


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
class Grid:
    """The lattice of multiples of 2^exponent on which a release lies.

    Example:
        >>> Grid.for_range(0, 500_000)
        Grid(exponent=-13)
        >>> Grid(-1).value(7)
        3.5
    """

    exponent: int

    def __post_init__(self) -> None:
        exponent = self.exponent
        if isinstance(exponent, bool) or not isinstance(exponent, int) or not -1074 <= exponent <= 971:
            raise ParameterError(
                "grid",
                "exponent must be a whole number from -1074 to 971",
                got={"exponent": exponent},
                why="A release is a multiple of 2^exponent and is read as a float.",
                hint="Grid.for_range(0, 100)",
            )

    @classmethod
    def for_range(cls, low: checks.Number, high: checks.Number, *, bits: int = _RANGE_BITS) -> Grid:
        """Choose the lattice from public bounds: about 2^bits points across the range."""
        width = checks.exact("grid", high=high) - checks.exact("grid", low=low)
        if width <= 0:
            raise ParameterError("grid", "high must be greater than low", got={"low": low, "high": high})
        checks.whole("grid", at_least=1, bits=bits)
        return cls(max(-1074, min(971, ceil_log2(width) - bits)))

    @classmethod
    def for_counts(cls) -> Grid:
        """Whole numbers."""
        return cls(0)

    @property
    def step(self) -> Fraction:
        """The distance of neighbouring points."""
        return Fraction(2) ** self.exponent

    def value(self, k: int) -> float:
        """Return k * step as a float: exact below 2^53, else correctly rounded, at last an infinity."""
        try:
            return float(k * self.step) + 0.0
        except OverflowError:
            return float("inf") if k > 0 else float("-inf")

    def inside(self, value: Fraction, low: Fraction, high: Fraction) -> Fraction:
        """The lattice point nearest to a value, between two bounds; the last one below them where none lies between.

        Example:
            >>> Grid(0).inside(Fraction(19, 2), Fraction(1, 3), Fraction(26, 3))
            Fraction(8, 1)
        """
        first, last = -(-low // self.step), high // self.step
        return self.step * min(max(round(value / self.step), first), last)

    def values(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the floats of many lattice points."""
        result: NDArray[np.float64] = np.ldexp(k.astype(np.float64), self.exponent)
        return result


@dataclass(frozen=True, slots=True)
class Rows:
    """How rows become integer codes 0..top: public, per row, position independent.

    `code = rint((clip(x, low, high) - low) / 2^exponent)`, half to even. Any such map sends neighbouring
    data sets to neighbouring data sets, so its rounding costs no privacy; the expressions are the ones that
    numpy, DuckDB, PostgreSQL and Spark evaluate to the same bits.

    Args:
        low: Public lower bound, a float.
        high: Public upper bound.
        bits: The codes have at most 2^bits + 1 values.
        missing: What happens to NaN: ``"drop"`` or a number that replaces it.

    Example:
        >>> rows = Rows(0.0, 8.0, bits=3)
        >>> rows.codes(np.array([-1.0, 2.5, 3.5, 99.0, np.nan])).tolist()
        [0, 2, 4, 8]
        >>> rows.value(4)
        Fraction(4, 1)
    """

    low: float
    high: float
    bits: int = _ROW_BITS
    missing: float | str = "drop"

    def __post_init__(self) -> None:
        # Rows are floats, so bounds here mean the doubles they are compared with.
        low, high = float(checks.exact("rows", low=self.low)), float(checks.exact("rows", high=self.high))
        if not low < high or not np.isfinite(high - low):
            raise ParameterError(
                "rows",
                "high must be greater than low and high - low finite",
                got={"low": self.low, "high": self.high},
                why="The range is public and fixes how far one row can move an answer.",
                hint="use the widest range that is plausible before seeing the data, e.g. low=0, high=500000",
            )
        if checks.whole("rows", at_least=1, bits=self.bits) > 50:
            raise ParameterError("rows", "bits must be at most 50", got={"bits": self.bits})
        if self.missing != "drop":
            checks.exact("rows", missing=self.missing)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if not -1000 <= self.exponent <= 1000:
            raise ParameterError(
                "rows", "high - low must be an ordinary number", got={"low": low, "high": high}
            )

    @property
    def exponent(self) -> int:
        """h: one code is 2^h wide."""
        return ceil_log2(Fraction(self.high - self.low)) - self.bits

    @property
    def top(self) -> int:
        """M, the code of `high`."""
        return round(Fraction(self.high - self.low) / Fraction(2) ** self.exponent)

    def codes(self, x: Any) -> NDArray[np.int64]:
        """Return the codes; NaN rows are dropped or replaced as declared. No value raises."""
        x = np.asarray(x, dtype=np.float64)
        bad = np.isnan(x)
        if bad.any():
            x = x[~bad] if self.missing == "drop" else np.where(bad, float(self.missing), x)
        raised = raise_rows(x, low=self.low, high=self.high, step=2.0**self.exponent)
        codes: NDArray[np.int64] = (raised - _ROUNDER).astype(np.int64)
        return codes

    def value(self, code: int) -> Fraction:
        """Return the exact number a code stands for."""
        return Fraction(self.low) + code * Fraction(2) ** self.exponent


def raise_rows(
    x: NDArray[np.float64], *, low: float, high: float, step: float, out: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return code + 2^52 per row: floats whose low bits are the codes; NaN stays NaN. No value raises.

    Clip first: low and high are then the true ends. Engines that raise on underflow also set differences below
    step/4 to zero; their code is 0 here without that. A step that is a power of two divides exactly.
    """
    d: NDArray[np.float64] = np.clip(x, low, high, out=out)
    d -= low
    inverse = 1.0 / step
    if inverse * step == 1.0 and np.frexp(step)[0] == 0.5:
        d *= inverse
    else:
        d /= step
    d += _ROUNDER
    return d


def quantise(
    x: Any, *, low: float, high: float, bits: int = _ROW_BITS, missing: float | str = "drop"
) -> NDArray[np.int64]:
    """Return the integer codes of rows on a public range; see `Rows`.

    Example:
        >>> quantise([0.0, 0.25, 1.0], low=0, high=1, bits=2)
        array([0, 1, 4])
    """
    return Rows(low, high, bits=bits, missing=missing).codes(x)
