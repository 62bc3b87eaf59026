"""The data-free plan for one quantile: which public base measure, and whether to learn the magnitude first.

Works from public numbers only: rows, rank, price, bounds, step and the caller's hints. Rules and their measured
regret: docs/explanation/which_mechanism.md; the mechanism that follows the plan is quantile.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from sordino.lattice import FINE_BITS
from sordino.mechanisms.parts.favour import Favour
from sordino.mechanisms.parts.measure import Measure, decimals, mixture, shells
from sordino.mechanisms.quantile.leaning import leaning
from sordino.mechanisms.quantile.weak_end import beside_a_rise, counted_on
from sordino.mechanisms.tuned import ForQuantile

if TYPE_CHECKING:
    from sordino import checks
    from sordino.lattice import FiniteLattice
    from sordino.privacy import Guarantee


@dataclass(frozen=True, slots=True)
class QuantilePlan:
    """What a quantile mechanism will do; every field is public.

    Attributes:
        measure: Base measure of the release, or of its fallback when the magnitude comes first.
        magnitude_share: Share of the price spent on the magnitude, 0 when it is not asked for.
        fallback: Weight of ``measure`` beside the shells that follow a released magnitude.
        anchor: FiniteLattice point from which magnitudes are counted.
        threshold: Where the staircase steps inside a gap.
        trusted: False when rows times epsilon are too few to find the scale within these bounds.
        flip: Use permute-and-flip, which needs a uniform measure and a pure price.
        nats: How much the measure leans; a reading must look that much farther.
        favour: What a hint multiplies measures by; that of ``measure`` already is.
    """

    measure: Measure
    magnitude_share: Fraction
    fallback: Fraction
    anchor: int
    threshold: Fraction = Fraction(1, 2)
    trusted: bool = True
    flip: bool = False
    nats: float = 0.0
    favour: Favour | None = None


def spread_measure(
    lattice: FiniteLattice,
    *,
    anchor: int,
    flat: Fraction = ForQuantile.FLAT,
    round_numbers: Fraction = ForQuantile.HEAPS,
) -> Measure:
    """The measure for quantiles without much data: uniform, logarithmic around the anchor, and round numbers."""
    logarithmic = shells(last=lattice.last, centre=anchor, core=max(lattice.last >> ForQuantile.OCTAVES, 1))
    heaps = decimals(low=lattice.origin, step=lattice.step, last=lattice.last)
    rest = 1 - round_numbers
    uniform = Measure.uniform(lattice.last)
    return mixture([(rest * flat, uniform), (rest * (1 - flat), logarithmic), (round_numbers, heaps)])


@lru_cache(maxsize=256)
def magnitude_measure(lattice: FiniteLattice, *, plan: QuantilePlan, magnitude: int) -> Measure:
    """The measure after a magnitude ``2^magnitude`` has been released: shells of that core, mass falling like 1/r^2."""
    near = shells(last=lattice.last, centre=plan.anchor, core=2**magnitude, tilt=2)
    fallback, wide = plan.fallback, plan.measure
    if plan.favour is not None:
        near = plan.favour.on(near)
    return mixture([(1 - fallback, near), (fallback, wide)])


@lru_cache(maxsize=256)
def plan_quantile(
    lattice: FiniteLattice,
    *,
    epsilon: Fraction,
    rows: int | None = None,
    rank: int | None = None,
    centre: checks.Number | None = None,
    spread: checks.Number | None = None,
    tight: bool = False,
    pure: bool = False,
    flip: bool | None = None,
) -> QuantilePlan:
    """Choose the base measure for one quantile from public numbers.

    Args:
        lattice: The public answers.
        epsilon: Bounded range the release may spend.
        rows: Public number of rows, or a declared rough one; None when unknown.
        rank: Rank asked for; the middle when None.
        centre: A public guess of the answer.
        spread: A public guess of how far the column spreads around the centre.
        tight: The caller vouches that the bounds fit the column.
        pure: The price is pure, so permute-and-flip may be used.
        flip: Treat the lattice as a short list of equal answers (True), never (False), or by its length (None).

    Example:
        >>> from sordino.lattice import FiniteLattice
        >>> lattice = FiniteLattice(Fraction(0), Fraction(1000, 2**31), 2**31)
        >>> plan_quantile(lattice, epsilon=Fraction(1), rows=71, rank=64).magnitude_share
        Fraction(51, 256)
        >>> plan_quantile(lattice, epsilon=Fraction(1), rows=1001).magnitude_share
        Fraction(0, 1)
    """
    anchor, nothing = lattice.anchor, Fraction(0)
    if flip is None:
        flip = lists(lattice, epsilon=epsilon, rows=rows, rank=rank)
    if flip and pure:
        return QuantilePlan(Measure.uniform(lattice.last), nothing, nothing, anchor, flip=True)
    if tight:  # a magnitude is worth its price even where bounds fit
        found = plan_quantile(
            lattice,
            epsilon=epsilon,
            rows=rows,
            rank=rank,
            centre=centre,
            spread=spread,
            pure=pure,
            flip=False,
        )
        return replace(found, trusted=True)
    if centre is not None and spread is not None:
        found = plan_quantile(lattice, epsilon=epsilon, rows=rows, rank=rank, pure=pure, flip=False)
        share = 0.5 if rows is None or rank is None else (rank - 0.5) / max(rows, rank)
        return _hinted(found, Favour.about(lattice, centre=centre, spread=spread, quantile=share))
    finer = max(FINE_BITS - lattice.last.bit_length(), 0)
    if finer:  # a declared step must not change where answers are looked for
        fine = plan_quantile(
            lattice.finer(finer), epsilon=epsilon, rows=rows, rank=rank, pure=pure, flip=False
        )  # fmt: skip
        return replace(fine, measure=fine.measure.rounded(finer), anchor=anchor)
    if rows is None:
        wide = spread_measure(lattice, anchor=anchor, round_numbers=ForQuantile.FOUND)
        return QuantilePlan(wide, nothing, nothing, anchor)
    rank = (rows + 1) // 2 if rank is None else rank
    kappa = float(epsilon) / 2
    below, above = kappa * rank, kappa * (rows - rank + 1)
    found = _smooth(lattice, anchor=anchor, below=below, above=above, strength=rows * float(epsilon))
    return replace(found, measure=heaped(found.measure, lattice, support=min(below, above)))


def _smooth(
    lattice: FiniteLattice, *, anchor: int, below: float, above: float, strength: float
) -> QuantilePlan:
    """The plan for a column whose rows need not lie on round numbers.

    Args:
        lattice: The public answers.
        anchor: Where distances are counted from.
        below: Nats that hold the answer from below.
        above: Nats that hold it from above.
        strength: Rows times epsilon.
    """
    nothing, uniform = Fraction(0), Measure.uniform(lattice.last)
    support = min(below, above)  # nats that keep the answer away from the nearer range end
    runaway = above if anchor == 0 else below if anchor == lattice.last else support
    if support >= 40:
        logarithmic = shells(last=lattice.last, centre=anchor, core=max(lattice.last >> 12, 1))
        half = mixture([(Fraction(1, 2), uniform), (Fraction(1, 2), logarithmic)])
        return QuantilePlan(half, nothing, nothing, anchor)
    tilted = _tilted(lattice, anchor=anchor, below=below, above=above, strength=strength)
    if tilted is not None:
        measure, nats = tilted
        return QuantilePlan(measure, nothing, nothing, anchor, trusted=strength >= 64, nats=nats)
    # Where both sides hold, what is left of the error is the mass far away.
    flat = ForQuantile.SPREAD if support >= ForQuantile.WEAK else ForQuantile.FLAT
    wide = spread_measure(lattice, anchor=anchor, flat=flat)
    if runaway >= ForQuantile.WEAK or strength < 64:
        return QuantilePlan(wide, nothing, nothing, anchor, trusted=strength >= 64)
    spent = min(max(60 / strength, 0.01), 0.2)
    fallback = min(max(math.exp(-strength * spent / 4), 1e-6), 0.3)
    return QuantilePlan(wide, _dyadic(spent, 8), _dyadic(fallback, 30), anchor)


def heaped(measure: Measure, lattice: FiniteLattice, *, support: float) -> Measure:
    """Some of the mass moved to the nearest number with at most two digits, or bound: rows are heaped on these.

    Where more rows hold an answer it errs by less than such numbers are apart, and one of them beside it would weigh
    too much: the share falls then (docs/proofs/mechanism_quantile.md, "Round numbers").

    Args:
        measure: What is planned for rows that lie anywhere.
        lattice: The public answers.
        support: Nats that hold the answer from the weaker side.

    Example:
        >>> from sordino.lattice import FiniteLattice
        >>> lattice = FiniteLattice(Fraction(0), Fraction(1, 2**20), 100 * 2**20)
        >>> found = heaped(Measure.uniform(lattice.last), lattice, support=100.0)
        >>> [round(found.mass(value << 20, value << 20) / found.total * 10**6) for value in (50, 51)]
        [200, 200]
    """
    whole, part = heap_share(support)
    written = decimals(low=lattice.origin, step=lattice.step, last=lattice.last).points
    near = measure.gathered({0, *written, lattice.last})
    if _distant(lattice):
        ends = {point: near.mass(point, point) for point in (0, lattice.last)}
        return measure.scaled(whole) + Measure.at(ends, last=lattice.last).scaled(part)
    return measure.scaled(whole - part) + near.scaled(part)


def _distant(lattice: FiniteLattice) -> bool:
    """Whether zero is farther from the range than this is long: years, dates, kelvin.

    Such rows share their first digits, so two of them say nothing of where rows are heaped; the few numbers with two
    digits in the range would each have the mass of a large part of it.
    """
    low, high = lattice.origin, lattice.origin + lattice.step * lattice.last
    return max(low, -high) >= high - low


def heap_share(support: float) -> tuple[int, int]:
    """A whole, and what part of it lies on round numbers where so many nats hold an answer from the weaker side."""
    whole = 2**20
    return whole, round(whole * float(ForQuantile.ROUND) * min(1.0, ForQuantile.HELD / max(support, 1.0)))


def lists(lattice: FiniteLattice, *, epsilon: Fraction, rows: int | None, rank: int | None) -> bool:
    """Whether the answers are a short list on which permute-and-flip is best: where rows on both sides hold it.

    A far quantile of a short list in wide bounds needs the measure as much as one on a long lattice: with a uniform one
    a declared step would multiply its error.
    """
    if lattice.last >= ForQuantile.SHORT or rows is None:
        return lattice.last < ForQuantile.SHORT
    place = (rows + 1) // 2 if rank is None else rank
    return float(epsilon) / 2 * min(place, rows - place + 1) >= ForQuantile.WEAK


def _hinted(found: QuantilePlan, favour: Favour) -> QuantilePlan:
    """What is planned without a hint, its mass moved to where the hint says that the answer lies."""
    return replace(found, measure=favour.on(found.measure), favour=favour, nats=found.nats + favour.nats)


def _tilted(
    lattice: FiniteLattice, *, anchor: int, below: float, above: float, strength: float
) -> tuple[Measure, float] | None:
    """A measure that leans away from the weak side of the answer, where the strong side can pay for the lean.

    The nats of the strong side pay for a fall beyond the answer, which then needs no magnitude step; where the
    anchor itself is the weak end of the range they pay for a rise, so that the answer is not drawn to the many octaves
    next to it. An anchor inside the range may lie in the middle of the rows: only those between it and the answer pay
    then, and the core is widened until they can. None where they cannot, or where no side is weak.

    Args:
        lattice: The public answers.
        anchor: Where distances are counted from.
        below: Nats that hold the answer from below.
        above: Nats that hold it from above.
        strength: Rows times epsilon.

    Returns:
        The measure, and how many nats it leans in all.
    """
    upwards = above < below
    weak, strong = min(above, below), max(above, below)
    core = max(lattice.last >> ForQuantile.OCTAVES, 1)
    far, near = (lattice.last - anchor, anchor) if upwards else (anchor, lattice.last - anchor)
    many = far and strong / 10 >= ForQuantile.ENOUGH  # nine tenths of the rows may sit on the anchor
    if weak >= (ForQuantile.BARELY if many else ForQuantile.WEAK):
        return None
    spare = strong - 2 * math.log(max(strength, 10.0)) - 4
    if far and near:
        between = (strong - weak) / 2
        spare = min(spare, 0.75 * between - 3)
        core = max(core, math.ceil(far * math.exp(-max(0.6 * between - 2, 0) / ForQuantile.STEEPEST)))
    elif far:
        if spare < ForQuantile.FLATTEST * math.log(
            max(far / core, 1.0)
        ):  # few rows, even if all lie away from it
            return None
        paid = counted_on(strong)
        spare = min(spare, paid - 3)
        core = max(core, math.ceil(far * math.exp(-max(0.8 * paid - 2, 0) / ForQuantile.STEEPEST)))
    away, towards = (math.log(max(side / core, 1.0)) for side in (far, near))

    def lean(outward: float, inward: float) -> tuple[Measure, float]:
        powers = [Fraction(math.floor(16 * power), 16) for power in (outward, inward)]
        below, above = reversed(powers) if upwards else powers
        measure = leaning(last=lattice.last, anchor=anchor, core=core, below=below, above=above)
        return measure, abs(outward) * away + inward * towards

    if not far:
        rising, nats = lean(0, min(strong / 2 / max(towards, 1.0), 1.0))
        wide, share = spread_measure(lattice, anchor=anchor), beside_a_rise(strong)
        return mixture([(1 - share, rising), (share, wide)]), nats
    if away < 1:  # hardly anything to lean over
        return None
    fall = min(spare / away, ForQuantile.STEEPEST)
    if fall < ForQuantile.FLATTEST:
        return None
    return lean(-fall, min((spare - fall * away) / towards, 2.0) if towards else 0.0)


def _dyadic(value: float, bits: int) -> Fraction:
    """Round a share to a short binary fraction, so that exact weights stay short."""
    return Fraction(max(round(value * 2**bits), 1), 2**bits)


def extreme_shift(
    lattice: FiniteLattice,
    price: Guarantee,
    *,
    upper: bool,
    rows: int | None,
    loose: bool,
    tight: bool = False,
) -> int:
    """How many rows inside the data to aim for an extreme: ``2/epsilon`` where the range ends far from the data.

    Nothing towards an anchor at the end of the range, with too few rows, or when the bounds are tight; ``loose`` aims
    ``(3/epsilon) ln n`` rows inside, where the answer is inside the data with probability above 1 - 1/n.
    """
    epsilon = float(price.bounded_range)
    if loose and rows:
        return min(round(3 / epsilon * math.log(max(rows, 2))), rows // 4)
    towards = lattice.anchor == (lattice.last if upper else 0)
    if towards or tight or not rows or rows * epsilon < 64:
        return 0
    return round(2 / epsilon)
