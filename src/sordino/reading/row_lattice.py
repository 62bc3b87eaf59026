"""How rows become whole numbers: a public lattice with bounds, and what happens to rows without a number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.lattice import FiniteLattice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]

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

    @property
    def drops(self) -> bool:
        """Whether rows without a number are dropped, which makes the number of rows private."""
        return self.missing == "drop"

    @property
    def answers(self) -> FiniteLattice:
        """The codes as answers: the same points, without the rule for rows."""
        return FiniteLattice(self.origin, self.step, self.last)

    def part(self, first: int, last: int) -> RowLattice:
        """The same points from one code to another; rows outside are clamped to its ends.

        Example:
            >>> RowLattice(0, 10, step=1).part(3, 9).last
            6
        """
        return RowLattice(
            float(self.real(first)), float(self.real(last)), missing=self.missing, step=self.step
        )

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
