"""A far quantile, minimum or maximum where the number of rows is private: the rows are counted first.

Where answers are looked for is planned from the number of rows. Where that is private a small part of the price buys
a noisy count, and what answers is planned for the class in which it lies. Two steps that compose; the second is one of
the mechanisms that answer the same question with a public number of rows.
Proof: docs/proofs/mechanism_counted.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import Unsupported
from sordino.lattice import Lattice
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.parts.conversing import Conversing
from sordino.mechanisms.parts.drawing import noise_for
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.tuned import ForCounted
from sordino.privacy import Neighbors, Purse
from sordino.reading.summaries import Summaries, everyone
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.mechanisms import Asking, Asks, Words
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Ask, Request, Summary
    from sordino.statistics import Statistic

WHOLE = Lattice.dyadic(0)
"""Counts are whole numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedFirst(Conversing):
    """A noisy number of rows, then an answer that is planned for it.

    Args:
        price: What both cost together.
        share: Of the price, for the number of rows.
        rows: A declared rough number of rows, for tables that are too small to be counted at this price.
        centre: Public guess of the middle of the column.
        spread: Public guess of its spread.
        tight: The caller vouches that the bounds fit the column.
        loose: For minimum and maximum: rather far inside the data than outside.

    Example:
        >>> from sordino.privacy import Pure
        >>> CountedFirst(price=Pure(1)).guarantee, CountedFirst(price=Pure(1)).parts[0]
        (Pure(epsilon=1), Pure(epsilon=0.0625))
    """

    price: Guarantee
    share: Fraction = ForCounted.SHARE
    rows: int | None = None
    centre: float | None = None
    spread: float | None = None
    tight: bool = False
    loose: bool = False

    name: ClassVar[str] = "counted"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.QUANTILE, Trait.COLUMN)
    relations: ClassVar[tuple[Neighbors, ...]] = (Neighbors.ADD_REMOVE_ONE,)
    together: ClassVar[bool] = True
    proof: ClassVar[str] = "mechanism_counted"

    def __post_init__(self) -> None:
        checks.between(self.name, 0, 1, share=self.share)
        if self.rows is not None:
            checks.whole(self.name, rows=self.rows)
        if not self.price.noise_targets:
            raise Unsupported(
                self.name, "has no noise for this price", got={"price": self.price}, hint="sd.Pure(1)"
            )
        self.parts[1].bounded_range  # noqa: B018 - refuses prices that no theorem covers

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Where the number of rows is private and decides: far from the median, and without a measure or a bar."""
        far = abs(Fraction(statistic.q) - Fraction(1, 2)) >= ForCounted.FAR
        private = statistic.neighbors is Neighbors.ADD_REMOVE_ONE
        composes = bool(price.noise_targets and price.added)  # a bounded range pays for one draw
        if far and private and composes and hints.measure is None and hints.interval is None:
            counted = cls(
                price=price, share=ForCounted.SHARE, rows=hints.rows, centre=hints.centre, spread=hints.spread,
                tight=hints.tight, loose=hints.loose,
            )  # fmt: skip
            if hints.rows is None or hints.rows >= ForCounted.FEW * counted.scale(1):
                yield counted

    @property
    def asks_again(self) -> bool:
        """First how many rows there are, then what an answer that is planned for them needs."""
        return True

    @property
    def no_bar(self) -> str:
        """An interval has a mechanism of its own."""
        return "An interval is drawn beside an answer that is not counted first."

    @property
    def parts(self) -> tuple[Guarantee, Guarantee]:
        """What the number of rows costs, and what is left for the answer."""
        purse = Purse(self.price)
        return purse.take(self.share), purse.rest()

    def lattices(self, statistic: Any, grid: Lattice) -> dict[str, Lattice]:  # noqa: ARG002
        """Those of everything that may answer, and whole numbers: what does is not known before rows are counted."""
        answers = statistic.grid.answers.endless
        magnitude = Lattice(Fraction(0), answers.step)
        return {"value": answers, "anchor": answers, "magnitude": magnitude, "rows": WHOLE}

    @property
    def trusted(self) -> bool:
        """As far as a declared number of rows says."""
        return self.rows is None or self.rows * self.price.strength >= 64

    def scale(self, contribution: int) -> Fraction:
        """Of the noise of a count; public."""
        return noise_for(self.parts[0]).scale * contribution

    def planned(self, counted: Fraction, contribution: int) -> int:
        """The number of rows for which an answer is planned: the end of the half octave in which the count lies.

        A count that does not stand out from its noise says little: the smallest count that is believed stands for it,
        or the declared number where that is larger. A plan for too few rows errs more than one for too many.
        """
        least = ForCounted.TOLD * self.scale(contribution)
        if counted < least:
            return max(class_of(least), self.rows or 0)
        return class_of(counted, end=True)

    def after(self, statistic: Statistic, rows: int) -> Mechanism:
        """What answers once a number of rows is known; public."""
        from sordino.hints import Hints
        from sordino.mechanisms import kinds

        hints = Hints(rows=rows, centre=self.centre, spread=self.spread, tight=self.tight, loose=self.loose)
        known = kinds()
        return next(
            offer
            for name in statistic.suited
            if name != self.name and not known[name].for_bars
            for offer in known[name].offers(statistic, self.parts[1], hints)
        )

    def refusal(self, statistic: Statistic) -> str | None:
        """A quantile of one column, whose further steps are covered too."""
        reason = Mechanism.refusal(self, statistic)
        return reason or self.after(statistic, 1000).refusal(statistic)

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Count, then answer."""
        return self.answers(statistic, [ask], grid, contribution=contribution, bits=bits)[0]

    def answers(
        self, statistic: Any, asks: Asks, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> list[Answer]:
        """The same for many groups: all are counted together, and those of one class are answered together."""
        if not asks:
            return []
        columns = Summaries.of(everyone(asks, self.count(statistic))).columns
        counts = [Fraction(one) for one in columns.rows.tolist()]
        counted = Draws.of(bits).noisy_each(
            counts, sensitivity=Fraction(contribution), price=self.parts[0], grid=WHOLE
        )
        classes: dict[int, list[int]] = {}
        for place, one in enumerate(counted):
            classes.setdefault(self.planned(one, contribution), []).append(place)
        found: dict[int, Answer] = {}
        for rows, places in sorted(classes.items()):
            mechanism = self.after(statistic, rows)
            drawn = mechanism.answers(
                statistic, Some(asks, places), grid, contribution=contribution, bits=bits
            )
            for place, answer in zip(places, drawn, strict=True):
                found[place] = replace(answer, public={**answer.public, "rows": counted[place]})
        return [found[place] for place in range(len(asks))]

    @staticmethod
    def count(statistic: Any) -> Request:
        """What a count needs of the column: no rank, no sum."""
        request: Request = replace(statistic.request(depth=0), windows=())
        return request

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
        """A mixture over the classes in which the count may lie."""
        del bits
        parts = []
        for chance, rows in self.chances(ask(self.count(statistic)).rows, contribution):
            laws = self.after(statistic, rows).error_laws(
                statistic, ask, grid, truth, contribution=contribution
            )
            if laws is None:
                return None
            parts.append((chance, laws[0]))
        return [TwoStepErrors(parts)]

    def chances(self, rows: int, contribution: int) -> list[tuple[float, int]]:
        """How probable it is, of a known number of rows, that an answer is planned for each number; for laws only."""
        calibration = noise_for(self.parts[0])
        scale = float(self.scale(contribution))
        first = float(ForCounted.TOLD) * scale
        ends = [-math.inf, first]
        ends += [end for end in map(boundary, range(128)) if first < end < rows + 40 * scale]
        found: dict[int, float] = {}
        for below, above in pairwise([*ends, math.inf]):
            upper = 1.0 if math.isinf(above) else float(calibration.noise.cdf((above - 0.5 - rows) / scale))
            lower = 0.0 if math.isinf(below) else float(calibration.noise.cdf((below - 0.5 - rows) / scale))
            if upper - lower > 1e-12:
                planned = self.planned(Fraction(math.ceil(max(below, -1.0))), contribution)
                found[planned] = found.get(planned, 0.0) + upper - lower
        return [(chance, planned) for planned, chance in found.items()]


class TwoStepErrors:
    """The law of an error that is reached in two steps."""

    def __init__(self, parts: Sequence[tuple[float, Errors]]) -> None:
        self.parts = parts

    def within(self, distance: float) -> float:
        """Probability of an error of at most this."""
        return math.fsum(chance * law.within(distance) for chance, law in self.parts)

    @property
    def mean_square(self) -> float:
        """Expected squared error."""
        return math.fsum(chance * law.mean_square for chance, law in self.parts)


class Some(list[Any]):
    """Some of many groups, whose further questions are put together where all are."""

    def __init__(self, asks: Asks, places: Sequence[int]) -> None:
        super().__init__(asks[place] for place in places)
        whole: Callable[[list[tuple[int, Ask]]], list[Summary]] | None = getattr(asks, "together", None)
        if whole is not None:
            self.together = lambda asked: whole([(places[place], request) for place, request in asked])


def boundary(half: int) -> int:
    """The first number of rows of a half octave.

    Example:
        >>> [boundary(half) for half in range(7)]
        [1, 2, 2, 3, 4, 6, 8]
    """
    return 1 << half // 2 if half % 2 == 0 else math.isqrt((1 << half) - 1) + 1


def class_of(rows: Fraction, *, end: bool = False) -> int:
    """The largest boundary that is not above a number, and at least 1; or, at its end, the first that is above it.

    Example:
        >>> [class_of(Fraction(rows)) for rows in (0, 1, 5, 6, 1000)]
        [1, 1, 4, 6, 725]
        >>> [class_of(Fraction(rows), end=True) for rows in (0, 1, 5, 6, 1000)]
        [2, 2, 6, 8, 1024]
    """
    whole = max(math.floor(rows), 1)
    half = 2 * (whole.bit_length() - 1)
    half += boundary(half + 1) <= whole
    if not end:
        return boundary(half)
    return next(above for above in map(boundary, range(half + 1, half + 4)) if above > whole)
