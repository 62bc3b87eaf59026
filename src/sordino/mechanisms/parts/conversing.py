"""`Conversing`: a mechanism that asks the source itself and draws from what it is told.

No single reading holds all that it needs: it asks for a whole table, for keys, or again once something has been
released. So there is nothing to draw from a reading, and its law is found elsewhere.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.errors import Unsupported
from sordino.mechanisms import PERSONS, Answer, Mechanism

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.lattice import Lattice
    from sordino.mechanisms import Asking, Words
    from sordino.mechanisms.parts.law import Law
    from sordino.privacy import Guarantee, Neighbors
    from sordino.reading.profile import Reading


class Conversing(Mechanism):
    """A mechanism without a law of one reading; subclasses say how they converse.

    Attributes:
        law_is: What to call for its law, on known data.

    Example:
        >>> from sordino.mechanisms.table.high_pass import HighPass
        >>> from sordino.privacy import Pure
        >>> HighPass(price=Pure(1)).reads_once
        False
    """

    __slots__ = ()

    needs: ClassVar[tuple[str, ...]] = ("rows",)
    law_is: ClassVar[str] = "error_laws(statistic, ask, grid, truth)"

    @abstractmethod
    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Ask, draw, and ask again where that is what it does."""

    def draw(self, reading: Reading, grid: Lattice, *, bits: Bits | None = None) -> Answer:
        """Not from one reading."""
        del reading, grid, bits
        raise Unsupported(self.name, "draws from what it asks for", hint="answer(statistic, ask, grid)")

    def law(self, reading: Reading) -> Law:
        """Not of one reading."""
        del reading
        raise Unsupported(self.name, "has no law of a single reading", hint=self.law_is)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicNoiseTable(Conversing):
    """Many numbers of the same rows with noise that is known beforehand.

    Args:
        price: What all of them cost together.
        level: Probability of a bar for every number; None for none.
    """

    price: Guarantee
    level: float | None = None

    relations: ClassVar[tuple[Neighbors, ...]] = PERSONS
    fixed_noise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.paid:
            raise Unsupported(
                self.name, "has no noise for this price", got={"price": self.price}, hint="sd.Pure(1)"
            )

    @property
    @abstractmethod
    def paid(self) -> bool:
        """Whether the price is of a kind that it has noise for."""

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:  # noqa: ARG003
        """The only way to answer, with bars where they are asked for."""
        yield cls(price=price, level=hints.level)
