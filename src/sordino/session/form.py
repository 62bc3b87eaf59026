"""How a statistic is read: under which relation, and how many rows one person moves in it. Decided here alone.

Public facts decide: the session's relation and unit, filters, groups, what happens to missing rows. No data come here.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino.errors import ParameterError, Unsupported
from sordino.mechanisms import PERSONS
from sordino.privacy import Neighbors
from sordino.reading.traits import Trait
from sordino.statistics import Statistic

if TYPE_CHECKING:
    from sordino.privacy import Unit


@dataclass(frozen=True, slots=True)
class Form:
    """How a statistic is read: under which relation, and how many rows one person moves in it."""

    statistic: Statistic
    moved: int
    private_rows: bool


def form_of(statistic: Statistic, neighbors: Neighbors, unit: Unit, *, filtered: bool, split: bool) -> Form:
    """Fix the relation. Under replace-one, whatever makes the number of rows private is read as removals and additions.

    A filter, a split, dropped rows, and people with several rows each (a person with one row may be replaced by one
    with three) all do so: a replacement is then at most ``max_rows`` removals and as many additions.
    """
    if not isinstance(statistic, Statistic):
        raise ParameterError(
            "release",
            "the first argument is a statistic",
            got={"statistic": type(statistic).__name__},
            hint='sd.Median("income", low=0, high=500_000)',
        )
    if neighbors not in PERSONS:
        if filtered or split or unit.column is not None:
            raise Unsupported("release", f"{neighbors.value} privacy has no filters, groups or units of rows")
        return Form(_under(statistic, neighbors), 1, private_rows=False)
    if Trait.KEYS in statistic.traits:
        return _people(statistic, neighbors, unit, split=split)
    if Trait.BLOCKS in statistic.traits:
        return _whole(statistic, neighbors, unit, filtered=filtered, split=split)
    dropped = any(getattr(part, "missing", None) == "drop" for part in leaves(statistic))
    private = neighbors is Neighbors.REPLACE_ONE and (filtered or split or dropped or unit.max_rows > 1)
    if not private:
        return Form(_under(statistic, neighbors), unit.max_rows, neighbors is Neighbors.ADD_REMOVE_ONE)
    if Neighbors.ADD_REMOVE_ONE not in statistic.relations:
        reasons = {"a filter": filtered, "groups": split, 'missing="drop"': dropped}
        named = [reason for reason, given in reasons.items() if given] or ["several rows per person"]
        raise Unsupported(
            statistic.name,
            f"cannot be asked with {' and '.join(named)} under replace-one",
            why="The number of rows is then private, and this statistic has no add/remove form.",
            hint="missing=<a number> instead of missing='drop'; no filter and no groups for this statistic",
        )
    return Form(_under(statistic, Neighbors.ADD_REMOVE_ONE), 2 * unit.max_rows, private_rows=True)


def _whole(statistic: Statistic, neighbors: Neighbors, unit: Unit, *, filtered: bool, split: bool) -> Form:
    """A function by blocks: each person is in one block, however many rows, and whatever a filter leaves of them.

    In a split a person has a block in every group where there are rows of them: at most ``max_rows``, and a replaced
    person leaves so many and enters so many (docs/proofs/mechanism_blocks.md).
    """
    replaced = neighbors is Neighbors.REPLACE_ONE
    moved = unit.max_rows * (2 if replaced else 1) if split else 1
    fixed = replaced and unit.column is None and not filtered and not split
    asked = dataclasses.replace(statistic, split=split, fixed=fixed)  # type: ignore[type-var]
    return Form(_under(asked, neighbors), moved, private_rows=not fixed)


def _people(statistic: Any, neighbors: Neighbors, unit: Unit, *, split: bool) -> Form:
    """Keys count people, not rows: one person moves as many of them as count, whatever a filter leaves."""
    if split:
        raise Unsupported(
            statistic.name, "has no groups", hint='several columns at once: sd.Keys(("region", "town"))'
        )
    most = 1 if unit.column is None else min(unit.max_rows, statistic.max_keys)
    return Form(_under(dataclasses.replace(statistic, max_keys=most), neighbors), most, private_rows=False)


def leaves(statistic: Any) -> list[Statistic]:
    """The statistics of which one is made, or itself."""
    return [leaf for part in statistic.parts for leaf in leaves(part)] if _nests(statistic) else [statistic]


def _nests(statistic: Any) -> bool:
    """Whether a statistic is made of others."""
    return any(field.name == "parts" for field in dataclasses.fields(statistic))


def _under(statistic: Any, neighbors: Neighbors) -> Statistic:
    """The same statistic for the neighbours of the session."""
    if _nests(statistic):
        parts = tuple(_under(part, neighbors) for part in statistic.parts)
        moved: Statistic = dataclasses.replace(statistic, parts=parts)
    elif statistic.neighbors is neighbors:
        moved = statistic
    elif neighbors not in statistic.relations:
        raise Unsupported(
            statistic.name,
            "has no envelopes for the neighbours of this session",
            got={"neighbors": neighbors.value},
            hint="open the data with neighbors=" + " or ".join(f"sd.{one}" for one in statistic.relations),
        )
    else:
        moved = dataclasses.replace(statistic, neighbors=neighbors)
    return moved
