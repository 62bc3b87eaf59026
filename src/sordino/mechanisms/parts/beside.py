"""A bar beside an answer: one mechanism answers, and what is left of the price pays for the bar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.mechanisms.parts.conversing import Conversing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.coverage import Coverage
    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice
    from sordino.mechanisms import Asking, Mechanism
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.privacy import Guarantee


@dataclass(frozen=True, slots=True, kw_only=True)
class BarBeside(Conversing):
    """An answer, and a bar that is asked for after it.

    Args:
        point: What answers, at its own price.
        price: What the bar costs.
        coverage: What it covers, and how surely.
    """

    for_bars: ClassVar[bool] = True
    law_is: ClassVar[str] = "mechanism.point.law(reading)"

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
