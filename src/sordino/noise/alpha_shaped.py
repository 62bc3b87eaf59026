"""What laws with a power tail share: the shape alpha, one less than the power. No law of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sordino import checks
from sordino.noise import Noise

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True, slots=True, repr=False)
class AlphaShaped(Noise):
    """A law whose tail decays like ``|x|^-(alpha+1)``; the variance is finite for alpha > 2.

    Args:
        alpha: Shape, above 1: the larger, the thinner the tails.
    """

    alpha: Fraction

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, alpha: checks.Number) -> None: ...

    def __post_init__(self) -> None:
        alpha = checks.greater_than(
            self.name, 1, why="The tail decays like |x|^-(alpha+1).", alpha=self.alpha
        )
        object.__setattr__(self, "alpha", alpha)
