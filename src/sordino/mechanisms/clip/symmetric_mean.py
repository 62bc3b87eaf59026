"""The mean of a column that is promised to be symmetric: a trimmed mean with smooth noise answers instead.

The promise is the caller's; the estimand becomes the centre of symmetry, and the answer says so. The trimming and the
smoothing come from public numbers only (docs/explanation/which_mechanism.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.additive.additive import Additive
from sordino.mechanisms.additive.smoothing import noise_at
from sordino.mechanisms.tuned_means import ForSymmetric
from sordino.privacy import Neighbors
from sordino.reading.traits import Trait
from sordino.statistics.smoothing_rule import public_smoothing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.lattice import Lattice
    from sordino.mechanisms import Asking, Words
    from sordino.mechanisms.additive.additive import AdditiveLaw
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class SymmetricMean(Mechanism):
    """A trimmed mean with smooth noise, in place of the mean of a symmetric column.

    Args:
        trimmed: Rows trimmed on each side.
        rows: Public number of rows.
        inner: The additive mechanism that answers the trimmed mean.

    Example:
        >>> from sordino.privacy import Pure
        >>> SymmetricMean.planned(price=Pure(1), rows=1001, low=-50, high=1050).trimmed
        101
    """

    trimmed: int
    rows: int
    inner: Additive

    name: ClassVar[str] = "symmetric-mean"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.MEAN,)
    needs: ClassVar[tuple[str, ...]] = ("profile",)
    proof: ClassVar[str] = "mechanism_additive"

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Where the caller vouches for symmetry, and rows times the price suffice to trim."""
        rows = hints.rows or 0
        replace_one = statistic.neighbors is Neighbors.REPLACE_ONE
        if hints.symmetric and replace_one and rows * price.strength >= ForSymmetric.LEAST_EFFORT:
            yield cls.planned(
                price=price, rows=rows, low=statistic.low, high=statistic.high, spread=hints.spread
            )

    @classmethod
    def planned(
        cls, *, price: Guarantee, rows: int, low: float, high: float, spread: float | None = None
    ) -> SymmetricMean:
        """Choose trimming and smoothing from public numbers."""
        strength = price.strength
        effort = rows * strength
        enough = ForSymmetric.ENOUGH_GAUSSIAN if price.gaussian else ForSymmetric.ENOUGH
        wide = ForSymmetric.WIDE[sum(effort >= one for one in enough)]
        decades = math.log(float(Fraction(high) - Fraction(low)) / (spread or (high - low) / wide))
        wanted = ForSymmetric.NATS[(effort >= ForSymmetric.FEW) + (effort >= ForSymmetric.MANY)] * strength
        trimmed = max(min(math.ceil(decades / wanted), int(ForSymmetric.MOST * rows)), 1)
        calibration = noise_at(price, public_smoothing(price, decades=decades, trimmed=trimmed))
        return cls(trimmed=trimmed, rows=rows, inner=Additive(calibration=calibration))

    def refusal(self, statistic: Statistic) -> str | None:
        """The mean of a column, by what the mechanism inside answers."""
        return Mechanism.refusal(self, statistic) or self.inner.refusal(self.substitute(statistic))

    def lattices(self, statistic: Statistic, grid: Lattice) -> Mapping[str, Lattice]:
        """As the mechanism inside."""
        return self.inner.lattices(self.substitute(statistic), grid)

    @property
    def guarantee(self) -> Guarantee:
        """What the mechanism inside promises; there is no other price."""
        return self.inner.guarantee

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
        """That of the trimmed mean about the mean."""
        del bits
        reading = self.inner.reading(self.substitute(statistic), ask, contribution)
        return self.inner._error_laws(reading, grid, truth)

    def law(self, reading: Reading) -> AdditiveLaw:
        """The law on a reading of the trimmed mean."""
        return self.inner.law(reading)

    def draw(self, reading: Reading, grid: Lattice, *, bits: Bits | None = None) -> Answer:
        """Draw from a reading of the trimmed mean."""
        return Answer(self.inner.draw(reading, grid, bits=bits).value, {"estimand": "centre of symmetry"})

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Read the trimmed mean in place of the mean."""
        return Mechanism.answer(
            self, self.substitute(statistic), ask, grid, contribution=contribution, bits=bits
        )
