"""What an anchor at the end of the range does to a measure that leans: answers must not be drawn to it.

Zeros are the commonest value of real columns, and the anchor is zero wherever zero is a bound. Rows that sit on it
hold nothing. Works from public numbers only; docs/proofs/mechanism_quantile.md, section "The anchor as an end".
"""

from __future__ import annotations

import math
from fractions import Fraction

from sordino.mechanisms.tuned import ForQuantile


def beside_a_rise(strong: float) -> Fraction:
    """The share of the spread measure beside one that rises from the anchor.

    A low quantile of a column that starts at zero is held by few rows from below. Mass that is flat in the logarithm
    lies mostly below the answer and draws it down; mass that rises like the uniform does not, but near a small answer
    there is little of it, and far answers win where the rows above cannot outbid the whole range. The more nats these
    have, the less of the first kind is needed.

    Args:
        strong: Nats that hold the answer from the side away from the anchor.

    Example:
        >>> beside_a_rise(20.0), beside_a_rise(45.0), beside_a_rise(90.0)
        (Fraction(1, 64), Fraction(1, 16384), Fraction(1, 1048576))
    """
    bits = round((strong - ForQuantile.REACH) / math.log(2))
    return min(max(Fraction(1, 2 ** max(bits, 0)), ForQuantile.FOUND), ForQuantile.SPREAD)


def counted_on(strong: float) -> float:
    """Nats that a lean away from an anchor at the end of the range may cost.

    The lean is paid by the rows between the anchor and the answer. Rows that sit on the anchor are none of them: were
    all rows counted on, a column of which half is zero would be answered by zero. What is not needed to find a column
    in bounds a thousand times too wide is left to those with more zeros still.

    Args:
        strong: Nats that hold the answer from the side of the anchor, if no row sits on it.

    Example:
        >>> [counted_on(strong) for strong in (20.0, 50.0, 100.0, 400.0)]
        [12.0, 30.0, 30.0, 100.0]
    """
    return max(min(ForQuantile.AWAY * strong, ForQuantile.ENOUGH), ForQuantile.PLENTY * strong)
