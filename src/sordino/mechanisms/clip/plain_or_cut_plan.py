"""The data-free plan of plain-or-cut: the prices of its two outcomes and how short an interval may become.

Public numbers only: rows, price, bounds and hints. All constants of the mechanism are here. They were chosen on
generated shapes; ``python -m benchmarks safe_means`` reruns the tables that they were chosen by. Proofs:
docs/proofs/mechanism_plain_or_cut.md; the mechanism is plain_or_cut.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from sordino.mechanisms.clip.flat_top import log_weight
from sordino.mechanisms.tuned_means import ForCut

if TYPE_CHECKING:
    from sordino.privacy import Guarantee


@dataclass(frozen=True, slots=True)
class WholeShare:
    """What the whole range keeps of its chance however heavy the intervals are, and what follows from that; public.

    Attributes:
        part: p0: the whole range costs this part of a slope and keeps at least 1 - p0 of its chance.
        slopes: c0, rounded up, for one number, two and three with the whole range: the steepest slope of ln P(cut) on
            the plateau.
        likeliest: ``max Q / Z`` beyond the border, rounded up: no interval is likelier than so many times its weight.
    """

    part: Fraction
    slopes: tuple[Fraction, Fraction, Fraction]
    likeliest: float

    @property
    def border(self) -> Fraction:
        """The weight of all intervals from which on the top of the whole range's noise flattens."""
        return self.part / (1 - self.part)


STEEP_SHARE = WholeShare(Fraction(19, 100), (Fraction(47, 50), Fraction(31, 50), Fraction(12, 25)), 1.16)
"""For steep slopes: a larger part would cost more than it flattens; whoever tells how many rows there are pays 10 %."""
GENTLE_SHARE = WholeShare(Fraction(3, 10), (Fraction(3, 5), Fraction(41, 100), Fraction(33, 100)), 0.92)
"""For slopes of at most `ForCut.GENTLE` of the price: the top flattens faster, so that loose bounds are left sooner."""

SIGNIFICANT = 20  # binary digits of the slope: weights stay short
PLACES = 10  # binary places of tilts and margins
STARTS = 3  # intervals start on a lattice of 2^-3 of their length


def _up(value: float) -> Fraction:
    """A short binary fraction, rounded up."""
    return Fraction(math.ceil(value * 2**PLACES), 2**PLACES)


def _short(value: Fraction) -> Fraction:
    """The number rounded down to a few binary digits."""
    places = SIGNIFICANT - math.floor(math.log2(value))
    scale = Fraction(2) ** places
    return Fraction(math.floor(value * scale)) / scale


def rate_of(price: Guarantee) -> Fraction:
    """Nats per sensitivity of plain noise at a price that is not concentrated."""
    return Fraction(price.noise_targets[0].epsilon)  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class CutPlan:
    """How one search weighs intervals and what its outcomes cost; public.

    Attributes:
        slope: Nats per row; a person moves ``contribution`` of them.
        contribution: How many rows one person may move.
        levels: The numbers l of the lengths ``range / 2^(l/steps)``; empty where rows are too few to search.
        tilt: Nats by which half the length is preferred.
        margin: Nats by which an interval without rows in it loses.
        distant: Nats, beyond its tilt, at which more rows outside count no more.
        whole: What is left of the price when the whole range is the outcome.
        cut: What is left when an interval is.
        joint: Whether outcomes are drawn together with their values (pure prices), or before them.
        head_start: Nats by which an interval must win against the whole range: B.
        search: What choosing costs where the value is drawn afterwards; None in a joint draw.
        guarded: Whether rows must fill an interval, so that no heap of equal rows wins.
        steps: Lengths per halving: 2, or 4 where rows pay for it; a finer ladder overshoots less.
        share: What the whole range keeps of its chance.
        numbers: How many numbers are published with an interval: two where the number of rows is private (pure prices),
            three for a variance.
        whole_numbers: The same for the whole range: two for squares about a released mean.
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
    head_start: Fraction = ForCut.HEAD_START[0]
    search: Guarantee | None = None
    guarded: bool = True
    steps: int = 2
    share: WholeShare = STEEP_SHARE
    numbers: int = 1
    whole_numbers: int = 1

    def __post_init__(self) -> None:
        # Theorem 2 needs r' >= k: the top of a cut's noise moves by k, its sides by r'.
        if self.searches and self.joint and rate_of(self.cut) < self.slope * self.contribution:
            raise AssertionError(f"a cut keeps {self.cut!r}, less than a row moves its charge: {self!r}")

    @property
    def drawn(self) -> int:
        """How many numbers are drawn together with an interval: none where it is drawn before them."""
        return self.numbers if self.joint else 0

    @property
    def whole_drawn(self) -> int:
        """The same for the whole range."""
        return self.whole_numbers if self.joint else 0

    @property
    def searches(self) -> bool:
        """Whether an interval is looked for at all."""
        return bool(self.levels)

    @property
    def finest(self) -> int:
        """The number of the shortest length."""
        return self.levels[-1]

    def lead(self, level: int) -> Fraction:
        """Nats by which intervals of a level lead before any row counts."""
        return self.tilt * level / self.steps

    def all_priors(self, level: int) -> float:
        """The priors of all intervals of a level add up to less than this.

        Four have 1; those less than a length from the anchor, and those of every octave beyond, weigh so many rings.
        """
        ring = 2.0 ** (STARTS - ForCut.NEAR)
        return 4 + ring * (5 + level / self.steps)

    def flatness(self, rate: Fraction) -> Fraction:
        """The exponent g with which the top of the whole range's noise flattens: ``min(r / k, 2 / c0)``.

        The first keeps the flat part from growing by more than the value moves, the second keeps the chance of a cut
        within two slopes.

        Example:
            >>> from sordino.privacy import Pure
            >>> plan = plan_cut(rows=1001, price=Pure(1), cells=2**31)
            >>> plan.flatness(Fraction(9, 10)), plan.flatness(plan.slope)
            (Fraction(100, 47), Fraction(1, 1))
        """
        return min(rate / (self.slope * self.contribution), 2 / self.share.slopes[self.whole_numbers - 1])

    def needed(self, level: int) -> Fraction:
        """Rows that must fill an interval of a level: ``T_j``."""
        return (self.lead(level) + self.margin) / self.slope if self.guarded else Fraction(0)

    def enough(self, level: int) -> int:
        """So many rows outside count like all: ``C_j``, at least ``T_j``."""
        return math.ceil((self.lead(level) + self.distant) / self.slope)

    def rows_beyond(self, level: int, failure: float) -> int:
        """So many rows or more lie outside a released interval only with this probability: the free bound.

        An interval that misses m rows has the probability ``(1 - p0) / p0 w (1 + k m) exp(-k m)`` at most (with
        ``(k m)^2 / 2`` and so on more where two numbers or three are drawn together).

        Example:
            >>> from sordino.privacy import Pure
            >>> plan = plan_cut(rows=1001, price=Pure(1), cells=2**31)
            >>> plan.rows_beyond(6, 0.05), plan.rows_beyond(24, 0.05)
            (41, 84)
        """
        likely = self.all_priors(level) * len(self.levels) / float(self.share.border) / failure
        most = float(self.lead(level) - self.head_start) + math.log(likely)
        nats = most
        while nats - log_weight(nats, self.numbers) < most:
            nats += 1 / 16
        return math.ceil(nats / float(self.slope))


def mean_part(
    rows: int, price: Guarantee, *, contribution: int = 1, tight: bool = False, counted: bool = False
) -> Fraction:
    """Of a price, what is paid for a mean about which squares within the declared bounds are taken.

    Example:
        >>> from sordino.privacy import Concentrated, Pure
        >>> [float(mean_part(rows, Pure(1))) for rows in (500, 1000, 100_000)]
        [0.0, 0.1, 0.01]
        >>> float(mean_part(1000, Concentrated(0.5)))
        0.006
    """
    bid = max(rows, 1) * price.strength / contribution
    least = ForCut.MEAN_SHARE_GAUSSIAN[0] if price.gaussian else ForCut.MEAN_FIRST
    if tight and not counted:  # three sums do as well without one
        least = min(ForCut.MEAN_TIGHT, least)
    if bid < least:
        return Fraction(0)
    part = ForCut.MEAN_SHARE_GAUSSIAN[1] / bid if price.gaussian else math.sqrt(ForCut.MEAN_SHARE / bid)
    return Fraction(round(1000 * min(part, ForCut.MOST_MEAN)) or 1, 1000)


def _wanted(bid: float, *, loose: bool) -> float:
    """Of a pure price, for the slope; the less the more rows there are, and never more than half."""
    if loose:
        return min(max(ForCut.LOOSE_NATS / bid, ForCut.LOOSE_LEAST), ForCut.STEEPEST_SLOPE)
    most, least, many, fall = ForCut.SLOPE
    if bid < ForCut.FEW:
        return ForCut.STEEPEST_SLOPE
    return max(min(most * (many / bid) ** fall, most), least)


@lru_cache(maxsize=256)
def plan_cut(
    *,
    rows: int,
    price: Guarantee,
    cells: int,
    contribution: int = 1,
    spread: Fraction | None = None,
    squares: bool = False,
    counted: int = 0,
    whole_counted: int | None = None,
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
        counted: How many numbers are drawn with the answer where the number of rows is private: its own, or two for a
            variance.
        whole_counted: The same for the whole range, where squares are taken about a released mean.
        loose: The caller calls the bounds far too wide: no head start, no guard, cuts from half of the range on.

    Example:
        >>> from sordino.privacy import Pure
        >>> plan = plan_cut(rows=1001, price=Pure(1), cells=2**31)
        >>> plan.levels[0], plan.levels[-1], float(plan.slope), float(plan.cut.epsilon)
        (6, 48, 0.39997..., 0.60002...)
        >>> plan_cut(rows=30, price=Pure(1), cells=2**31).searches
        False
    """
    strength = price.strength / contribution
    bid = max(rows, 1) * strength
    share = STEEP_SHARE
    fine, more_tilt, more_start = ForCut.FINE
    many = bid >= fine and not loose
    steps = 4 if many else 2
    if price.gaussian:
        slope = _short(price.share(ForCut.SHARE).slope / contribution)
        whole = cut = price.share(1 - ForCut.SHARE)
    else:
        epsilon = rate_of(price)
        slope = _short(epsilon * Fraction(_wanted(bid, loose=loose)) / contribution)
        spent = slope * contribution / epsilon
        share = GENTLE_SHARE if spent <= ForCut.GENTLE else STEEP_SHARE
        whole, cut = price.share(1 - share.part * spent), price.share(1 - spent)
    factor, plus, most = ForCut.MARGIN
    size = factor * math.log(max(bid, 1.0))
    less = ForCut.APART[1] if price.gaussian else 0.0
    margin = size + ForCut.LOOSE_MARGIN if loose else min(size + plus, most) - less
    numbers = 1 if price.gaussian else 1 + int(counted)
    start_more, margin_more, needed_more = ((0, 0.0, 0.0), ForCut.PAIRED, ForCut.THREE)[numbers - 1]
    margin, distant = (one + margin_more for one in (margin, size + ForCut.DISTANT))
    tilt = _up(((ForCut.SQUARES_TILT if squares else ForCut.TILT) + many * more_tilt) * math.log(2))
    deepest = steps * min(ForCut.DEEPEST, cells.bit_length() - 1)
    if spread is not None and spread > 0:
        deepest = min(
            deepest, math.floor(steps * math.log2(max(float(cells * ForCut.SPREADS / spread), 1.0)))
        )
    nats = rows * float(slope)  # what all rows together bid
    first = steps * (1 if loose else ForCut.LONGEST)
    needed = margin + needed_more
    levels = tuple(l for l in range(first, deepest + 1) if float(tilt) * l / steps + needed <= nats)
    enough = bid >= ForCut.FEW
    head_start = ForCut.APART[0] if price.gaussian else ForCut.HEAD_START[enough]
    head_start += start_more
    head_start += (ForCut.SQUARES_START[enough and not price.gaussian] if squares else 0) + more_start * many
    return CutPlan(
        slope=slope, contribution=contribution, levels=levels, tilt=tilt, margin=_up(margin),
        distant=_up(max(distant, margin)), whole=whole if levels else price, cut=cut,
        joint=not price.gaussian, head_start=Fraction(0) if loose else head_start,
        search=price.share(ForCut.SHARE) if price.gaussian else None, guarded=not loose, steps=steps, share=share,
        numbers=numbers,
        whole_numbers=numbers if whole_counted is None or price.gaussian else 1 + int(whole_counted),
    )  # fmt: skip
