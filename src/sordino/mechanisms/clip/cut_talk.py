"""One conversation of plain-or-cut with a column, or with the columns of many groups: begun, chosen, ended.

What is public (intervals, prices, lattices) is worked out once for all groups. Proof:
docs/proofs/mechanism_plain_or_cut.md; what gets the noise is said by the mechanism (cutting.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.mechanisms.clip.clipped_bar import ClippedBar, JointReach
from sordino.mechanisms.clip.plain_or_cut_plan import rate_of
from sordino.mechanisms.clip.whole_or_interval import Valued
from sordino.mechanisms.parts.draws import Draws
from sordino.privacy import Neighbors, Pure

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice
    from sordino.lattice import RowLattice as Codes
    from sordino.mechanisms import Answer
    from sordino.mechanisms.clip.clipped_bar import NoiseReach
    from sordino.mechanisms.clip.column import ClippableColumn, Clipped
    from sordino.mechanisms.clip.cutting import Cutting
    from sordino.mechanisms.clip.family import Ends
    from sordino.mechanisms.clip.noisy_mean import Settled, Summand
    from sordino.mechanisms.clip.whole_or_interval import Chosen
    from sordino.mechanisms.parts.public_noise import PublicNoise
    from sordino.privacy import Guarantee

FAILURE = 0.05  # the published bound on rows outside the interval fails at most so often


@dataclass(frozen=True, slots=True, repr=False)
class Begun:
    """What was read of one column, and what its whole range would be answered with; private."""

    column: ClippableColumn
    sums: Clipped
    ends: Ends | None
    whole: Summand
    told: dict[str, Any]


class CutTalk:
    """What is public about a conversation.

    Args:
        mechanism: What answers, matched to the relation in which the statistic is read.
        codes: The grid of the column.
        grid: The lattice of the answer.
        contribution: How many rows one person may have.
        bits: A source of random words; fresh ones by default.
    """

    def __init__(
        self, mechanism: Cutting, codes: Codes, grid: Lattice, *, contribution: int, bits: Bits | None
    ) -> None:
        self.mechanism, self.grid, self.contribution, self.bits = mechanism, grid, contribution, bits
        self.family = mechanism.family(codes, contribution)
        self.plan, self.codes = self.family.plan, codes
        self.searches = self.plan.searches and mechanism.shortens(codes)
        self.reach = self.family.reach
        self.fine = mechanism.fine(grid)
        self.everything = self._clipped_to(0, codes.last, None)
        self.draws = Draws.of(bits)
        self._reached: tuple[Fraction, Guarantee, JointReach] | None = None
        self._rated: tuple[Guarantee, Fraction] | None = None
        self._counted: tuple[Guarantee | None, PublicNoise | None] | None = None

    def begin(self, column: ClippableColumn, like: Begun | None = None) -> Begun:
        """Read the ends of a column where they are searched, and its sums; another one's are alike where it says so."""
        mechanism = self.mechanism
        ends = None
        if self.searches:
            ends, sums = column.ends(self.reach, squares=mechanism.squares)
        else:
            sums = column.clipped(0, self.codes.last, squares=mechanism.squares)
        if like is not None and mechanism.alike:
            return Begun(column, sums, ends, like.whole.again(sums), like.told)
        whole, told = mechanism.whole(
            sums, self.plan.whole, self.grid, contribution=self.contribution, bits=self.bits
        )
        return Begun(column, sums, ends, whole, told)

    def choose(self, begun: Sequence[Begun]) -> list[tuple[Fraction, ...] | Chosen | None]:
        """The whole range, with its value in a joint draw, or an interval; for every column."""
        if not self.searches:
            return [None] * len(begun)
        ends = [one.ends for one in begun]
        values = self._valued([one.whole for one in begun]) if self.plan.joint else None
        return self.draws.wholes_or_intervals(self.family, ends, values, prices=self._prices())  # type: ignore[arg-type]

    def end(
        self, begun: Sequence[Begun], found: Sequence[tuple[Fraction, ...] | Chosen | None]
    ) -> list[Answer]:
        """The answer of every column for what was chosen."""
        return [self._ended(*each) for each in zip(begun, found, strict=True)]

    def _ended(self, begun: Begun, found: tuple[Fraction, ...] | Chosen | None) -> Answer:
        """The answer for what was chosen; an interval is asked for its sums."""
        whole, family, fine = begun.whole, self.family, self.fine
        if isinstance(found, tuple):
            settled = whole.finish(found, fine, self.bits)
            return self._answer(begun, whole, settled, self.everything, self._reach_of(whole))
        if found is None:
            return self._answer(begun, whole, whole.draw(fine, self.bits), self.everything)
        kept = begun.column.clipped(found.low, found.high, squares=self.mechanism.squares)
        inside = self.mechanism.summand(kept, self.plan.cut, self.contribution)
        public = self._clipped_to(found.low, found.high, self.plan.rows_beyond(found.level, FAILURE))
        if not self.plan.joint:
            return self._answer(begun, inside, inside.draw(fine, self.bits), public)
        price = self._prices()["interval"]
        noisy = self.draws.flat_topped(inside.valued(fine), found.charge, price=price)
        reach = JointReach.of(family, found, inside.sensitivity / rate_of(inside.price), fine)
        return self._answer(begun, inside, inside.finish(noisy, fine, self.bits), public, reach)

    def _valued(self, wholes: Sequence[Summand]) -> list[Valued]:
        """What is drawn with the whole range of every column; what is public of alike ones is worked out once."""
        found: list[Valued] = []
        like = wholes[0]
        for one in wholes:
            if found and one.sensitivity is like.sensitivity and one.price is like.price:
                first = found[0]
                found.append(Valued(one.numbers, first.sensitivity, first.rate, first.grid))
            else:
                found.append(one.valued(self.fine))
        return found

    def _reach_of(self, whole: Summand) -> JointReach:
        """Of the noise within the whole range: one for all groups whose noise has one sensitivity."""
        known = self._reached
        if known is None or known[0] is not whole.sensitivity or known[1] is not whole.price:
            scale = whole.sensitivity / self._rate(whole.price)
            reach = JointReach.of(self.family, None, scale, self.fine)
            known = self._reached = whole.sensitivity, whole.price, reach
        return known[2]

    def _rate(self, price: Guarantee) -> Fraction:
        """Nats per sensitivity, worked out once for a price that all groups share."""
        known = self._rated
        if known is None or known[0] is not price:
            known = self._rated = price, rate_of(price)
        return known[1]

    def _counting(self, part: Summand) -> PublicNoise | None:
        """The noise of a private number of rows, the same."""
        known, price = self._counted, part.price if part.paired else part.counting
        if known is None or known[0] is not price:
            known = self._counted = price, ClippedBar.noise_of_count(part)
        return known[1]

    def _answer(
        self,
        begun: Begun,
        part: Summand,
        settled: Settled,
        public: dict[str, Any],
        reach: NoiseReach | None = None,
    ) -> Answer:
        mechanism, fine = self.mechanism, self.fine
        bar = ClippedBar.of(
            part, settled, reach or ClippedBar.public_reach(part, fine), self._counting(part), public=public,
            step=fine.step,
            bounds=(self.everything["low"], self.everything["high"]), averages=mechanism.averages,
            rows=begun.sums.rows if mechanism.neighbors is Neighbors.REPLACE_ONE else None,
            root=self.grid.step if mechanism.root else None,
        )  # fmt: skip
        return mechanism.told(settled.value, self.grid, public | begun.told, bar)

    def _prices(self) -> dict[str, Guarantee]:
        """What each outcome costs: in a joint draw its slope and its value's noise together, else the search alone."""
        plan = self.plan
        if plan.search is not None:
            return dict.fromkeys(("whole", "interval"), plan.search)
        slope = plan.slope * plan.contribution
        parts = (("whole", plan.whole, plan.share.part * slope), ("interval", plan.cut, slope))
        return {name: Pure(rate_of(rest) + own) for name, rest, own in parts}

    def _clipped_to(self, low: int, high: int, beyond: int | None) -> dict[str, Any]:
        """What an answer says about clipping."""
        real = self.codes.endless.real
        public: dict[str, Any] = {"whole": beyond is None, "low": real(low), "high": real(high)}
        if not self.searches:
            public["searched"] = False
        return public if beyond is None else {**public, "rows_beyond": Fraction(beyond)}
