"""log, exp, expm1, log1p, cos(pi x) and sinh from the IEEE operations + - * / sqrt alone.

Each formula stands here once and runs on arrays (`ARRAYS`) and on Python floats (`SCALARS`) with the same
bits. The relative error of every function is below `ERROR` on its stated domain: derived in
docs/proofs/exact_functions.md, checked there by machine for the rounding part. No libm is called.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bound on the relative error of every function below, on its domain (cos: absolute error).
ERROR = 2.0**-47

# log((1+s)/(1-s)) = 2s + s*t*(2/3 + 2t/5 + ... + 2 t^7/17), t = s^2 <= 0.02944: truncation 2^-49.9.
_LOG = tuple(float(Fraction(2, 2 * i + 3)) for i in range(8))
# expm1(r) = r + r^2/2! + ... + r^12/12!, |r| <= 0.3467: the remainder is below 2^-50 |r|.
_EXPM1 = tuple(float(Fraction(1, math.factorial(i))) for i in range(2, 13))
# sin(pi t) = t*(pi - pi^3 t^2/3! + ... - pi^19 t^18/19!), |t| <= 1/2: the next term is below 2^-51.
_PI = Fraction("3.14159265358979323846264338327950288419716939937510")
_SINPI = tuple(float((-1) ** i * _PI ** (2 * i + 1) / math.factorial(2 * i + 1)) for i in range(10))
_LN2 = 0.6931471805599453
# ln 2 in a 37-bit head, so that k*_LN2_HIGH is exact for |k| < 2^16, and the rest.
_LN2_HIGH = float.fromhex("0x1.62e42fefap-1")
_LN2_LOW = float.fromhex("0x1.cf79abc9e3b3ap-40")
_INVERSE_LN2 = 1.4426950408889634
_LIFT_EXPONENT = 24.0
_LIFT = 2.0**24
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_SQRT_HALF = float.fromhex("0x1.6a09e667f3bcdp-1")  # the float with these bits
_MAGIC = 6755399441055744.0  # 1.5 * 2^52: adding and subtracting it rounds to the nearest even integer
# A table, because the time of ldexp depends on the exponent.
_POWERS = tuple(2.0**k for k in range(-1022, 1024))
#: exp and expm1 are evaluated inside [-700, 700]; arguments below are raised to -700, above is the
#: caller's proof obligation.
EXP_LIMIT = 700.0


def _horner(t: Any, coefficients: tuple[float, ...]) -> Any:
    """Evaluate c[0] + c[1] t + ... by Horner's rule; in place after the first product."""
    p = t * coefficients[-1]
    p += coefficients[-2]
    for c in coefficients[-3::-1]:
        p *= t
        p += c
    return p


class Functions(ABC):
    """The formulas, over any number type that has + - * / and the four primitives below."""

    @abstractmethod
    def split(self, x: Any) -> tuple[Any, Any]:
        """Return (e, m) with x = m 2^e exactly and sqrt(1/2) <= m < sqrt(2); x positive and normal."""

    @abstractmethod
    def power_of_two(self, k: Any) -> Any:
        """Return 2^k exactly for whole floats -1022 <= k <= 1023."""

    @abstractmethod
    def sqrt(self, x: Any) -> Any:
        """Return the correctly rounded square root."""

    @abstractmethod
    def absolute(self, x: Any) -> Any:
        """Return |x|."""

    @abstractmethod
    def copysign(self, x: Any, sign: Any) -> Any:
        """Return |x| with the sign of the second argument."""

    @abstractmethod
    def maximum(self, x: Any, bound: float) -> Any:
        """Return the larger of x and the bound."""

    @abstractmethod
    def less(self, x: Any, bound: float) -> Any:
        """Return the condition x < bound in the form that `where` takes."""

    @abstractmethod
    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        """Choose elementwise; both sides have been computed, so the work does not tell which."""

    def log(self, x: Any) -> Any:
        """Natural logarithm of a positive normal number below 2^999."""
        e, m = self.split(x)
        s = m - 1.0
        m += 1.0
        s /= m
        t = s * s
        p = _horner(t, _LOG)
        p *= t
        p += 2.0
        p *= s
        e *= _LN2
        p += e
        return p

    def log1p(self, x: Any) -> Any:
        """log(1 + x) for -1 < x <= 1: the rounding of 1 + x is put back to first order."""
        u = x + 1.0
        c = u - 1.0
        c = x - c
        c /= u
        c += self.log(u)
        return c

    def nearest(self, x: Any) -> Any:
        """Return the whole number next to x/ln 2, as a float."""
        k = x * _INVERSE_LN2
        k += _MAGIC
        k -= _MAGIC
        return k

    def remainder(self, x: Any, k: Any) -> Any:
        """Return x - k ln 2: the first product and difference are exact (37 + 11 bits; Sterbenz)."""
        r = k * _LN2_HIGH
        r = x - r
        r -= k * _LN2_LOW
        return r

    def _reduced(self, x: Any) -> tuple[Any, Any]:
        """Return k and expm1(x - k ln 2)."""
        k = self.nearest(x)
        r = self.remainder(x, k)
        p = _horner(r, _EXPM1)
        p *= r
        p *= r
        p += r
        return k, p

    def exp(self, x: Any) -> Any:
        """e^x for x <= 700; below -700 the value at -700 is returned."""
        k, p = self._reduced(self.maximum(x, -EXP_LIMIT))
        p += 1.0
        p *= self.power_of_two(k)
        return p

    def expm1(self, x: Any) -> Any:
        """e^x - 1 for x <= 700, with small relative error near zero too; below -700 the value at -700, which is -1."""
        k, p = self._reduced(self.maximum(x, -EXP_LIMIT))
        scale = self.power_of_two(k)
        p *= scale
        scale -= 1.0
        p += scale
        return p

    def cospi(self, x: Any) -> Any:
        """cos(pi x) for |x| <= 1, to an absolute error."""
        t = 0.5 - self.absolute(x)
        p = _horner(t * t, _SINPI)
        p *= t
        return p

    def sinh(self, x: Any) -> Any:
        """Hyperbolic sine for |x| <= 700: (h + h/(h+1))/2 with h = expm1 |x|, all terms positive."""
        h = self.expm1(self.absolute(x))
        q = h + 1.0
        q = h / q
        q += h
        q *= 0.5
        return self.copysign(q, x)


class _Arrays(Functions):
    """The formulas on numpy arrays of float64."""

    def split(self, x: NDArray[np.float64]) -> tuple[Any, Any]:
        bits = x.view(np.int64)
        e = bits - _SQRT_HALF_BITS
        e >>= 52
        m = bits - (e << 52)
        return e.astype(np.float64), m.view(np.float64)

    def power_of_two(self, k: NDArray[np.float64]) -> Any:
        bits = k.astype(np.int64)
        bits += 1023
        bits <<= 52
        return bits.view(np.float64)

    def sqrt(self, x: Any) -> Any:
        return np.sqrt(x)

    def absolute(self, x: Any) -> Any:
        return np.abs(x)

    def copysign(self, x: Any, sign: Any) -> Any:
        return np.copysign(x, sign, out=x)

    def maximum(self, x: Any, bound: float) -> Any:
        return np.maximum(x, bound)

    def less(self, x: Any, bound: float) -> Any:
        return x < bound

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        return np.where(condition, yes, no)


class _Scalars(Functions):
    """The formulas on Python floats, bit for bit the same results as on arrays."""

    def split(self, x: float) -> tuple[Any, Any]:
        # The time of a draw should not tell its value: no branch that a processor could mispredict, and for
        # magnitudes of words exponents that Python keeps ready-made (-5 to 256).
        m, e = math.frexp(x * _LIFT)
        low = 0.5 - math.copysign(0.5, m - _SQRT_HALF)  # 1 if m < sqrt(1/2), else 0
        m += m * low
        return (e - low) - _LIFT_EXPONENT, m

    def power_of_two(self, k: float) -> Any:
        return _POWERS[int(k) + 1022]

    def sqrt(self, x: Any) -> Any:
        return math.sqrt(x)

    def absolute(self, x: Any) -> Any:
        return abs(x)

    def copysign(self, x: Any, sign: Any) -> Any:
        return math.copysign(x, sign)

    def maximum(self, x: Any, bound: float) -> Any:
        return max(x, bound)

    def less(self, x: Any, bound: float) -> Any:
        return int(0.5 - math.copysign(0.5, x - bound))  # 1 or 0, without a branch

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        return (no, yes)[condition]


#: The formulas on float64 arrays.
ARRAYS: Functions = _Arrays()
#: The formulas on Python floats.
SCALARS: Functions = _Scalars()
