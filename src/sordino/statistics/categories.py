"""Counts of public categories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.errors import ParameterError
from sordino.privacy import Neighbors
from sordino.reading.profile import Opened, Profile
from sordino.reading.requests import Cells
from sordino.statistics import DEPTH, ROOT_TWO, Case, Statistic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories(Statistic):
    """How many rows hold each of the public keys; other rows are not counted.

    The profile is in the sum of absolute differences: a replaced row leaves one key and enters another.

    Args:
        column: Name of the column.
        keys: Different categories, known beforehand; never taken from the data.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> Categories("region", keys=("north", "south")).define(["south", "east", "south"])
        (0, 2)
    """

    name: ClassVar[str] = "categories"
    suits: ClassVar[tuple[str, ...]] = ("additive-vector",)
    tallies: ClassVar[bool] = True
    vector: ClassVar[bool] = True

    column: str = field(kw_only=False)
    keys: tuple[str | int, ...]
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    def __post_init__(self) -> None:
        self.check_relation()
        object.__setattr__(self, "keys", tuple(self.keys))
        if not self.keys or len(set(self.keys)) < len(self.keys):
            raise ParameterError(
                self.name, "keys must be different, and at least one", got={"keys": self.keys},
                why="Categories are public: one that is in the data alone would publish a person.",
                hint='keys=("north", "south")',
            )  # fmt: skip

    @property
    def step_size(self) -> int:
        """How far one step moves the counts, in the norm of the profile."""
        return 2 if self.neighbors is Neighbors.REPLACE_ONE and len(self.keys) > 1 else 1

    @property
    def euclidean(self) -> Fraction | None:
        """A replaced row leaves one key and enters another: sqrt 2, rounded up."""
        return ROOT_TWO if self.vector and self.neighbors is Neighbors.REPLACE_ONE else None

    @property
    def exact(self) -> tuple[str, ...]:
        """A row that comes or goes changes one count; a replaced row with no key changes fewer than two."""
        return ("profile",) if self.neighbors is Neighbors.ADD_REMOVE_ONE else ()

    def request(self, *, depth: int = DEPTH) -> Cells:
        """One count per key."""
        return Cells(self.column, self.keys, depth=depth)

    def define(self, rows: Sequence[Any]) -> tuple[int, ...]:
        """Count each key."""
        return tuple(sum(row == key for row in rows) for key in self.keys)

    def open(self, summary: Summary) -> Opened:
        """The counts as they are."""
        profile = Profile.constant(self.step_size)
        return Opened(summary.counts, self.units, profile, None, summary.rows, counts=summary.counts)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Two keys and a row that has neither, both relations."""
        for relation in cls.relations:
            yield Case(cls("x", keys=("a", "b"), neighbors=relation), (("a",), ("b",), ("?",)))
