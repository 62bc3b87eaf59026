"""A far quantile of a column that may lie far from zero: its middle is released first, and answers fall from there.

Few rows lie beyond a far quantile, and in bounds that are too wide they do not outbid the empty range unless the base
measure falls beyond the data; a measure that falls from zero finds columns near zero alone. The median of the column is
held by many rows on either side, so a small part of the price finds it wherever it lies. Two steps that compose, both
of them quantiles. Proof: docs/proofs/mechanism_anchored.md; the plan without data is anchored_plan.py.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import Unsupported
from sordino.mechanisms import PERSONS, Answer, Mechanism, matched, other_lattice
from sordino.mechanisms.parts.conversing import Conversing
from sordino.mechanisms.parts.error_law import ErrorLaw
from sordino.mechanisms.parts.favour import Favour
from sordino.mechanisms.parts.law import LatticeLaw, MixtureLaw
from sordino.mechanisms.quantile.anchored_plan import anchor_share, measure_from, middle_measure, per_rank
from sordino.mechanisms.quantile.counted import Some
from sordino.mechanisms.quantile.law import reading_for
from sordino.mechanisms.quantile.plan import QuantilePlan, lists
from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
from sordino.privacy import Neighbors, Purse
from sordino.reading.traits import Trait
from sordino.statistics.quantile import Quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sordino.hints import Hints
    from sordino.lattice import FiniteLattice, Lattice
    from sordino.mechanisms import Asking, Asks, Words
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.mechanisms.parts.measure import Measure
    from sordino.privacy import Guarantee
    from sordino.statistics import Statistic

POINTS = 64  # lattices with at most so many points have an exact law
STRATA = (0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.4)
"""Probabilities between which one anchor stands for all, and as many on the other side: rare ones count too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FromAnchor(PrivateQuantile):
    """A quantile whose measure leans by so many nats; a part of `Anchored`."""

    nats: float = 0.0

    @property
    def plan(self) -> QuantilePlan:
        """The given measure."""
        assert self.measure is not None
        nothing = Fraction(0)
        return QuantilePlan(self.measure, nothing, nothing, self.lattice.anchor, nats=self.nats)

    def known_law(self, statistic: Any, ask: Asking, contribution: int) -> LatticeLaw:
        """The exact law on known data."""
        own, reading = reading_for(self, statistic, ask, contribution)
        law = own.law(reading)
        assert isinstance(law, LatticeLaw)
        return law


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchored(Conversing):
    """A released middle of the column, then a far quantile whose base measure falls from there.

    Args:
        price: What both cost together.
        share: Of the price, for the middle.
        lattice: The public answers.
        rows: Public number of rows, or a declared rough one (it steers the measures, not the promise).
        rank: The rank asked for, as a public number.
        centre: Public guess of the middle of the column.
        spread: Public guess of its spread.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> from sordino.hints import Hints
        >>> from sordino.privacy import Pure
        >>> far = Quantile("weight", q=Fraction(99, 100), low=0, high=10**9)
        >>> (found,) = Anchored.offers(far, Pure(1), Hints(rows=5001))
        >>> found.share, found.parts[1].epsilon + found.parts[0].epsilon
        (Fraction(3, 128), Fraction(1, 1))
    """

    price: Guarantee
    share: Fraction
    lattice: FiniteLattice
    rows: int
    rank: int
    centre: float | None = None
    spread: float | None = None
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    name: ClassVar[str] = "anchored"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.QUANTILE, Trait.COLUMN)
    relations: ClassVar[tuple[Neighbors, ...]] = PERSONS
    together: ClassVar[bool] = True
    proof: ClassVar[str] = "mechanism_anchored"

    def __post_init__(self) -> None:
        checks.between(self.name, 0, 1, share=self.share)
        checks.whole(self.name, rows=self.rows)
        checks.whole(self.name, rank=self.rank)
        if not self.price.added:
            raise Unsupported(
                self.name, "makes two draws, which this price does not add up", hint="sd.Pure(1)"
            )
        self.price.slope  # noqa: B018 - refuses prices that no theorem covers

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Where the quantile is far, rows are many enough and nothing else is asked for."""
        asked = hints.measure is not None or hints.interval is not None or hints.loose
        if asked or not hints.rows or not price.added or statistic.extreme:
            return
        lattice, rows = statistic.grid.answers, hints.rows
        rank = min(max(statistic.weights(rows).pieces[0][0], 1), rows)
        share = anchor_share(price, rows=rows, rank=rank, neighbors=statistic.neighbors)
        strength = Fraction(2 * per_rank(price, Fraction(rank, rows), statistic.neighbors))
        if share is not None and not (
            price.pointwise and lists(lattice, epsilon=strength, rows=rows, rank=rank)
        ):
            yield cls(
                price=price, share=share, lattice=lattice, rows=rows, rank=rank, centre=hints.centre,
                spread=hints.spread, neighbors=statistic.neighbors,
            )  # fmt: skip

    @property
    def asks_again(self) -> bool:
        """First the rows about the middle, then those about the answer."""
        return True

    @property
    def no_bar(self) -> str:
        """An interval has a mechanism of its own."""
        return "An interval is drawn beside an answer without an anchor."

    @property
    def parts(self) -> tuple[Guarantee, Guarantee]:
        """What the anchor costs, and what is left for the answer."""
        purse = Purse(self.price)
        return purse.take(self.share), purse.rest()

    @property
    def trusted(self) -> bool:
        """Rows are many where it is offered."""
        return self.rows * self.price.strength >= 64

    def refusal(self, statistic: Statistic) -> str | None:
        """A quantile of one column on its own lattice."""
        return Mechanism.refusal(self, statistic) or other_lattice(statistic, self.lattice)

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:  # noqa: ARG002
        """Answer and anchor are points of the lattice."""
        return {"value": self.lattice.endless, "anchor": self.lattice.endless}

    # The two steps; what they are built from is public ------------------------------------------------------

    def _favour(self, q: Fraction) -> Favour | None:
        if self.centre is None or self.spread is None:
            return None
        return Favour.about(self.lattice, centre=self.centre, spread=self.spread, quantile=float(q))

    @property
    def first(self) -> FromAnchor:
        """The middle of the column."""
        found = middle_measure(self.lattice).by(self._favour(Fraction(1, 2)))
        return self._step(self.parts[0], (self.rows + 1) // 2, found.measure, found.nats)

    def second(self, anchor: int) -> FromAnchor:
        """The answer, once an anchor has been released."""
        rest, middle = self.parts[1], (self.rows + 1) // 2
        q = Fraction(self.rank, self.rows)
        weight = per_rank(rest, q, self.neighbors)
        found = measure_from(
            self.lattice, anchor=anchor, between=weight * abs(self.rank - middle),
            weak=weight * min(self.rank, self.rows - self.rank + 1), upwards=self.rank > middle,
        ).by(self._favour(q))  # fmt: skip
        return self._step(rest, self.rank, found.measure, found.nats)

    def _step(self, price: Guarantee, rank: int, measure: Measure, nats: float) -> FromAnchor:
        return FromAnchor(
            price=price, lattice=self.lattice, rows=self.rows, rank=rank, measure=measure, nats=nats,
            neighbors=self.neighbors,
        )  # fmt: skip

    @staticmethod
    def middle(statistic: Quantile) -> Quantile:
        """The statistic of the anchor: the middle row of the same column."""
        same = {field.name: getattr(statistic, field.name) for field in fields(Quantile) if field.init}
        return Quantile(**{**same, "q": Fraction(1, 2), "rule": "lower", "shift": 0})

    # The contract -------------------------------------------------------------------------------------------

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """The anchor, then the quantile."""
        return self.answers(statistic, [ask], grid, contribution=contribution, bits=bits)[0]

    def answers(
        self, statistic: Any, asks: Asks, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> list[Answer]:
        """The same for many groups: all anchors at once, then the answers of each anchor."""
        own = matched(self, statistic)
        told: dict[str, Any] = {"contribution": contribution, "bits": bits}
        anchors = own.first.answers(self.middle(statistic), asks, grid, **told)
        places: dict[Fraction, list[int]] = {}
        for place, anchor in enumerate(anchors):
            assert isinstance(anchor.value, Fraction)
            places.setdefault(anchor.value, []).append(place)
        found: dict[int, Answer] = {}
        for value, groups in places.items():
            step = own.second(self.lattice.index(value))
            answers = step.answers(statistic, Some(asks, groups), grid, **told)
            for place, answer in zip(groups, answers, strict=True):
                found[place] = replace(answer, public={**answer.public, "anchor": value})
        return [found[place] for place in range(len(asks))]

    def anchors(self, statistic: Any, ask: Asking, contribution: int) -> list[tuple[float, int]]:
        """How probable each anchor is, or a few that stand for all; for laws only."""
        law = self.first.known_law(self.middle(statistic), ask, contribution)
        if self.lattice.last < POINTS:
            return [(law.probability(point), point) for point in range(self.lattice.last + 1)]
        strata = [*STRATA, *(1 - one for one in reversed(STRATA))]
        return [(over - under, law.quantile_point((under + over) / 2)) for under, over in pairwise(strata)]

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
        """A mixture over anchors: exact on short lattices, on others some of them stand for all."""
        del bits, grid
        known = self.known_law(statistic, ask, contribution)
        return [ErrorLaw(known, truth=Fraction(truth), step=None)]

    def known_law(self, statistic: Any, ask: Asking, contribution: int = 1) -> MixtureLaw:
        """The law of the answer over anchors, each of which has its own measure on the same levels."""
        own = matched(self, statistic)
        steps = [(chance, own.second(anchor)) for chance, anchor in own.anchors(statistic, ask, contribution)]
        deepest = max((step for _, step in steps), key=lambda step: step.depth)
        levels = deepest.known_law(statistic, ask, contribution)
        return MixtureLaw([(chance, levels.on(step.plan.measure)) for chance, step in steps])
