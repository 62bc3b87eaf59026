"""PlainOrCut: mean and sum that trust the declared bounds unless the rows fill a much shorter interval.

One search over intervals. Either the whole range is taken, at nearly the full price, or an interval at most an eighth
as long, whose rows must be spread over it, so that no heap of equal rows can win. The outcome is part of the answer.
Proof: docs/proofs/mechanism_plain_or_cut.md. Constants: plain_or_cut_plan.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.lattice import Lattice
from sordino.lattice import RowLattice as Codes
from sordino.mechanisms.clip.clipping import ClippingMean
from sordino.mechanisms.clip.cutting import Cutting
from sordino.mechanisms.clip.family import Family
from sordino.mechanisms.clip.interval import ClipInterval, count_part
from sordino.mechanisms.clip.noisy_mean import Summand
from sordino.mechanisms.clip.plain_or_cut_plan import CutPlan, plan_cut
from sordino.privacy import Guarantee, Neighbors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.hints import Hints
    from sordino.mechanisms import Mechanism
    from sordino.mechanisms.clip.column import Clipped


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainOrCut(Cutting, ClippingMean):
    """Mean or sum of a column, safe where the bounds fit and adaptive where they are far too wide.

    Intervals about the centre are preferred like those at zero.

    Example:
        >>> from sordino.privacy import Pure
        >>> PlainOrCut(price=Pure(1), rows=1001, low=-50, high=1050).trusted
        True
        >>> PlainOrCut(price=Pure(1), rows=20, low=-50, high=1050).trusted
        False
    """

    name: ClassVar[str] = "plain-or-cut"

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """A mean or a sum, whatever its bounds; without known rows, or within bounds that fit, nothing is searched."""
        fits = not hints.rows or hints.fits(statistic.low, statistic.high)
        if hints.loose and not fits:
            return
        yield cls.of(statistic, price, hints, total=statistic.total, tight=fits)

    @classmethod
    def alternatives(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """The two modes of a mean or sum that are decided here: safe, and within bounds that fit."""
        if cls.averaged(statistic) and hints.rows:
            for tight in (False, True):
                yield cls.of(statistic, price, hints, centre=None, total=statistic.total, tight=tight)

    @property
    def label(self) -> str:
        """What a plan calls the modes."""
        return f"{self.name} (tight=True)" if self.tight else self.name

    @property
    def averages(self) -> str:
        """Rows, or their total."""
        return "sum" if self.total else "mean"

    def lattices(self, statistic: Any, grid: Lattice) -> dict[str, Lattice]:
        """The answer is on the grid; the interval is of codes of the column."""
        codes = statistic.grid.endless
        return {
            "value": Lattice(Fraction(0), grid.step),
            "low": codes,
            "high": codes,
            "rows_beyond": Lattice(),
        }

    def plan(self, contribution: int = 1, codes: Codes | None = None) -> CutPlan:
        """How intervals are weighed and what is left for the noise; public."""
        lattice = Codes(self.low, self.high, step=self.step) if codes is None else codes
        return plan_cut(
            rows=0 if self.tight else self.rows, price=self.price, cells=lattice.last, contribution=contribution,
            spread=self._spread_in(lattice), counted=self.neighbors is Neighbors.ADD_REMOVE_ONE and not self.total,
        )  # fmt: skip

    def family(self, codes: Codes, contribution: int = 1) -> Family:
        """The intervals among which it chooses; public."""
        plan = self.plan(contribution, codes)
        cut_about_zero = self.total and self.neighbors is Neighbors.ADD_REMOVE_ONE
        anchor, centre = self._near_zero(codes), self._near_centre(codes)
        return Family(plan, codes.last, anchor, anchored=cut_about_zero, centre=centre)

    def summand(self, sums: Clipped, rest: Guarantee, contribution: int) -> Summand:
        """What gets noise, inside an interval that is public by now."""
        found = ClipInterval(0, 1, rest, {}, None, count_part(self.rows, rest))
        return Summand.of(sums, found, total=self.total, neighbors=self.neighbors, contribution=contribution)

    @property
    def alike(self) -> bool:
        """Where rows come and go: otherwise their number says how far one of them moves a mean."""
        return self.neighbors is Neighbors.ADD_REMOVE_ONE

    def shortens(self, codes: Codes) -> bool:
        """Whether a cut can lessen the noise: not of a sum of a private number of rows that are all far from zero."""
        return not (self.total and self.neighbors is Neighbors.ADD_REMOVE_ONE) or codes.low <= 0 <= codes.high
