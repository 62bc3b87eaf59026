"""A count in whole hundreds: a mechanism of one's own, in one file.

The exponential mechanism over the multiples of a public step: the score of an answer is its distance from the count,
which one row moves by at most one, so that a slope of half the bounded range keeps the price
(docs/proofs/mechanism_nested.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.lattice import Lattice
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.selection.selection import ListLaw
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class CoarseCount(Mechanism):
    """A count, rounded to a multiple of a public step before anybody sees it.

    Args:
        price: What the answer costs.
        step: The public step.
        most: The largest answer, a public number of steps.
    """

    price: Guarantee
    step: int = 100
    most: int = 1000

    name: ClassVar[str] = "coarse-count"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.WHOLE,)
    needs: ClassVar[tuple[str, ...]] = ("profile",)
    proof: ClassVar[str] = "mechanism_nested"

    def __post_init__(self) -> None:
        checks.whole(self.name, at_least=1, step=self.step)
        checks.whole(self.name, at_least=1, most=self.most)

    @property
    def guarantee(self) -> Guarantee:
        """The price: the slope was chosen to spend all of it."""
        return self.price

    @classmethod
    def alternatives(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:  # noqa: ARG003
        """A plan shows it beside the default."""
        yield cls(price=price)

    def lattices(self, statistic: Statistic, grid: Lattice) -> Mapping[str, Lattice]:  # noqa: ARG002
        """Multiples of the step."""
        return {"value": Lattice(Fraction(0), Fraction(self.step))}

    def _exponents(self, reading: Reading) -> list[Fraction]:
        opened = reading.open()
        rate = self.price.slope / max(Fraction(opened.profile.ceiling), 1)
        count = opened.units.real(opened.value)
        return [rate * abs(count - self.step * place) for place in range(self.most + 1)]

    def law(self, reading: Reading) -> ListLaw:
        """Probability of every multiple."""
        exponents = self._exponents(reading)
        least = min(exponents)
        weights = [math.exp(-float(one - least)) for one in exponents]
        return ListLaw([weight / math.fsum(weights) for weight in weights])

    def draw(self, reading: Reading, grid: Lattice, *, bits: Bits | None = None) -> Answer:  # noqa: ARG002
        """Draw one multiple, exactly."""
        place = Draws.of(bits).choice(self._exponents(reading), price=self.price)
        return Answer(Fraction(self.step * place))
