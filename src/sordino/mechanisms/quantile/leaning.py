"""A public base measure that leans to one side: a power of the distance from a point, one power on each side.

Exact integers on a lattice, like the other shapes of measure.py. Which powers suit which question is decided in
quantile_plan.py and extreme_plan.py; nothing here sees data, scores or prices.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from sordino.mechanisms.parts.measure import Block, Measure

DIGITS = 2**16


@lru_cache(maxsize=256)
def leaning(
    *,
    last: int,
    anchor: int,
    core: int,
    below: Fraction,
    above: Fraction,
    bend: int | None = None,
    beyond: Fraction = Fraction(0),
) -> Measure:
    """Half-octave shells around a core on the points ``0..last``.

    The shells at distance r from the anchor have mass ``(r / core)^below`` on the lower side and ``(r / core)^above``
    on the upper one, up to rounding of these public constants; a shell that leaves the lattice keeps the share that
    fits. The power 1 is uniform, 0 is flat in the logarithm. From the distance ``bend`` on the power is ``beyond`` on
    both sides.

    Example:
        >>> measure = leaning(last=1023, anchor=0, core=1, below=Fraction(0), above=Fraction(2))
        >>> [measure.mass(2**i, 2 ** (i + 1) - 1) / measure.mass(2 ** (i - 1), 2**i - 1) for i in (5, 6, 7)]
        [4.0, 4.0, 4.0]
    """
    blocks: list[Block] = [(anchor - core + 1, anchor + core - 1, Fraction(1))]
    inner, place = core, 1
    turn = None if bend is None else max(math.floor(2 * math.log2(max(bend / core, 1.0))), 0)
    while anchor + inner <= last or anchor - inner >= 0:
        outer = math.isqrt(core * core << place)
        if outer > inner:
            blocks.append((anchor + inner, anchor + outer - 1, _power(above, beyond, place, turn)))
            blocks.append((anchor - outer + 1, anchor - inner, _power(below, beyond, place, turn)))
        inner, place = max(outer, inner), place + 1
    inside = [block for block in blocks if block[1] >= 0 and block[0] <= last]
    return Measure.blocks(inside, last=last)


@lru_cache(maxsize=4096)
def _power(exponent: Fraction, beyond: Fraction, place: int, turn: int | None) -> Fraction:
    """``2^(exponent place / 2)`` up to the turn, as a short rational; exact for whole powers."""
    near = place if turn is None else min(place, turn)
    power = (exponent * near + beyond * (place - near)) / 2
    whole = math.floor(power)
    return Fraction(round(2.0 ** float(power - whole) * DIGITS), DIGITS) * Fraction(2) ** whole
