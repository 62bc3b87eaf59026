"""Selection among public categories by their counts: the mode.

Permute-and-flip for a pure price, the exponential mechanism otherwise. Counts that only grow when a row is added move
in one direction, so under add/remove one row costs half (docs/proofs/mechanism_selection.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.mechanisms import Answer, Mechanism, matched
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.selection.permute_and_flip import probabilities
from sordino.privacy import Guarantee, Neighbors
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.lattice import Lattice
    from sordino.mechanisms import Asking, Words
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.reading.profile import Reading
    from sordino.statistics import Statistic


class ListLaw:
    """Probabilities of the places 0, 1, ... of a public list."""

    def __init__(self, chances: list[float]) -> None:
        self.chances = chances

    def logpdf(self, value: float) -> float:
        """Log probability of a place."""
        place = int(value)
        chance = self.chances[place] if 0 <= place < len(self.chances) else 0.0
        return math.log(chance) if chance > 0 else -math.inf

    def cdf(self, value: float) -> float:
        """Probability of a place that is not later."""
        return math.fsum(self.chances[: max(math.floor(value) + 1, 0)])

    def mean(self) -> float:
        """Expected place; seldom a useful number."""
        return math.fsum(place * chance for place, chance in enumerate(self.chances))

    def mean_squared_error(self, value: float) -> float:
        """Expected squared distance of places."""
        return math.fsum((place - value) ** 2 * chance for place, chance in enumerate(self.chances))


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection(Mechanism):
    """The place of the category with the largest count.

    Args:
        price: What the answer costs.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> from sordino.privacy import Pure
        >>> Selection(price=Pure(1)).slope, Selection(price=Pure(1), neighbors=Neighbors.ADD_REMOVE_ONE).slope
        (Fraction(1, 2), Fraction(1, 1))
    """

    price: Guarantee
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    name: ClassVar[str] = "selection"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.KEY,)
    needs: ClassVar[tuple[str, ...]] = ("counts",)
    proof: ClassVar[str] = "mechanism_selection"

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
        """By how many rows the chosen category is rarer than the most frequent one."""
        import numpy as np

        from sordino.mechanisms.parts.error_law import ShortfallLaw

        del grid, truth, bits
        if contribution != 1:
            return None
        reading = statistic.read(ask(statistic.request(depth=0)))
        counts = np.array(reading.open().counts)
        return [ShortfallLaw(np.array(matched(self, statistic).law(reading).chances), counts.max() - counts)]

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:  # noqa: ARG003
        """The key itself."""
        yield cls(price=price, neighbors=statistic.neighbors)

    alternatives = offers

    def __post_init__(self) -> None:
        self.price.bounded_range  # noqa: B018 - refuses prices that no theorem covers

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:  # noqa: ARG002
        """A key is not a number."""
        return {}

    @property
    def no_bar(self) -> str:
        """A choice is not a number."""
        return "A key that was chosen is at no distance from the others."

    @property
    def slope(self) -> Fraction:
        """Nats per row."""
        once = self.price.bounded_range
        return once if self.neighbors is Neighbors.ADD_REMOVE_ONE else once / 2

    @staticmethod
    def _levels(reading: Reading) -> list[int]:
        counts = reading.open().counts
        return [max(counts) - count for count in counts]

    def law(self, reading: Reading) -> ListLaw:
        """Probability of every category."""
        levels = self._levels(reading)
        if self.price.pointwise:
            return ListLaw(probabilities(levels, self.slope))
        weights = [math.exp(-float(self.slope) * level) for level in levels]
        return ListLaw([weight / math.fsum(weights) for weight in weights])

    def draw(self, reading: Reading, grid: Lattice, *, contribution: int = 1, bits: Words = None) -> Answer:
        """Draw a place of the public list."""
        del grid
        exponents = [self.slope * level / contribution for level in self._levels(reading)]
        draws = Draws.of(bits)
        choose = draws.flip if self.price.pointwise else draws.choice
        return Answer(Fraction(choose(exponents, price=self.price)))

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Ask for the counts, draw, and name the category."""
        summary = ask(statistic.request(depth=0))
        chosen = matched(self, statistic).draw(
            statistic.read(summary), grid, contribution=contribution, bits=bits
        )
        place = chosen.value
        assert isinstance(place, Fraction)
        return Answer(place, {"key": statistic.keys[int(place)]})
