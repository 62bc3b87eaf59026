"""Whom a promise protects: the neighbouring relation and the unit of protection."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from sordino import checks
from sordino.errors import ParameterError


class Neighbors(enum.Enum):
    """Which two datasets a promise compares."""

    REPLACE_ONE = "replace-one"
    ADD_REMOVE_ONE = "add-remove-one"
    EDGE = "edge"
    METRIC = "metric"

    @property
    def words(self) -> str:
        """Say it in a sentence."""
        return {
            Neighbors.REPLACE_ONE: "one person's rows are replaced; the number of rows is public",
            Neighbors.ADD_REMOVE_ONE: "one person is added or removed; the number of rows is private too",
            Neighbors.EDGE: "one edge of the graph is added or removed",
            Neighbors.METRIC: "one point moves, and the promise weakens with the distance",
        }[self]


@dataclass(frozen=True, slots=True)
class Unit:
    """Whom we protect: everyone named in a column, with at most so many rows each.

    Without a column one row is one person.

    Example:
        >>> Unit("person_id", max_rows=3)
        Unit(column='person_id', max_rows=3)
    """

    column: str | None = None
    max_rows: int = 1

    def __post_init__(self) -> None:
        checks.whole("unit", at_least=1, max_rows=self.max_rows)
        if self.column is not None and not isinstance(self.column, str):
            raise ParameterError("unit", "column must be the name of a column", got={"column": self.column})
        if self.column is None and self.max_rows != 1:
            raise ParameterError(
                "unit",
                "max_rows needs a column that says whose rows belong together",
                got={"max_rows": self.max_rows},
                hint='Unit("person_id", max_rows=3)',
            )

    def to_dict(self) -> dict[str, Any]:
        """Give the record that a ledger keeps."""
        return {"column": self.column, "max_rows": self.max_rows}
