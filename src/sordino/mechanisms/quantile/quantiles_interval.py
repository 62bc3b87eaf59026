"""Several quantiles with one band around them: a single ladder whose rungs are bands, for the price of one interval.

Rung j puts an interval around every answer, as wide as so many ranks are worth there by the released answers; its rows
to spare are those of the worst of its ends. All quantiles are covered at once. Proof: docs/proofs/quantile_interval.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.coverage import Sample
from sordino.errors import ParameterError
from sordino.mechanisms import Answer, Mechanism, other_lattice
from sordino.mechanisms.clip.column import AskedColumn
from sordino.mechanisms.parts.beside import BarBeside
from sordino.mechanisms.quantile.crossing import Crossing
from sordino.mechanisms.quantile.ladder import Rungs, spares
from sordino.mechanisms.quantile.ladder_plan import LadderPlan, choice_with_worth, margins
from sordino.mechanisms.quantile.recursive_quantiles import RecursiveQuantiles
from sordino.mechanisms.tuned import ForQuantileBar
from sordino.privacy import Guarantee, Neighbors, Purse
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sordino.hints import Hints
    from sordino.lattice import Lattice
    from sordino.mechanisms import Asking, Words
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantilesInterval(BarBeside):
    """Several quantiles and a band that covers all of them at once.

    Args:
        point: What answers the quantiles, at its own price.
        price: What the band costs.
        coverage: How surely it covers.

    Example:
        >>> from sordino.coverage import Sample
        >>> from sordino.hints import Hints
        >>> from sordino.privacy import Pure
        >>> from sordino.statistics.quantiles import Quantiles
        >>> asked = Quantiles("income", qs=(0.25, 0.5, 0.75), low=0, high=500_000)
        >>> (found,) = QuantilesInterval.offers(asked, Pure(1), Hints(interval=Sample(0.95), rows=20_000))
        >>> found.guarantee
        Pure(epsilon=1)
    """

    point: RecursiveQuantiles

    name: ClassVar[str] = "quantiles-interval"
    answers_tried: ClassVar[int] = 30
    asks: ClassVar[tuple[Trait, ...]] = (Trait.QUANTILES,)
    proof: ClassVar[str] = "quantile_interval"

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Where a bar for the sample is asked for and rows are roughly known: they say what a rank is worth."""
        if not isinstance(hints.interval, Sample) or hints.rows is None:
            return
        purse = Purse(price)
        for point in RecursiveQuantiles.offers(statistic, purse.take(ForQuantileBar.ANSWER), hints):
            assert isinstance(point, RecursiveQuantiles)
            yield cls(point=point, price=purse.rest(), coverage=hints.interval)

    def __post_init__(self) -> None:
        self.price.slope  # noqa: B018 - refuses prices that no theorem covers
        if self.point.rows is None:
            raise ParameterError(self.name, "needs a rough number of rows", hint="rows=1000")

    def refusal(self, statistic: Statistic) -> str | None:
        """Several quantiles of one column on its own lattice."""
        reason = Mechanism.refusal(self, statistic) or other_lattice(statistic, self.point.lattice)
        return reason or self.point.refusal(statistic)

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:
        """Ends are points of the lattice of the rows."""
        units = self.point.lattice.endless
        return {**self.point.lattices(statistic, grid), "low": units, "high": units}

    def unit(self, statistic: Any) -> Fraction:
        """How far one row moves the rows to spare at most."""
        if statistic.neighbors is Neighbors.REPLACE_ONE:
            return Fraction(1)
        return max(max(Fraction(q), 1 - Fraction(q)) for q in statistic.qs)

    def plan(self, statistic: Any, contribution: int) -> LadderPlan:
        """Slope, target and first rung; from public numbers alone. The scale comes from the released answers."""
        rows = self.point.rows
        assert rows is not None
        unit = self.unit(statistic)
        choice, rungs = choice_with_worth(self.price, float(rows / 2 / unit), float(rows), contribution)
        one = 1 if statistic.neighbors is Neighbors.REPLACE_ONE else 0
        target = max(choice.target(self.coverage.miss) - one, Fraction(0))
        usual = self.point.levels * contribution / self.point.price.slope
        crossed = isinstance(choice, Crossing)
        first = ForQuantileBar.FIRST[crossed] * (target + usual) * unit
        spacing = ForQuantileBar.SPACING * choice.gap * unit if isinstance(choice, Crossing) else Fraction(0)
        return LadderPlan(Fraction(0), None, Fraction(0), choice, target, first, spacing, rungs)

    def bands(self, plan: LadderPlan, statistic: Any, centres: Sequence[int]) -> list[Rungs]:
        """The intervals of every rung around every released code; public."""
        rows, last = self.point.rows, self.point.lattice.last
        assert rows is not None
        qs = [Fraction(q) for q in statistic.qs]
        found = []
        rate = plan.choice.rate if isinstance(plan.choice, Crossing) else plan.choice.slope
        beyond = (plan.target + 2 / rate) * self.unit(statistic)
        for place, (q, centre) in enumerate(zip(qs, centres, strict=True)):
            before, after = max(place - 1, 0), min(place + 1, len(qs) - 1)
            ranks = (qs[after] - qs[before]) * rows if len(qs) > 1 else Fraction(rows)
            length = centres[after] - centres[before] if len(qs) > 1 else last
            worth = max(Fraction(length) / max(ranks, Fraction(1)), Fraction(0))
            inner = max(worth * plan.first, Fraction(1))
            low, high = q * rows < beyond, (1 - q) * rows < beyond
            radii = plan.radii(inner, last)
            found.append(Rungs(centre, radii, last, low and not high, high and not low))
        return found

    def spare(self, statistic: Any, column: Any, bands: Sequence[Rungs]) -> list[Fraction | None]:
        """How many units of rows every rung can spare, at the worst of its ends; private."""
        cuts = sorted({cut for rungs in bands for cut in rungs.cuts})
        counts, rows = column.below(cuts)
        below = dict(zip(cuts, counts, strict=True))
        size = max(rungs.size for rungs in bands)
        worst: list[Fraction | None] = [None] * size
        for part, rungs in zip(statistic.parts, bands, strict=True):
            allowed, needed = margins(part, rows)
            spare = spares(rungs, below, needed=needed, allowed=allowed, unit=self.unit(statistic))
            for place, one in enumerate(spare):
                here = worst[place]
                worst[place] = one if here is None else here if one is None else min(here, one)
        return worst

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """The answers, then the rung."""
        answer = self.point.answer(statistic, ask, grid, contribution=contribution, bits=bits)
        assert isinstance(answer.value, tuple)
        plan = self.plan(statistic, contribution)
        lattice = self.point.lattice
        bands = self.bands(plan, statistic, [lattice.index(value) for value in answer.value])
        column = AskedColumn(statistic.column, statistic.grid, ask)
        spare = self.spare(statistic, column, bands)
        place = plan.choice.draw(spare, plan.target, price=self.price, bits=bits)
        ends = [rungs.ends(place) for rungs in bands]
        bar = {
            "low": tuple(lattice.real(low) for low, _ in ends),
            "high": tuple(lattice.real(high) for _, high in ends),
            "level": self.coverage.level,
            "simultaneous": True,
        }
        return replace(answer, public={**answer.public, **bar})
