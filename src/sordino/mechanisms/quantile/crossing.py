"""The first rung that passes: one noise for a whole rising sequence of private numbers, the same against each of them.

Added to all rows to spare alike, Laplace noise tells which rung is the first to reach the target. Were two rungs to
spare nearly the same number of rows, a single row could make the outcome of the outer one impossible; so inner ones are
first pushed down until there is a gap between any two. Proof: docs/proofs/quantile_interval.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from sordino.lattice import Lattice
from sordino.mechanisms.parts.draws import Draws

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.privacy import Guarantee

FINE = 10
GRID = Lattice.dyadic(-FINE)  # of the noise, in rows; gaps and targets are whole multiples of its step


def crossing_loss(nats: float, gap: float) -> float:
    """What a crossing costs whose numbers move by so many nats of its noise and keep a gap of so many.

    Example:
        >>> round(crossing_loss(0.01, 2.0) / 0.01, 2), round(1 / math.tanh(1), 2)
        (1.31, 1.31)
    """
    return nats + math.log(math.expm1(-gap - 2 * nats) / math.expm1(-gap))


@lru_cache(maxsize=1024)
def nats_for(epsilon: float, gap: float) -> float:
    """The most nats of noise that one person may move, for a pure price.

    Example:
        >>> round(crossing_loss(nats_for(1.0, 3.0), 3.0), 9)
        1.0
    """
    low, high = 0.0, epsilon
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if crossing_loss(middle, gap) <= epsilon else (low, middle)
    return low * (1 - 1e-12)


@dataclass(frozen=True, slots=True)
class Crossing:
    """How the first rung that passes is found; public.

    Attributes:
        rate: Nats per unit of rows to spare.
        gap: How far apart two rungs are held, in such units.

    Example:
        >>> one = Crossing.of(0.5, contribution=1, gap=3.0)
        >>> target = one.target(0.05)
        >>> round(one.miss(float(target)), 3)
        0.05
    """

    rate: Fraction
    gap: Fraction

    def __post_init__(self) -> None:
        # Rounding the noise to a lattice keeps moves and gaps only where gaps are multiples of its step.
        if self.rate <= 0 or self.gap <= 0 or self.gap % GRID.step:
            raise AssertionError(f"gaps are steps of the noise: {self!r}")

    @classmethod
    def of(cls, epsilon: float, *, contribution: int, gap: float) -> Crossing:
        """For a price and the number of units that one person may move.

        Args:
            epsilon: The pure price.
            contribution: Units of rows to spare that one person may move.
            gap: Between two rungs, in nats.
        """
        rate = Fraction(math.floor(nats_for(epsilon, gap) * 2**40), 2**40) / contribution
        return cls(rate, GRID.step * math.ceil(Fraction(gap * (1 + 1e-12)) / rate / GRID.step))

    def miss(self, away: float) -> float:
        """How often a rung passes that falls short of the target by so much: the noise is rounded by half a step.

        Args:
            away: Units between what it spares and the target.
        """
        nats = float(self.rate) * (away - float(GRID.step) / 2)
        return 0.5 * math.exp(-nats) if nats >= 0 else 1 - 0.5 * math.exp(nats)

    def target(self, miss: float) -> Fraction:
        """How far a rung must fall short so that it passes no more often than this."""
        nats = -math.log(2 * miss) if miss < 0.5 else math.log(2 * (1 - miss))
        return GRID.step * max(
            math.ceil(Fraction(nats * (1 + 1e-12)) / self.rate / GRID.step + Fraction(1, 2)), 0
        )

    def apart(self, spare: Sequence[Fraction | None]) -> list[Fraction | None]:
        """Rows to spare with a gap between any two rungs, the inner ones pushed down; as sensitive as they were.

        Example:
            >>> [int(one) for one in Crossing(Fraction(1), Fraction(2)).apart([3, 4, 9, 9, None])[:-1]]
            [2, 4, 7, 9]
        """
        found: list[Fraction | None] = []
        outer: Fraction | None = None
        for one in reversed(spare):
            if one is not None and outer is not None:
                one = min(one, outer - self.gap)  # noqa: PLW2901 - the rung outside decides
            found.append(one)
            outer = one
        return found[::-1]

    def cuts(self, spare: Sequence[Fraction | None], target: Fraction) -> list[float]:
        """What the noise must reach for each rung but the last, in nats, falling."""
        found = []
        for one in self.apart(spare)[:-1]:
            assert one is not None  # only the last rung can spare any number
            steps = math.ceil((target - one) / GRID.step)
            found.append(float(self.rate * GRID.step * (steps - Fraction(1, 2))))
        return found

    def chances(self, spare: Sequence[Fraction | None], target: Fraction) -> list[float]:
        """The exact law of the rung; for laws, plans and audits."""
        passed = [0.0, *(_reached(cut) for cut in self.cuts(spare, target)), 1.0]
        return [outer - inner for inner, outer in pairwise(passed)]

    def draw(
        self,
        spare: Sequence[Fraction | None],
        target: Fraction,
        *,
        price: Guarantee,
        bits: Bits | None = None,
    ) -> int:
        """The first rung that passes; the last one always does."""
        values = [target if one is None else one for one in self.apart(spare)]
        return Draws.of(bits).crossing(values[:-1], target, rate=self.rate, grid=GRID, price=price)


def _reached(nats: float) -> float:
    """How often standard Laplace noise is at least this."""
    return 0.5 * math.exp(-nats) if nats >= 0 else 1 - 0.5 * math.exp(nats)
