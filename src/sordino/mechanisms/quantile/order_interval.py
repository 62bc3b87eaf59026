"""An interval for a quantile from two private order statistics, valid on every dataset.

Half the price for a rank t below and half for a rank t above; t comes from public numbers, so the interval covers the
quantile of the sample with at least the stated probability. Proof: docs/proofs/mechanism_error_bar.md.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import SordinoError
from sordino.lattice import Lattice
from sordino.mechanisms import Answer, Mechanism, lacking, other_lattice
from sordino.mechanisms.nested.intervals import Intervals, lattice_cells
from sordino.mechanisms.parts.conversing import Conversing
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.law import LatticeLaw
from sordino.mechanisms.parts.measure import Measure
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sordino.exact.bits import Bits
    from sordino.lattice import FiniteLattice
    from sordino.mechanisms import Asking, Words
    from sordino.mechanisms.clip.column import ClippableColumn
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Rank
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderInterval(Conversing):
    """Two ends that enclose a quantile of the sample with a stated probability.

    Args:
        price: What both ends cost together.
        lattice: The public answers.
        level: Probability that the interval covers.
        radius: A public length that does not matter: both ends are widened by it, and the ranks come nearer.
        rows: Public number of rows; only says beforehand whether the interval can be useful.
        point: A mechanism that answers the quantile itself, at its own price; the middle of the interval without one.

    Example:
        >>> from sordino.lattice import FiniteLattice
        >>> from sordino.privacy import Pure
        >>> lattice = FiniteLattice(Fraction(-50), Fraction(1, 2**20), 1100 * 2**20)
        >>> OrderInterval(price=Pure(1), lattice=lattice, radius=0.01).ranks
        61
    """

    price: Guarantee
    lattice: FiniteLattice
    level: float = 0.95
    radius: Fraction | float = Fraction(0)
    rows: int | None = None
    point: PrivateQuantile | None = None

    name: ClassVar[str] = "order-interval"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.ROW,)
    needs: ClassVar[tuple[str, ...]] = ("reach",)
    law_is: ClassVar[str] = "end_law(column, rank)"
    proof: ClassVar[str] = "mechanism_error_bar"

    def error_laws(
        self,
        statistic: Any,
        ask: Asking,
        grid: Lattice,
        truth: Any,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Sequence[Errors] | None:
        """The bar stands beside the answer."""
        if self.point is None:
            return None
        return self.point.error_laws(statistic, ask, grid, truth, contribution=contribution, bits=bits)

    def __post_init__(self) -> None:
        checks.between(self.name, 0, 1, level=self.level)
        object.__setattr__(self, "radius", checks.non_negative(self.name, radius=self.radius))

    @classmethod
    def cases(cls) -> Iterator[MechanismCase]:
        """Around single rows of every column, alone and with a point; nothing offers it by itself."""
        from sordino.mechanisms.parts.cases import PRICES, ROWS, MechanismCase, worlds
        from sordino.mechanisms.quantile.private_quantile import PrivateQuantile

        for world in worlds():
            statistic: Any = world.statistic
            if lacking(statistic, *cls.asks) is not None or not hasattr(statistic, "grid"):
                continue
            lattice = statistic.grid
            for price in PRICES:
                with contextlib.suppress(SordinoError):  # two draws do not compose to a bounded range
                    alone = cls(price=price, lattice=lattice, rows=ROWS)
                    yield MechanismCase(alone, world, (("rows", ROWS),))
                    half = price.share(Fraction(1, 2))
                    point = PrivateQuantile(price=half, lattice=lattice, rows=ROWS)
                    both = cls(price=half, lattice=lattice, rows=ROWS, point=point)
                    yield MechanismCase(both, world, (("rows", ROWS), ("point", True)))

    def refusal(self, statistic: Statistic) -> str | None:
        """One row of a column on its own lattice, and whatever the point needs."""
        reason = Mechanism.refusal(self, statistic) or other_lattice(statistic, self.lattice)
        return reason or (None if self.point is None else self.point.refusal(statistic))

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:
        """Both ends are points of the lattice, and their middle may lie between two."""
        ends = self.lattice.endless
        if self.point is None:
            return {"value": Lattice(ends.origin, ends.step / 2), "low": ends, "high": ends}
        return {**self.point.lattices(statistic, grid), "low": ends, "high": ends}

    @property
    def guarantee(self) -> Guarantee:
        """Both ends compose to the price; the point adds its own."""
        return self.price if self.point is None else self.price + self.point.guarantee

    @property
    def slope(self) -> Fraction:
        """Nats per rank at one end."""
        return self.price.share(Fraction(1, 2)).slope

    @property
    def steps(self) -> int:
        """The radius in whole lattice steps."""
        return math.floor(Fraction(self.radius) / self.lattice.step)

    @property
    def ranks(self) -> int:
        """How many ranks from the quantile each end aims.

        An end passes the quantile only at level t + 1 or beyond, which has probability at most
        ``points / near * exp(-slope (t + 1))`` with ``near`` points within the radius of any value.
        """
        near = self.steps + 1
        spare = (1 - self.level) / 2
        needed = math.log((self.lattice.last + 1) / near / spare) / float(self.slope)
        return max(math.ceil(needed * (1 + 1e-12)) - 1, 0)

    @property
    def depth(self) -> int:
        """Ranks around each end beyond which the mass does not matter."""
        return math.ceil(70 / self.slope)

    @property
    def trusted(self) -> bool:
        """False when the ends would leave the data."""
        return self.rows is None or 2 * self.ranks < self.rows

    def end_law(self, column: ClippableColumn, rank: Rank, *, contribution: int = 1) -> LatticeLaw:
        """The law of one end: plain inverse sensitivity at a rank, with rows beyond the data at the ends of the range.

        Ranks outside 1..n stand for rows at the bounds, so the bound on the tail holds for every number of rows.
        """
        return LatticeLaw(
            lattice_cells(self._end(column, rank, contribution), Fraction(0)), Measure.uniform(self.lattice.last),
            self.slope, low=self.lattice.origin, step=self.lattice.step,
        )  # fmt: skip

    def _end(self, column: ClippableColumn, rank: Rank, contribution: int) -> Intervals:
        """The nested intervals around one end; private."""
        reach = self.depth * contribution
        codes, _, _ = column.window(rank, reach)
        last = self.lattice.last
        levels = range(0, reach + 1, contribution)
        family = Intervals.of(
            [codes[reach - level] for level in levels],
            [codes[reach + level] for level in levels],
            first=0,
            last=last,
        )
        return family.widened(self.steps).clipped(first=0, last=last)

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Release both ends; the value is their middle."""
        from sordino.mechanisms.clip.column import AskedColumn
        from sordino.mechanisms.parts.rings import Rings

        column = AskedColumn(statistic.column, statistic.grid, ask)
        middle: Rank = statistic.ranks()[0]
        ends, draws, half = [], Draws.of(bits), self.price.share(Fraction(1, 2))
        for sign in (-1, 1):
            rank = replace(middle, offset=middle.offset + sign * self.ranks * contribution)
            rings = Rings.of(self._end(column, rank, contribution), Fraction(0))
            assert rings is not None  # a lattice of codes has at most 2^50 points
            (point,) = draws.lattice(rings, Measure.uniform(self.lattice.last), self.slope, price=half)
            ends.append(point + sign * self.steps)
        low, high = max(min(ends), 0), min(max(ends), self.lattice.last)
        bounds = {"low": self.lattice.real(low), "high": self.lattice.real(high), "level": self.level}
        if self.point is None:
            return Answer(self.lattice.real(Fraction(low + high, 2)), bounds)
        answer = self.point.answer(statistic, ask, grid, contribution=contribution, bits=bits)
        return Answer(answer.value, {**answer.public, **bounds})
