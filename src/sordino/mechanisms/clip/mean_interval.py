"""A mean with an interval for the population: the default mean first, then the second moment of the same clipped rows.

The answer is drawn by the mechanism that draws it without an interval, at four fifths of the price; the rest pays for
the spread of the rows, without which nobody knows how far a sample is from its population.
Proof: docs/proofs/mean_bars.md.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.coverage import Population
from sordino.errors import Unsupported
from sordino.lattice import Lattice
from sordino.mechanisms import Answer, Mechanism, kinds
from sordino.mechanisms.clip.clipped_bar import ClippedBar
from sordino.mechanisms.clip.column import AskedColumn
from sordino.mechanisms.clip.population_bar import PopulationBar
from sordino.mechanisms.parts.beside import BarBeside
from sordino.mechanisms.parts.drawing import noise_for
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.public_noise import PublicNoise
from sordino.mechanisms.tuned_means import ForMeanInterval
from sordino.privacy import Guarantee, Neighbors, Purse
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.hints import Hints
    from sordino.mechanisms import Asking, Words
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.statistics import Statistic

LEAST_ROWS = 100  # with fewer a mean is not close to normal
SPREAD_MISS = 0.1  # two-sided: the limit of the spread is too small in one of twenty releases
POINTS = ("plain-or-cut", "auto-clip", "additive")  # whose answers are clipped means with a bar


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanInterval(BarBeside):
    """A mean and an interval for the mean of the population, of values cut to a published interval.

    Args:
        point: What answers the mean, at its own price.
        price: What the spread costs.
        coverage: What the interval covers, and how surely.

    Example:
        >>> from sordino.hints import Hints
        >>> from sordino.privacy import Pure
        >>> from sordino.statistics.mean import Mean
        >>> asked = Hints(interval=Population(0.95), rows=20_000)
        >>> (found,) = MeanInterval.offers(Mean("income", low=0, high=500_000), Pure(1), asked)
        >>> found.point.name, found.point.guarantee, found.guarantee
        ('plain-or-cut', Pure(epsilon=0.8), Pure(epsilon=1))
    """

    point: Mechanism

    name: ClassVar[str] = "mean-interval"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.MEAN,)
    proof: ClassVar[str] = "mean_bars"
    answers_tried: ClassVar[int] = 24

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Where an interval for the population is asked for that public noise alone does not give."""
        asked = hints.interval
        if not isinstance(asked, Population) or asked.inclusion is not None or (hints.rows or 0) < LEAST_ROWS:
            return
        if statistic.grid.last == 1 and statistic.neighbors is Neighbors.REPLACE_ONE:
            return  # a share has an exact interval
        purse, alone = Purse(price), replace(hints, interval=None)
        cost = purse.take(ForMeanInterval.ANSWER)
        for name in statistic.suited:
            for point in kinds()[name].offers(statistic, cost, alone) if name != cls.name else ():
                if point.name in POINTS and point.smooth_noise is None:
                    yield cls(point=point, price=purse.rest(), coverage=asked)
                return

    @classmethod
    def cases(cls) -> Iterator[MechanismCase]:
        """Means of all worlds at every price, searched and within bounds that fit."""
        from sordino.hints import Hints
        from sordino.mechanisms.parts.cases import PRICES, ROWS, MechanismCase, worlds

        for world, price, mode in product(worlds(), PRICES, ({}, {"tight": True})):
            if Trait.MEAN in world.statistic.traits:
                hints: dict[str, Any] = {"rows": ROWS, "interval": Population(0.9), **mode}
                with suppress(Unsupported):  # a price for a single draw
                    for found in cls.offers(world.statistic, price, Hints(**hints)):
                        yield MechanismCase(found, world, tuple(hints.items()))

    @property
    def bar_covers(self) -> str:
        """As asked."""
        return self.coverage.target

    @property
    def label(self) -> str:
        """That of the answer."""
        return f"{self.point.label} + interval for the population"

    def refusal(self, statistic: Statistic) -> str | None:
        """The mean of a column that the mechanism inside answers."""
        return Mechanism.refusal(self, statistic) or self.point.refusal(statistic)

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:
        """Those of the answer."""
        return dict(self.point.lattices(statistic, grid))

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """The mean, then squares about it."""
        drawn = self.point.answer(statistic, ask, grid, contribution=contribution, bits=bits)
        assert isinstance(drawn.value, Fraction)
        column = AskedColumn(statistic.column, statistic.grid, ask)
        sample = drawn.noise
        if isinstance(sample, PublicNoise):  # plain noise within the declared bounds, a public number of rows
            sample = self._plain(drawn.value, sample, column, grid)
        assert isinstance(sample, ClippedBar)
        low, high = (column.grid.index(end) for end in sample.cut)
        kept = column.clipped(low, high, squares=True)
        about = drawn.value
        largest = max(kept.high - about, about - kept.low) ** 2 * contribution
        total = kept.squares - 2 * about * kept.total + about * about * kept.rows
        fine = Lattice.dyadic(max(2 * grid.exponent, -1000))
        noisy, scale = Draws.of(bits).noisy(total, sensitivity=largest, price=self.price, grid=fine)
        off = PublicNoise(noise_for(self.price).noise, scale, fine.step).half(SPREAD_MISS)
        widest = (kept.high - kept.low) ** 2 / 4 * sample.rows_between(self.coverage.miss / 10)[1]
        squares, most = (min(max(end, Fraction(0)), widest) for end in (noisy, noisy + off))
        bar = PopulationBar(sample, squares, most)
        return replace(drawn, noise=bar)

    @staticmethod
    def _plain(value: Fraction, noise: PublicNoise, column: AskedColumn, grid: Lattice) -> ClippedBar:
        """The bar of an answer whose noise is made for the declared bounds."""
        sums = column.clipped(0, column.grid.last)
        bounds = sums.low, sums.high
        return ClippedBar(
            cut=bounds,
            bounds=bounds,
            value=value,
            noisy=value,
            reach=noise,
            step=grid.step,
            rows=sums.rows,
            ends=bounds,
        )
