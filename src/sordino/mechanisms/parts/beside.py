"""A bar beside an answer: one mechanism answers, and what is left of the price pays for the bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino.errors import Unsupported
from sordino.mechanisms import Mechanism

if TYPE_CHECKING:
    from sordino.coverage import Coverage
    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice
    from sordino.mechanisms import Answer, Asking
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.mechanisms.parts.law import Law
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class BarBeside(Mechanism):
    """An answer, and a bar that is asked for after it.

    Args:
        point: What answers, at its own price.
        price: What the bar costs.
        coverage: What it covers, and how surely.
    """

    point: Mechanism
    price: Guarantee
    coverage: Coverage

    @property
    def barred(self) -> bool:
        """Always."""
        return True

    @property
    def label(self) -> str:
        """That of the answer."""
        return f"{self.point.label} + error bar"

    @property
    def adaptive(self) -> bool:
        """As the answer is."""
        return self.point.adaptive

    @property
    def guarantee(self) -> Guarantee:
        """The answer and its bar compose."""
        return self.point.guarantee + self.price

    @property
    def trusted(self) -> bool:
        """As the answer is."""
        return self.point.trusted

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
        """Those of the answer."""
        return self.point.error_laws(statistic, ask, grid, truth, contribution=contribution, bits=bits)

    def draw(self, reading: Reading, grid: Lattice, *, bits: Bits | None = None) -> Answer:  # noqa: ARG002
        """Not from one reading: the bar asks about the answer."""
        raise Unsupported(self.name, "asks several times", hint="call answer(statistic, ask, grid)")

    def law(self, reading: Reading) -> Law:  # noqa: ARG002
        """Of the answer: ask `point`."""
        raise Unsupported(self.name, "has the law of its point", hint="mechanism.point.law(reading)")
