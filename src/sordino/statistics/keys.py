"""Which keys occur in some columns, and how many people have each: keys that nobody lists beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import ParameterError
from sordino.privacy import Neighbors
from sordino.reading.combinations import Combinations
from sordino.reading.profile import Opened, Profile
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Case, Statistic
from sordino.statistics.count import count_reach
from sordino.statistics.crosstab import different_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.reading.requests import Summary

MOST = 1000
"""Keys of one person beyond which no key could be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys(Statistic):
    """Which keys enough people have, sorted, with the number of people of each where that costs nothing.

    As a number it is how many pairs of a person and a key there are; what is released is the list.

    Args:
        columns: The column of keys, or several: a key is then a tuple.
        max_keys: Of each person at most so many keys count.
        passes: One or two draws over the keys where people have more than two; two by default.
        present: A column in which a row must have a number to be counted.
        counted: Count the people of each key also where they have more than two keys; finds fewer keys then.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> Keys("town").define(["Ulm", "Ulm", None])
        2
    """

    name: ClassVar[str] = "keys"
    suits: ClassVar[tuple[str, ...]] = ("discovery",)

    columns: tuple[str, ...] = field(kw_only=False, metadata={"positional": True})
    max_keys: int = 10
    passes: int | None = None
    present: str | None = None
    counted: bool = False
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    def __post_init__(self) -> None:
        self.check_relation()
        columns = different_columns(self.name, self.columns, 'sd.Keys("town")')
        object.__setattr__(self, "columns", columns)
        if checks.whole(self.name, at_least=1, max_keys=self.max_keys) > MOST:
            raise ParameterError(
                self.name, f"max_keys must be at most {MOST}", got={"max_keys": self.max_keys},
                why="The more keys one person may add, the more people a key needs to be shown.",
                hint="max_keys=10",
            )  # fmt: skip
        if self.passes is not None:
            checks.between(
                self.name, 1, 2, closed=True, passes=checks.whole(self.name, at_least=1, passes=self.passes)
            )

    @property
    def traits(self) -> frozenset[Trait]:
        """Nothing but keys: no other mechanism may show them."""
        return frozenset({Trait.KEYS, Trait.REACH})

    def request(self, *, depth: int = DEPTH) -> Combinations:
        """People by key; a mechanism that bounds and weighs them says so."""
        present = () if self.present is None else (self.present,)
        return Combinations(self.columns, present=present, depth=depth)

    def define(self, rows: Sequence[Any]) -> int:
        """Count what is a key."""
        return sum(row is not None for row in rows)

    def open(self, summary: Summary) -> Opened:
        """A person moves the number of pairs by at most one for every key."""
        assert summary.codes is not None
        pairs = int(summary.codes.sum())
        reach = count_reach(pairs, summary.request.depth, most=None)
        return Opened(pairs, self.units, Profile.constant(1), reach, summary.rows)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Two keys, a third that one person alone may have, and none."""
        for relation in cls.relations:
            world = (("a",), ("b",), ("c",), (None,))
            yield Case(cls(("x",), max_keys=1, neighbors=relation), world)
