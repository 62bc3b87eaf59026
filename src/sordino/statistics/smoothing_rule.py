"""The public rule for the smoothing parameter of statistics whose bounds are many changed rows away.

Data-free: the rule knows the bounds, a public guess of the spread and how many rows must change before the bounds can
be reached. Its regret against hindsight is about five per cent (docs/explanation/which_mechanism.md).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sordino.hints import Hints
    from sordino.privacy import Guarantee

LEAST, MOST = 0.05, 0.45
"""Of the strength: below, the bounds leak in; above, the tails of the noise take over."""


def public_smoothing(price: Guarantee, *, decades: float, trimmed: float) -> Fraction:
    """``clip(ln(width / spread) / m, 0.05 e, 0.45 e)``: the bounds are m changed rows away and weigh e^(-smoothing m).

    Args:
        price: What the answer may cost.
        decades: Natural logarithm of the public width over a public guess of the spread.
        trimmed: Rows that must change before the bounds are reached.

    Example:
        >>> from sordino.privacy import Pure
        >>> float(public_smoothing(Pure(1), decades=7, trimmed=58))
        0.1207
    """
    strength = price.strength
    wanted = min(max(decades / max(trimmed, 1), LEAST * strength), MOST * strength)
    return Fraction(f"{wanted:.4g}")


def breakdown_smoothing(statistic: Any, price: Guarantee, hints: Hints) -> Fraction:
    """The rule for a statistic with bounds; where no spread is given, a thousandth of the range is the guess."""
    width = float(Fraction(statistic.high) - Fraction(statistic.low))
    decades = math.log(width / (hints.spread or width / 1000))
    return public_smoothing(price, decades=decades, trimmed=statistic.breakdown * hints.rows)
