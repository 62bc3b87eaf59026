"""The quantile mechanism: inverse sensitivity with a planned base measure, after a magnitude step where it pays.

Follows a data-free plan (plan.py). Two steps at most: the order of magnitude of the column around the anchor by
permute-and-flip on 21 public classes, then one lattice point. Many groups are drawn in one go, on arrays: the same two
steps and the same laws, group by group independent; what is public is worked out once, and the amount of work depends
on public numbers. Proof: docs/proofs/mechanism_quantile.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino import checks
from sordino.errors import Unsupported
from sordino.exact.bits import Bits
from sordino.lattice import Lattice
from sordino.mechanisms import Answer, Mechanism, matched, other_lattice
from sordino.mechanisms.nested.intervals import held
from sordino.mechanisms.nested.nested import NATS, intervals_of
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.lattice_answers import LatticeAnswers
from sordino.mechanisms.parts.rings import CELLS, Rings
from sordino.mechanisms.quantile.plan import QuantilePlan, extreme_shift, magnitude_measure, plan_quantile
from sordino.mechanisms.tuned import ForQuantile
from sordino.privacy import Guarantee, Neighbors
from sordino.reading.summaries import Summaries, everyone
from sordino.reading.traits import Trait
from sordino.statistics.quantile import Quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sordino.hints import Hints
    from sordino.lattice import FiniteLattice
    from sordino.mechanisms import Asking, Asks, Words
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.mechanisms.parts.law import LatticeLaw, MixtureLaw
    from sordino.mechanisms.parts.measure import Measure
    from sordino.reading.profile import Opened, Reading
    from sordino.reading.requests import Summary
    from sordino.statistics import Statistic

    Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateQuantile(Mechanism):
    """One quantile on a public lattice: right on ties, and on bounds a thousand times too wide.

    Args:
        price: What the answer costs.
        lattice: The public answers.
        rows: Public number of rows, or a declared rough one.
        rank: The rank asked for, as a public number; the middle when None.
        centre: Public guess of the answer.
        spread: Public guess of the spread.
        tight: The caller vouches that the bounds fit the column.
        shift: For minimum and maximum: answer the row so many places inside.
        flip: Treat the lattice as a short list and use permute-and-flip; by its length when None.
        measure: The caller's own public base measure over the lattice, instead of a planned one.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> from sordino.privacy import Pure
        >>> from sordino.lattice import FiniteLattice
        >>> lattice = FiniteLattice(Fraction(0), Fraction(1), 120)
        >>> PrivateQuantile(price=Pure(1), lattice=lattice, rows=1001).depth
        140
    """

    price: Guarantee
    lattice: FiniteLattice
    rows: int | None = None
    rank: int | None = None
    centre: float | None = None
    spread: float | None = None
    tight: bool = False
    shift: int | None = None
    flip: bool | None = None
    measure: Measure | None = None
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    name: ClassVar[str] = "quantile"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.QUANTILE,)
    needs: ClassVar[tuple[str, ...]] = ("reach",)
    together: ClassVar[bool] = True
    proof: ClassVar[str] = "mechanism_quantile"

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """One quantile; a minimum or maximum is answered some rows inside the data where the range is far away."""
        yield cls.point(statistic, price, hints)

    @classmethod
    def cases(cls) -> Iterator[MechanismCase]:
        """What is offered, and plans that release a magnitude first: few rows, an outer rank, a fine lattice."""
        from sordino.mechanisms.parts.cases import PRICES, MechanismCase, offered, worlds

        yield from offered(cls)
        for world in worlds():
            statistic: Any = world.statistic
            if Trait.QUANTILE not in statistic.traits:
                continue
            for price in PRICES[:2]:
                rows = 74 if price.pointwise else 36
                mechanism = cls(
                    price=price, lattice=statistic.grid.answers, rows=rows, rank=rows - 3, flip=False,
                    neighbors=statistic.neighbors,
                )  # fmt: skip
                if mechanism.plan.magnitude_share > 0 and mechanism.refusal(statistic) is None:
                    yield MechanismCase(mechanism, world, (("magnitude", True),), default=True)

    @classmethod
    def point(cls, statistic: Any, price: Guarantee, hints: Hints) -> PrivateQuantile:
        """The mechanism for a statistic from public numbers."""
        rank = shift = None
        lattice = statistic.grid.answers
        if hints.rows:
            rank = statistic.weights(hints.rows).pieces[0][0]
        if statistic.extreme and not statistic.shift:
            upper = statistic.q == 1
            shift = extreme_shift(
                lattice, price, upper=upper, rows=hints.rows, loose=hints.loose, tight=hints.tight
            )
            if rank is not None and hints.rows:
                rank = min(max(rank - shift if upper else rank + shift, 1), hints.rows)
        return cls(
            price=price, lattice=lattice, rows=hints.rows, rank=rank, centre=hints.centre, spread=hints.spread,
            tight=hints.tight, shift=shift, measure=hints.measure, neighbors=statistic.neighbors,
        )  # fmt: skip

    def __post_init__(self) -> None:
        self.price.slope  # noqa: B018 - refuses prices that no theorem covers
        if self.rows is not None:
            checks.whole(self.name, rows=self.rows)

    @property
    def no_bar(self) -> str:
        """What an interval would need."""
        return (
            "An interval of a quantile for the population needs a public number of rows; a minimum or maximum has "
            "none, because one row at the bound would have to be covered."
        )

    def refusal(self, statistic: Statistic) -> str | None:
        """A quantile of one column on its own lattice; a base measure of one's own must cover it."""
        reason = Mechanism.refusal(self, statistic) or other_lattice(statistic, self.lattice)
        if reason is None and self.measure is not None and self.measure.last != self.lattice.last:
            return "Its base measure does not cover the lattice of the statistic."
        return reason

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:  # noqa: ARG002
        """The answer is a point of the lattice, the magnitude a number of its steps."""
        return {"value": self.lattice.endless, "magnitude": Lattice(Fraction(0), self.lattice.step)}

    @property
    def plan(self) -> QuantilePlan:
        """Measure and split; public."""
        if self.measure is not None:
            nothing = Fraction(0)
            return QuantilePlan(self.measure, nothing, nothing, self.lattice.anchor)
        return plan_quantile(
            self.lattice,
            epsilon=self._strength,
            rows=self.rows,
            rank=self.rank,
            centre=self.centre,
            spread=self.spread,
            tight=self.tight,
            pure=self.price.pointwise,
            flip=self.flip,
        )

    @property
    def _strength(self) -> Fraction:
        """Bounded range per rank: a row that comes or goes moves the rank of q by at most ``max(q, 1 - q)``."""
        once = self.price.bounded_range
        if self.neighbors is Neighbors.REPLACE_ONE:
            return once
        if not self.rows or self.rank is None:
            return 2 * once
        q = Fraction(self.rank, self.rows)
        return once / max(q, 1 - q, Fraction(1, 2))

    @property
    def trusted(self) -> bool:
        """False when rows times the price are too few to find the scale of the column within these bounds."""
        return self.plan.trusted

    @property
    def depth(self) -> int:
        """Levels up to which the mass matters; beyond twice the declared rows there is nothing to see."""
        plan = self.plan
        enough = math.ceil((NATS + plan.nats) / self.release_slope(plan))
        return enough if self.rows is None else min(enough, 2 * self.rows + 64)

    def release_slope(self, plan: QuantilePlan) -> Fraction:
        """Nats per level of the second step; public."""
        return self.price.share(1 - plan.magnitude_share).slope

    @property
    def classes(self) -> range:
        """Public classes of magnitude: rows within ``2^j`` of the anchor."""
        top = self.lattice.last.bit_length()
        return range(max(top - ForQuantile.OCTAVES, 0), top + 1)

    @property
    def cuts(self) -> tuple[int, ...]:
        """Codes at which rows must be counted for the magnitude; none when the plan does without."""
        plan = self.plan
        if plan.magnitude_share == 0:
            return ()
        ends = {plan.anchor + sign * 2**j + (sign < 0) for j in self.classes for sign in (1, -1)}
        return tuple(sorted(end for end in ends if 0 < end <= self.lattice.last))

    def levels(self, opened: Opened, contribution: int) -> list[int]:
        """How many rows must change so that each class holds the middle row; sensitivity 1."""
        if len(opened.below) != len(self.cuts):
            raise Unsupported(self.name, "needs the counts at its cuts", hint="answer(statistic, ask, grid)")
        rows, below = np.array([opened.rows]), np.array([opened.below])
        levels: list[int] = class_levels(self, rows, below, contribution)[0].tolist()
        return levels

    def measure_after(self, plan: QuantilePlan, magnitude: int | None) -> Measure:
        """The base measure of the second step, once a magnitude has been released; public."""
        if magnitude is None:
            return plan.measure
        return magnitude_measure(self.lattice, plan=plan, magnitude=magnitude)

    def error_laws(
        self,
        statistic: Any,
        ask: Asking,
        grid: Lattice,
        truth: Any,
        *,
        contribution: int = 1,
        bits: Words = None,
    ) -> Sequence[Errors] | None:
        """From the reading with its counts at the cuts."""
        from sordino.mechanisms.quantile.law import reading_for

        del bits
        mechanism, reading = reading_for(self, statistic, ask, contribution)
        return mechanism._error_laws(reading, grid, truth, contribution=contribution)

    def law(self, reading: Reading, *, contribution: int = 1) -> LatticeLaw | MixtureLaw:
        """The exact law of the answer; a mixture over magnitudes when they come first."""
        from sordino.mechanisms.quantile.law import quantile_law

        return quantile_law(self, reading.open(), contribution)

    def draw(self, reading: Reading, grid: Lattice, *, contribution: int = 1, bits: Words = None) -> Answer:
        """Release the magnitude where planned, then one lattice point; the lattice of the data is the grid."""
        del grid
        opened, plan, draws = reading.open(), self.plan, Draws.of(bits)
        public: dict[str, Any] = {}
        magnitude = None
        if plan.magnitude_share > 0:
            part = self.price.share(plan.magnitude_share)
            exponents = [part.slope * level for level in self.levels(opened, contribution)]
            choose = draws.flip if self.price.pointwise else draws.choice
            magnitude = self.classes[choose(exponents, price=part)]
            public["magnitude"] = self.lattice.step * 2**magnitude
        rings = Rings.of(intervals_of(opened).held(self.depth + 1), plan.threshold)
        assert rings is not None  # a lattice of codes has at most 2^50 points
        slope, rest = self.release_slope(plan), self.price.share(1 - plan.magnitude_share)
        if plan.flip:
            (point,) = draws.flip_lattice(rings, slope, price=rest)
        else:
            measure = self.measure_after(plan, magnitude)
            (point,) = draws.lattice(rings, measure, slope, price=rest)
        return Answer(self.lattice.real(point), public)

    def answers(
        self, statistic: Any, asks: Asks, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Sequence[Answer]:
        """The same for many groups at once."""
        from sordino.reading.profile import Reading

        if self.shift is not None:
            statistic = replace(statistic, shift=self.shift)
        mechanism = matched(self, statistic)
        request = replace(statistic.request(depth=mechanism.depth * contribution), cuts=mechanism.cuts)
        summaries = everyone(asks, request)
        if isinstance(statistic, Quantile) and statistic.rule != "interpolated":
            return draw_groups(mechanism, statistic, summaries, contribution=contribution, bits=bits)
        drawn = []
        for summary in summaries:
            opened = replace(statistic.read(summary).by(contribution).open(), below=summary.below)
            drawn.append(mechanism.draw(Reading(opened), grid, contribution=contribution, bits=bits))
        return drawn


def draw_groups(
    mechanism: PrivateQuantile,
    statistic: Quantile,
    summaries: Sequence[Summary],
    *,
    contribution: int = 1,
    bits: Bits | None = None,
) -> Sequence[Answer]:
    """One answer per summary, from a mechanism that is matched to the relation in which the statistic is read."""
    draws = Draws.of(Bits() if bits is None else bits)
    size = max(1, CELLS // (mechanism.depth * contribution + 2))
    found = [
        _answers(mechanism, statistic, summaries[start : start + size], contribution, draws)
        for start in range(0, len(summaries), size)
    ]
    return LatticeAnswers.joined(found)


def _answers(
    mechanism: PrivateQuantile,
    statistic: Quantile,
    summaries: Sequence[Summary],
    contribution: int,
    draws: Draws,
) -> Sequence[Answer]:
    plan, lattice = mechanism.plan, mechanism.lattice
    reaches = statistic.reaches(summaries, short=True)
    assert reaches is not None
    reaches = reaches.by(contribution)
    rings = Rings.between(*held(reaches.low, reaches.high, levels=mechanism.depth + 1), plan.threshold)
    slope, rest = mechanism.release_slope(plan), mechanism.price.share(1 - plan.magnitude_share)
    if plan.flip:
        points = draws.flip_lattice(rings, slope, price=rest)
        return LatticeAnswers(lattice, points)
    if plan.magnitude_share == 0:
        points = draws.lattice(rings, plan.measure, slope, price=rest)
        return LatticeAnswers(lattice, points)
    below = Summaries.of(summaries).columns.below
    classes = _classes(mechanism, reaches.rows, below, contribution, draws)
    drawn = np.zeros(len(rings), np.int64)
    for place in np.unique(classes).tolist():
        chosen = np.flatnonzero(classes == place)
        measure = mechanism.measure_after(plan, mechanism.classes[place])
        part = Rings(rings.low[chosen], rings.high[chosen])
        drawn[chosen] = draws.lattice(part, measure, slope, price=rest)
    magnitudes = [lattice.step * 2**j for j in mechanism.classes]
    return [
        Answer(one, {"magnitude": magnitudes[place]})
        for one, place in zip(lattice.reals(drawn.tolist()), classes.tolist(), strict=True)
    ]


def _classes(
    mechanism: PrivateQuantile, rows: Codes, below: Codes, contribution: int, draws: Draws
) -> NDArray[np.intp]:
    """Release the class of magnitude of every group, as a place among the mechanism's classes."""
    levels = class_levels(mechanism, rows, below, contribution)
    part = mechanism.price.share(mechanism.plan.magnitude_share)
    slope: Fraction = part.slope
    if not mechanism.price.pointwise:
        exponents = [[slope * level for level in one] for one in levels.tolist()]
        return np.array([draws.choice(one, price=part) for one in exponents])
    return np.array(draws.flips(levels, slope, price=part))


def class_levels(mechanism: PrivateQuantile, rows: Codes, below: Codes, contribution: int) -> Codes:
    """How many persons must change so that each class holds the middle row, per group; sensitivity 1.

    Args:
        mechanism: Its public classes and cuts.
        rows: The number of rows of each group; private unless the relation fixes it.
        below: For each group and cut, the number of rows below.
        contribution: How many rows one person may move.
    """
    anchor, last = mechanism.plan.anchor, mechanism.lattice.last
    column = {cut: place for place, cut in enumerate(mechanism.cuts)}
    none = np.zeros_like(rows)

    def count(code: int) -> Codes:
        return none if code <= 0 else rows if code > last else below[:, column[code]]

    inside = [count(anchor + 2**j) - count(anchor - 2**j + 1) for j in mechanism.classes]
    inside[-1] = rows
    after = np.stack(inside, axis=1)
    before = np.concatenate([none[:, None], after[:, :-1]], axis=1)
    if mechanism.neighbors is Neighbors.REPLACE_ONE:
        rank = ((rows + 1) // 2)[:, None]
        raw = np.maximum(np.maximum(before - rank + 1, rank - after), 0)
    else:  # the number of rows is private: twice the distance from half of them
        total = rows[:, None]
        raw = np.maximum(np.maximum(2 * before - total, total - 2 * after), 0)
    found: Codes = -(-raw // contribution)
    return found
