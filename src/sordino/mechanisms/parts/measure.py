"""Public base measures on an integer lattice: how likely each answer is before any row has been read.

A measure is a sum of constant densities on intervals of lattice points and of weights on single points, all
in exact integers, so the mass of an interval and a draw from it are exact. A measure is chosen from public
numbers (bounds, step, a guess); nothing here sees data, scores or prices. Shapes: docs/proofs/mechanism_quantile.md.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Self

from sordino.errors import ParameterError
from sordino.mechanisms.parts.rings import MassTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DECADES = 10
"""Decades of round numbers below the largest bound: people do not write smaller ones, however fine the lattice."""

_LONGEST = 128  # bits of a common denominator that are kept exactly
_DIGITS = 49  # bits of the least size otherwise

Block = tuple[int, int, Fraction]  # first point, last point, mass


@dataclass(frozen=True)  # without slots: the table is kept in the instance
class Measure:
    """A positive measure on the lattice points ``0..last``, in integers over no common scale.

    Only ratios of masses matter to a mechanism, so masses are plain integers.

    Attributes:
        starts: First points of the intervals of constant density; ``starts[0]`` is 0.
        densities: Mass of one point inside each interval.
        points: Points with additional mass of their own, increasing.
        weights: That additional mass.
        last: The largest lattice point.

    Example:
        >>> measure = Measure.uniform(9) + Measure.at({5: 1}, last=9).scaled(3)
        >>> measure.mass(0, 9), measure.mass(5, 5), measure.mass(6, 4)
        (13, 4, 0)
        >>> [measure.point(0, 9, i) for i in range(13)]
        [0, 1, 2, 3, 4, 5, 5, 5, 5, 6, 7, 8, 9]
    """

    starts: tuple[int, ...]
    densities: tuple[int, ...]
    points: tuple[int, ...]
    weights: tuple[int, ...]
    last: int

    @classmethod
    def build(
        cls, *, starts: Sequence[int], densities: Sequence[int], points: Mapping[int, int], last: int
    ) -> Self:
        """Build from intervals and points."""
        if last < 0 or not starts or starts[0] != 0 or min(densities, default=0) < 0:
            raise ParameterError("measure", "a measure lives on 0..last with densities of zero or more")
        kept = sorted((point, weight) for point, weight in points.items() if weight)
        return cls(
            tuple(starts),
            tuple(densities),
            tuple(point for point, _ in kept),
            tuple(weight for _, weight in kept),
            last,
        )

    @classmethod
    def uniform(cls, last: int) -> Self:
        """Every point alike."""
        return cls.build(starts=(0,), densities=(1,), points={}, last=last)

    @classmethod
    def at(cls, points: Mapping[int, int], *, last: int) -> Self:
        """Single points only; those outside the lattice are left out."""
        inside = {point: weight for point, weight in points.items() if 0 <= point <= last}
        return cls.build(starts=(0,), densities=(0,), points=inside, last=last)

    @classmethod
    def blocks(cls, blocks: Iterable[Block], *, last: int) -> Self:
        """Spread each block's mass evenly over its points; the part outside ``0..last`` is left out."""
        kept = [(max(first, 0), min(end, last), mass / (end - first + 1)) for first, end, mass in blocks]
        kept = [(first, end, density) for first, end, density in kept if first <= end and density > 0]
        if not kept:
            raise ParameterError("measure", "at least one block must lie on the lattice")
        sizes = in_whole_numbers([density for _, _, density in kept])
        edges = sorted({0, *(first for first, _, _ in kept), *(end + 1 for _, end, _ in kept if end < last)})
        step: dict[int, int] = dict.fromkeys(edges, 0)
        for (first, end, _), size in zip(kept, sizes, strict=True):
            step[first] += size
            if end < last:
                step[end + 1] -= size
        return cls.build(
            starts=edges, densities=list(accumulate(step[edge] for edge in edges)), points={}, last=last
        )

    @cached_property
    def table(self) -> MassTable:
        """Running totals, worked out on first use."""
        firsts, _, masses = zip(*self._runs, strict=True)
        return MassTable(firsts, masses, self.last)

    @property
    def total(self) -> int:
        """Mass of the whole lattice."""
        return self.table.total

    def below(self, point: int) -> int:
        """Mass of all points smaller than the given one."""
        return self.table.below(min(max(point, 0), self.last + 1))

    def mass(self, first: int, last: int) -> int:
        """Mass of ``first..last``, zero when empty."""
        return self.below(last + 1) - self.below(first) if first <= last else 0

    def point(self, first: int, last: int, index: int) -> int:
        """The lattice point that holds unit ``index`` (from 0) of the mass of ``first..last``."""
        if not 0 <= index < self.mass(first, last):
            raise ParameterError("measure", "there is no such unit of mass", got={"index": index})
        return self.table.holder(self.below(first) + index)

    def cuts(self) -> tuple[tuple[int, int, int], ...]:
        """The measure as disjoint runs ``(first, last, mass of one point)``, points on their own."""
        return self._runs

    @cached_property
    def _runs(self) -> tuple[tuple[int, int, int], ...]:
        extra = dict(zip(self.points, self.weights, strict=True))
        edges = sorted({*self.starts, *self.points, *(p + 1 for p in self.points if p < self.last)})
        runs, place = [], 0
        for first, after in zip(edges, [*edges[1:], self.last + 1], strict=True):
            while place + 1 < len(self.starts) and self.starts[place + 1] <= first:
                place += 1
            runs.append((first, after - 1, self.densities[place] + extra.get(first, 0)))
        return tuple(runs)

    def scaled(self, factor: int) -> Self:
        """Multiply every mass by a whole number."""
        return type(self).build(
            starts=self.starts,
            densities=[density * factor for density in self.densities],
            points={point: weight * factor for point, weight in zip(self.points, self.weights, strict=True)},
            last=self.last,
        )

    def times(self, starts: Sequence[int], factors: Sequence[int]) -> Self:
        """Multiply by a step function of whole numbers.

        Example:
            >>> measure = Measure.uniform(9).times((0, 4, 6), (1, 5, 2))
            >>> [measure.mass(point, point) for point in range(10)]
            [1, 1, 1, 1, 5, 5, 2, 2, 2, 2]
        """

        def factor(point: int) -> int:
            return factors[bisect_right(starts, point) - 1]

        edges = sorted({*self.starts, *starts})
        return type(self).build(
            starts=edges,
            densities=[self._density(edge) * factor(edge) for edge in edges],
            points={
                point: weight * factor(point) for point, weight in zip(self.points, self.weights, strict=True)
            },
            last=self.last,
        )

    def rounded(self, bits: int) -> Self:
        """The measure of the nearest point of a lattice that is ``2^bits`` times as coarse and has the same ends.

        Example:
            >>> Measure.uniform(16).rounded(2).densities
            (2, 4, 3)
        """
        if not bits:
            return self
        half, last = 1 << bits - 1, self.last >> bits
        runs = self.cuts()
        ends = {
            0,
            last,
            *((first + half) >> bits for first, _, _ in runs),
        }  # cells that are not inside one run
        starts = sorted({*ends, *(end + 1 for end in ends if end < last)})
        masses = [self.mass((start << bits) - half, (start << bits) + half - 1) for start in starts]
        return type(self).build(starts=starts, densities=masses, points={}, last=last)

    def gathered(self, points: Iterable[int]) -> Self:
        """All mass moved to the nearest of some points, of two to the larger.

        Example:
            >>> found = Measure.uniform(9).gathered([0, 2, 7])
            >>> found.points, found.weights
            ((0, 2, 7), (1, 4, 5))
        """
        kept = sorted(points)
        edges = [0, *((here + after + 1) // 2 for here, after in pairwise(kept)), self.last + 1]
        masses = [self.below(after) - self.below(first) for first, after in pairwise(edges)]
        return type(self).at(dict(zip(kept, masses, strict=True)), last=self.last)

    def __add__(self, other: Self) -> Self:
        if other.last != self.last:
            raise ParameterError("measure", "two measures must live on the same lattice to be added")
        edges = sorted({*self.starts, *other.starts})
        points: dict[int, int] = dict(zip(self.points, self.weights, strict=True))
        for point, weight in zip(other.points, other.weights, strict=True):
            points[point] = points.get(point, 0) + weight
        return type(self).build(
            starts=edges,
            densities=[self._density(edge) + other._density(edge) for edge in edges],
            points=points,
            last=self.last,
        )

    def _density(self, point: int) -> int:
        return self.densities[bisect_right(self.starts, point) - 1]

    def __repr__(self) -> str:
        return f"Measure({len(self.starts)} intervals, {len(self.points)} points on 0..{self.last})"


def in_whole_numbers(sizes: Sequence[Fraction]) -> list[int]:
    """Positive public sizes as whole numbers in the same ratios; within 2^-48 where exact ones would be long.

    A draw takes as many random bits as the mass has, and which measure is used is free, as long as all use it.

    Example:
        >>> in_whole_numbers([Fraction(1, 2), Fraction(1, 3)])
        [3, 2]
    """
    scale = 1
    for size in sizes:
        scale = math.lcm(scale, size.denominator)
        if scale.bit_length() > _LONGEST:
            break
    else:
        return [size.numerator * (scale // size.denominator) for size in sizes]
    least = min(sizes)
    shift = _DIGITS + least.denominator.bit_length() - least.numerator.bit_length()
    return [_nearest(size.numerator, size.denominator, shift) for size in sizes]


def _nearest(top: int, bottom: int, shift: int) -> int:
    """The whole number nearest to ``top / bottom * 2^shift``, the even one of two."""
    top, bottom = (top << shift, bottom) if shift >= 0 else (top, bottom << -shift)
    whole, rest = divmod(top, bottom)
    return whole + (2 * rest > bottom or (2 * rest == bottom and whole % 2 == 1))


def mixture(parts: Iterable[tuple[Fraction, Measure]]) -> Measure:
    """Mix measures, each counted as a probability, with the given weights.

    Example:
        >>> mixed = mixture([(Fraction(1, 2), Measure.uniform(3)), (Fraction(1, 2), Measure.at({0: 7}, last=3))])
        >>> mixed.mass(0, 0) / mixed.total
        0.625
    """
    kept = [(weight, measure) for weight, measure in parts if weight > 0]
    factors = in_whole_numbers([weight / measure.total for weight, measure in kept])
    scaled = [measure.scaled(factor) for factor, (_, measure) in zip(factors, kept, strict=True)]
    total = scaled[0]
    for measure in scaled[1:]:
        total = total + measure
    return total


def shells(*, last: int, centre: int, core: int, tilt: int = 0) -> Measure:
    """A core around a public guess, then dyadic shells: a logarithmic (asinh-like) law in exact integers.

    The core is ``|y - centre| < core`` and counts as one shell; shell ``i`` is
    ``core 2^(i-1) <= |y - centre| < core 2^i`` on each side, with mass ``2^(-tilt i)`` when it fits into the lattice
    and the fitting share of it otherwise. ``tilt = 0`` is flat in the logarithm of the distance.

    Example:
        >>> measure = shells(last=100, centre=0, core=1)
        >>> [measure.mass(2**i, 2**(i+1) - 1) / measure.mass(0, 0) for i in range(5)]
        [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    core = max(core, 1)
    blocks: list[Block] = [(centre - core + 1, centre + core - 1, Fraction(1))]
    reach, index = core, 1
    # The core is one block with the mass of one shell; sides whose shells have left the lattice cost nothing.
    while centre + reach <= last or centre - reach >= 0:
        mass = Fraction(1, 2 ** (tilt * index))
        blocks += [
            (centre + reach, centre + 2 * reach - 1, mass),
            (centre - 2 * reach + 1, centre - reach, mass),
        ]
        reach, index = 2 * reach, index + 1
    inside = [(first, end, mass) for first, end, mass in blocks if end >= 0 and first <= last]
    return Measure.blocks(inside, last=last)


def decimals(*, low: Fraction, step: Fraction, last: int, decades: int = DECADES) -> Measure:
    """Numbers people write: zero and at most two significant digits, equal mass per decade and number of digits.

    Column values are heaped on such numbers; five per cent of the mass on them finds a heap with a dozen nats less.

    Args:
        low: Value of lattice point 0.
        step: Distance between lattice points.
        last: The largest lattice point.
        decades: How many of them lie below the largest bound.

    Example:
        >>> measure = decimals(low=Fraction(0), step=Fraction(1), last=100)
        >>> measure.mass(40, 40) > measure.mass(41, 41) > 0
        True
    """
    high = low + step * last
    largest = max(abs(low), abs(high), step)
    top = math.floor(math.log10(largest)) + 1
    bottom = max(min(math.floor(math.log10(step)), top), top - decades)
    weights: dict[int, int] = {}
    # In whole multiples of 1 / parts every number here is an integer: thousands of fractions would take a tenth of a
    # second.
    parts = math.lcm(low.denominator, step.denominator, 10 ** max(1 - bottom, 0))
    first, end, apart = int(low * parts), int(high * parts), int(step * parts)

    def put(value: int, weight: int) -> None:
        if first <= value <= end:
            index, over = divmod(value - first, apart)
            index += 2 * over > apart or (2 * over == apart and index % 2)  # the nearest, of two the even one
            weights[index] = weights.get(index, 0) + weight

    put(0, 180)
    for exponent in range(bottom, top + 1):
        tenth = int(Fraction(10) ** (exponent - 1) * parts)
        for digits in range(1, 10):
            put(digits * 10 * tenth, 10)
            put(-digits * 10 * tenth, 10)
        for digits in range(10, 100):
            put(digits * tenth, 1)
            put(-digits * tenth, 1)
    if not weights:  # a range without round numbers: its ends
        weights = {0: 1, last: 1}
    return Measure.at(weights, last=last)
