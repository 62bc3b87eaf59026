"""`Hints`: what a caller may add about a column; all public, all optional. They steer the choice, never the promise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sordino.coverage import Coverage
    from sordino.mechanisms.parts.measure import Measure

SPREADS = 5  # bounds at most so many spreads wide fit the column, even if the guess is three times too large


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What the caller may add; all public, all optional.

    Attributes:
        rows: Number of rows (public under replace-one), or a declared rough one.
        centre: Guess of the mean of the column. Quantiles, minima and maxima use it together with a spread only.
        spread: Guess of its standard deviation; a factor of three either way does no harm.
        tight: The bounds fit the column, whose rows fill them: plain noise at the full price. Not so where a quarter of
            the range holds nearly all rows.
        loose: The bounds of a mean, sum, variance or deviation are far too wide (ten times or more): search them
            aggressively. Where they do fit after all, answers can be several times worse than plain noise. For minimum
            and maximum: rather far inside the data than outside.
        symmetric: The distribution is symmetric, so a trimmed mean may answer for the mean.
        occupied: Guess of the share of rows that differ from the usual value.
        smoothing: Smoothing parameter of a smooth bound.
        interval: What an error bar is to cover; a bare number is the probability of one for the sample.
        measure: The caller's own base measure for a quantile.
    """

    rows: int | None = None
    centre: float | None = None
    spread: float | None = None
    tight: bool = False
    loose: bool = False
    symmetric: bool = False
    occupied: float | None = None
    smoothing: Fraction | None = None
    interval: Coverage | None = None
    measure: Measure | None = None

    def fits(self, low: float, high: float) -> bool:
        """Whether the bounds fit the column: the caller says so, or says a spread of which they are at most five."""
        width = Fraction(high) - Fraction(low)
        return self.tight or (self.spread is not None and width <= SPREADS * Fraction(self.spread))

    @property
    def look(self) -> int | None:
        """How many changed rows can matter: beyond twice the rows there is nothing to see."""
        return None if self.rows is None else 2 * self.rows + 64

    @property
    def level(self) -> float | None:
        """How surely an error bar is to cover; None where none is asked for."""
        return None if self.interval is None else self.interval.level
