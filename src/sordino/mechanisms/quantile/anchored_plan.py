"""The data-free plan for a far quantile that looks for the middle of the column first: at which share, and from where.

Works from public numbers only. The mechanism that follows it is anchored.py; what the rules gain is in
docs/proofs/mechanism_anchored.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from sordino.lattice import FINE_BITS
from sordino.mechanisms.parts.measure import Measure, decimals, mixture
from sordino.mechanisms.quantile.leaning import leaning
from sordino.mechanisms.quantile.plan import heap_share
from sordino.mechanisms.tuned import ForAnchored, ForCounted, ForExtreme, ForQuantile
from sordino.privacy import Neighbors

if TYPE_CHECKING:
    from sordino.lattice import FiniteLattice
    from sordino.mechanisms.parts.favour import Favour
    from sordino.privacy import Guarantee


def per_rank(price: Guarantee, q: Fraction, neighbors: Neighbors) -> float:
    """Nats that one rank weighs: a row that comes or goes moves the rank of q by at most ``max(q, 1 - q)``."""
    once = float(price.bounded_range) / 2
    return once if neighbors is Neighbors.REPLACE_ONE else once / float(max(q, 1 - q))


@lru_cache(maxsize=1024)
def anchor_share(price: Guarantee, *, rows: int, rank: int, neighbors: Neighbors) -> Fraction | None:
    """The share of the price that finds the middle of the column, or None where that does not pay.

    It pays where a far quantile is held by so few nats from its weak side that a column far from zero, in bounds that
    are too wide, would not be found otherwise, and where rows are so many that the middle of the column is cheap.

    Args:
        price: What anchor and answer cost together.
        rows: Public number of rows, or a declared rough one.
        rank: The rank asked for.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> from sordino.privacy import Pure
        >>> told = {"rank": 991, "rows": 1001, "neighbors": Neighbors.REPLACE_ONE}
        >>> anchor_share(Pure(1), **told), anchor_share(Pure(Fraction(1, 10)), **told)
        (Fraction(11, 128), None)
        >>> anchor_share(Pure(1), rows=1001, rank=700, neighbors=Neighbors.REPLACE_ONE) is None
        True
    """
    if neighbors is Neighbors.ADD_REMOVE_ONE and rows * price.strength < ForAnchored.COUNTED:
        return None
    q = Fraction(min(max(rank, 1), rows), rows)
    weak = per_rank(price, q, neighbors) * min(rank, rows - rank + 1)
    if abs(q - Fraction(1, 2)) < ForCounted.FAR or weak >= ForQuantile.BARELY:
        return None
    dearest = ForAnchored.DEAREST if weak < ForAnchored.LOOSE else ForAnchored.DEAR
    return _cheapest(price, rows=rows, neighbors=neighbors, dearest=dearest)


def _cheapest(price: Guarantee, *, rows: int, neighbors: Neighbors, dearest: Fraction) -> Fraction | None:
    """The smallest share that finds the middle, or the dearest one where it nearly does."""
    share, found = dearest, 0.0
    for part in range(1, math.floor(128 * dearest) + 1):
        share = Fraction(part, 128)
        found = per_rank(price.share(share), Fraction(1, 2), neighbors) * rows / 2
        if found >= ForAnchored.NEEDED:
            break
    return share if found >= ForAnchored.LEAST else None


@dataclass(frozen=True, slots=True)
class Leaning:
    """A public base measure, and how many nats it leans: a reading must look that much farther."""

    measure: Measure
    nats: float

    def by(self, favour: Favour | None) -> Leaning:
        """With what a hint says."""
        return self if favour is None else Leaning(favour.on(self.measure), self.nats + favour.nats)

    def rounded(self, bits: int) -> Leaning:
        """On a lattice that is 2^bits times as coarse."""
        return Leaning(self.measure.rounded(bits), self.nats)


@lru_cache(maxsize=256)
def middle_measure(lattice: FiniteLattice) -> Leaning:
    """Where the middle of a column is looked for: flat in the logarithm of the distance from zero, with a steep end.

    Example:
        >>> from sordino.lattice import FiniteLattice
        >>> found = middle_measure(FiniteLattice(Fraction(0), Fraction(1), 2**44)).measure
        >>> found.mass(2**36, 2**44) < found.mass(2**28, 2**36) / 2
        True
    """
    finer = max(FINE_BITS - lattice.last.bit_length(), 0)
    if finer:  # a declared step must not change where answers are looked for
        return middle_measure(lattice.finer(finer)).rounded(finer)
    core, nothing = max(lattice.last >> ForQuantile.OCTAVES, 1), Fraction(0)
    around = leaning(
        last=lattice.last, anchor=lattice.anchor, core=core, below=nothing, above=nothing,
        bend=max(lattice.last >> ForExtreme.OUTER, core), beyond=-ForAnchored.OUTER_FALL,
    )  # fmt: skip
    heaps = decimals(low=lattice.origin, step=lattice.step, last=lattice.last)
    share = ForQuantile.HEAPS
    nats = float(ForAnchored.OUTER_FALL) * ForExtreme.OUTER * math.log(2)
    return Leaning(mixture([(1 - share, around), (share, heaps)]), nats)


@lru_cache(maxsize=256)
def measure_from(
    lattice: FiniteLattice, *, anchor: int, between: float, weak: float, upwards: bool
) -> Leaning:
    """Where a far quantile is looked for once the middle of the column has been released; public.

    Mass falls with a power of the distance beyond the anchor and is flat in its logarithm on the other side, so no
    scale is needed. The core is so wide that the rows between the middle and the answer can pay for the fall.

    Args:
        lattice: The public answers.
        anchor: The released lattice point.
        between: Nats of the rows between the middle and the answer.
        weak: Nats that hold the answer from its weaker side.
        upwards: The answer lies above the middle.
    """
    finer = max(FINE_BITS - lattice.last.bit_length(), 0)
    if finer:
        fine = measure_from(
            lattice.finer(finer), anchor=anchor << finer, between=between, weak=weak, upwards=upwards
        )
        return fine.rounded(finer)
    power, nothing = ForAnchored.FALL, Fraction(0)
    surely, enough = ForAnchored.SURE
    counted = max(min(surely * between - 2, enough), ForAnchored.PAID * between)
    paid = max(counted, 0.0)
    core = max(
        math.ceil((lattice.last + 1) * math.exp(-paid / float(power))), lattice.last >> ForQuantile.OCTAVES, 1
    )
    below, above = (nothing, -power) if upwards else (-power, nothing)
    falling = leaning(last=lattice.last, anchor=anchor, core=core, below=below, above=above)
    nats = float(power) * math.log((lattice.last + 1) / core)
    return Leaning(_heaped_about(falling, lattice, anchor=anchor, support=weak), nats)


def _heaped_about(measure: Measure, lattice: FiniteLattice, *, anchor: int, support: float) -> Measure:
    """A share of the mass on round numbers, each with what lies next to it.

    All mass that is nearest to a round number would be that about the anchor for one of them, which is far from even:
    it has the mass of its own neighbourhood, to the next such number or to the anchor, as if that were spread evenly.

    Args:
        measure: What falls from the anchor.
        lattice: The public answers.
        anchor: The released lattice point.
        support: Nats that hold the answer from the weaker side.
    """
    whole, part = heap_share(support)
    written = decimals(low=lattice.origin, step=lattice.step, last=lattice.last).points
    kept = sorted({0, *written, lattice.last})
    below = measure.table.each_below([end for here in kept for end in (here, here + 1)])
    masses = (above - under for under, above in zip(below[::2], below[1::2], strict=True))
    neighbours = zip([0, *kept[:-1]], kept, [*kept[1:], lattice.last], strict=True)
    weights = {
        here: mass * max(min((after - before) // 2, abs(here - anchor)), 1)
        for mass, (before, here, after) in zip(masses, neighbours, strict=True)
    }
    return measure.scaled(whole - part) + Measure.at(weights, last=measure.last).scaled(part)
