"""The mean of a column that is promised to be symmetric: a trimmed mean with smooth noise answers instead.

The promise is the caller's; the estimand becomes the centre of symmetry, and the answer says so. The trimming and the
smoothing come from public numbers only (docs/explanation/which_mechanism.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.additive.additive import Additive
from sordino.mechanisms.additive.smoothing import smooth_noise

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.exact.grid import Grid
    from sordino.mechanisms import Asking
    from sordino.mechanisms.additive.additive import AdditiveLaw
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class SymmetricMean(Mechanism):
    """A trimmed mean with smooth noise, in place of the mean of a symmetric column.

    Args:
        price: What the answer costs.
        trimmed: Rows trimmed on each side.
        rows: Public number of rows.
        inner: The additive mechanism that answers the trimmed mean.

    Example:
        >>> from sordino.privacy import Pure
        >>> SymmetricMean.planned(price=Pure(1), rows=1001, low=-50, high=1050).trimmed
        44
    """

    price: Guarantee
    trimmed: int
    rows: int
    inner: Additive

    name: ClassVar[str] = "symmetric-mean"
    needs: ClassVar[tuple[str, ...]] = ("profile",)
    proof: ClassVar[str] = "mechanism_additive"

    @classmethod
    def planned(
        cls, *, price: Guarantee, rows: int, low: float, high: float, spread: float | None = None
    ) -> SymmetricMean:
        """Choose trimming and smoothing from public numbers."""
        strength = price.strength
        decades = math.log(float(Fraction(high) - Fraction(low)) / (spread or (high - low) / 1000))
        effort = rows * strength
        wanted = (0.25 if effort < 600 else 0.16 if effort < 3000 else 0.12) * strength
        trimmed = max(min(math.ceil(decades / wanted), int(0.4 * rows)), 1)
        calibration = smooth_noise(price, decades=decades, trimmed=trimmed)
        return cls(price=price, trimmed=trimmed, rows=rows, inner=Additive(calibration=calibration))

    @property
    def guarantee(self) -> Guarantee:
        """The price."""
        return self.price

    @property
    def depth(self) -> int:
        """As far as the additive mechanism looks."""
        return self.inner.depth

    def substitute(self, statistic: Statistic) -> Statistic:
        """The trimmed mean that is read instead of the mean."""
        from sordino.statistics.trimmed_mean import TrimmedMean

        shared = ("column", "low", "high", "step", "missing", "bits", "neighbors")
        fields = {name: getattr(statistic, name) for name in shared}
        return TrimmedMean(**fields, trim=Fraction(self.trimmed, max(self.rows, 2 * self.trimmed + 1)))

    def law(self, reading: Reading) -> AdditiveLaw:
        """The law on a reading of the trimmed mean."""
        return self.inner.law(reading)

    def draw(self, reading: Reading, grid: Grid, *, bits: Bits | None = None) -> Answer:
        """Draw from a reading of the trimmed mean."""
        return Answer(self.inner.draw(reading, grid, bits=bits).value, {"estimand": "centre of symmetry"})

    def answer(
        self,
        statistic: Statistic,
        ask: Asking,
        grid: Grid,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Answer:
        """Read the trimmed mean in place of the mean."""
        return Mechanism.answer(
            self, self.substitute(statistic), ask, grid, contribution=contribution, bits=bits
        )
