"""Several statistics of the same rows as one vector, through radii in a norm."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.errors import ParameterError
from sordino.lattice import Lattice
from sordino.reading.profile import Exact, Opened, Profile
from sordino.reading.requests import Bundle
from sordino.statistics import DEPTH, Case, Numeric, Statistic
from sordino.statistics.mean import Mean
from sordino.statistics.median import Median

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.privacy import Neighbors
    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector(Statistic):
    """A vector of statistics of numeric columns; its profile is the norm of the profiles of the parts.

    Args:
        parts: Statistics of single numeric columns, all for the same neighbours.
        order: The norm: 1, 2 or inf.

    Example:
        >>> place = Vector((Median("x", low=0, high=8, step=1), Median("y", low=0, high=8, step=1)), order=2)
        >>> place.define([(1, 2), (3, 5), (4, 4)])
        (Fraction(3, 1), Fraction(4, 1))
    """

    name: ClassVar[str] = "vector"
    vector: ClassVar[bool] = True

    parts: tuple[Numeric, ...] = field(kw_only=False)
    order: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts or any(not isinstance(part, Numeric) or part.vector for part in self.parts):
            raise ParameterError(self.name, "parts must be statistics of single numeric columns")
        if len({part.neighbors for part in self.parts}) > 1:
            raise ParameterError(self.name, "all parts must have the same neighbours")
        if self.order not in (1, 2, math.inf):
            raise ParameterError(self.name, "order must be 1, 2 or inf", got={"order": self.order})

    @property
    def neighbors(self) -> Neighbors:
        """The neighbours of the parts."""
        return self.parts[0].neighbors

    @property
    def norm(self) -> float:  # type: ignore[override]
        """The norm of the profile."""
        return float(self.order)

    @property
    def dimension(self) -> int:
        """How many numbers it is."""
        return len(self.parts)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns, each once."""
        return tuple(dict.fromkeys(part.column for part in self.parts))

    def request(self, *, depth: int = DEPTH) -> Bundle:
        """The requests of the parts."""
        return Bundle(tuple(part.request(depth=depth) for part in self.parts), depth=depth)  # type: ignore[misc]

    def define(self, rows: Sequence[tuple[Any, ...]]) -> tuple[Fraction, ...]:
        """Each part by itself, in real units."""
        place = {name: i for i, name in enumerate(self.columns)}
        return tuple(
            part.units.real(part.define([part.grid.code(float(row[place[part.column]])) for row in rows]))
            for part in self.parts
        )

    def open(self, summary: Summary) -> Opened:
        """Values in real units, and the norm of the bounds at every distance."""
        opened = [part.read(one).open() for part, one in zip(self.parts, summary.parts, strict=True)]
        steps = [part.units.step for part in self.parts]
        value = tuple(one.units.real(one.value) for one in opened)
        ceilings = [step * one.profile.ceiling for step, one in zip(steps, opened, strict=True)]
        last = max(one.profile.distance[-1] for one in opened)
        pace = max(ceilings) / 2**40  # public: where roots are rounded up
        bounds = [
            self.length([step * one.profile.at(k) for step, one in zip(steps, opened, strict=True)], pace)
            for k in range(last + 1)
        ]
        profile = Profile.dense(bounds, self.length(ceilings, pace))
        return Opened(value, Lattice(), profile, None, max(one.rows for one in opened))

    def length(self, sides: Sequence[Exact], pace: Fraction) -> Exact:
        """The norm of a vector of bounds; roots are rounded up to a public lattice, which keeps the order."""
        if self.order == 1:
            return sum(sides, Fraction(0))
        if math.isinf(self.order):
            return max(sides)
        square = sum((Fraction(side) ** 2 for side in sides), Fraction(0)) / pace**2 if pace else Fraction(0)
        up = -(-square.numerator // square.denominator)
        return pace * (isqrt(up - 1) + 1) if up else Fraction(0)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """A median beside a mean, every norm, both relations."""
        rows = tuple((a, b) for a in (0, 2, 5) for b in (0, 3))
        for relation in cls.relations:
            for order in (1, 2, math.inf):
                parts = (
                    Median("u", low=0, high=5, step=1, neighbors=relation),
                    Mean("v", low=0, high=3, step=1, neighbors=relation),
                )
                yield Case(cls(parts, order=order), rows, (1, 2, 3), columns=("u", "v"))
