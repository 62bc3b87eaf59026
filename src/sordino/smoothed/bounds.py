"""Closed-form bounds on smoothed delta: the paper's, shown to fail, and ones that hold.

None of them is used for an answer (the exact values cost microseconds); they are for planning on paper and for tests.
"""

from __future__ import annotations

import math


def remark_eight(*, records: float, published: float, least: float, types: int, epsilon: float) -> float:
    """Return ln of the bound of Remark 8 of Liu, Wang and Xia 2023. It is **false** for small sampling rates.

    ``least`` is the smallest chance of any type. At n = 300, rate 0.01, least 0.5, epsilon 0.0201 it claims e^-18.1
    where the exact value is e^-9.1: a factor of the rate is missing in the first exponent.

    Example:
        >>> round(remark_eight(records=300, published=0.01, least=0.5, types=2, epsilon=0.0201007), 1)
        -18.1
    """
    excess = -math.expm1(-epsilon) / published - 1.0
    first = -(excess**2) * least * records / 6.0
    second = math.log(types) - least * records / 8.0
    return _add(first, second)


def corrected_remark_eight(
    *, records: float, published: float, least: float, types: int, epsilon: float
) -> float:
    """Return ln of exp(-d^2 rate f n / (2 (2+d))) + m exp(-f n / 8), d = (1 - e^-eps)/rate - 1 > 0.

    Checked on the grid that refutes Remark 8, not proved.

    Example:
        >>> corrected_remark_eight(records=300, published=0.01, least=0.5, types=2, epsilon=0.0201007) > -9.1
        True
    """
    excess = -math.expm1(-epsilon) / published - 1.0
    if excess <= 0.0:
        return 0.0
    first = -(excess**2) * published * least * records / (2.0 * (2.0 + excess))
    return _add(first, math.log(types) - least * records / 8.0)


def log_floor(*, records: int, held_back: int, rarest: float) -> float:
    """Return ln of a lower bound on smoothed delta at **every** epsilon: (1-p)^L - (L/n) (1-p)^n.

    With p the chance of the rarest type, no record of it is held back with probability about (1-p)^L, and then one of
    them would show. docs/proofs/smoothed_two_types.md.

    Example:
        >>> round(math.exp(log_floor(records=10_000, held_back=20, rarest=0.05533)), 3)
        0.32
    """
    if rarest >= 1.0:
        return -math.inf
    share = math.log1p(-rarest)
    rest = math.log(held_back / records) + (records - held_back) * share if held_back else -math.inf
    return held_back * share + math.log1p(-math.exp(min(rest, -1e-300)))


def least_held_back(*, delta: float, rarest: float) -> int:
    """Return the number of records that must be held back at any epsilon and any population: ln(1/delta)/-ln(1-p).

    Example:
        >>> least_held_back(delta=1e-9, rarest=0.05533)
        365
    """
    return math.ceil(math.log(delta) / math.log1p(-rarest)) if rarest < 1.0 else 0


def _add(first: float, second: float) -> float:
    top = max(first, second)
    return top + math.log(math.exp(first - top) + math.exp(second - top))
