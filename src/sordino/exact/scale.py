"""The scale of the noise as an exact number: a fraction, or multiplier * exp(step * exponent).

Scales are private. They enter a draw exactly (as balls in the slow path, as floats of proved accuracy in
the fast one) and leave no trace in its output. How a smooth bound gets its exponent is `log_grid.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import ParameterError
from sordino.exact.balls import Ball, precision, rational, to_float
from sordino.exact.functions import SCALARS
from sordino.exact.location import exact_array

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ExpScale:
    """The real number multiplier * exp(step * exponent), kept exactly.

    Example:
        >>> ExpScale(Fraction(3), Fraction(1, 512), 0).times(Fraction(1, 3)).multiplier
        Fraction(1, 1)
    """

    multiplier: Fraction = field(repr=False)
    step: Fraction
    exponent: int = field(repr=False)

    def times(self, factor: Fraction) -> ExpScale:
        """Return the scale times an exact factor, for instance 1/eta of a calibration."""
        return ExpScale(self.multiplier * factor, self.step, self.exponent)

    def ball(self) -> Ball:
        """Enclose the number at the current precision."""
        return rational(self.multiplier) * rational(self.step * self.exponent).exp()

    def __bool__(self) -> bool:
        return bool(self.multiplier)


@dataclass(frozen=True, slots=True, eq=False)
class ExpScales:
    """Many scales on one log-grid: multiplier * exp(step * exponents[i]).

    Example:
        >>> ExpScales(Fraction(2), Fraction(1, 512), np.array([3, 5])).at(1).exponent
        5
    """

    multiplier: Fraction = field(repr=False)
    step: Fraction
    exponents: NDArray[np.int64] = field(repr=False)

    def at(self, i: int) -> ExpScale:
        """Return one of them."""
        return ExpScale(self.multiplier, self.step, int(self.exponents[i]))


#: Up to this logarithm a scale on the log-grid has a float without ball arithmetic.
QUICK_LIMIT = 600.0
#: An exact scale. A float means its exact dyadic value.
Scale = int | float | Fraction | ExpScale


def exact_scale(scale: Scale) -> Fraction | ExpScale:
    """Return the scale as an exact object, or raise if it is negative or not finite."""
    if isinstance(scale, ExpScale | Fraction):
        value = scale
    else:
        try:
            value = Fraction(scale + 0)  # the sum refuses text
        except (ValueError, OverflowError, TypeError):
            raise ParameterError("draw", "scale must be a finite number") from None
    if (value.multiplier if isinstance(value, ExpScale) else value).numerator < 0:
        raise ParameterError("draw", "scale must not be negative")
    return value


def scale_ball(scale: Fraction | ExpScale) -> Ball:
    """Enclose a scale."""
    return scale.ball() if isinstance(scale, ExpScale) else rational(scale)


def ratio(scale: Fraction | ExpScale, unit: Fraction, exponent: int) -> float:
    """Return scale * unit / 2^exponent as a float with relative error below 2^-51.9; inf if too large."""
    if isinstance(scale, ExpScale):
        with precision(80):
            return to_float(scale.times(unit / Fraction(2) ** exponent).ball())
    return _quotient(scale, unit, exponent)


def quick_ratio(scale: Fraction | ExpScale, unit: Fraction, exponent: int) -> tuple[float, float]:
    """Return the same without balls, and a bound on its relative error beyond 2^-51.9."""
    if isinstance(scale, ExpScale):
        power = scale.step.numerator * scale.exponent / scale.step.denominator
        if abs(power) > QUICK_LIMIT:
            return ratio(scale, unit, exponent), 0.0
        # 2^-47 for exp and 600 * 2^-53 for its argument.
        return _quotient(scale.multiplier, unit, exponent) * SCALARS.exp(power), 2.0**-43
    return _quotient(scale, unit, exponent), 0.0


def _quotient(scale: Fraction, unit: Fraction, exponent: int) -> float:
    """Return scale * unit / 2^exponent, correctly rounded; inf if too large."""
    top = scale.numerator * unit.numerator
    bottom = scale.denominator * unit.denominator
    if exponent <= 0:
        top <<= -exponent
    else:
        bottom <<= exponent
    try:
        return top / bottom
    except OverflowError:
        return float("inf")


class Scales:
    """One exact scale for all draws of a call, or one per draw."""

    __slots__ = ("_common", "_each", "_lattice", "size")

    def __init__(self, scales: Any) -> None:
        self._common: Fraction | ExpScale | None = None
        self._each: Any = None
        self._lattice: ExpScales | None = None
        self.size: int | None = None
        if isinstance(scales, ExpScales):
            exact_scale(ExpScale(scales.multiplier, scales.step, 0))
            self._lattice = scales
            self.size = len(scales.exponents)
            return
        if isinstance(scales, ExpScale) or np.ndim(scales) == 0:
            self._common = exact_scale(scales.item() if isinstance(scales, np.ndarray) else scales)
            return
        each = exact_array(scales, "draw_many")
        if each.dtype.kind == "f":
            if not (np.isfinite(each).all() and (each >= 0).all()):
                raise ParameterError("draw_many", "scales must be finite and not negative")
        else:
            listed = np.empty(each.size, dtype=object)
            listed[:] = [exact_scale(s) for s in each.tolist()]
            each = listed
        self._each = each
        self.size = int(each.size)

    def ratios(self, unit: Fraction, exponent: int) -> float | NDArray[np.float64]:
        """Return scale * unit / 2^exponent as floats with relative error below 2^-51.9."""
        if self._common is not None:
            return ratio(self._common, unit, exponent)
        if self._lattice is not None:
            # A log-grid has few exponents, so each distinct one is worked out once.
            levels, place = np.unique(self._lattice.exponents, return_inverse=True)
            made = [
                ratio(ExpScale(self._lattice.multiplier, self._lattice.step, int(level)), unit, exponent)
                for level in levels.tolist()
            ]
            found: NDArray[np.float64] = np.array(made, dtype=np.float64)[place]
            return found
        if self._each.dtype != object:
            result: NDArray[np.float64] = self._each * ratio(Fraction(1), unit, exponent)
            return result
        return np.array([ratio(s, unit, exponent) for s in self._each.tolist()], dtype=np.float64)

    def exact(self, i: int) -> Fraction | ExpScale:
        """Return the exact scale of draw i."""
        if self._common is not None:
            return self._common
        if self._lattice is not None:
            return self._lattice.at(i)
        each = self._each[i]
        return each if isinstance(each, Fraction | ExpScale) else Fraction(float(each))
