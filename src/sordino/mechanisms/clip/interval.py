"""A released clipping interval: where rows are cut, what is left of the price, what a private number of rows costs.

What the searches of auto_clip.py hand to the noise. Everything here is public or has been released.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sordino.mechanisms.tuned_means import ForLoose

if TYPE_CHECKING:
    from sordino.mechanisms.clip.column import Clipped
    from sordino.privacy import Guarantee


@lru_cache(maxsize=256)
def count_part(rows: int, rest: Guarantee, part: Fraction = ForLoose.COUNT_PART) -> Fraction:
    """Share of the rest for a private number of rows; more where they are few, since a count near zero ruins a mean.

    Example:
        >>> from sordino.privacy import Pure
        >>> count_part(1000, Pure(1)), count_part(40, Pure(1))
        (Fraction(7, 20), Fraction(7, 20))
    """
    few = Fraction(round(10 / max(rows * rest.nats, 10), 4))
    return max(part, min(few.limit_denominator(1000), ForLoose.MOST_COUNT))


@dataclass(frozen=True, slots=True)
class ClipInterval:
    """A released clipping interval, in codes, and what is left of the price.

    Attributes:
        low: First code.
        high: Last code.
        rest: What is left of the price.
        public: What else has been released.
        about: The code about which a mean with a private number of rows is summed; None for the middle.
        count_part: Share of the rest for that number of rows.
    """

    low: int
    high: int
    rest: Guarantee
    public: dict[str, Any]
    about: int | None = None
    count_part: Fraction = ForLoose.COUNT_PART

    @property
    def shares(self) -> tuple[Guarantee, Guarantee]:
        """What is left for the sum, and what a private number of rows may cost."""
        return _shares(self.rest, self.count_part)

    def origin(self, sums: Clipped) -> Fraction:
        """The released point about which rows are summed when their number is private."""
        middle = (sums.low + sums.high) / 2
        if self.about is None or self.high == self.low:
            return middle
        return sums.low + (sums.high - sums.low) * Fraction(self.about - self.low, self.high - self.low)


@lru_cache(maxsize=256)
def _shares(rest: Guarantee, part: Fraction) -> tuple[Guarantee, Guarantee]:
    return rest.share(1 - part), rest.share(part)
