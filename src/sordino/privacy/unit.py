"""Whom a promise protects: the neighbouring relation and the unit of protection."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
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

    @classmethod
    def of(cls, given: Neighbors | str) -> Neighbors:
        """A relation, also by its name in words.

        Example:
            >>> Neighbors.of("add-remove-one") is Neighbors.ADD_REMOVE_ONE
            True
        """
        if isinstance(given, Neighbors):
            return given
        names = {one.value: one for one in cls}
        name = given.strip().lower().replace("_", "-") if isinstance(given, str) else given
        return names[
            checks.one_of("neighbors", tuple(names), hint='neighbors="add-remove-one"', neighbors=name)
        ]

    @property
    def words(self) -> str:
        """Say it in a sentence."""
        return {
            Neighbors.REPLACE_ONE: "one person's rows are replaced; the number of rows is public",
            Neighbors.ADD_REMOVE_ONE: "one person is added or removed; the number of rows is private too",
            Neighbors.EDGE: "one edge of the graph is added or removed",
            Neighbors.METRIC: "one point moves, and the promise weakens with the distance",
        }[self]


MOST_ROWS = 10**9
"""Rows of one person beyond which no answer could be of use."""


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

    @classmethod
    def checked(cls, given: Any) -> Unit | None:
        """A unit, or None; the bare name of a column is refused, since how many rows count is part of the promise."""
        if given is None or isinstance(given, Unit):
            return given
        column = given if isinstance(given, str) else "person_id"
        raise ParameterError(
            "unit",
            "a unit has a column and a number of rows",
            got={"unit": given},
            why="How many rows of each person are used is part of the promise, and nobody can guess it.",
            hint=f'unit=sd.Unit("{column}", max_rows=1)',
        )

    def __post_init__(self) -> None:
        hint = f'sd.Unit("{self.column or "person_id"}", max_rows=3)'
        if checks.whole("unit", at_least=1, hint=hint, max_rows=self.max_rows) > MOST_ROWS:
            raise ParameterError(
                "unit", "max_rows must be at most 1e9", got={"max_rows": self.max_rows},
                why="The noise grows with it.", hint=hint,
            )  # fmt: skip
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


_WRITTEN = re.compile(r"<Neighbors\.[A-Z_]+: '([a-z-]+)'>")


def relations_by_name(record: Any) -> Any:
    """A record in which relations stand by their names: records of releases before version 3 had Python's words.

    Example:
        >>> relations_by_name({"kind": "quantile", "neighbors": "<Neighbors.EDGE: 'edge'>"})
        {'kind': 'quantile', 'neighbors': 'edge'}
    """
    if isinstance(record, Mapping):
        return {name: relations_by_name(value) for name, value in record.items()}
    if isinstance(record, list):
        return [relations_by_name(value) for value in record]
    found = _WRITTEN.fullmatch(record) if isinstance(record, str) else None
    return record if found is None else found[1]
