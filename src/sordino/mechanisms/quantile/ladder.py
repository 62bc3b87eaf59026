"""The ladder of nested intervals around a released quantile: public radii, private rows to spare, one choice of a rung.

Rung j is the interval from ``y - R_j`` to ``y + R_j``. Its rows to spare say how many rows may change before it no
longer covers the quantile; the rung is chosen whose rows to spare pass a public target: the first that passes with one
noise for all (crossing.py), or, in here, one by weights. Their offsets grow outwards, so all the rungs that miss weigh
a geometric series. Proof: docs/proofs/quantile_interval.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.selection.permute_and_flip import probabilities

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.mechanisms.quantile.crossing import Crossing
    from sordino.privacy import Guarantee

TARGET = 2**20  # targets are whole multiples of one part in so many rows, so that exponents stay rational


def miss_bound(distance: float, *, growth: float, rungs: int, flip: bool) -> float:
    """The most that the probability of a miss can be, on every dataset and around every point.

    Args:
        distance: Nats between a rung that misses and the target.
        growth: Nats by which each rung is favoured over the one inside it.
        rungs: Rungs beside the innermost.
        flip: Whether the rung is chosen by permute-and-flip; by the exponential mechanism otherwise.

    Example:
        >>> round(miss_bound(0.8047, growth=math.log(3), rungs=40, flip=True), 4)
        0.05
    """
    if distance <= 0:
        return 1.0
    base = math.exp(growth)
    series = math.fsum(base**-i for i in range(1, rungs + 1))
    if flip:
        worst = max(base**-0.5 / 3, math.exp(-distance) / 2, 1 / (2 * base))
    else:
        worst = 1 / min(2 * math.sqrt(base), math.exp(distance), base)
    return min(math.exp(-distance) * series * worst, 1.0)


@lru_cache(maxsize=1024)
def nats_needed(miss: float, *, growth: float, rungs: int, flip: bool) -> float:
    """The smallest distance in nats at which a miss is rare enough.

    Example:
        >>> [round(nats_needed(miss, growth=math.log(3), rungs=40, flip=True), 2) for miss in (0.1, 0.05, 0.01)]
        [0.46, 0.8, 2.26]
    """
    low, high = 0.0, 1.0
    while miss_bound(high, growth=growth, rungs=rungs, flip=flip) > miss:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        rare = miss_bound(middle, growth=growth, rungs=rungs, flip=flip) <= miss
        low, high = (low, middle) if rare else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class Weighing:
    """How a rung is chosen by weights; public.

    Attributes:
        slope: Nats per unit of rows to spare.
        growth: Nats by which each rung is favoured over the one inside it.
        rungs: Rungs beside the innermost.
        flip: Whether the rung is chosen by permute-and-flip; by the exponential mechanism otherwise.
    """

    slope: Fraction
    growth: Fraction
    rungs: int
    flip: bool

    def miss(self, away: float) -> float:
        """The most that all rungs may weigh that fall short of the target by so many units."""
        return miss_bound(
            float(self.slope) * away, growth=float(self.growth), rungs=self.rungs, flip=self.flip
        )

    def target(self, miss: float) -> Fraction:
        """How far a rung must fall short so that such rungs are drawn no more often than this."""
        needed = nats_needed(miss, growth=float(self.growth), rungs=self.rungs, flip=self.flip)
        return on_target_lattice(needed / float(self.slope))

    def short(self, spare: Sequence[Fraction | None], target: Fraction) -> list[Fraction]:
        """What every rung falls short of the best, in nats; private."""
        return exponents(scores(spare, target), slope=self.slope, growth=self.growth)

    def chances(self, spare: Sequence[Fraction | None], target: Fraction) -> list[float]:
        """The exact law of the rung; for laws, plans and audits."""
        return rung_chances(self.short(spare, target), flip=self.flip)

    def draw(
        self,
        spare: Sequence[Fraction | None],
        target: Fraction,
        *,
        price: Guarantee,
        bits: Bits | None = None,
    ) -> int:
        """A rung, exactly."""
        return draw_rung(self.short(spare, target), price=price, bits=bits)


@lru_cache(maxsize=1024)
def population_rows(
    miss: float, choice: Weighing | Crossing, *, rows: int, quantile: Fraction, ranks: tuple[int, int]
) -> float:
    """The target in rows for which the interval covers the quantile of the population: one sum over the sample.

    With K rows below it, a rung that misses it has at most ``max(r - 1 - K, K - r')`` rows to spare.

    Args:
        miss: How often it may fail, over the sample and the noise.
        choice: How the rung is chosen.
        rows: The public number of rows.
        quantile: Which quantile.
        ranks: The ranks r and r' between which the answer lies.
    """
    import numpy as np
    from scipy.stats import binom

    share = float(quantile)
    middle, spread = rows * share, math.sqrt(rows * share * (1 - share))
    first = max(math.floor(middle - 9.5 * spread - 20), 0)
    counts = np.arange(first, min(math.ceil(middle + 9.5 * spread + 20), rows) + 1)
    chances = binom.pmf(counts, rows, share)
    spare = np.minimum(1 + counts - ranks[0], ranks[1] - counts)

    def missed(target: float) -> float:
        bounds = [choice.miss(target + one) for one in spare.tolist()]
        return float(np.sum(chances * np.array(bounds))) + 1e-12

    low, high = 0.0, 1.0
    while missed(high) > miss:
        low, high = high, 2 * high
    for _ in range(30):
        center = (low + high) / 2
        low, high = (low, center) if missed(center) <= miss else (center, high)
    return high


def on_target_lattice(target: float) -> Fraction:
    """A target rounded up, so that it is a short fraction."""
    return Fraction(math.ceil(target * TARGET * (1 + 1e-12)), TARGET)


@dataclass(frozen=True, slots=True)
class Rungs:
    """Nested intervals of codes around a released one; public.

    Attributes:
        centre: The released code.
        radii: Increasing, from 0 to the length of the lattice.
        last: The last code.
        open_low: The lower end is always the bound: too few rows lie below the quantile.
        open_high: The same above.
    """

    centre: int
    radii: tuple[int, ...]
    last: int
    open_low: bool = False
    open_high: bool = False

    def ends(self, place: int) -> tuple[int, int]:
        """First and last code of a rung."""
        radius = self.radii[place]
        low = 0 if self.open_low else max(self.centre - radius, 0)
        high = self.last if self.open_high else min(self.centre + radius, self.last)
        return low, high

    @property
    def size(self) -> int:
        """Rungs up to the first that is everything: the others would be the same interval."""
        for place in range(len(self.radii)):
            if self.ends(place) == (0, self.last):
                return place + 1
        return len(self.radii)

    @property
    def cuts(self) -> tuple[int, ...]:
        """Codes below which rows must be counted."""
        found = set()
        for place in range(self.size):
            low, high = self.ends(place)
            found |= {low, high + 1}
        return tuple(sorted(found))


def spares(
    rungs: Rungs, below: dict[int, int], *, needed: Fraction, allowed: Fraction, unit: Fraction
) -> list[Fraction | None]:
    """Rows to spare of every rung: how many units may change before it stops to cover; None for any number.

    Args:
        rungs: The intervals.
        below: For each cut the number of rows with a smaller code; private.
        needed: What the rows up to the upper end must exceed or reach, less one row.
        allowed: What the rows below the lower end must not exceed.
        unit: How far one row moves a difference.
    """
    found: list[Fraction | None] = []
    for place in range(rungs.size):
        low, high = rungs.ends(place)
        sides = []
        if low > 0:
            sides.append((allowed - below[low]) / unit)
        if high < rungs.last:
            sides.append((below[high + 1] - needed) / unit)
        found.append(min(sides) if sides else None)
    return found


def scores(spare: Sequence[Fraction | None], target: Fraction) -> list[Fraction]:
    """How well each rung passes the target and the one inside it does not; moves by at most one per unit.

    Example:
        >>> [int(one) for one in scores([Fraction(-3), Fraction(4), None], Fraction(2))]
        [-5, 2, -2]
    """
    found, inner = [], None
    for place, one in enumerate(spare):
        sides = [] if one is None else [one - target]
        if place:
            assert inner is not None  # only the last rung can spare any number
            sides.append(target - inner)
        found.append(min(sides) if sides else Fraction(0))
        inner = one
    return found


def exponents(values: Sequence[Fraction], *, slope: Fraction, growth: Fraction) -> list[Fraction]:
    """What each rung falls short of the best, in nats."""
    favour = [slope * value + growth * place for place, value in enumerate(values)]
    best = max(favour)
    return [best - one for one in favour]


def rung_chances(short: Sequence[Fraction], *, flip: bool) -> list[float]:
    """The exact law of the choice; for laws and audits."""
    if flip:
        return probabilities([float(one) for one in short], 1.0)
    weights = [math.exp(-float(one)) for one in short]
    return [weight / math.fsum(weights) for weight in weights]


def draw_rung(short: Sequence[Fraction], *, price: Guarantee, bits: Bits | None = None) -> int:
    """Choose a rung exactly: by permute-and-flip at a pure price, by its weight at others."""
    draws = Draws.of(bits)
    return (draws.flip if price.pointwise else draws.choice)(short, price=price)
