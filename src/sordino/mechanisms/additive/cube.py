"""`CubeNoise`: several means of the same rows at a pure price, with noise for a row that moves all of them at once.

Under replace-one the means themselves get noise; where rows come and go, the sums about the middle of each range do,
and the number of rows as one more number. Gaussian prices get independent Gaussian noise for the same cube.
Proof: docs/proofs/mechanism_cube.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.lattice import Lattice
from sordino.mechanisms import Answer
from sordino.mechanisms.additive.cube_draw import Cube, cube_deviation, cube_half
from sordino.mechanisms.parts.conversing import PublicNoiseTable
from sordino.mechanisms.parts.draws import Draws
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.privacy.conversion import ball, evaluate, upper
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sordino.mechanisms import Asking, Words
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.privacy import Guarantee

FINER = 12
"""Sums are drawn on a grid that is 2^12 times finer than the means need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CubeNoise(PublicNoiseTable):
    """Means of several columns.

    Example:
        >>> CubeNoise(price=Pure(1)).unit(3) < 3 * 2**0.5  # less than three means with a third of epsilon each
        True
    """

    name: ClassVar[str] = "cube"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.CUBE,)
    law_is: ClassVar[str] = "unit(dimension), the deviation of one number"
    proof: ClassVar[str] = "mechanism_cube"

    @property
    def paid(self) -> bool:
        """Pure and concentrated prices."""
        target = self.price.noise_targets[0] if self.price.noise_targets else self.price
        return isinstance(target, Pure | Concentrated)

    @classmethod
    def cases(cls) -> Iterable[MechanismCase]:
        """Both relations, at one of every kind of price."""
        from sordino.mechanisms.parts.cases import PRICES, MechanismCase
        from sordino.statistics.means import Means

        for world in Means.cases():
            for price in PRICES:
                yield MechanismCase(cls(price=price), world, default=True)

    def lattices(self, statistic: Any, grid: Lattice) -> dict[str, Lattice]:  # noqa: ARG002
        """Means and the ends of their bars lie on the grid."""
        return dict.fromkeys(("value", "low", "high") if self.barred else ("value",), grid.endless)

    @property
    def _target(self) -> Guarantee:
        return self.price.noise_targets[0]

    def unit(self, dimension: int) -> float:
        """Standard deviation of one number that one person moves by one, with so many numbers in all; public."""
        target = self._target
        if isinstance(target, Pure):
            return cube_deviation(dimension) / float(target.epsilon)
        assert isinstance(target, Concentrated)
        return math.sqrt(dimension / (2 * float(target.rho)))

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Sum exactly, draw, divide."""
        summary = ask(statistic.request(depth=0))
        grids = statistic.grids
        sums = [
            one.total * own.step for one, own in zip(summary.parts, grids, strict=True)
        ]  # above the lower bounds
        rows = summary.parts[0].rows
        widths = [own.last * own.step for own in grids]
        lows = [Fraction(own.low) for own in grids]
        draws = Draws.of(bits)
        if statistic.neighbors is Neighbors.REPLACE_ONE:
            many = max(rows, 1)
            centre = [low + one / many for low, one in zip(lows, sums, strict=True)]
            moved = [width * contribution / many for width in widths]
            values = self._drawn(draws, centre, moved, grid, contribution)
            value = tuple(values)
            half = [self._half(len(widths)) * float(one) + float(grid.step) for one in moved]
            ends = [(float(v) - h, float(v) + h) for v, h in zip(value, half, strict=True)]
        else:
            # About the middle of each range a row counts half its width at most; the number of rows is one number more.
            centre = [one - width * rows / 2 for one, width in zip(sums, widths, strict=True)]
            moved = [width * contribution / 2 for width in widths] + [Fraction(contribution)]
            fine = Lattice.dyadic(max(-1074, grid.exponent - FINER))
            *noisy, count = self._drawn(draws, [*centre, Fraction(rows)], moved, fine, contribution)
            middles = [low + width / 2 for low, width in zip(lows, widths, strict=True)]
            value = tuple(
                grid.inside(middle + one / max(count, Fraction(1)), low, low + width)
                for middle, one, low, width in zip(middles, noisy, lows, widths, strict=True)
            )
            ends = self._ratios(noisy, count, moved, middles)
        public: dict[str, Any] = {}
        if self.level is not None:
            bounded = [
                (max(low, float(bottom)), min(high, float(bottom + width)))
                for (low, high), bottom, width in zip(ends, lows, widths, strict=True)
            ]
            public = {
                "low": tuple(
                    _down(min(end, float(v)), grid) for (end, _), v in zip(bounded, value, strict=True)
                ),
                "high": tuple(
                    -_down(-max(end, float(v)), grid) for (_, end), v in zip(bounded, value, strict=True)
                ),
                "level": self.level,
                "free": True,
            }
        return Answer(value, public)

    def _drawn(
        self, draws: Draws, centre: list[Fraction], moved: list[Fraction], grid: Lattice, contribution: int
    ) -> list[Fraction]:
        """Numbers that one person moves by ``moved`` each, all at once, with noise."""
        del contribution
        target = self._target
        if isinstance(target, Pure):
            cube = Cube(tuple(centre), tuple(one / target.epsilon for one in moved))
            return [grid.step * point for point in draws.cube(cube, grid=grid, price=target)]
        assert isinstance(target, Concentrated)
        from sordino.noise.gaussian import Gaussian

        each = target.share(Fraction(1, len(centre)))
        size = upper(evaluate(lambda: 1 / (2 * ball(each.rho)).sqrt()))
        return [
            grid.step * draws.noise(Gaussian(), location=value, scale=size * one, grid=grid, price=each)
            for value, one in zip(centre, moved, strict=True)
        ]

    def _half(self, dimension: int, miss: float | None = None) -> float:
        """Half width of a bar for one number that one person moves by one."""
        wanted = (1 - self.level if self.level is not None else 0.05) if miss is None else miss
        target = self._target
        if isinstance(target, Pure):
            return cube_half(wanted, dimension) / float(target.epsilon)
        from scipy.special import ndtri

        return -float(ndtri(wanted / 2)) * self.unit(dimension) * (1 + 1e-9)

    def _ratios(
        self, noisy: list[Fraction], count: Fraction, moved: list[Fraction], middles: list[Fraction]
    ) -> list[tuple[float, float]]:
        """Bars of quotients: the sum and the number of rows are each within theirs, at half the miss."""
        miss = (1 - self.level if self.level is not None else 0.05) / 2
        half = self._half(len(moved), miss)
        least = max(1.0, float(count) - half * float(moved[-1]))
        most = max(1.0, float(count) + half * float(moved[-1]))
        found = []
        for one, step, middle in zip(noisy, moved, middles, strict=False):
            low, high = float(one) - half * float(step), float(one) + half * float(step)
            quotients = [end / rows for end in (low, high) for rows in (least, most)]
            found.append((float(middle) + min(quotients), float(middle) + max(quotients)))
        return found


def _down(end: float, grid: Lattice) -> Fraction:
    """The next lattice point below an end."""
    return grid.step * (Fraction(end) // grid.step)
