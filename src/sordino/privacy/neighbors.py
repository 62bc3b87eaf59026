"""`Neighbors`: which two datasets a promise compares, and how old records name them. No arithmetic."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from typing import Any

from sordino import checks


class Neighbors(enum.Enum):
    """Which two datasets a promise compares."""

    REPLACE_ONE = "replace-one"
    ADD_REMOVE_ONE = "add-remove-one"
    EDGE = "edge"
    NODE = "node"
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
    def of_graphs(self) -> bool:
        """Whether rows are the edges of a graph."""
        return self in {Neighbors.EDGE, Neighbors.NODE}

    @property
    def words(self) -> str:
        """Say it in a sentence."""
        return self.in_words("rows")

    def in_words(self, counted: str) -> str:
        """Say it in a sentence, and of what the number is public where one is.

        Example:
            >>> Neighbors.REPLACE_ONE.in_words("people in the table")
            "one person's rows are replaced; the number of people in the table is public"
        """
        return {
            Neighbors.REPLACE_ONE: f"one person's rows are replaced; the number of {counted} is public",
            Neighbors.ADD_REMOVE_ONE: "one person is added or removed; the number of rows is private too",
            Neighbors.EDGE: "one edge of the graph is added or removed",
            Neighbors.NODE: "all edges of one vertex of the graph may change; the number of vertices is public",
            Neighbors.METRIC: "one point moves, and the promise weakens with the distance",
        }[self]


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
