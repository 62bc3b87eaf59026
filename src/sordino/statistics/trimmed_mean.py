"""The trimmed mean of rows clipped to public bounds (input-clipped, Bun and Steinke 2019, section 6.1)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sordino import checks
from sordino.errors import ParameterError
from sordino.reading.requests import Rank
from sordino.statistics import Case
from sordino.statistics.ordered import Ordered, Weights, block_add_remove_profile
from sordino.statistics.smoothing_rule import breakdown_smoothing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sordino.hints import Hints
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Profile
    from sordino.reading.requests import Summary


def trimming_ranks(trim: Fraction) -> tuple[Rank, Rank]:
    """The first and the last rank that are kept when ``floor(trim n)`` rows go on each side.

    Example:
        >>> [rank.of(11) for rank in trimming_ranks(Fraction(1, 5))]
        [3, 9]
    """
    num, den = trim.numerator, trim.denominator
    return Rank(num, den, plus=1 - den, offset=1), Rank(den - num, den)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimmedMean(Ordered):
    """The mean of the rows that are left when a share is trimmed from each side.

    Args:
        trim: The share trimmed on each side, at least 0 and less than 1/2; ``floor(trim n)`` rows go. A number
            of rows m is the share ``Fraction(m, n)``. It is fixed by the caller, never by the data.

    Example:
        >>> TrimmedMean("income", trim=0.25, low=0, high=500_000).define([1, 4, 6, 100])
        Fraction(5, 1)
    """

    name: ClassVar[str] = "trimmed-mean"
    suits: ClassVar[tuple[str, ...]] = ("additive",)

    trim: Fraction | float

    def check(self) -> None:
        """Less than half goes on each side."""
        Ordered.check(self)
        trim = checks.non_negative(self.name, trim=self.trim)
        checks.between(self.name, Fraction(-1), Fraction(1, 2), trim=trim)
        object.__setattr__(self, "trim", trim)

    def ranks(self) -> tuple[Rank, ...]:
        """The two ends of the block that is kept."""
        return trimming_ranks(Fraction(self.trim))

    def weights(self, rows: int) -> Weights:
        """All kept rows alike."""
        gone = int(rows * Fraction(self.trim))
        return Weights(((gone + 1, rows - gone, 1),), rows - 2 * gone)

    def add_remove_profile(self, summary: Summary, depth: int, top: int) -> Profile | None:
        """The spread just outside the kept block, over its length."""
        return block_add_remove_profile(self, summary, depth, top)

    def smoothing(self, price: Guarantee, hints: Hints) -> Fraction:
        """The bounds are ``trim n`` changed rows away; see `public_smoothing`."""
        if hints.smoothing is not None:
            return Fraction(hints.smoothing)
        if hints.rows is None:
            raise ParameterError(
                self.name,
                "needs the public number of rows or a smoothing",
                why="How far the bounds are away decides how smooth the bound must be.",
                hint="rows=1000, or smoothing=0.1",
            )
        return breakdown_smoothing(self, price, hints)

    @property
    def breakdown(self) -> float:
        """What is trimmed on each side."""
        return float(self.trim)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Several shares, up to the median, both relations."""
        rows = tuple((x,) for x in (0, 1, 4))
        for relation in cls.relations:
            for trim in (Fraction(0), Fraction(1, 5), Fraction(1, 3), Fraction(49, 100)):
                yield Case(
                    cls("x", trim=trim, low=0, high=4, step=1, neighbors=relation), rows, (1, 2, 3, 4, 5)
                )
