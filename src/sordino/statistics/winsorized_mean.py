"""The winsorized mean: the outer rows count as the outermost rows that are kept."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sordino import checks
from sordino.statistics import NESTED, Case
from sordino.statistics.ordered import Ordered, Weights
from sordino.statistics.trimmed_mean import trimming_ranks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sordino.reading.requests import Rank


@dataclass(frozen=True, slots=True, kw_only=True)
class WinsorizedMean(Ordered):
    """The mean after ``floor(trim n)`` rows on each side were pulled in to the nearest row that is kept.

    Args:
        trim: The share pulled in on each side, at least 0 and less than 1/2.

    Example:
        >>> WinsorizedMean("income", trim=0.25, low=0, high=500_000).define([1, 4, 6, 100])
        Fraction(5, 1)
    """

    name: ClassVar[str] = "winsorized-mean"
    suits: ClassVar[tuple[str, ...]] = NESTED

    trim: Fraction | float

    def check(self) -> None:
        """Less than half is pulled in on each side."""
        Ordered.check(self)
        trim = checks.non_negative(self.name, trim=self.trim)
        checks.between(self.name, Fraction(-1), Fraction(1, 2), trim=trim)
        object.__setattr__(self, "trim", trim)

    @property
    def exact(self) -> tuple[str, ...]:
        """The envelopes are exact; no closed form of the profile is known."""
        return "low", "high"

    def ranks(self) -> tuple[Rank, ...]:
        """The two ends of the block that is kept."""
        return trimming_ranks(Fraction(self.trim))

    def weights(self, rows: int) -> Weights:
        """Kept rows alike, the outermost of them once more for every row pulled in."""
        gone = int(rows * Fraction(self.trim))
        first, last = gone + 1, rows - gone
        ends = ((first, first, gone), (last, last, gone)) if gone else ()
        return Weights(((first, last, 1), *ends), rows)

    @property
    def breakdown(self) -> float:
        """What is pulled in on each side."""
        return float(self.trim)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Several shares, up to the median, both relations."""
        rows = tuple((x,) for x in (0, 1, 4))
        for relation in cls.relations:
            for trim in (Fraction(1, 5), Fraction(1, 3), Fraction(49, 100)):
                yield Case(
                    cls("x", trim=trim, low=0, high=4, step=1, neighbors=relation), rows, (1, 2, 3, 4, 5)
                )
