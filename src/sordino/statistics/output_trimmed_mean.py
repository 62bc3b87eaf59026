"""The trimmed mean clipped afterwards (output-clipped, Bun and Steinke 2019, section 6.2)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sordino import checks
from sordino.errors import ParameterError
from sordino.reading.profile import Exact, Opened, Profile, Reach
from sordino.reading.traits import Trait
from sordino.statistics import Case
from sordino.statistics.trimmed_mean import TrimmedMean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTrimmedMean(TrimmedMean):
    """The trimmed mean of nearly unbounded rows, clipped to the interval in which the answer is expected.

    Args:
        low: Rows below it count as ``low``; choose it so wide that no row is expected there.
        high: Rows above it count as ``high``.
        answer_low: The answer is clipped to at least this; close, because one person may move it this far.
        answer_high: The answer is clipped to at most this.

    Example:
        >>> mean = OutputTrimmedMean("x", trim=0.25, low=-1e6, high=1e6, answer_low=0, answer_high=8, step=1)
        >>> float(mean.units.real(mean.define([0, 10**6 + 9, 10**6 + 9, 2 * 10**6])))
        8.0
    """

    name: ClassVar[str] = "output-trimmed-mean"

    answer_low: float
    answer_high: float

    def check(self) -> None:
        """The answer's interval lies inside the range of the rows."""
        TrimmedMean.check(self)
        low = checks.exact(self.name, answer_low=self.answer_low)
        high = checks.exact(self.name, answer_high=self.answer_high)
        if not Fraction(self.grid.low) <= low < high <= Fraction(self.grid.high):
            raise ParameterError(
                self.name,
                "low <= answer_low < answer_high <= high must hold",
                got={"answer_low": self.answer_low, "answer_high": self.answer_high},
                why="Rows are clipped to the outer bounds, the answer to the inner ones.",
            )

    def shows(self) -> tuple[Trait, ...]:
        """Between public bounds of its own."""
        return Trait.REACH, Trait.RANGE

    @property
    def exact(self) -> tuple[str, ...]:
        """Clipping is monotone, so the envelopes stay exact; the profile is only cut to the width."""
        return "low", "high"

    @property
    def span(self) -> tuple[Fraction, Fraction]:
        """The answer's interval in steps."""
        units = self.units
        low, high = (checks.exact(self.name, end=end) for end in (self.answer_low, self.answer_high))
        return (low - units.origin) / units.step, (high - units.origin) / units.step

    def define(self, rows: Sequence[int]) -> Exact:
        """Trim, average, clip."""
        low, high = self.span
        return min(max(TrimmedMean.define(self, rows), low), high)

    def open(self, summary: Summary) -> Opened:
        """Clip the envelopes, cut the profile to the width (Bun and Steinke 2019, Lemma 50, sharpened)."""
        inner = TrimmedMean.open(self, summary)
        assert inner.reach is not None
        low, high = self.span
        width = high - low
        reach = Reach.dense(
            [min(max(value, low), high) for value in inner.reach.low],
            [min(max(value, low), high) for value in inner.reach.high],
            bottom=low,
            top=high,
        )
        profile = inner.profile.meet(Profile.constant(width))
        return Opened(
            min(max(inner.value, low), high),
            self.units,
            profile,
            reach,
            inner.rows,
            inner.windows,
            bottom=low,
            top=high,
        )

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Answers inside and at the ends of their interval, both relations."""
        rows = tuple((x,) for x in (0, 1, 6))
        for relation in cls.relations:
            for trim in (Fraction(0), Fraction(1, 3)):
                statistic = cls(
                    "x", trim=trim, low=0, high=6, step=1, answer_low=1, answer_high=3, neighbors=relation
                )
                yield Case(statistic, rows, (1, 2, 3, 4))
