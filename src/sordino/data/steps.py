"""How derived columns are computed: one straight-line program, run by numpy and by every engine alike.

Only ``+ - * /``, ``floor``, comparisons and choices of doubles, which IEEE 754 fixes to the bit; engines differ in
logarithms, in dates, and in what they raise on. A value and whether it is there go side by side, and the value is
always an ordinary number: nothing overflows, underflows or is divided by zero, so nothing raises after the debit.
Rules and their reasons: docs/proofs/derived_columns.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

LARGEST, SMALLEST = 2.0**500, 2.0**-500
"""Sizes of numbers: larger ones count as the largest, smaller ones as 0. Products and quotients then stay ordinary."""

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""The logarithm of two, its upper 33 bits first: products with an exponent are exact."""

SERIES = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
)  # fmt: skip
"""Of the logarithm near one (fdlibm's): the result is within one unit of its last place."""

ROOT_TWO = 1.4142135623730951


class Steps(Protocol):
    """Who runs the program: numpy on arrays, or an engine on expressions."""

    def keep(self, value: Any) -> Any:
        """A value that is used more than once, computed once."""

    def choose(self, condition: Any, yes: Any, no: Any) -> Any:
        """One of two numbers per row."""

    def clip(self, value: Any, low: float, high: float) -> Any:
        """A number cut to an interval."""

    def floor(self, value: Any) -> Any:
        """The whole number below."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Term:
    """A number per row and whether it is there; private.

    Attributes:
        value: An ordinary double, of size 0 or between `SMALLEST` and `LARGEST`.
        there: Truths, or None where every row has one (a constant).
    """

    value: Any
    there: Any = None


def both(left: Any, right: Any) -> Any:
    """Whether two terms are there."""
    return right if left is None else left if right is None else left & right


def ordinary(steps: Steps, value: Any) -> Any:
    """A number cut to the sizes that are computed with."""
    value = steps.keep(steps.clip(value, -LARGEST, LARGEST))
    return steps.choose((value < SMALLEST) & (value > -SMALLEST), 0.0, value)


def combined(steps: Steps, op: str, left: Term, right: Term) -> Term:
    """``+ - * /`` of two terms; a quotient by 0 is not there."""
    there = both(left.there, right.there)
    if op == "/":
        if right.there is None:  # a constant, which is not 0
            return Term(ordinary(steps, left.value / right.value), there)
        divisor = steps.keep(right.value)
        other = steps.choose(divisor == 0.0, 1.0, divisor)
        return Term(ordinary(steps, left.value / other), both(there, divisor != 0.0))
    if op == "+":
        value = left.value + right.value
    else:
        value = left.value - right.value if op == "-" else left.value * right.value
    return Term(ordinary(steps, value), there)


def logarithm(steps: Steps, term: Term) -> Term:
    """The natural logarithm; of what is not above 0 it is not there.

    The number is divided by powers of two until it is between the roots of 1/2 and 2, without rounding; there the
    logarithm is a polynomial.
    """
    given = steps.keep(term.value)
    value = steps.keep(steps.choose(given > 0.0, given, 1.0))
    small = value < 1.0
    exponent = steps.keep(steps.choose(small, -512.0, 0.0))
    value = steps.keep(steps.choose(small, value * 2.0**511 * 2.0, value))
    for bits in (64, 8, 1):  # digits of the exponent in base 8, all seven thresholds of a digit at once
        scaled = value
        for digit in range(1, 8):
            large = value >= 2.0 ** (bits * digit)
            exponent = exponent + steps.choose(large, float(bits), 0.0)
            scaled = scaled * steps.choose(large, 2.0**-bits, 1.0)
        value, exponent = steps.keep(scaled), steps.keep(exponent)
    large = value > ROOT_TWO
    exponent = steps.keep(exponent + steps.choose(large, 1.0, 0.0))
    away = steps.keep(steps.choose(large, value * 0.5, value) - 1.0)
    ratio = steps.keep(away / (away + 2.0))
    square = steps.keep(ratio * ratio)
    series = SERIES[-1]
    for factor in SERIES[-2::-1]:
        series = series * square + factor
    half = steps.keep(away * away * 0.5)
    rest = half - (ratio * (half + series * square) + exponent * LN2_LOW)
    return Term(ordinary(steps, exponent * LN2_HIGH - (rest - away)), both(term.there, given > 0.0))


def day_number(steps: Steps, year: Any, month: Any, day: Any, there: Any) -> Term:
    """Whole days from 1970-01-01 to a date of the Gregorian calendar, years 1 to 9999; other dates are not there."""
    year, month, day = steps.keep(year), steps.keep(month), steps.keep(day)

    def multiple(of: float) -> Any:
        return steps.floor(year / of) * of == year

    leap = steps.choose(multiple(4.0) & (~multiple(100.0) | multiple(400.0)), 1.0, 0.0)
    short = (month == 4.0) | (month == 6.0) | (month == 9.0) | (month == 11.0)
    last = steps.choose(month == 2.0, leap + 28.0, steps.choose(short, 30.0, 31.0))
    exists = (
        (year >= 1.0) & (year <= 9999.0) & (month >= 1.0) & (month <= 12.0) & (day >= 1.0) & (day <= last)
    )
    # Years from March to February: the leap day is their last.
    from_march = steps.keep(steps.choose(month > 2.0, month - 3.0, month + 9.0))
    shifted = steps.keep(steps.choose(month > 2.0, year, year - 1.0))
    before = shifted * 365.0 + steps.floor(shifted / 4.0) - steps.floor(shifted / 100.0)
    number = before + steps.floor(shifted / 400.0) + steps.floor((from_march * 153.0 + 2.0) / 5.0) + day
    return Term(steps.choose(exists, number - 719469.0, 0.0), both(there, exists))


def added(terms: list[Any]) -> Any:
    """The sum of small whole numbers, in halves: long chains are too deep for the parsers of engines."""
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return added(terms[:middle]) + added(terms[middle:])


def cell(steps: Steps, term: Term, edges: tuple[float, ...]) -> Term:
    """The place of the cell between edges that a number lies in; outside of all it is not there."""
    value = steps.keep(term.value)
    place = steps.keep(added([steps.choose(value >= edge, 1.0, 0.0) for edge in edges]) - 1.0)
    inside = (place >= 0.0) & (place < float(len(edges) - 1))
    return Term(steps.choose(inside, place, 0.0), both(term.there, inside))
