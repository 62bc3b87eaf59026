"""Rows beyond the interval to which a mean was cut: the limit that the search gives, beside one that is paid for.

A count of them with geometric noise at a share of the price has an upper limit of ln(1/alpha) over its price above the
true number; the search of the default mean gives its own without a price.
"""

import math

import sordino as sd
from sordino.mechanisms.choose import choose
from sordino.mechanisms.clip.cut_talk import FAILURE

SETTINGS = ((1001, 1), (4000, 0.5), (10_001, 0.1), (10_001, 1), (100_000, 0.1), (100_000, 1))
SHARES = (0.02, 0.05, 0.1)


def limits():
    """Rows, by level 95 %, above the true number; and what plain noise would hide, in rows at the far bound."""
    for rows, epsilon in SETTINGS:
        plan = choose(sd.Mean("x", low=0, high=5_000_000), sd.Pure(epsilon), rows=rows).plan()
        free = [plan.rows_beyond(level, FAILURE) for level in plan.levels]
        paid = [math.ceil(math.log(1 / FAILURE) / (share * epsilon)) for share in SHARES]
        yield rows, epsilon, min(free), max(free), *paid, math.log(1 / FAILURE) / epsilon


def tables():
    """For the runner."""
    names = (
        "rows",
        "epsilon",
        "free, least",
        "free, most",
        *(f"paid {share:.0%}" for share in SHARES),
        "tight",
    )
    yield "How many rows can lie beyond the cut of a mean, level 95 %.", names, limits()
