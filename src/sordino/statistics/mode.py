"""The most frequent of public categories."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from sordino.reading.traits import Trait
from sordino.statistics.categories import Categories


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode(Categories):
    """Which of the public keys occurs most often.

    The reading holds the counts, which a selection mechanism uses as scores; one row changes each by at most one,
    and the profile is the largest change of one count.

    Example:
        >>> Mode("region", keys=("north", "south")).define(["south", "east", "south"])
        (0, 2)
    """

    name: ClassVar[str] = "mode"
    suits: ClassVar[tuple[str, ...]] = ("selection",)
    norm: ClassVar[float] = math.inf

    @property
    def traits(self) -> frozenset[Trait]:
        """The answer is a key: no number, and no vector either."""
        return frozenset({Trait.KEY})

    @property
    def exact(self) -> tuple[str, ...]:
        """Some count changes by one."""
        return ("profile",)

    @property
    def step_size(self) -> int:
        """One row changes one count by at most one."""
        return 1
