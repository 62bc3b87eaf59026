"""Tail search: a private radius beyond which few rows lie, on a public geometric table.

Scores ``tilt j + slope N_j`` with ``N_j`` the rows farther than radius j, by the exponential mechanism or by
permute-and-flip. The count moves in one direction only when a row changes, so the pure loss (and the bounded range of
the former) is one slope, half of what a quantile search pays.
Proof: docs/proofs/mechanism_tail_search.md. The mean that uses it is auto_clip.py.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.errors import ParameterError
from sordino.mechanisms.parts.draws import Draws
from sordino.privacy import Pure

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.privacy import Guarantee


@dataclass(frozen=True, slots=True)
class TailSearch:
    """The data-free half of a tail search.

    Attributes:
        radii: Increasing public radii; the last one covers the public range.
        tilt: How strongly small radii are preferred, in nats per place of the table.
        slope: Nats per row outside the radius; also the pure loss, and the bounded range unless `flips`.
        flips: Choose by permute-and-flip, which is less often far off, for pure prices only.
        price: The part of a price that it was planned for; the pure loss without one.

    Example:
        >>> search = TailSearch.geometric(smallest=1, largest=10, growth=2, exponent=1, slope=1)
        >>> [float(radius) for radius in search.radii]
        [1.0, 2.0, 4.0, 8.0, 10.0]
        >>> [round(p, 3) for p in search.probabilities([9, 9, 0, 0, 0])]
        [0.0, 0.0, 0.571, 0.286, 0.143]
    """

    radii: tuple[Fraction, ...]
    tilt: Fraction
    slope: Fraction
    flips: bool = False
    price: Guarantee | None = None

    @classmethod
    def geometric(
        cls,
        *,
        smallest: checks.Number,
        largest: checks.Number,
        growth: checks.Number,
        exponent: checks.Number,
        slope: checks.Number,
    ) -> TailSearch:
        """Radii ``smallest growth^j`` up to ``largest``, weighted like ``radius^(-exponent)`` before any row counts."""
        ratio = checks.greater_than("tail search", 1, growth=growth)
        first = checks.positive("tail search", smallest=smallest)
        last = checks.positive("tail search", largest=largest)
        if last < first:
            raise ParameterError(
                "tail search",
                "largest must not be below smallest",
                got={"smallest": smallest, "largest": largest},
            )
        radii = [first]
        while radii[-1] * ratio < last:
            radii.append(radii[-1] * ratio)
        if radii[-1] < last:
            radii.append(last)
        # A rational close to exponent * ln(growth): the tilt is public, any value of it is private alike.
        tilt = Fraction(float(checks.positive("tail search", exponent=exponent)) * math.log(ratio))
        return cls(tuple(radii), tilt.limit_denominator(1 << 20), checks.positive("tail search", slope=slope))

    def exponents(self, outside: Sequence[int]) -> list[Fraction]:
        """Exact exponents of the weights, one per radius, for the numbers of rows outside each radius."""
        return [self.tilt * place + self.slope * count for place, count in enumerate(outside)]

    def from_radius(self, floor: Fraction) -> TailSearch:
        """The same search without the radii below a public one; the last radius stays."""
        kept = [radius for radius in self.radii if radius >= floor] or [self.radii[-1]]
        return replace(self, radii=tuple(kept))

    def draw(self, outside: Sequence[int], *, bits: Bits | None = None) -> int:
        """Release a radius, for the numbers of rows outside each radius."""
        draws, exponents = Draws.of(bits), self.exponents(outside)
        price = Pure(self.slope) if self.price is None else self.price
        place = (draws.flip if self.flips else draws.choice)(exponents, price=price)
        return int(self.radii[place])

    def probabilities(self, outside: Sequence[int]) -> list[float]:
        """The exact law on known data."""
        exponents = self.exponents(outside)
        best = min(exponents)
        if self.flips:
            from sordino.mechanisms.selection.permute_and_flip import level_chances

            counts: Any = Counter(float(exponent - best) for exponent in exponents)
            chances: Any = level_chances(counts, 1)
            return [chances[float(exponent - best)] for exponent in exponents]
        weights = [math.exp(-float(exponent - best)) for exponent in exponents]
        total = math.fsum(weights)
        return [weight / total for weight in weights]
