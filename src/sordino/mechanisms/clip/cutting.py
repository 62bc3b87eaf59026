"""The conversation of plain-or-cut, whatever is averaged: the whole range or a much shorter interval, and its value.

Means and sums are plain_or_cut.py, squares are plain_or_cut_squares.py. The choice and, for pure prices, its value are
drawn together. Proof: docs/proofs/mechanism_plain_or_cut.md. Constants: plain_or_cut_plan.py.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.exact.bits import Bits
from sordino.mechanisms import Answer, matched
from sordino.mechanisms.clip.clipping import Clipping
from sordino.mechanisms.clip.column import AskedAlike, AskedColumn
from sordino.mechanisms.clip.whole_or_interval import Chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sordino.lattice import Lattice
    from sordino.lattice import RowLattice as Codes
    from sordino.mechanisms import Asking
    from sordino.mechanisms.clip.clipped_bar import ClippedBar
    from sordino.mechanisms.clip.column import ClippableColumn, Clipped
    from sordino.mechanisms.clip.family import Family
    from sordino.mechanisms.clip.noisy_mean import Summand
    from sordino.mechanisms.clip.plain_or_cut_plan import CutPlan
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Ask, Summary
    from sordino.statistics import Statistic


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
    def alike(self) -> bool:
        """Whether all but value and rows of what gets the noise follows from the interval, so that groups share it."""
        return False

    @property
    def averages(self) -> str:
        """What gets the noise: ``"mean"``, ``"sum"`` or ``"squares"``."""
        return "squares" if self.squares else "mean"

    @property
    def root(self) -> bool:
        """Whether the answer is the root of what gets the noise."""
        return False

    def rests_on(self, statistic: Statistic) -> list[str]:
        """That the bounds fit, where nobody says how many rows there are."""
        said = (
            f"No number of rows was declared (roughly, and public), so the bounds of the {statistic.name} were taken "
            "to fit and no shorter interval was looked for: where they are wide, rows=1000 can lessen the error much."
        )
        return [] if self.rows else [said]

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
        (answer,) = self._converse([column], grid, contribution=contribution, bits=bits)
        return answer

    def answers(
        self,
        statistic: Any,
        asks: Sequence[Asking],
        grid: Lattice,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> list[Answer]:
        """The same for many groups: all of them are weighed and choose together."""
        if not asks:
            return []
        lattice = statistic.grid
        alike = AskedAlike(lattice)
        columns = [AskedColumn(statistic.column, lattice, ask, alike) for ask in asks]
        words = Bits() if bits is None and len(asks) > 1 else bits  # one stream of words for all groups
        together = getattr(asks, "together", None)
        return matched(self, statistic)._converse(
            columns, grid, contribution=contribution, bits=words, together=together
        )

    def _converse(
        self,
        columns: Sequence[ClippableColumn],
        grid: Lattice,
        *,
        contribution: int,
        bits: Bits | None,
        together: Callable[[list[tuple[int, Ask]]], list[Summary]] | None = None,
    ) -> list[Answer]:
        from sordino.mechanisms.clip.cut_talk import CutTalk

        talk = CutTalk(self, columns[0].grid, grid, contribution=contribution, bits=bits)
        first = talk.begin(columns[0])
        begun = [first, *(talk.begin(column, first) for column in columns[1:])]
        found = talk.choose(begun)
        if together is not None:  # one question for all intervals
            chosen = [
                (place, columns[place].within(one.low, one.high, squares=self.squares))  # type: ignore[attr-defined]
                for place, one in enumerate(found)
                if isinstance(one, Chosen)
            ]
            for (place, request), summary in zip(chosen, together(chosen), strict=True):
                columns[place].known[request] = summary  # type: ignore[attr-defined]
        return talk.end(begun, found)

    def fine(self, grid: Lattice) -> Lattice:
        """The lattice of what gets the noise, where the answer is on the given one."""
        return grid

    def told(
        self, value: Fraction, grid: Lattice, public: dict[str, Any], bar: ClippedBar  # noqa: ARG002
    ) -> Answer:  # fmt: skip
        """The answer from what was drawn."""
        return Answer(value, public, noise=bar)
