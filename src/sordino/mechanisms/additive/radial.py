"""Piecewise Laplace in d dimensions: radii from local sensitivities, balls of the sum, Euclidean or maximum norm.

Every coordinate is rounded exactly to the grid (radial_draw.py). Laws: radial_law.py.
Proof: docs/proofs/mechanism_radial.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import ParameterError, Unsupported
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.additive.radial_draw import Shells
from sordino.mechanisms.additive.radial_law import RadialLaw
from sordino.mechanisms.parts.draws import Draws
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.lattice import Lattice
    from sordino.mechanisms import Asking
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading
    from sordino.statistics import Statistic

NORMS = (1, 2, math.inf)
NATS = 70
NATS_PER_DIMENSION = 12  # volume grows with the power of the dimension, so far shells matter longer


@dataclass(frozen=True, slots=True, kw_only=True)
class RadialLaplace(Mechanism):
    """A vector whose distance from the truth follows its local sensitivities.

    Args:
        price: What the answer costs.
        norm: The norm in which the profile of the statistic is given: 1, 2 or inf.
        dimension: How many numbers the statistic has; sets how far the reading looks, not the promise.

    Example:
        >>> from sordino.privacy import Pure
        >>> RadialLaplace(price=Pure(1), norm=2, dimension=3).depth
        188
    """

    price: Guarantee
    norm: float = 2
    dimension: int = 1

    name: ClassVar[str] = "radial-laplace"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.VECTOR,)
    needs: ClassVar[tuple[str, ...]] = ("profile",)
    proof: ClassVar[str] = "mechanism_radial"
    answers_tried: ClassVar[int] = 40

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
        """The same law on every coordinate; None where rounding moves each by its own amount."""
        from sordino.mechanisms.additive.radial_error import RadialError

        del truth, bits
        reading = self.reading(statistic, ask, contribution)
        law, opened = RadialError(self.law(reading), norm=self.norm, step=float(grid.step)), reading.open()
        if law.coarse and any(opened.units.real(one) % grid.step for one in opened.value):
            return None
        return [law]

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:  # noqa: ARG003
        """Balls of the statistic's own norm."""
        yield cls(price=price, norm=statistic.norm, dimension=statistic.dimension)

    @classmethod
    def alternatives(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:  # noqa: ARG003
        """The ball of the sum norm."""
        yield cls(price=price)

    def __post_init__(self) -> None:
        self.price.slope  # noqa: B018 - refuses prices that no theorem covers
        checks.whole(self.name, at_least=1, dimension=self.dimension)
        if self.norm not in NORMS:
            raise ParameterError(self.name, "norm must be 1, 2 or inf", got={"norm": self.norm})

    def refusal(self, statistic: Statistic) -> str | None:
        """Vectors whose sensitivity is known in the norm of its balls."""
        reason = Mechanism.refusal(self, statistic)
        if reason is None and statistic.norm != self.norm:
            return f"Its balls are of the norm {self.norm:g}, and the sensitivity is in the norm {statistic.norm:g}."
        return reason

    @property
    def no_bar(self) -> str:
        """Its radii are private."""
        return (
            "How far its noise reaches follows from the rows and is private, and no bar that is paid for was measured; "
            "its coordinates, asked for one by one, have bars."
        )

    @property
    def slope(self) -> Fraction:
        """Nats per level of the score."""
        return self.price.slope

    @property
    def depth(self) -> int:
        """Levels up to which the mass matters."""
        return math.ceil((NATS + NATS_PER_DIMENSION * (self.dimension - 1)) / self.slope)

    def _shells(self, reading: Reading) -> tuple[list[Fraction], Fraction, int]:
        """Radii ``R_l = LS^(l-1)`` (Durfee 2025, Cor. 5.1, smaller index), the tail radius and the dimension."""
        opened = reading.open()
        if not isinstance(opened.value, tuple):
            raise Unsupported(self.name, "answers vectors", hint="PiecewiseLaplace answers single numbers")
        profile, step = opened.profile, opened.units.step
        radii = [Fraction(profile.at(k)) * step for k in range(profile.distance[-1] + 1)]
        return radii, Fraction(profile.ceiling) * step, len(opened.value)

    def law(self, reading: Reading) -> RadialLaw:
        """The law of the distance between answer and truth, in the norm."""
        radii, tail, dimension = self._shells(reading)
        return RadialLaw(radii, tail=tail, dimension=dimension, slope=self.slope)

    def draw(self, reading: Reading, grid: Lattice, *, bits: Bits | None = None) -> Answer:
        """Draw a radius and a direction and round every coordinate."""
        radii, tail, _ = self._shells(reading)
        opened = reading.open()
        centre = tuple(opened.units.real(value) for value in opened.value)
        shells = Shells(centre, tuple(radii), tail, self.norm, self.slope)
        points = Draws.of(bits).radial(shells, grid=grid, price=self.price)
        return Answer(tuple(grid.step * point for point in points))
