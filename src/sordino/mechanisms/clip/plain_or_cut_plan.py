"""The data-free plan of plain-or-cut: the prices of its two outcomes and how short an interval may become.

Public numbers only: rows, price, bounds and hints. All constants of the mechanism are here. They were chosen on
generated shapes; ``python -m benchmarks safe_means`` reruns the tables that they were chosen by. Proofs:
docs/proofs/mechanism_plain_or_cut.md; the mechanism is plain_or_cut.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sordino.mechanisms.clip.interval import MOST_COUNT

if TYPE_CHECKING:
    from sordino.privacy import Guarantee

TILT = 2.5
"""s for a mean: an overshoot by a factor r costs r^2 in squared error, so s > 2; overlooked rows grow with s."""
SQUARES_TILT = 4.5
"""s for squares, whose noise goes with the square of the length: s > 4; with 5 more far rows are overlooked."""
WHOLE_PART = Fraction(1, 5)
"""p0: the whole range costs this part of a slope and keeps at least 1 - p0 of its chance; with 1/8, x10 is missed."""
STEEPEST = Fraction(9, 10)
"""c0 = .8928 rounded up: the steepest slope of ln P(cut) on the plateau when p0 = 1/5."""
HEAD_START = Fraction(3)
"""B: nats by which a cut must win; with 3/2, zeros and top codes within fitting bounds cost 1.5 times plain noise."""
SQUARES_START = Fraction(2)
"""Further nats for squares: their longest cut gains 64, and with 0 zeros and top codes cost 1.5 to 1.9 times plain."""
APART = (Fraction(2), 3.0)
"""B, and what M has less, where the interval is drawn apart from its value (concentrated): no flat top weighs 1 + x."""
LONGEST = 3
"""The longest cut is a 2^-3 of the range: up to there no theorem forbids 1.15 times plain noise inside the bounds."""
MARGIN = (2.0, 6.0, 19.0)
"""M = min(2 ln(rows price) + 6, 19): nats by which unfilled intervals lose; 3 less cost 1.9 on two values."""
DISTANT = 8.0
"""Intervals that miss so many rows that they lose by 2 ln(rows price) + 8 nats count alike."""
NATS = 400.0
"""Rows times slope: so many nats see a few per cent of the rows far outside; beyond, the noise comes first."""
LEAST, MOST = 0.25, 0.5
"""Of the price, for the slope: with less, more rows are overlooked; a joint draw cannot use more than half."""
LOOSE_NATS, LOOSE_LEAST = 100.0, 0.2
"""The same two where the caller calls the bounds far too wide: less for the search, more for the noise."""
LOOSE_MARGIN = 1.0
"""M - 2 ln(rows price) there: it only keeps the prior from outbidding all rows, and a heap of equal rows may win."""
MEAN_FIRST = 1000.0
"""Rows times price from which squares within the whole range are taken about a mean that is released first."""
MEAN_SHARE = 10.0
"""Of a pure price it gets the root of this over rows times price: its squared noise is then a third of plain noise."""
MEAN_SHARE_GAUSSIAN = (60.0, 6.0)
"""The same for concentrated prices, where a mean is cheap: from when on, and this over rows times price."""
MOST_MEAN = 0.3
"""No more than this for a mean; within bounds that are known to fit it is always released."""
SHARE = Fraction(1, 10)
"""Of a concentrated price, for the search: whole then costs 1.054."""
DEEPEST = 24
"""The shortest interval is a 2^-24 of the range: beyond it codes of 31 bits have no cells left."""
SPREADS = 6
"""No interval is shorter than a hinted spread divided by this: half a spread if the hint is three times too large."""

SIGNIFICANT = 20  # binary digits of the slope: weights stay short
PLACES = 10  # binary places of tilts and margins


def _up(value: float) -> Fraction:
    """A short binary fraction, rounded up."""
    return Fraction(math.ceil(value * 2**PLACES), 2**PLACES)


def _short(value: Fraction) -> Fraction:
    """The number rounded down to a few binary digits."""
    places = SIGNIFICANT - math.floor(math.log2(value))
    scale = Fraction(2) ** places
    return Fraction(math.floor(value * scale)) / scale


@dataclass(frozen=True, slots=True)
class CutPlan:
    """How one search weighs intervals and what its outcomes cost; public.

    Attributes:
        slope: Nats per row; a person moves ``contribution`` of them.
        contribution: How many rows one person may move.
        levels: The exponents j of the lengths ``range / 2^j``; empty where rows are too few and nothing is searched.
        tilt: Nats by which one level more is preferred.
        margin: Nats by which an interval without rows in it loses.
        distant: Nats, beyond its tilt, at which more rows outside count no more.
        whole: What is left of the price when the whole range is the outcome.
        cut: What is left when an interval is.
        joint: Whether outcomes are drawn together with their values (pure prices), or before them.
        head_start: Nats by which an interval must win against the whole range: B.
        search: What choosing costs where the value is drawn afterwards; None in a joint draw.
        guarded: Whether rows must fill an interval, so that no heap of equal rows wins.
    """

    slope: Fraction
    contribution: int
    levels: tuple[int, ...]
    tilt: Fraction
    margin: Fraction
    distant: Fraction
    whole: Guarantee
    cut: Guarantee
    joint: bool
    head_start: Fraction = HEAD_START
    search: Guarantee | None = None
    guarded: bool = True

    @property
    def searches(self) -> bool:
        """Whether an interval is looked for at all."""
        return bool(self.levels)

    @property
    def finest(self) -> int:
        """The largest exponent."""
        return self.levels[-1]

    def lead(self, level: int) -> Fraction:
        """Nats by which intervals of a level lead before any row counts."""
        return self.tilt * level

    def needed(self, level: int) -> Fraction:
        """Rows that must fill an interval of a level: ``T_j``."""
        return (self.lead(level) + self.margin) / self.slope if self.guarded else Fraction(0)

    def enough(self, level: int) -> int:
        """So many rows outside count like all: ``C_j``, at least ``T_j``."""
        return math.ceil((self.lead(level) + self.distant) / self.slope)

    def rows_beyond(self, level: int, failure: float) -> int:
        """So many rows or more lie outside a released interval only with this probability: the free bound.

        An interval that misses m rows has the probability ``(1 - p0) / p0 w (1 + k m) exp(-k m)`` at most, and the
        priors of a level add up to less than 6.

        Example:
            >>> from sordino.privacy import Pure
            >>> plan = plan_cut(rows=1001, price=Pure(1), cells=2**31)
            >>> plan.rows_beyond(3, 0.05), plan.rows_beyond(12, 0.05)
            (36, 77)
        """
        likely = 6 * len(self.levels) * float((1 - WHOLE_PART) / WHOLE_PART) / failure
        most = float(self.lead(level) - self.head_start) + math.log(likely)
        nats = most
        while nats - math.log1p(nats) < most:
            nats += 1 / 16
        return math.ceil(nats / float(self.slope))


def mean_part(rows: int, price: Guarantee, *, contribution: int = 1, tight: bool = False) -> Fraction:
    """Of a price, what is paid for a mean about which squares within the declared bounds are taken.

    Example:
        >>> from sordino.privacy import Concentrated, Pure
        >>> [float(mean_part(rows, Pure(1))) for rows in (500, 1000, 100_000)]
        [0.0, 0.1, 0.01]
        >>> float(mean_part(1000, Concentrated(0.5)))
        0.006
    """
    bid = max(rows, 1) * price.strength / contribution
    least = MEAN_SHARE_GAUSSIAN[0] if price.gaussian else MEAN_FIRST
    if bid < least and not tight:
        return Fraction(0)
    part = MEAN_SHARE_GAUSSIAN[1] / bid if price.gaussian else math.sqrt(MEAN_SHARE / bid)
    return Fraction(round(1000 * min(part, MOST_MEAN)) or 1, 1000)


def plan_cut(
    *,
    rows: int,
    price: Guarantee,
    cells: int,
    contribution: int = 1,
    spread: Fraction | None = None,
    squares: bool = False,
    counted: bool = False,
    loose: bool = False,
) -> CutPlan:
    """Price a search.

    Args:
        rows: Public number of rows, or a declared rough one.
        price: What search and answer may cost together.
        cells: The largest code of the column; no interval is shorter than one code.
        contribution: How many rows one person may move.
        spread: A public guess of the spread in codes: no interval is much shorter.
        squares: Plan for a mean of squares.
        counted: A part of the price goes to a private number of rows.
        loose: The caller calls the bounds far too wide: no head start, no guard, cuts from half of the range on.

    Example:
        >>> from sordino.privacy import Pure
        >>> plan = plan_cut(rows=1001, price=Pure(1), cells=2**31)
        >>> plan.levels[0], plan.levels[-1], float(plan.slope), float(plan.cut.epsilon)
        (3, 24, 0.39960..., 0.60039...)
        >>> plan_cut(rows=30, price=Pure(1), cells=2**31).searches
        False
    """
    strength = price.strength / contribution
    bid = max(rows, 1) * strength
    if price.gaussian:
        slope = _short(price.share(SHARE).slope / contribution)
        whole = cut = price.share(1 - SHARE)
    else:
        epsilon = Fraction(price.noise_targets[0].epsilon)  # type: ignore[attr-defined]
        # The value of a joint draw must have a rate of at least the slope: (1 - count)(1 - part) >= part.
        largest = (1 - MOST_COUNT) / (2 - MOST_COUNT) if counted else Fraction(MOST)
        wanted, least = (LOOSE_NATS, LOOSE_LEAST) if loose else (NATS, LEAST)
        part = min(Fraction(max(wanted / bid, least)), largest)
        slope = _short(epsilon * part / contribution)
        spent = slope * contribution / epsilon
        whole, cut = price.share(1 - WHOLE_PART * spent), price.share(1 - spent)
    factor, plus, most = MARGIN
    size = factor * math.log(max(bid, 1.0))
    less = APART[1] if price.gaussian else 0.0
    margin = size + LOOSE_MARGIN if loose else min(size + plus, most) - less
    tilt = _up((SQUARES_TILT if squares else TILT) * math.log(2))
    deepest = min(DEEPEST, cells.bit_length() - 1)
    if spread is not None and spread > 0:
        deepest = min(deepest, math.floor(math.log2(max(float(cells * SPREADS / spread), 1.0))))
    nats = rows * float(slope)  # what all rows together bid
    first = 1 if loose else LONGEST
    levels = tuple(j for j in range(first, deepest + 1) if float(tilt) * j + margin <= nats)
    head_start = (APART[0] if price.gaussian else HEAD_START) + (SQUARES_START if squares else 0)
    return CutPlan(
        slope=slope, contribution=contribution, levels=levels, tilt=tilt, margin=_up(margin),
        distant=_up(max(size + DISTANT, margin)), whole=whole if levels else price, cut=cut,
        joint=not price.gaussian, head_start=Fraction(0) if loose else head_start,
        search=price.share(SHARE) if price.gaussian else None, guarded=not loose,
    )  # fmt: skip
