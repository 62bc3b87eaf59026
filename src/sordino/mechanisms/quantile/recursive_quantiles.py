"""Several quantiles at once: release the middle one, split the rows there, recurse.

A row is in one node per level, so the price grows with the logarithm of the number of quantiles, and the answers are
monotone. Tied rows are spread inside their lattice cell by a fresh dither. Proof: docs/proofs/mechanism_recursive.md.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino import checks
from sordino.errors import ParameterError, Unsupported
from sordino.exact.bits import Bits
from sordino.mechanisms import Answer, Mechanism, matched, other_lattice
from sordino.mechanisms.parts.conversing import Conversing
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.measure import Measure, mixture, shells
from sordino.mechanisms.quantile.ranked import Ranked, RankedPart
from sordino.privacy import Guarantee, Neighbors
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sordino.hints import Hints
    from sordino.lattice import FiniteLattice, Lattice
    from sordino.mechanisms import Asking, Words
    from sordino.statistics import Statistic

DITHER = 16  # bits inside a lattice cell
_WIDEST = 62  # bits of a point of the dithered lattice at most
NATS = 70


def node_runs(
    codes: NDArray[np.int64] | RankedPart, *, first: int, last: int, phi: Fraction, slope: Fraction
) -> tuple[list[tuple[int, int]], list[int], int]:
    """Runs of fine lattice points of one node, and their exponents as integers over a common unit.

    The exponent of a point is ``slope |rows below - phi rows|``, at most `NATS`, from the node's sorted codes in
    ``first..last``. A point counts the rows smaller than it; the cap keeps the sensitivity and bounds the work.

    Example:
        >>> node_runs(np.array([2, 2, 5]), first=0, last=9, phi=Fraction(1, 2), slope=Fraction(1, 3))
        ([(0, 2), (3, 5), (6, 9)], [3, 1, 3], 6)
    """
    rows, unit = len(codes), slope.denominator * phi.denominator
    target, cap = phi * rows, NATS / slope
    left, right = max(math.floor(target - cap), 0), min(math.ceil(target + cap), rows)
    # Points with exactly `below` smaller rows end at the next row; the outermost cells take all that is left.
    ends = np.append(codes[left:right], last)
    starts = np.append(first, np.maximum(ends[:-1] + 1, first))
    kept = np.flatnonzero(starts <= ends)
    runs = list(zip(starts[kept].tolist(), ends[kept].tolist(), strict=True))
    places, middle, most = kept + left, phi.numerator * rows, NATS * unit
    if (rows + 1) * phi.denominator * slope.numerator < 2**62 and most < 2**62:
        away = np.abs(places * phi.denominator - middle) * slope.numerator
        return runs, np.minimum(away, most).tolist(), unit
    times = slope.numerator
    levels = [min(abs(below * phi.denominator - middle) * times, most) for below in places.tolist()]
    return runs, levels, unit


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveQuantiles(Conversing):
    """Several quantiles of one column.

    Args:
        price: What all of them cost together.
        qs: Increasing quantiles.
        lattice: The public answers.
        rows: Public number of rows, or a declared rough one; None leaves the base measure wide.
        tight: The caller vouches that the bounds fit the column.
        centre: Public guess of the centre of the column.
        dither: Bits inside a lattice cell, fewer where 64 bits do not hold them; 0 for data without ties.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> from sordino.lattice import FiniteLattice
        >>> from sordino.privacy import Pure
        >>> lattice = FiniteLattice(Fraction(0), Fraction(1), 100)
        >>> RecursiveQuantiles(price=Pure(1), qs=(0.25, 0.5, 0.75), lattice=lattice).levels
        2
    """

    price: Guarantee
    qs: tuple[Fraction | float, ...]
    lattice: FiniteLattice
    rows: int | None = None
    tight: bool = False
    centre: float | None = None
    dither: int = DITHER
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    name: ClassVar[str] = "recursive-quantiles"
    answers_tried: ClassVar[int] = 30
    asks: ClassVar[tuple[Trait, ...]] = (Trait.QUANTILES,)
    law_is: ClassVar[str] = "joint_law(codes) on tiny data"
    proof: ClassVar[str] = "mechanism_recursive"

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Several quantiles of one column."""
        yield cls(
            price=price, qs=statistic.qs, lattice=statistic.grid.answers, rows=hints.rows, tight=hints.tight,
            centre=hints.centre, neighbors=statistic.neighbors,
        )  # fmt: skip

    def __post_init__(self) -> None:
        qs = tuple(checks.between(self.name, 0, 1, closed=True, q=q) for q in self.qs)
        if not qs or any(a >= b for a, b in itertools.pairwise(qs)):
            raise ParameterError(
                self.name, "qs must be increasing", got={"qs": self.qs}, hint="qs=(0.25, 0.5, 0.75)"
            )
        object.__setattr__(self, "qs", qs)
        checks.whole(self.name, dither=self.dither)
        self.price.bounded_range  # noqa: B018 - refuses prices that no theorem covers

    def refusal(self, statistic: Any) -> str | None:
        """The same quantiles of one column on its own lattice."""
        reason = Mechanism.refusal(self, statistic) or other_lattice(statistic, self.lattice)
        if reason is None and tuple(self.qs) != tuple(Fraction(q) for q in statistic.qs):
            return "It was built for other quantiles."
        return reason

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:  # noqa: ARG002
        """Points of the lattice."""
        return {"value": self.lattice.endless}

    @property
    def levels(self) -> int:
        """Depth of the recursion."""
        return len(self.qs).bit_length()

    @property
    def trusted(self) -> bool:
        """False when there are too few rows times epsilon for so many quantiles."""
        return self.rows is None or self.rows * float(self.price.bounded_range) >= 64 * len(self.qs)

    @property
    def inside(self) -> int:
        """Bits inside a lattice cell: as many as asked for, or as 64 bits leave."""
        return max(min(self.dither, _WIDEST - self.lattice.last.bit_length()), 0)

    @property
    def fine(self) -> int:
        """The last point of the dithered lattice."""
        return ((self.lattice.last + 1) << self.inside) - 1

    def measure(self) -> Measure:
        """Base measure on the dithered lattice; public."""
        uniform = Measure.uniform(self.fine)
        if self.tight:
            return uniform
        anchor = self.lattice.anchor if self.centre is None else self.lattice.index(self.centre)
        place = (anchor << self.inside) + (1 << self.inside) // 2
        near = shells(last=self.fine, centre=min(place, self.fine), core=max(self.fine >> 20, 1))
        return mixture([(Fraction(1, 3), uniform), (Fraction(2, 3), near)])

    @property
    def alone(self) -> frozenset[int]:
        """The places of quantiles that are the only ones of their level: no row can leave one node for another there.

        Example:
            >>> from sordino.lattice import FiniteLattice
            >>> from sordino.privacy import Pure
            >>> lattice = FiniteLattice(Fraction(0), Fraction(1), 100)
            >>> sorted(RecursiveQuantiles(price=Pure(1), qs=(0.2, 0.4, 0.6, 0.8), lattice=lattice).alone)
            [1, 3]
        """
        level, found = [(0, len(self.qs) - 1)], []
        while level:
            middles = [(left + right) // 2 for left, right in level]
            found += middles if len(middles) == 1 else []
            halves = [
                half
                for (left, right), middle in zip(level, middles, strict=True)
                for half in ((left, middle - 1), (middle + 1, right))
            ]
            level = [(left, right) for left, right in halves if left <= right]
        return frozenset(found)

    def slope(self, phi: Fraction, *, alone: bool = False) -> Fraction:
        """Nats per row at a node that splits at the fraction phi; see the proof page for the factor.

        Args:
            phi: The fraction.
            alone: No other node of its level is asked.
        """
        once = self.price.share(Fraction(1, self.levels)).bounded_range
        widest = 2 * max(phi, 1 - phi)
        if self.neighbors is Neighbors.ADD_REMOVE_ONE:
            return once / widest
        return once / (2 if alone else 2 * widest)

    def converse(
        self, codes: Sequence[int] | NDArray[np.int64], *, contribution: int = 1, bits: Bits | None
    ) -> list[int]:
        """Release all quantiles of known-to-the-mechanism codes, as lattice points."""
        draws, inside = Draws.of(Bits() if bits is None else bits), self.inside
        rows = np.asarray(codes, dtype=np.int64) << inside
        if inside and len(rows):
            # Independent of the values, one per row: neighbours stay neighbours for every dither.
            rows += draws.dither(len(rows), inside)
        answers: dict[int, int] = {}
        measure, alone = self.measure(), self.alone
        whole = RankedPart(Ranked(rows, 0, self.fine), 0, len(rows))
        pending = [(0, len(self.qs) - 1, 0, self.fine, Fraction(0), Fraction(1), whole)]
        while pending:
            left, right, first, last, bottom, top, node = pending.pop()
            if left > right:
                continue
            middle = (left + right) // 2
            q = Fraction(self.qs[middle])
            phi = (q - bottom) / (top - bottom) if top > bottom else Fraction(1, 2)
            single = middle in alone
            point = self._release(node, first, last, phi, measure, contribution, draws, alone=single)
            answers[middle] = point
            below, above = node.split(point)
            pending.append((left, middle - 1, first, point, bottom, q, below))
            pending.append((middle + 1, right, min(point + 1, last), last, q, top, above))
        return [answers[place] >> inside for place in range(len(self.qs))]

    def _release(
        self,
        node: RankedPart,
        first: int,
        last: int,
        phi: Fraction,
        measure: Measure,
        contribution: int,
        draws: Draws,
        *,
        alone: bool,
    ) -> int:
        slope = self.slope(phi, alone=alone) / contribution
        runs, levels, unit = node_runs(node, first=first, last=last, phi=phi, slope=slope)
        return draws.scored(
            runs, levels, measure, unit=unit, price=self.price.share(Fraction(1, self.levels))
        )

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Ask for the codes of the column (sources in memory), then recurse."""
        del grid
        from sordino.reading.requests import Columns

        request = Columns((statistic.column,), (statistic.grid,))
        codes = ask(request).codes
        assert codes is not None
        points = matched(self, statistic).converse(codes[0], contribution=contribution, bits=bits)
        return Answer(tuple(self.lattice.real(point) for point in points))

    def joint_law(self, codes: Sequence[int]) -> dict[tuple[int, ...], float]:
        """The exact joint law without dither, by enumerating every answer: for laws on tiny lattices only."""
        if self.dither:
            raise Unsupported(self.name, "enumerates undithered lattices only", hint="dither=0")
        measure, alone = self.measure(), self.alone

        def node_law(node: Any, first: int, last: int, phi: Fraction, *, single: bool) -> dict[int, float]:
            slope = self.slope(phi, alone=single)
            runs, levels, unit = node_runs(node, first=first, last=last, phi=phi, slope=slope)
            weights = {
                point: measure.mass(point, point) * math.exp(-level / unit)
                for (start, end), level in zip(runs, levels, strict=True)
                for point in range(start, end + 1)
            }
            total = math.fsum(weights.values())
            return {point: weight / total for point, weight in weights.items()}

        def explore(
            left: int, right: int, first: int, last: int, bottom: Fraction, top: Fraction, node: Any
        ) -> Any:
            if left > right:
                return {(): 1.0}
            middle = (left + right) // 2
            q = Fraction(self.qs[middle])
            phi = (q - bottom) / (top - bottom) if top > bottom else Fraction(1, 2)
            found: dict[tuple[int, ...], float] = {}
            for point, chance in node_law(node, first, last, phi, single=middle in alone).items():
                split = int(np.searchsorted(node, point, side="right"))
                below = explore(left, middle - 1, first, point, bottom, q, node[:split])
                above = explore(middle + 1, right, min(point + 1, last), last, q, top, node[split:])
                for lower, one in below.items():
                    for upper, two in above.items():
                        key = (*lower, point, *upper)
                        found[key] = found.get(key, 0.0) + chance * one * two
            return found

        result: dict[tuple[int, ...], float] = explore(
            0,
            len(self.qs) - 1,
            0,
            self.fine,
            Fraction(0),
            Fraction(1),
            np.sort(np.asarray(codes, dtype=np.int64)),
        )
        return result
