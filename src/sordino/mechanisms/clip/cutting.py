"""The conversation of plain-or-cut, whatever is averaged: the whole range or a much shorter interval, and its value.

Means and sums are plain_or_cut.py, squares are plain_or_cut_squares.py. The choice and, for pure prices, its value are
drawn together. Proof: docs/proofs/mechanism_plain_or_cut.md. Constants: plain_or_cut_plan.py.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.mechanisms import Answer, matched
from sordino.mechanisms.clip.clipped_bar import ClippedBar, JointReach
from sordino.mechanisms.clip.clipping import Clipping
from sordino.mechanisms.clip.plain_or_cut_plan import WHOLE_PART, CutPlan
from sordino.mechanisms.clip.whole_or_interval import Valued
from sordino.mechanisms.parts.draws import Draws
from sordino.privacy import Guarantee, Neighbors, Pure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice
    from sordino.lattice import RowLattice as Codes
    from sordino.mechanisms import Asking
    from sordino.mechanisms.clip.clipped_bar import NoiseReach
    from sordino.mechanisms.clip.column import ClippableColumn, Clipped
    from sordino.mechanisms.clip.family import Family
    from sordino.mechanisms.clip.noisy_mean import Settled, Summand
    from sordino.mechanisms.parts.error_law import Errors

FAILURE = 0.05  # the published bound on rows outside the interval fails at most so often


class Cutting(Clipping):
    """What answers of plain-or-cut have in common: subclasses say what gets the noise within an interval.

    Attributes:
        squares: Whether sums of squares are needed.
    """

    __slots__ = ()

    proof: ClassVar[str] = "mechanism_plain_or_cut"
    answers_tried: ClassVar[int] = 24
    squares: ClassVar[bool] = False

    def __post_init__(self) -> None:
        checks.whole(self.name, rows=self.rows)
        self.plan()

    @abstractmethod
    def plan(self, contribution: int = 1, codes: Codes | None = None) -> CutPlan:
        """How intervals are weighed and what is left for the noise; public."""

    @abstractmethod
    def family(self, codes: Codes, contribution: int = 1) -> Family:
        """The intervals among which it chooses; public."""

    @abstractmethod
    def summand(self, sums: Clipped, rest: Guarantee, contribution: int) -> Summand:
        """What gets noise, inside an interval that is public by now."""

    def _spread_in(self, codes: Codes) -> Fraction | None:
        """The guess of the spread in steps of the rows."""
        if self.spread is None:
            return None
        return checks.positive(self.name, spread=self.spread) / codes.endless.step

    def _near_zero(self, codes: Codes) -> int:
        """The code of zero, or of the bound next to it."""
        return codes.code(min(max(0.0, codes.low), codes.high))

    def _near_centre(self, codes: Codes) -> int | None:
        """The code of the guess of the centre."""
        return (
            None if self.centre is None else codes.code(min(max(float(self.centre), codes.low), codes.high))
        )

    def shortens(self, codes: Codes) -> bool:  # noqa: ARG002
        """Whether a cut can lessen the noise."""
        return True

    @property
    def averages(self) -> str:
        """What gets the noise: ``"mean"``, ``"sum"`` or ``"squares"``."""
        return "squares" if self.squares else "mean"

    @property
    def root(self) -> bool:
        """Whether the answer is the root of what gets the noise."""
        return False

    @property
    def adaptive(self) -> bool:
        """Not where nothing is searched: plain noise for the bounds."""
        return not self.tight

    @property
    def trusted(self) -> bool:
        """False when rows times the price are too few to notice that bounds are too wide."""
        return self.tight or self.plan().searches

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
        """Exactly: there are finitely many outcomes, and each has additive noise."""
        from sordino.mechanisms.clip.column import SortedColumn
        from sordino.mechanisms.clip.plain_or_cut_error import outcome_errors

        del bits
        column = SortedColumn.whole(statistic.column, statistic.grid, ask)
        return [outcome_errors(matched(self, statistic), column, grid, Fraction(truth), contribution)]

    def whole(
        self,
        sums: Clipped,
        rest: Guarantee,
        grid: Lattice,  # noqa: ARG002
        *,
        contribution: int,
        bits: Bits | None,  # noqa: ARG002
    ) -> tuple[Summand, dict[str, Any]]:
        """What gets noise within the declared bounds, and what had to be released for it."""
        return self.summand(sums, rest, contribution), {}

    def wholes(self, sums: Clipped, rest: Guarantee, contribution: int) -> list[tuple[float, Summand]]:
        """The same with its chances, for the law of the error."""
        return [(1.0, self.summand(sums, rest, contribution))]

    def converse(
        self, column: ClippableColumn, grid: Lattice, *, contribution: int = 1, bits: Bits | None = None
    ) -> Answer:
        """Choose the whole range or an interval, then add noise."""
        family = self.family(column.grid, contribution)
        plan, top = family.plan, column.grid.last
        searches = plan.searches and self.shortens(column.grid)
        if searches:
            ends, sums = column.ends(family.reach, squares=self.squares)
        else:
            sums = column.clipped(0, top, squares=self.squares)
        whole, told = self.whole(sums, plan.whole, grid, contribution=contribution, bits=bits)
        fine, everything = self.fine(grid), self._clipped_to(column.grid, 0, top, None)
        bounds = everything["low"], everything["high"]

        def answer(
            part: Summand, settled: Settled, public: dict[str, Any], reach: NoiseReach | None = None
        ) -> Answer:
            bar = ClippedBar.of(
                part, settled, reach or ClippedBar.public_reach(part, fine), bounds=bounds, public=public,
                rows=sums.rows if self.neighbors is Neighbors.REPLACE_ONE else None, step=fine.step,
                averages=self.averages, root=grid.step if self.root else None,
            )  # fmt: skip
            return self._answer(settled.value, grid, public | told, bar)

        if not searches:
            return answer(whole, whole.draw(fine, bits), everything)
        draws, prices = Draws.of(bits), self._prices(plan)
        valued = self._valued(whole, fine) if plan.joint else None
        found = draws.whole_or_interval(family, ends, valued, prices=prices)
        if isinstance(found, Fraction):
            reach = JointReach.of(family, None, whole.sensitivity / self.rate(whole.price), fine)
            return answer(whole, whole.finish(found, fine, bits), everything, reach)
        if found is None:
            return answer(whole, whole.draw(fine, bits), everything)
        kept = column.clipped(found.low, found.high, squares=self.squares)
        inside = self.summand(kept, plan.cut, contribution)
        beyond = plan.rows_beyond(found.level, FAILURE)
        public = self._clipped_to(column.grid, found.low, found.high, beyond)
        if not plan.joint:
            return answer(inside, inside.draw(fine, bits), public)
        noisy = draws.flat_topped(self._valued(inside, fine), found.charge, price=prices["interval"])
        reach = JointReach.of(family, found, inside.sensitivity / self.rate(inside.price), fine)
        return answer(inside, inside.finish(noisy, fine, bits), public, reach)

    def fine(self, grid: Lattice) -> Lattice:
        """The lattice of what gets the noise, where the answer is on the given one."""
        return grid

    def _prices(self, plan: CutPlan) -> dict[str, Guarantee]:
        """What each outcome costs: in a joint draw its slope and its value's noise together, else the search alone."""
        if plan.search is not None:
            return dict.fromkeys(("whole", "interval"), plan.search)
        slope = plan.slope * plan.contribution
        parts = (("whole", plan.whole, WHOLE_PART * slope), ("interval", plan.cut, slope))
        return {name: Pure(self.rate(self.noise_part(rest)) + own) for name, rest, own in parts}

    def noise_part(self, rest: Guarantee) -> Guarantee:
        """What is left for the value beside a private number of rows."""
        return rest

    def _valued(self, part: Summand, grid: Lattice) -> Valued:
        """What a joint draw publishes beside its outcome."""
        return Valued(part.value, part.sensitivity, self.rate(part.price), grid)

    @staticmethod
    def rate(price: Guarantee) -> Fraction:
        """Nats per sensitivity of plain noise at a price that is not concentrated."""
        return Fraction(price.noise_targets[0].epsilon)  # type: ignore[attr-defined]

    def _answer(
        self, value: Fraction, grid: Lattice, public: dict[str, Any], bar: ClippedBar  # noqa: ARG002
    ) -> Answer:  # fmt: skip
        return Answer(value, public, noise=bar)

    @staticmethod
    def _clipped_to(codes: Codes, low: int, high: int, beyond: int | None) -> dict[str, Any]:
        """What an answer says about clipping."""
        real = codes.endless.real
        public: dict[str, Any] = {"whole": beyond is None, "low": real(low), "high": real(high)}
        return public if beyond is None else {**public, "rows_beyond": Fraction(beyond)}
