"""A quantile with an interval around it: the answer first, then how far it may be off, by a ladder of intervals.

Three draws that compose: the answer, what a rank is worth near it (where rows are many), and the rung. The interval
covers on every dataset with at least the stated probability. Proof: docs/proofs/quantile_interval.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.coverage import Coverage, Population
from sordino.mechanisms import Answer, Mechanism, other_lattice
from sordino.mechanisms.clip.column import AskedColumn
from sordino.mechanisms.parts.beside import BarBeside
from sordino.mechanisms.quantile.ladder import Rungs, draw_rung, spares
from sordino.mechanisms.quantile.ladder_plan import LadderPlan, margins, plan_ladder, row_unit
from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
from sordino.mechanisms.tuned import ForQuantileBar
from sordino.privacy import Guarantee, Neighbors, Purse
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.lattice import FiniteLattice, Lattice
    from sordino.mechanisms import Asking, Asks, Words
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileInterval(BarBeside):
    """A quantile and an interval that covers it, or that of the population, with a stated probability.

    Args:
        point: What answers the quantile, at its own price.
        price: What the interval costs.
        coverage: What it covers, and how surely.

    Example:
        >>> from sordino.coverage import Sample
        >>> from sordino.hints import Hints
        >>> from sordino.privacy import Pure
        >>> from sordino.statistics.median import Median
        >>> median = Median("income", low=0, high=500_000)
        >>> (found,) = QuantileInterval.offers(median, Pure(1), Hints(interval=Sample(0.95), rows=20_000))
        >>> found.point.price, found.guarantee
        (Pure(epsilon=0.5625), Pure(epsilon=1))
    """

    point: PrivateQuantile

    name: ClassVar[str] = "quantile-interval"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.QUANTILE,)
    together: ClassVar[bool] = True
    proof: ClassVar[str] = "quantile_interval"

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Where a bar is asked for."""
        asked = hints.interval
        if asked is None or not cls.sold(statistic, asked, hints):
            return
        purse = Purse(price)
        point = PrivateQuantile.point(statistic, purse.take(ForQuantileBar.ANSWER), hints)
        yield cls(point=point, price=purse.rest(), coverage=asked)

    @classmethod
    def sold(cls, statistic: Any, asked: Coverage, hints: Hints) -> bool:
        """Whether such an interval is known: for the population the number of rows must be public."""
        if statistic.extreme or statistic.shift:
            return False
        if not isinstance(asked, Population):
            return True
        fixed = statistic.neighbors is Neighbors.REPLACE_ONE and hints.rows is not None
        return fixed and asked.inclusion is None

    @property
    def bar_covers(self) -> str:
        """As asked."""
        return self.coverage.target

    def __post_init__(self) -> None:
        self.price.slope  # noqa: B018 - refuses prices that no theorem covers

    @property
    def lattice(self) -> FiniteLattice:
        """The public answers."""
        return self.point.lattice

    def refusal(self, statistic: Statistic) -> str | None:
        """A quantile of one column on its own lattice; of the population with a public number of rows."""
        reason = Mechanism.refusal(self, statistic) or other_lattice(statistic, self.lattice)
        if reason is not None:
            return reason
        if statistic.extreme or statistic.shift:  # type: ignore[attr-defined]
            return "Its theorem is about a quantile, not about a row so many places inside an end."
        fixed = statistic.neighbors is Neighbors.REPLACE_ONE and self.point.rows is not None
        if isinstance(self.coverage, Population) and not fixed:
            return "For the population the number of rows must be public."
        return self.point.refusal(statistic)

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:
        """Answer and ends are points of the lattice of the rows."""
        return {
            **self.point.lattices(statistic, grid),
            "low": self.lattice.endless,
            "high": self.lattice.endless,
        }

    # What is decided beforehand ---------------------------------------------------------------------------

    def plan(self, statistic: Any, contribution: int) -> LadderPlan:
        """Radii, slopes and target; from public numbers alone."""
        return plan_ladder(
            statistic, rows=self.point.rows, last=self.lattice.last, price=self.price, answered=self.point.price,
            coverage=self.coverage, contribution=contribution,
        )  # fmt: skip

    def rungs(self, plan: LadderPlan, centre: int, radius: int | None) -> Rungs:
        """The intervals around a released code, given the released radius; public."""
        last, anchor = self.lattice.last, self.point.plan.anchor
        if plan.mass is None or radius is None:
            inner = Fraction(max(abs(centre - anchor) >> 12, last >> ForQuantileBar.FINE, 1))
        else:
            inner = max(radius * 2 * plan.first / plan.mass, Fraction(1))
        radii = tuple(sorted(set(plan.radii(inner, last))))
        return Rungs(centre, radii, last, plan.open_low, plan.open_high)

    @property
    def radii(self) -> tuple[int, ...]:
        """Radii among which the worth of a rank is sought; public."""
        found, size, last = {0, self.lattice.last}, Fraction(1), self.lattice.last
        while size < last:
            found.add(math.ceil(size))
            size = Fraction(math.ceil(size * ForQuantileBar.RATIO * 16), 16)
        return tuple(sorted(found))

    # The closed room ----------------------------------------------------------------------------------------

    answer = Mechanism.answer

    @property
    def asks_again(self) -> bool:
        """First for the rows near the quantile, then for those within its rungs."""
        return True

    def answers(
        self, statistic: Any, asks: Asks, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> list[Answer]:
        """The same for many groups: all answers first, then one ladder each."""
        drawn = self.point.answers(statistic, asks, grid, contribution=contribution, bits=bits)
        plan = self.plan(statistic, contribution)
        return [
            self._with_bar(statistic, ask, plan, answer, bits)
            for ask, answer in zip(asks, drawn, strict=True)
        ]

    def _with_bar(
        self, statistic: Any, ask: Asking, plan: LadderPlan, answer: Answer, bits: Bits | None
    ) -> Answer:
        assert isinstance(answer.value, Fraction)
        column = AskedColumn(statistic.column, statistic.grid, ask)
        centre = self.lattice.index(answer.value)
        radius = self._radius(column, centre, plan, bits)
        rungs = self.rungs(plan, centre, radius)
        spare = self.spare(statistic, column, rungs)
        price = self.price.share(1 - plan.spent)
        low, high = rungs.ends(plan.choice.draw(spare, plan.target, price=price, bits=bits))
        bar: dict[str, Any] = {
            "low": self.lattice.real(low),
            "high": self.lattice.real(high),
            "level": self.coverage.level,
        }
        if isinstance(self.coverage, Population) and radius and plan.mass is not None:
            bar["added"] = self._added(high - low, radius, plan.mass, Fraction(statistic.q))
        return replace(answer, public={**answer.public, **bar})

    def _added(self, width: int, radius: int, mass: int, q: Fraction) -> float:
        """By which share the interval is wider than one without noise, by the released worth of a rank: about."""
        rows = self.point.rows
        assert rows is not None
        ranks = 2 * NormalDist().inv_cdf(1 - self.coverage.miss / 2) * math.sqrt(rows * q * (1 - q))
        plain = ranks * 2 * radius / mass
        return max(width / plain - 1, 0.0) if plain else 0.0

    @staticmethod
    def spare(statistic: Any, column: Any, rungs: Rungs) -> list[Fraction | None]:
        """How many units of rows every rung can spare; private."""
        cuts = rungs.cuts
        counts, rows = column.below(cuts)
        allowed, needed = margins(statistic, rows)
        below = dict(zip(cuts, counts, strict=True))
        return spares(rungs, below, needed=needed, allowed=allowed, unit=row_unit(statistic))

    def _radius(self, column: Any, centre: int, plan: LadderPlan, bits: Bits | None) -> int | None:
        """A radius around the answer that holds about so many rows; None where it is not asked for."""
        if plan.mass is None:
            return None
        short = self.radius_short(column, centre, plan)
        return self.radii[draw_rung(short, price=self.price.share(plan.spent), bits=bits)]

    def radius_short(self, column: Any, centre: int, plan: LadderPlan) -> list[Fraction]:
        """What every radius falls short of the best, in nats; private."""
        assert plan.mass is not None
        mass, radii, last = plan.mass, self.radii, self.lattice.last
        lows = [max(centre - radius, 0) for radius in radii]
        highs = [min(centre + radius, last) + 1 for radius in radii]
        counts, _ = column.below([*lows, *highs])
        held = [high - low for low, high in zip(counts[: len(radii)], counts[len(radii) :], strict=True)]
        inner = [None, *held[:-1]]
        values = [
            held[0] - mass if before is None else min(here - mass, mass - before)
            for here, before in zip(held, inner, strict=True)
        ]
        values[-1] = max(values[-1], mass - held[-2] if len(held) > 1 else 0)  # everything holds all there is
        best = max(values)
        return [plan.weight * (best - value) for value in values]
