"""A number type that proves rounding bounds: an enclosure of the ideal value and a bound on its error.

Running the formulas of `sordino.exact.functions` on it yields a proof, interval by interval, that the float
result is within the bound of the ideal polynomial, by the standard model of IEEE arithmetic alone.
"""

from fractions import Fraction

from flint import arb

from sordino.exact.functions import Functions

U = arb(2) ** -53


class Tracked:
    """`value` encloses the ideal number; every computed float is within `error` of it."""

    def __init__(self, value, error=0):
        self.value = arb(value)
        self.error = arb(error)

    @staticmethod
    def of(x):
        if isinstance(x, Tracked):
            return x
        exact = Fraction(x).denominator <= 4  # 1.0, 2.0, 0.5: constants that are what they say
        return Tracked(x) if exact else Tracked(arb(x, abs(x) * 2.0**-53), abs(arb(x)) * U)

    def _rounded(self, value, error):
        return Tracked(value, (error + U * (abs(value) + error)).upper())

    def __add__(self, other):
        o = Tracked.of(other)
        return self._rounded(self.value + o.value, self.error + o.error)

    def __sub__(self, other):
        o = Tracked.of(other)
        return self._rounded(self.value - o.value, self.error + o.error)

    def __rsub__(self, other):
        return Tracked.of(other) - self

    def __mul__(self, other):
        o = Tracked.of(other)
        error = abs(self.value) * o.error + abs(o.value) * self.error + self.error * o.error
        return self._rounded(self.value * o.value, error)

    def __truediv__(self, other):
        o = Tracked.of(other)
        quotient = self.value / o.value
        error = (self.error + abs(quotient) * o.error) / (abs(o.value).lower() - o.error)
        return self._rounded(quotient, error)

    def relative(self):
        """An upper bound of |error/value| over the interval."""
        return float((self.error / abs(self.value).lower()).upper())


def span(low, high):
    """An exact float variable somewhere in an interval."""
    return Tracked(arb((low + high) / 2, abs(high - low) / 2))


class Tracking(Functions):
    """The formulas on tracked numbers, inside one binade of the argument reduction."""

    def __init__(self, *, e=None, m=None, k=None, r=None):
        self._e, self._m, self._k, self._r = e, m, k, r

    def split(self, x):
        return self._e, self._m

    def nearest(self, x):
        return self._k

    def remainder(self, x, k):
        return self._r

    def power_of_two(self, k):
        return Tracked(arb(2) ** k)

    def sqrt(self, x):
        raise NotImplementedError

    def absolute(self, x):
        return Tracked(abs(x.value), x.error)

    def copysign(self, x, sign):
        return x

    def maximum(self, x, bound):
        return x

    def less(self, x, bound):
        raise NotImplementedError

    def where(self, condition, yes, no):
        raise NotImplementedError
