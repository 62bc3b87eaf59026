"""The smallest row of a column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sordino.reading.traits import Trait
from sordino.statistics.outermost import OutermostRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimum(OutermostRow):
    """The smallest row, or with ``shift=k`` the row k places inside, which moves less.

    Example:
        >>> Minimum("income", low=0, high=500_000, shift=2).weights(9).pieces
        ((3, 3, 1),)
    """

    name: ClassVar[str] = "minimum"
    only: ClassVar[Fraction] = Fraction(0)
    outermost: ClassVar[Trait] = Trait.SMALLEST

    q: Fraction = only
