"""`HighPass`: the cells of a public table whose noisy counts stand out, of as many cells as there may be.

Up to a million cells all are drawn, and the threshold is the one with the least estimated error. Beyond, or where a
number of false cells is given, the threshold is fixed beforehand and empty cells are drawn by their gaps. Pure prices
are enough: the domain is public. Proof: docs/proofs/mechanism_high_pass.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.lattice import Lattice
from sordino.mechanisms import Answer
from sordino.mechanisms.parts.conversing import PublicNoiseTable
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.table.high_pass_law import HighPassLaw
from sordino.mechanisms.table.margins import gaussian_price, pure_price
from sordino.mechanisms.table.threshold_risk import best_threshold
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.privacy.conversion import ball, evaluate, upper
from sordino.reading.traits import Trait
from sordino.statistics.sparse_table import READ_WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sordino.mechanisms import Asking, Words
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.statistics import Statistic

USUAL = 1.0
"""Empty cells that are shown on average where nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HighPass(PublicNoiseTable):
    """Show the cells whose noisy counts reach a threshold.

    Example:
        >>> HighPass(price=Pure(1)).guarantee
        Pure(epsilon=1)
    """

    name: ClassVar[str] = "high-pass"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.CELLS,)
    law_is: ClassVar[str] = "listing(...).logs(count, top)"
    proof: ClassVar[str] = "mechanism_high_pass"

    @property
    def paid(self) -> bool:
        """Pure and concentrated prices."""
        return pure_price(self.price) is not None or gaussian_price(self.price) is not None

    @classmethod
    def cases(cls) -> Iterable[MechanismCase]:
        """Both ways to find the threshold, both relations, both kinds of noise."""
        from sordino.mechanisms.parts.cases import MechanismCase
        from sordino.statistics.sparse_table import SparseTable

        for world in SparseTable.cases():
            for price in (Pure(1), Concentrated(Fraction(1, 2))):
                yield MechanismCase(cls(price=price), world, default=True)

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:  # noqa: ARG002
        """Whole people."""
        names = ("value", "threshold", "below", *(("low", "high") if self.barred else ()))
        return dict.fromkeys(names, Lattice())

    def noise(self, statistic: Any, contribution: int) -> tuple[Fraction, bool]:
        """Scale of the noise, and whether it is Gaussian; public."""
        replaced = statistic.neighbors is Neighbors.REPLACE_ONE
        epsilon = pure_price(self.price)
        if epsilon is not None:
            return contribution * (2 if replaced else 1) / epsilon, False
        rho = gaussian_price(self.price)
        assert rho is not None
        longer = 2 if replaced else 1
        return contribution * upper(evaluate(lambda: 1 / (2 * ball(rho) / longer).sqrt())), True

    def chosen_by_risk(self, statistic: Any) -> bool:
        """Whether all cells are drawn and the threshold is found from them; public."""
        return (
            statistic.false_cells is None
            and statistic.cells <= READ_WHOLE
            and pure_price(self.price) is not None
        )

    def listing(self, statistic: Any, contribution: int = 1) -> HighPassLaw:
        """Noise and threshold where they are fixed beforehand."""
        scale, gaussian = self.noise(statistic, contribution)
        return HighPassLaw.listing(scale, statistic.cells, statistic.false_cells or USUAL, gaussian=gaussian)

    def rests_on(self, statistic: Any) -> list[str]:
        """What is and is not said of cells that are not listed."""
        said = [f"The table has {statistic.cells:,} public cells; rows with other keys are left out."]
        if self.chosen_by_risk(statistic):
            said.append(
                "Cells are listed from a threshold on that was found from the noisy table, so that its squared error "
                "is small; sums of listed cells are biased, since small counts are missing."
            )
        else:
            said.append(
                f"About {statistic.false_cells or USUAL:g} of the listed cells are empty in truth. Sums of listed "
                "cells are biased, since small counts are missing."
            )
        if self.level is not None:
            said.append(
                "Bars hold for each cell before it is known which are listed; an empty cell that is listed lies "
                "outside its own."
            )
        return said

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Draw, and list what reaches the threshold in the order of the cells."""
        del grid
        summary = ask(statistic.request(depth=0))
        assert summary.codes is not None
        cells, counts = summary.codes
        draws = Draws.of(bits)
        scale, gaussian = self.noise(statistic, contribution)
        price = (
            Concentrated(gaussian_price(self.price) or 0) if gaussian else Pure(pure_price(self.price) or 0)
        )
        if self.chosen_by_risk(statistic):
            table = np.zeros(statistic.cells, np.int64)
            table[cells] = counts
            noisy = np.asarray(draws.geometric_cells(table, scale, price=price))
            highest = HighPassLaw.listing(scale, statistic.cells, 0.5, gaussian=False).threshold
            threshold = best_threshold(noisy, float(1 / scale), highest)
            places = np.flatnonzero(noisy >= threshold)
            found = dict(zip(places.tolist(), noisy[places].tolist(), strict=True))
        else:
            law = self.listing(statistic, contribution)
            threshold = law.threshold
            found = draws.high_pass(cells, counts, statistic.cells, law, price=price)
        named = tuple(_one(statistic.named(cell)) for cell in found)
        values = tuple(Fraction(value) for value in found.values())
        public: dict[str, Any] = {
            "keys": named,
            "threshold": threshold,
            "below": self._below(threshold, scale, gaussian),
        }
        if self.level is not None:
            half = self._half(scale, 1 - self.level, gaussian=gaussian)
            ends = {
                "low": tuple(max(0, int(v) - half) for v in values),
                "high": tuple(int(v) + half for v in values),
            }
            public |= {**ends, "level": self.level, "free": True}
        return Answer(values, public)

    def _below(self, threshold: int, scale: Fraction, gaussian: bool) -> int:
        """A cell that is not listed has fewer people than this in 95 of 100 releases."""
        return threshold + (
            self._half(scale, 0.1, gaussian=gaussian) if gaussian else self._one_sided(scale, 0.05)
        )

    def _one_sided(self, scale: Fraction, miss: float) -> int:
        rate = float(1 / scale)
        return max(0, math.ceil(math.log(1 / (miss * (1 + math.exp(-rate)))) / rate))

    def _half(self, scale: Fraction, miss: float, *, gaussian: bool) -> int:
        """How far a noisy count is from the count, at most so often exceeded."""
        if gaussian:
            from scipy.special import ndtri

            return math.ceil(float(scale) * -float(ndtri(miss / 2)) * (1 + 1e-9) + 0.5)
        rate, half = float(1 / scale), 0
        while 2 * math.exp(-rate * (half + 1)) / (1 + math.exp(-rate)) > miss * (1 - 1e-9):
            half += 1
        return half


def _one(key: tuple[str | int, ...]) -> Any:
    return key[0] if len(key) == 1 else key
