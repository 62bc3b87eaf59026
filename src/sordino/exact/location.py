"""The exact value that noise is added to, split into lattice steps and a fraction of a step.

Only the fraction meets a float; whole steps stay integers. Locations are private and never printed.
"""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.errors import ParameterError

#: Whole steps beyond this leave the int64 path; results of vector draws saturate at twice this.
WIDE = 1 << 61


def exact_array(values: Any, subject: str) -> Any:
    """Return a flat array of int64, float64 or Python numbers, without changing any value.

    numpy alone would turn a list of large and negative integers, or of integers and floats, into floats.
    """
    if isinstance(values, np.ndarray):
        array = values.ravel()
        if array.dtype.kind == "f" and array.dtype.itemsize > 8:
            raise ParameterError(subject, "long doubles are not supported", hint="x.astype(float)")
        return array.astype(np.float64) if array.dtype.kind == "f" else array
    listed = list(values)
    if set(map(type, listed)) == {int}:  # the usual case, without a look at each
        if min(listed) > -(1 << 63) and max(listed) < 1 << 63:
            return np.array(listed, dtype=np.int64)
        large = np.empty(len(listed), dtype=object)
        large[:] = listed
        return large
    if listed and all(isinstance(v, float) for v in listed):
        return np.array(listed, dtype=np.float64)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    if all(isinstance(v, int | np.integer) and abs(int(v)) < 1 << 63 for v in listed):
        return array.astype(np.int64)
    return array


def ratio_of(location: float | Fraction) -> tuple[int, int]:
    """Return an exact number as numerator and denominator; a float means its exact dyadic value."""
    try:
        top, bottom = location.as_integer_ratio()
    except AttributeError:  # integers of numpy
        top, bottom = operator.index(location), 1  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        raise ParameterError("draw", "location must be a finite exact number") from None
    return top, bottom


def in_steps(location: float | Fraction, exponent: int) -> tuple[int, float]:
    """Return q/2^exponent as an integer and a remainder in [-1/2, 1/2], a float with error below 2^-53.

    Example:
        >>> in_steps(Fraction(7, 3), 0)
        (2, 0.33333333333333337)
    """
    top, bottom = ratio_of(location)
    if exponent <= 0:
        top <<= -exponent
    else:
        bottom <<= exponent
    bottom *= 2
    whole, rest = divmod(2 * top + bottom // 2, bottom)
    return whole, rest / bottom - 0.5


class Locations:
    """One exact location for all draws of a call, or one per draw.

    Attributes:
        whole: Lattice steps, an int or an int64 array.
        part: The remainder in [-1, 1] as float, with error below 2^-51.
        wide: Draws whose location leaves the int64 path, or None.
        size: Number of draws, or None for a common location.
    """

    __slots__ = ("_common", "_denominator", "_each", "part", "size", "whole", "wide")

    def __init__(self, locations: Any, exponent: int, denominator: int = 1) -> None:
        self._denominator = denominator
        self._common: Fraction | None = None
        self._each: Any = None
        self.size: int | None = None
        self.wide: Any = None
        self.whole: Any
        self.part: Any
        if np.ndim(locations) == 0:
            value = locations.item() if isinstance(locations, np.ndarray | np.generic) else locations
            whole, self.part = in_steps(Fraction(value) / denominator, exponent)
            self._common = Fraction(value) / denominator
            self.wide = np.True_ if abs(whole) >= WIDE else None
            self.whole = max(-WIDE, min(WIDE, whole))
            return
        each = exact_array(locations, "draw_many")
        if each.dtype.kind == "O":
            each = self._over_one(each)
        self._each = each
        self.size = int(each.size)
        if each.dtype.kind == "f" and denominator == 1:
            self._floats(each, exponent)
        elif each.dtype.kind not in "iu" or not self._integers(each, exponent):
            self._python(each.tolist(), exponent)

    def _over_one(self, each: Any) -> Any:
        """Fractions as whole numbers over a common denominator, where 64 bits hold them."""
        fractions = each.tolist()
        if set(map(type, fractions)) != {Fraction}:
            return each
        below = math.lcm(*{one.denominator for one in fractions})
        if below >= 1 << 50:
            return each
        above = [one.numerator * (below // one.denominator) for one in fractions]
        if min(above) <= -(1 << 62) or max(above) >= 1 << 62:
            return each
        self._denominator *= below
        return np.array(above, np.int64)

    def _floats(self, each: Any, exponent: int) -> None:
        """A float is its exact dyadic value; scaling by a power of two is exact or far below 2^-51."""
        if not np.isfinite(each).all():
            raise ParameterError("draw_many", "locations must be finite")
        with np.errstate(over="ignore"):
            steps = np.ldexp(each, -exponent)
        wide = ~(np.abs(steps) < WIDE)
        if wide.any():
            self.wide = wide
            steps = np.where(wide, 0.0, steps)
        whole = np.rint(steps)
        self.part = steps - whole
        self.whole = whole.astype(np.int64)

    def _integers(self, each: Any, exponent: int) -> bool:
        """Long division of n 2^-exponent / denominator in int64; False if it would not fit."""
        bottom = self._denominator << max(exponent, 0)
        size = bottom.bit_length()
        largest = max(abs(int(each.min())), abs(int(each.max()))) if each.size else 0
        shift = max(-exponent, 0)
        if size > 50 or largest >= 1 << 62 or largest << shift >= bottom * WIDE:
            return False
        whole, rest = np.divmod(each.astype(np.int64), bottom)
        while shift:
            step = min(shift, 62 - size)
            rest <<= step
            digit = rest // bottom
            rest -= digit * bottom
            whole = (whole << step) + digit
            shift -= step
        self.whole = whole
        self.part = rest.astype(np.float64) / float(bottom)
        return True

    def _python(self, each: list[Any], exponent: int) -> None:
        """Any exact numbers, one by one."""
        pairs = [in_steps(Fraction(v) / self._denominator, exponent) for v in each]
        wide = np.array([abs(w) >= WIDE for w, _ in pairs], dtype=bool)
        if wide.any():
            self.wide = wide
        self.whole = np.array([max(-WIDE, min(WIDE, w)) for w, _ in pairs], dtype=np.int64)
        self.part = np.array([p for _, p in pairs], dtype=np.float64)

    def exact(self, i: int) -> Fraction:
        """Return the exact location of draw i."""
        if self._common is not None:
            return self._common
        value = self._each[i]
        return Fraction(value.item() if isinstance(value, np.generic) else value) / self._denominator
