"""The data-free plan for a minimum or maximum: whether to look for an anchor first, and a base measure that leans.

Works from public numbers only: rows, price, bounds and the caller's hints. The mechanism that follows the plan is
extreme.py; what the rules gain is in docs/explanation/which_mechanism.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from sordino.lattice import FINE_BITS
from sordino.mechanisms.extreme.anchor_search import AnchorSearch
from sordino.mechanisms.parts.favour import Favour
from sordino.mechanisms.parts.measure import Measure, decimals, mixture
from sordino.mechanisms.quantile.leaning import leaning
from sordino.mechanisms.quantile.plan import spread_measure
from sordino.mechanisms.tuned import ForExtreme, ForQuantile

if TYPE_CHECKING:
    from sordino import checks
    from sordino.lattice import FiniteLattice


@dataclass(frozen=True, slots=True)
class ExtremePlan:
    """What the mechanism will do; every field is public.

    Attributes:
        measure: Base measure of the answers.
        spared: Rows beyond an answer that cost it nothing.
        nats: How much the measure varies over the lattice; a reading must look that much farther.
        trusted: False when rows times the price are too few to find the scale within these bounds.
        search: Where rows are many, how to find an anchor first; ``measure`` is then not used.
        favour: What a hint multiplies measures by; those of the plan already are.
    """

    measure: Measure
    spared: int
    nats: float
    trusted: bool = True
    search: AnchorSearch | None = None
    favour: Favour | None = None

    def __post_init__(self) -> None:
        # g(N) = min(max(N - s, 0), K) needs s >= 0 to have steps of at most one, and K a number.
        if self.spared < 0 or not 0 <= self.nats < math.inf:
            raise AssertionError(f"rows are spared or not, and so many nats are outbid: {self!r}")

    def by(self, favour: Favour) -> ExtremePlan:
        """The same plan with a hint: its mass moved to where the answer lies."""
        search = None if self.search is None else replace(self.search, measure=favour.on(self.search.measure))
        return replace(
            self, measure=favour.on(self.measure), nats=self.nats + favour.nats, trusted=True, search=search,
            favour=favour,
        )  # fmt: skip

    def rounded(self, bits: int) -> ExtremePlan:
        """The same plan on a lattice that is 2^bits times as coarse."""
        search = (
            None if self.search is None else replace(self.search, measure=self.search.measure.rounded(bits))
        )
        return replace(self, measure=self.measure.rounded(bits), search=search)


@lru_cache(maxsize=256)
def plan_extreme(
    lattice: FiniteLattice,
    *,
    upper: bool,
    strength: Fraction,
    rows: int,
    centre: checks.Number | None = None,
    spread: checks.Number | None = None,
    tight: bool = False,
) -> ExtremePlan:
    """Choose the base measure for a maximum (``upper``) or a minimum from public numbers.

    Beyond the data nothing but the measure holds the answer, so its mass falls like the fourth power of the distance
    from the anchor there; on the other side it rises with the square. Both powers together may not outbid the rows:
    where they would, the core is widened and the rise given up.

    Args:
        lattice: The public answers.
        upper: A maximum; a minimum otherwise.
        strength: Nats per row beyond the answer.
        rows: Public number of rows, or a declared rough one.
        centre: A public guess of the middle of the column.
        spread: A public guess of its spread.
        tight: The caller vouches that the bounds fit the column.

    Example:
        >>> from sordino.lattice import FiniteLattice
        >>> lattice = FiniteLattice(Fraction(-50), Fraction(1100, 2**31), 2**31)
        >>> plan_extreme(lattice, upper=True, strength=Fraction(1), rows=1001).trusted
        True
        >>> plan_extreme(lattice, upper=True, strength=Fraction(1, 10), rows=201).trusted
        False
    """
    if centre is not None and spread is not None and not tight:
        found = plan_extreme(lattice, upper=upper, strength=strength, rows=rows)
        quantile = (rows - 0.5) / max(rows, 1)
        return found.by(
            Favour.about(lattice, centre=centre, spread=spread, quantile=quantile if upper else 1 - quantile)
        )
    finer = max(FINE_BITS - lattice.last.bit_length(), 0)
    if finer:  # a declared step must not change where answers are looked for
        fine = plan_extreme(lattice.finer(finer), upper=upper, strength=strength, rows=rows, tight=tight)
        return fine.rounded(finer)
    search = plan_search(lattice, upper=upper, strength=strength, rows=rows)
    if search is not None:
        steepest = fall(strength, _bid(search, strength))  # as if the answer had the whole price
        nats = float(steepest) * math.log(lattice.last + 1.0)
        return ExtremePlan(search.measure, 0, nats, search=search)
    anchor = lattice.anchor
    core = max(lattice.last >> ForQuantile.OCTAVES, 1)
    away, towards = (lattice.last - anchor, anchor) if upper else (anchor, lattice.last - anchor)
    bid = rows * float(strength)
    spare = bid - min(2 * math.log(max(bid, 10.0)) + 4, 0.4 * bid)
    # The anchor may lie in the middle of the rows, or most of them on it: the others pay.
    counted = max(min(ForExtreme.AWAY * bid - 2, ForExtreme.ENOUGH), ForExtreme.PLENTY * bid)
    spare = min(spare, max(counted, 0.0))

    def climb(distance: int) -> float:
        return math.log(max(distance / core, 1.0))

    if float(ForExtreme.FALL) * climb(away) > spare:
        core = max(math.ceil(away * math.exp(-spare / float(ForExtreme.FALL))), 1)
    left = (
        max(spare - float(ForExtreme.FALL) * climb(away), 0.0) / 2
    )  # the far end of the rise is where an error is largest
    rise = ForExtreme.RISE
    if float(ForExtreme.RISE) * climb(towards) > left:
        rise = Fraction(math.floor(16 * left / climb(towards)), 16)
    below, above = (rise, -ForExtreme.FALL) if upper else (-ForExtreme.FALL, rise)
    measure = leaning(last=lattice.last, anchor=anchor, core=core, below=below, above=above)
    if not away:  # a column that rests on zero
        wide = spread_measure(lattice, anchor=anchor)
        measure = mixture([(1 - ForQuantile.FOUND, measure), (ForQuantile.FOUND, wide)])
    nats = float(ForExtreme.FALL) * climb(away) + float(rise) * climb(towards) + math.log(lattice.last + 1.0)
    bound = lattice.last if upper else 0
    if anchor != bound:
        measure = _on_bound(measure, bound, away=away, share=ForExtreme.BOUND)
    if not tight or anchor == bound or bid > 2 * ForExtreme.FEW:
        return ExtremePlan(measure, 0, nats, trusted=bid >= ForExtreme.FEW)
    rising = leaning(
        last=lattice.last,
        anchor=bound,
        core=max(lattice.last >> ForQuantile.OCTAVES, 1),
        below=ForExtreme.FITTED,
        above=ForExtreme.FITTED,
    )
    ends = Measure.at({bound: 1}, last=lattice.last)  # bounds that fit are often attained
    part = (1 - ForExtreme.ENDS) / 2
    fitted = mixture([(part, rising), (part, measure), (ForExtreme.ENDS, ends)])
    return ExtremePlan(fitted, math.floor(1 / (4 * strength)), nats + math.log(lattice.last + 1.0))


def plan_search(lattice: FiniteLattice, *, upper: bool, strength: Fraction, rows: int) -> AnchorSearch | None:
    """How to find an anchor inside the data, or None where a third of the price does not find one.

    A sixth of the rows lie beyond it, fewer where that is cheap, and more where those would not pay for the fall.
    The measure is flat in the logarithm of the distance from zero, and falls over the last eight octaves by a power
    that half of the rows between the anchor and the middle can pay for: an anchor beyond the data is the more
    improbable the farther it would be off. Minima of a range that begins at zero or beyond it have theirs between zero
    and the data, and hardly any fall: it would draw an anchor out of a column that lies far from zero.

    Args:
        lattice: The public answers.
        upper: For a maximum; for a minimum otherwise.
        strength: Nats per row that the whole price buys.
        rows: Public number of rows, or a declared rough one.

    Example:
        >>> from sordino.lattice import FiniteLattice
        >>> lattice = FiniteLattice(Fraction(0), Fraction(1), 10**6)
        >>> search = plan_search(lattice, upper=True, strength=Fraction(1), rows=10_001)
        >>> search.aim, search.share
        (266, Fraction(1, 10))
        >>> plan_search(lattice, upper=True, strength=Fraction(1, 10), rows=1001) is None
        True
    """
    nats = ForExtreme.NEEDED + math.log(max(rows, 1))
    outward = (
        ForExtreme.LEAN * float(strength) / (1 + ForExtreme.LEAN)
    )  # nats per missing row, for the whole price
    dearest = float(ForExtreme.DEAREST)
    if ForExtreme.QUARTER * nats > outward * rows * dearest:
        return None
    least = min(ForExtreme.SIXTH * nats / (outward * rows), dearest)
    share = max(Fraction(math.ceil(least * 1024), 1024), ForExtreme.CHEAPEST)
    aim = nats / (outward * float(share))
    bidding = ForExtreme.BIDDING / (float(strength * (1 - share)) * (1 - 6 / nats))
    aim = max(aim, min(bidding, ForExtreme.DEEPEST * rows))
    inward = float(strength * share) * rows / (1 + ForExtreme.LEAN)
    power = Fraction(min(math.floor(16 * inward / 6 / (ForExtreme.OUTER * math.log(2))), 32), 16)
    if lattice.anchor == (lattice.last if upper else 0):
        power = min(power, ForExtreme.INWARDS)
    nothing, core = Fraction(0), max(lattice.last >> ForQuantile.OCTAVES, 1)
    around = leaning(
        last=lattice.last,
        anchor=lattice.anchor,
        core=core,
        below=nothing,
        above=nothing,
        bend=max(lattice.last >> ForExtreme.OUTER, core),
        beyond=-power,
    )
    heaps = decimals(low=lattice.origin, step=lattice.step, last=lattice.last)
    measure = mixture([(1 - ForQuantile.FOUND, around), (ForQuantile.FOUND, heaps)])
    return AnchorSearch(math.ceil(aim), share, measure, nats)


def _bid(search: AnchorSearch, slope: Fraction) -> float:
    """Nats of the rows beyond an anchor, with a margin."""
    return float(slope) * search.aim * (1 - 6 / search.nats)


STEEPEST_FALL = 64
"""No faster, whatever the price: a step of the lattice is all that is left to err, and whole numbers stay short."""


def fall(slope: Fraction, bid: float) -> Fraction:
    """With which power of the distance from an anchor answers fall; public.

    Nothing but this holds an answer beyond the data, and a steeper fall overshoots by less. The rows beyond the anchor
    pay for it: the fourth power where they are few, the sixth where they can reach far inwards, so that a heavy tail
    is still followed; more where a single row counts much and outbids a steeper fall.

    Args:
        slope: Nats per row beyond the answer.
        bid: Nats of all rows beyond the anchor, which pay for the fall.

    Example:
        >>> fall(Fraction(1), 40.0), fall(Fraction(1), 90.0), fall(Fraction(24), 1000.0), fall(Fraction(24), 150.0)
        (Fraction(4, 1), Fraction(6, 1), Fraction(8, 1), Fraction(8, 1))
    """
    wanted = max(float(ForExtreme.STEADY), float(slope) / ForExtreme.STEEP)
    return max(
        ForExtreme.FALL, Fraction(math.floor(16 * min(wanted, bid / ForExtreme.ROOM, STEEPEST_FALL)), 16)
    )


def anchored_measure(
    lattice: FiniteLattice, search: AnchorSearch, *, anchor: int, upper: bool, slope: Fraction
) -> Measure:
    """The base measure once an anchor has been released; public.

    Mass falls with the fourth to the sixth power of the distance (`fall`), so that an overshoot is a share of the
    distance from the anchor to the answer, wherever the column lies. Towards the end of the range, where an overshoot
    cannot go far, it falls with the first power. The core is so wide that the rows beyond the anchor can pay for the
    fall.

    Args:
        lattice: The public answers.
        search: The search that found the anchor.
        anchor: The released lattice point.
        upper: A maximum; a minimum otherwise.
        slope: Nats per row beyond the answer.
    """
    finer = max(FINE_BITS - lattice.last.bit_length(), 0)
    if finer:
        fine = anchored_measure(
            lattice.finer(finer), search, anchor=anchor << finer, upper=upper, slope=slope
        )
        return fine.rounded(finer)
    bid = _bid(search, slope)
    power = fall(slope, bid)
    core = max(
        math.ceil((lattice.last + 1) * math.exp(-bid / float(power))),
        lattice.last >> ForExtreme.FINEST,
        1,
    )
    away = lattice.last - anchor if upper else anchor
    bend = max(away // 2, core)
    falling = leaning(
        last=lattice.last,
        anchor=anchor,
        core=core,
        below=-power,
        above=-power,
        bend=bend,
        beyond=ForExtreme.BENT,
    )
    return _on_bound(falling, lattice.last if upper else 0, away=away, share=ForExtreme.PILE)


def _on_bound(measure: Measure, bound: int, *, away: int, share: Fraction) -> Measure:
    """Columns that were cut pile up on the bound, which has next to no mass as one point of many.

    Args:
        measure: What falls from an anchor.
        bound: The end of the lattice towards which it falls.
        away: How far the anchor is from there.
        share: What the bound weighs beside the quarter next to it.
    """
    quarter = bound - away // 4 if bound else away // 4
    pile = measure.mass(min(bound, quarter), max(bound, quarter)) * share
    return measure + Measure.at({bound: math.ceil(pile)}, last=measure.last)
