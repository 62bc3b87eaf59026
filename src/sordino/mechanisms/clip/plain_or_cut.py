"""PlainOrCut: mean and sum that trust the declared bounds unless the rows fill a much shorter interval.

One search over intervals. Either the whole range is taken, at nearly the full price, or an interval at most an eighth
as long, whose rows must be spread over it, so that no heap of equal rows can win. The outcome is part of the answer.
Proof: docs/proofs/mechanism_plain_or_cut.md. Constants: plain_or_cut_plan.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import Unsupported
from sordino.mechanisms import Answer, Mechanism, lacking, matched, other_bounds
from sordino.mechanisms.clip.family import Family
from sordino.mechanisms.clip.interval import ClipInterval, count_part
from sordino.mechanisms.clip.noisy_mean import Summand
from sordino.mechanisms.clip.plain_or_cut_plan import SHARE, WHOLE_PART, CutPlan, plan_cut
from sordino.mechanisms.clip.whole_or_interval import Valued
from sordino.mechanisms.parts.draws import Draws
from sordino.privacy import Guarantee, Neighbors, Pure
from sordino.reading.profile import Units
from sordino.reading.requests import Grid as Codes
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sordino.exact.bits import Bits
    from sordino.exact.grid import Grid
    from sordino.hints import Hints
    from sordino.mechanisms import Asking
    from sordino.mechanisms.clip.column import ClippableColumn, Clipped
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.mechanisms.parts.law import Law
    from sordino.reading.profile import Reading
    from sordino.statistics import Statistic

FAILURE = 0.05  # the published bound on rows outside the interval fails at most so often


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainOrCut(Mechanism):
    """Mean or sum of a column, safe where the bounds fit and adaptive where they are far too wide.

    Args:
        price: What the whole answer costs.
        rows: Public number of rows; under add/remove a declared rough one (it steers the search, not the promise).
        low: Public lower bound.
        high: Public upper bound.
        step: Declared lattice of the data.
        centre: Public guess of the centre: intervals about it are preferred like those at zero.
        spread: Public guess of the spread: no interval is much shorter.
        total: Answer the sum instead of the mean.
        tight: The bounds fit the column: no search, the whole price for the noise.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> from sordino.privacy import Pure
        >>> PlainOrCut(price=Pure(1), rows=1001, low=-50, high=1050).trusted
        True
        >>> PlainOrCut(price=Pure(1), rows=20, low=-50, high=1050).trusted
        False
    """

    price: Guarantee
    rows: int
    low: float
    high: float
    step: Fraction | float | None = None
    centre: float | None = None
    spread: float | None = None
    total: bool = False
    tight: bool = False
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    name: ClassVar[str] = "plain-or-cut"
    needs: ClassVar[tuple[str, ...]] = ("rows",)
    proof: ClassVar[str] = "mechanism_plain_or_cut"
    answers_tried: ClassVar[int] = 24

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """A mean or a sum, whatever its bounds; without known rows, or within bounds that fit, nothing is searched."""
        fits = not hints.rows or hints.fits(statistic.low, statistic.high)
        if hints.loose and not fits:
            return
        yield cls(
            price=price, rows=hints.rows or 0, low=statistic.low, high=statistic.high, step=statistic.step,
            centre=hints.centre, spread=hints.spread, total=statistic.total, tight=fits,
            neighbors=statistic.neighbors,
        )  # fmt: skip

    @classmethod
    def alternatives(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """The two modes of a mean or sum that are decided here: safe, and within bounds that fit."""
        if not {Trait.MEAN, Trait.TOTAL} & set(statistic.traits) or not hints.rows:
            return
        for tight in (False, True):
            yield cls(
                price=price, rows=hints.rows, low=statistic.low, high=statistic.high, step=statistic.step,
                spread=hints.spread, total=statistic.total, tight=tight, neighbors=statistic.neighbors,
            )  # fmt: skip

    def __post_init__(self) -> None:
        checks.whole(self.name, rows=self.rows)
        self.plan()

    @property
    def label(self) -> str:
        """What a plan calls the modes."""
        return f"{self.name} (tight=True)" if self.tight else self.name

    @property
    def adaptive(self) -> bool:
        """Not where nothing is searched: plain noise for the bounds."""
        return not self.tight

    def refusal(self, statistic: Any) -> str | None:
        """The mean, or the sum, of a column within the bounds it was planned for."""
        reason = lacking(statistic, Trait.TOTAL if self.total else Trait.MEAN)
        return reason or self._other_relation(statistic) or other_bounds(statistic, self.low, self.high)

    def lattices(self, statistic: Any, grid: Grid) -> dict[str, Units]:
        """The answer is on the grid; the interval is of codes of the column."""
        codes = statistic.grid.units
        return {"value": Units(Fraction(0), grid.step), "low": codes, "high": codes, "rows_beyond": Units()}

    @property
    def guarantee(self) -> Guarantee:
        """Whatever the outcome, search and noise cost the price."""
        return self.price

    def plan(self, contribution: int = 1, codes: Codes | None = None) -> CutPlan:
        """How intervals are weighed and what is left for the noise; public."""
        lattice = Codes(self.low, self.high, step=self.step) if codes is None else codes
        spread = None
        if self.spread is not None:
            spread = checks.positive(self.name, spread=self.spread) / lattice.units.step
        return plan_cut(
            rows=0 if self.tight else self.rows, price=self.price, cells=lattice.top, contribution=contribution,
            spread=spread, counted=self.neighbors is Neighbors.ADD_REMOVE_ONE and not self.total,
        )  # fmt: skip

    @property
    def trusted(self) -> bool:
        """False when rows times the price are too few to notice that bounds are too wide."""
        return self.tight or self.plan().searches

    def family(self, codes: Codes, contribution: int = 1) -> Family:
        """The intervals among which it chooses; public."""
        plan = self.plan(contribution, codes)
        cut_about_zero = self.total and self.neighbors is Neighbors.ADD_REMOVE_ONE
        anchor = codes.code(min(max(0.0, codes.low), codes.high))
        centre = None
        if self.centre is not None:
            centre = codes.code(min(max(float(self.centre), codes.low), codes.high))
        return Family(plan, codes.top, anchor, anchored=cut_about_zero, centre=centre)

    def answer(
        self,
        statistic: Statistic,
        ask: Asking,
        grid: Grid,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Answer:
        """Ask the source twice at most: for its lowest and highest rows, and for a clipped sum."""
        from sordino.mechanisms.clip.column import AskedColumn

        column = AskedColumn(statistic.column, statistic.grid, ask)  # type: ignore[attr-defined]
        return matched(self, statistic).converse(column, grid, contribution=contribution, bits=bits)

    def draw(self, reading: Reading, grid: Grid, *, bits: Bits | None = None) -> Answer:  # noqa: ARG002
        """Not from one reading: the sum depends on the interval that has been released."""
        raise Unsupported(self.name, "asks the source twice", hint="call answer(statistic, ask, grid)")

    def law(self, reading: Reading) -> Law:  # noqa: ARG002
        """Not from one reading; `error_laws` has it."""
        raise Unsupported(
            self.name, "has no law of a single reading", hint="error_laws(statistic, ask, grid, truth)"
        )

    def error_laws(
        self,
        statistic: Any,
        ask: Asking,
        grid: Grid,
        truth: Any,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Sequence[Errors] | None:
        """Exactly: there are finitely many outcomes, and each has additive noise."""
        from sordino.mechanisms.clip.column import AskedColumn
        from sordino.mechanisms.clip.plain_or_cut_error import outcome_errors

        del bits
        column = AskedColumn(statistic.column, statistic.grid, ask)
        return [outcome_errors(matched(self, statistic), column, grid, Fraction(truth), contribution)]

    def summand(self, sums: Clipped, rest: Guarantee, contribution: int) -> Summand:
        """What gets noise, inside an interval that is public by now."""
        found = ClipInterval(0, 1, rest, {}, None, count_part(self.rows, rest))
        return Summand.of(sums, found, total=self.total, neighbors=self.neighbors, contribution=contribution)

    def converse(
        self, column: ClippableColumn, grid: Grid, *, contribution: int = 1, bits: Bits | None = None
    ) -> Answer:
        """Choose the whole range or an interval, then add noise."""
        family = self.family(column.grid, contribution)
        plan, top = family.plan, column.grid.top
        if not plan.searches or not self.shortens(column.grid):
            sums = column.clipped(0, top)
            value = self.summand(sums, self.price, contribution).draw(grid, bits)
            return self._answer(value, column.grid, 0, top, None)
        ends, sums = column.ends(family.reach)
        draws, whole = Draws.of(bits), self.summand(sums, plan.whole, contribution)
        prices = self._prices(plan)
        valued = self._valued(whole, grid) if plan.joint else None
        found = draws.whole_or_interval(family, family.weigh(ends), valued, prices=prices)
        if isinstance(found, Fraction):
            return self._answer(whole.finish(found, grid, bits), column.grid, 0, top, None)
        if found is None:
            return self._answer(whole.draw(grid, bits), column.grid, 0, top, None)
        inside = self.summand(column.clipped(found.low, found.high), plan.cut, contribution)
        if plan.joint:
            noisy = draws.flat_topped(self._valued(inside, grid), found.charge, price=prices["interval"])
            value = inside.finish(noisy, grid, bits)
        else:
            value = inside.draw(grid, bits)
        beyond = plan.rows_beyond(found.level, FAILURE)
        return self._answer(value, column.grid, found.low, found.high, beyond)

    def _prices(self, plan: CutPlan) -> dict[str, Guarantee]:
        """What each outcome costs: in a joint draw its slope and its value's noise together, else the search alone."""
        if not plan.joint:
            return dict.fromkeys(("whole", "interval"), self.price.share(SHARE))
        slope = plan.slope * plan.contribution
        parts = (("whole", plan.whole, WHOLE_PART * slope), ("interval", plan.cut, slope))
        return {name: Pure(self.rate(self._noise_part(rest)) + own) for name, rest, own in parts}

    def _noise_part(self, rest: Guarantee) -> Guarantee:
        """What is left for the value beside a private number of rows."""
        counted = self.neighbors is Neighbors.ADD_REMOVE_ONE and not self.total
        return rest.share(1 - count_part(self.rows, rest)) if counted else rest

    def _valued(self, part: Summand, grid: Grid) -> Valued:
        """What a joint draw publishes beside its outcome."""
        return Valued(part.value, part.sensitivity, self.rate(part.price), grid)

    def shortens(self, codes: Codes) -> bool:
        """Whether a cut can lessen the noise: not of a sum of a private number of rows that are all far from zero."""
        return not (self.total and self.neighbors is Neighbors.ADD_REMOVE_ONE) or codes.low <= 0 <= codes.high

    @staticmethod
    def rate(price: Guarantee) -> Fraction:
        """Nats per sensitivity of plain noise at a price that is not concentrated."""
        return Fraction(price.noise_targets[0].epsilon)  # type: ignore[attr-defined]

    def _answer(self, value: Fraction, codes: Codes, low: int, high: int, beyond: int | None) -> Answer:
        real = codes.units.real
        public: dict[str, Any] = {"whole": beyond is None, "low": real(low), "high": real(high)}
        if beyond is not None:
            public["rows_beyond"] = Fraction(beyond)
        return Answer(value, public)
