"""What block values say together: a private centre, and an interval for the population from three releases.

Block values are a table of k rows of which one person moves one, so mechanisms for columns answer, under replace-one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.hints import Hints
from sordino.lattice import FINE_BITS
from sordino.mechanisms.additive.additive import Additive
from sordino.mechanisms.clip.symmetric_mean import SymmetricMean
from sordino.mechanisms.nested.piecewise_laplace import PiecewiseLaplace
from sordino.mechanisms.parts.drawing import noise_for
from sordino.mechanisms.parts.measure import shells
from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
from sordino.mechanisms.tuned_tables import ForBlocks
from sordino.statistics.mean import Mean
from sordino.statistics.median import Median
from sordino.statistics.quantile import Quantile
from sordino.statistics.trimmed_mean import TrimmedMean

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice
    from sordino.mechanisms import Mechanism
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Ask, Summary

NORMAL = Fraction(8416, 10_000)  # the standard normal's own point: P(|Z| < 0.8416) = 0.6


@dataclass(frozen=True, slots=True)
class Centre:
    """A private centre of block values; public parameters only.

    Args:
        price: What it costs.
        blocks: How many values.
        low: Public lower bound.
        high: Public upper bound.
        aggregate: ``"trimmed"`` or ``"median"``.
        spread: Public guess of the spread of block values.
    """

    price: Guarantee
    blocks: int
    low: float
    high: float
    aggregate: str = "trimmed"
    spread: float | None = None

    @property
    def parts(self) -> tuple[Any, Mechanism]:
        """The statistic of block values that is released, and the mechanism."""
        column: dict[str, Any] = {"low": self.low, "high": self.high, "bits": FINE_BITS}
        if self.aggregate == "median":
            median = Median("value", **column)
            return median, PrivateQuantile.point(
                median, self.price, Hints(rows=self.blocks, spread=self.spread)
            )
        mechanism: Mechanism
        if self.price.gaussian:
            trimmed = min(int(ForBlocks.KEPT * self.blocks), round(ForBlocks.TRIMMED / self.price.strength))
            mechanism = PiecewiseLaplace(price=self.price, look=2 * self.blocks + 64)
        else:
            planned = SymmetricMean.planned(
                price=self.price, rows=self.blocks, low=self.low, high=self.high, spread=self.spread
            )
            trimmed, mechanism = planned.trimmed, planned.inner
        trim = Fraction(trimmed, max(self.blocks, 2 * trimmed + 1))
        return TrimmedMean("value", trim=trim, **column), mechanism

    def release(self, values: NDArray[np.float64], grid: Lattice, bits: Bits) -> Fraction:
        """Draw it."""
        statistic, mechanism = self.parts
        return _released(mechanism, statistic, values, grid, bits)


def shares(price: Guarantee, blocks: int) -> tuple[Fraction, Fraction, Fraction]:
    """The parts of a price that find the centre and the spread, and that pay for the mean."""
    effort = blocks * price.strength
    first, second = ((45 / effort) ** 2, (30 / effort) ** 2) if price.gaussian else (60 / effort, 60 / effort)
    parts = [Fraction(f"{min(max(part, 0.1), 0.3):.4f}") for part in (first, second)]
    return parts[0], parts[1], 1 - parts[0] - parts[1]


def located(
    values: NDArray[np.float64], centre: Centre, grid: Lattice, bits: Bits
) -> tuple[Fraction, Fraction]:
    """A mean of block values, clipped at 2.5 spreads about their centre, and the spread: three parts of a price."""
    first, second, third = shares(centre.price, centre.blocks)
    low, high = centre.low, centre.high
    middle = Centre(
        centre.price.share(first), centre.blocks, low, high, spread=centre.spread
    ).release(values, grid, bits)  # fmt: skip
    away = np.abs(values - float(middle))
    point = Quantile("value", q=ForBlocks.MIDDLE, low=0, high=high - low, bits=FINE_BITS)
    lattice = point.grid.answers
    finder = PrivateQuantile(
        price=centre.price.share(second),
        lattice=lattice,
        rows=centre.blocks,
        measure=shells(last=lattice.last, centre=0, core=max(1, lattice.last >> ForBlocks.OCTAVES)),
    )
    spread = max(_released(finder, point, away, grid, bits), lattice.step) / NORMAL
    reach = float(ForBlocks.CLIP * spread)
    mean = Mean("value", low=-reach, high=reach)
    noise = Additive(calibration=noise_for(centre.price.share(third)))
    moved = _released(noise, mean, values - float(middle), grid, bits)
    return min(max(middle + moved, Fraction(low)), Fraction(high)), spread


def _released(
    mechanism: Mechanism, statistic: Any, values: NDArray[np.float64], grid: Lattice, bits: Bits
) -> Fraction:
    answer = mechanism.answer(statistic, _asking(values), grid, bits=bits).value
    assert isinstance(answer, Fraction)
    return answer


def _asking(values: NDArray[np.float64]) -> Callable[[Ask], Summary]:
    """Answers requests about the block values: a column of k rows."""
    from sordino.mechanisms.blocks.column import summary
    from sordino.reading.requests import Request

    def ask(request: Ask) -> Summary:
        assert isinstance(request, Request)
        return summary(values, request)

    return ask
