"""The largest row of a column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sordino.reading.traits import Trait
from sordino.statistics.outermost import OutermostRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Maximum(OutermostRow):
    """The largest row, or with ``shift=k`` the row k places inside, which moves less.

    Example:
        >>> Maximum("income", low=0, high=500_000, shift=2).weights(9).pieces
        ((7, 7, 1),)
    """

    name: ClassVar[str] = "maximum"
    only: ClassVar[Fraction] = Fraction(1)
    outermost: ClassVar[Trait] = Trait.LARGEST

    q: Fraction = only
