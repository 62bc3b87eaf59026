"""The median of a column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sordino.statistics import Case
from sordino.statistics.quantile import RULES, Quantile

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Median(Quantile):
    """The middle row: of rank ``ceil(n / 2)`` by the lower rule, ``floor(n / 2) + 1`` by the upper one.

    Example:
        >>> Median("income", low=0, high=500_000).weights(9).pieces
        ((5, 5, 1),)
    """

    name: ClassVar[str] = "median"
    only: ClassVar[Fraction] = Fraction(1, 2)

    q: Fraction = only

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Every rule over four points, both relations."""
        rows = tuple((x,) for x in (0, 1, 2, 5))
        for relation in cls.relations:
            for rule in RULES:
                yield Case(cls("x", rule=rule, low=0, high=5, step=1, neighbors=relation), rows, (1, 2, 3, 4))
