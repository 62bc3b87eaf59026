"""How often the most frequent of public categories occurs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.privacy import Neighbors
from sordino.reading.profile import Opened, Profile, Reach
from sordino.reading.traits import Trait
from sordino.statistics import Case
from sordino.statistics.categories import Categories

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.hints import Hints
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeCount(Categories):
    """The largest count of a public category.

    Args:
        outside: What happens to rows with no public key: ``"drop"`` does not count them, ``"last"`` counts them
            as the last key, so that the counts add up to the number of rows.

    Example:
        >>> ModeCount("region", keys=("north", "south")).define(["south", "east", "south"])
        2
    """

    name: ClassVar[str] = "mode-count"
    suits: ClassVar[tuple[str, ...]] = ("geometric", "additive")
    vector: ClassVar[bool] = False

    outside: str = "drop"

    def __post_init__(self) -> None:
        Categories.__post_init__(self)
        checks.one_of(self.name, ("drop", "last"), outside=self.outside)

    def shows(self) -> tuple[Trait, ...]:
        """A count, at most the number of rows where that is public."""
        ranged = (Trait.RANGE,) if self.neighbors is Neighbors.REPLACE_ONE else ()
        return Trait.REACH, Trait.WHOLE, *ranged

    @property
    def exact(self) -> tuple[str, ...]:
        """Both envelopes are exact."""
        return "low", "high"

    def counted(self, counts: Sequence[int], rows: int) -> list[int]:
        """The counts after the rows outside were dealt with."""
        spare = rows - sum(counts) if self.outside == "last" else 0
        return [*counts[:-1], counts[-1] + spare]

    def define(self, rows: Sequence[Any]) -> int:  # type: ignore[override]
        """The largest count."""
        return max(self.counted(Categories.define(self, rows), len(rows)))

    def open(self, summary: Summary) -> Opened:
        """Up by one a step; down as fast as all cells above a level can be emptied to it."""
        n, depth = summary.rows, summary.request.depth
        counts = self.counted(summary.counts, n)
        value = max(counts)
        fixed = self.neighbors is Neighbors.REPLACE_ONE
        # Under replace-one without rows outside, what leaves one cell must fit into the others.
        least = -(-n // len(counts)) if fixed and self.outside == "last" else 0
        lows: list[int] = []
        level = value
        for l in range(depth + 1):
            while level > least and sum(max(0, c - level + 1) for c in counts) <= l:
                level -= 1
            lows.append(level)
        highs = [min(n, value + l) if fixed else value + l for l in range(depth + 1)]
        if fixed:
            reach = Reach.dense(lows, highs, bottom=least, top=n)
        else:
            reach = Reach(tuple(range(depth + 1)), tuple(lows), tuple(highs), 1)
        return Opened(value, self.units, Profile.constant(1), reach, n, counts=tuple(counts))

    def smoothing(self, price: Guarantee, hints: Hints) -> Fraction:  # noqa: ARG002
        """A row moves it by one: noise for that needs no smooth bound."""
        return Fraction(0)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Rows outside dropped or counted, both relations."""
        rows = (("a",), ("b",), ("c",), ("?",))
        for relation in cls.relations:
            for outside in ("drop", "last"):
                yield Case(
                    cls("x", keys=("a", "b", "c"), outside=outside, neighbors=relation), rows, (1, 2, 3, 4)
                )
