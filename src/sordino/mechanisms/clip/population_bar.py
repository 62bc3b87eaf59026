"""The interval of a clipped mean for the population: noise and sampling together, by the central limit theorem.

Rows are independent draws. The mean of the rows, cut to the published interval, is normal about that of the population
for many rows; its variance is bounded by a released sum of squares. Proof: docs/proofs/mean_bars.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING

from sordino.mechanisms.parts.population import PopulationInterval

if TYPE_CHECKING:
    from sordino.mechanisms.clip.clipped_bar import ClippedBar


@dataclass(frozen=True, slots=True)
class PopulationBar:
    """What an interval for the mean of the population, of values cut to the published interval, is made of.

    Attributes:
        sample: The bar for the rows at hand.
        squares: The released sum of squares about the answer.
        most: An upper limit of it.
    """

    sample: ClippedBar
    squares: Fraction
    most: Fraction

    def limits(self, miss: float) -> PopulationInterval:
        """The interval around a published answer, and its width without noise."""
        sample = self.sample
        divided = 1.0 if sample.rows is None else float(max(sample.rows, 1))
        deviation = math.sqrt(max(float(self.most), 0.0)) / divided
        low, high = sample.interval(miss, deviation)
        rows = max(float(sample.count), 1.0) if sample.count is not None else divided
        plain = 2 * NormalDist().inv_cdf(1 - miss / 2) * math.sqrt(max(float(self.squares), 0.0)) / rows
        return PopulationInterval(float(low), float(high), plain)
