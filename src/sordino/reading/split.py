"""`Split`: the public keys by which rows are put into groups, of one column or of several.

Several columns make combinations: all of a product of lists, or those that are listed. A row is in at most one group,
however many columns make it, so a split of several columns costs one person what a split of one column does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.reading.discover import Discover
from sordino.reading.formula import column_name, own_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.intp]

Key = str | int
Combination = tuple[Key, ...]

MOST = 1_000_000
"""So many groups at most: every one of them is drawn, stored in the ledger and printed."""

COLUMNS = 6
"""So many key columns at most."""

_ONE = 'release_by("region", ["north", "south"], ...)'
_SEVERAL = 'release_by(["region", "sex"], {"region": ["north", "south"], "sex": ["f", "m"]}, ...)'


@dataclass(frozen=True)
class Split:
    """Key columns and the combinations of their keys; public.

    Attributes:
        columns: The key columns.
        levels: For each column its keys, each once.
        listed: The combinations as places in ``levels``; None for all of them, the last column changing fastest.
        discover: How keys are found in the data, where they are not known beforehand; there are no levels until then.

    Example:
        >>> split = Split.of(["region", "sex"], {"region": ["north", "south"], "sex": ["f", "m"]})
        >>> split.keys
        (('north', 'f'), ('north', 'm'), ('south', 'f'), ('south', 'm'))
        >>> Split.of("region", ["north", "south"]).keys
        ('north', 'south')
        >>> Split.from_record(split.record) == split
        True
    """

    columns: tuple[str, ...]
    levels: tuple[tuple[Key, ...], ...]
    listed: tuple[tuple[int, ...], ...] | None = None
    discover: Discover | None = None

    @classmethod
    def of(cls, columns: Any, keys: Any) -> Split:
        """Read what a person gives, and refuse what names no groups, before anything is spent.

        Args:
            columns: A column, or several.
            keys: Of one column a list of keys. Of several a list of combinations, or a mapping from each column to its
                keys, which stands for all combinations. None for the own groups of derived columns
                (`Formula.labels`), which a mapping may leave out too. A split of the same columns is taken as it is.
        """
        columns = column_name(columns)
        several = not isinstance(columns, str)
        names = tuple(map(column_name, columns)) if several and isinstance(columns, Sequence) else (columns,)
        if not names or not all(isinstance(name, str) for name in names):
            raise _refused("the groups are of a column or of several", {"by": columns}, hint=_SEVERAL)
        if isinstance(keys, Split) and keys.columns == names:
            return keys
        checks.texts("groups", names)
        if len(set(names)) < len(names) or len(names) > COLUMNS:
            raise _refused(f"key columns are different, and at most {COLUMNS}", {"by": list(names)})
        if isinstance(keys, Discover):
            return cls(names, tuple(() for _ in names), None if len(names) == 1 else (), keys)
        own = {name: own_groups(name) for name in names}
        if keys is None and all(own.values()):
            keys = own
        if isinstance(keys, Mapping):
            keys = {name: keys_of for name, keys_of in own.items() if keys_of} | {
                column_name(name): keys_of for name, keys_of in keys.items()
            }
            if set(keys) != set(names):
                raise _refused(
                    "a product has keys for every key column and for no other",
                    {"by": list(names), "keys of": list(keys)}, hint=_SEVERAL,
                )  # fmt: skip
            levels = tuple(_level(name, keys[name]) for name in names)
            return cls(names, levels)._checked()
        if not several or len(names) == 1:
            return cls(names, (_level(names[0], keys),))._checked()
        return cls._combined(names, keys)

    @classmethod
    def _combined(cls, names: tuple[str, ...], keys: Any) -> Split:
        """A list of combinations."""
        several = isinstance(keys, Iterable) and not isinstance(keys, str)
        given = tuple(tuple(one) if isinstance(one, tuple | list) else one for one in keys) if several else ()
        fine = all(isinstance(one, tuple) and len(one) == len(names) for one in given)
        if (
            not given
            or not fine
            or not all(isinstance(_plain(key), str | int) for one in given for key in one)
        ):
            raise _refused(
                f"keys of {len(names)} columns are combinations of {len(names)} keys, or a mapping from each "
                "column to its keys", {"by": list(names)}, hint=_SEVERAL,
            )  # fmt: skip
        _few(len(given))
        levels = tuple(
            _level(name, dict.fromkeys(column))
            for name, column in zip(names, zip(*given, strict=True), strict=True)
        )
        places = [{key: place for place, key in enumerate(level)} for level in levels]
        listed = tuple(
            tuple(place[_plain(key)] for place, key in zip(places, one, strict=True)) for one in given
        )
        if len(set(listed)) < len(listed):
            raise _refused("combinations of keys must be different", {"by": list(names)}, hint=_SEVERAL)
        return cls(names, levels, listed)

    @classmethod
    def plain(cls, by: str | Sequence[str], keys: Sequence[Any]) -> Split:
        """The split that a source is asked for: keys of one column, or combinations, that have been checked before."""
        if isinstance(by, str):
            return cls((by,), (tuple(keys),))
        names, found = tuple(by), [one if isinstance(one, tuple) else tuple(one) for one in keys]
        levels = tuple(tuple(dict.fromkeys(column)) for column in zip(*found, strict=True))
        levels = levels or tuple(() for _ in names)
        places = [{key: place for place, key in enumerate(level)} for level in levels]
        listed = tuple(tuple(map(dict.__getitem__, places, one)) for one in found)
        return cls(names, levels, listed)

    def _checked(self) -> Split:
        _few(len(self))
        return self

    @property
    def by(self) -> str | tuple[str, ...]:
        """What a source is asked to split by."""
        return self.columns[0] if len(self.columns) == 1 else self.columns

    @property
    def name(self) -> str:
        """The key columns in words."""
        return ", ".join(self.columns)

    def __len__(self) -> int:
        return math.prod(map(len, self.levels)) if self.listed is None else len(self.listed)

    @cached_property
    def combinations(self) -> tuple[Combination, ...]:
        """The key of every column, group by group."""
        if self.listed is None:
            return tuple(itertools.product(*self.levels))
        return tuple(
            tuple(level[place] for level, place in zip(self.levels, one, strict=True)) for one in self.listed
        )

    @property
    def keys(self) -> tuple[Any, ...]:
        """The groups as they are named: by a key of the one column, or by a combination."""
        return (
            self.levels[0]
            if len(self.columns) == 1 and self.listed is None
            else (tuple(one[0] for one in self.combinations) if len(self.columns) == 1 else self.combinations)
        )

    @property
    def record(self) -> dict[str, Any]:
        """How an event keeps it: ``{"column", "keys"}``, or ``{"columns", "levels"}`` with the combinations listed."""
        found = {} if self.discover is None else {"discovery": self.discover.record}
        if len(self.columns) == 1:
            return {"column": self.columns[0], "keys": list(self.keys), **found}
        kept: dict[str, Any] = {
            **found,
            "columns": list(self.columns),
            "levels": [list(level) for level in self.levels],
        }
        if self.listed is not None:
            kept["listed"] = [list(one) for one in self.listed]
        return kept

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Split:
        """Read what `record` wrote."""
        told = record.get("discovery")
        discover = None if told is None else Discover.from_record(told)
        if "column" in record:
            return cls((record["column"],), (tuple(record["keys"]),), None, discover)
        listed = record.get("listed")
        return cls(
            tuple(record["columns"]),
            tuple(map(tuple, record["levels"])),
            None if listed is None else tuple(map(tuple, listed)),
            discover,
        )

    def found(self, keys: Sequence[Any]) -> Split:
        """The same split with the keys that were found."""
        return replace(Split.plain(self.by, keys), discover=self.discover)

    def some(self, places: Sequence[int]) -> Split:
        """Some of the groups, by their places; a group may come twice."""
        chosen = [self.combinations[place] for place in places]
        if len(self.columns) == 1:
            return Split.plain(self.columns[0], [one for (one,) in chosen])
        return Split.plain(self.columns, chosen)

    def chunks(self, size: int) -> list[Split]:
        """The same groups, at most so many at a time and in the same order."""
        if len(self) <= size:
            return [self]
        starts = range(0, len(self), size)
        return [self.some(range(start, min(start + size, len(self)))) for start in starts]

    def places(self, found: Sequence[Places]) -> Places:
        """The group of each row, -1 where it is in none, from the place of its key in the levels of each column."""
        group = found[0]
        if self.listed is None:
            for level, place in zip(self.levels[1:], found[1:], strict=True):
                group = np.where((group < 0) | (place < 0), -1, group * len(level) + place)
            return group
        listed = np.array(self.listed, np.intp).reshape(len(self.listed), len(self.columns))
        known = listed[:, 0]
        for level, place, wanted in zip(self.levels[1:], found[1:], listed.T[1:], strict=True):
            # Beginnings of combinations are numbered anew for each column: the numbers stay small.
            different, known = np.unique(known * len(level) + wanted, return_inverse=True)
            code = np.where((group < 0) | (place < 0), -1, group * len(level) + place)
            near = np.minimum(np.searchsorted(different, code), len(different) - 1)
            group = np.where(different[near] == code, near, -1)
        order = np.empty(len(listed) + 1, np.intp)
        order[known] = np.arange(len(listed))
        order[-1] = -1
        return order[group]


def _level(column: str, keys: Any) -> tuple[Key, ...]:
    """The keys of one column: texts or whole numbers, each once."""
    listed = isinstance(keys, Iterable) and not isinstance(keys, str)
    if listed and hasattr(keys, "__len__"):
        _few(len(keys))
    given = tuple(map(_plain, keys)) if listed else ()
    checks.texts("groups", given)
    wrong = _wrong(given) if listed else "A text, or something else that is no list, was given."
    if wrong:
        raise ParameterError(
            "groups",
            f"keys of {column!r} must be a list of different texts or of different whole numbers",
            why=f"{wrong} Keys are public: they must be known before the data are seen, never taken from them.",
            hint=_ONE,
        )
    for key in given:
        if isinstance(key, str):
            checks.plain_text("groups", hint=_ONE, key=key)
    return given


def _wrong(keys: tuple[Any, ...]) -> str | None:
    """What is wrong with a list of keys, in a sentence."""
    if not keys:
        return "There is none."
    kinds = set(map(type, keys))
    for key in () if kinds <= {str, int} else keys:
        if key is None or (isinstance(key, float) and math.isnan(key)):
            return "One of them is missing: rows without a key are in no group."
        if isinstance(key, bool) or not isinstance(key, str | int):
            return f"One of them is a {type(key).__name__}."
    if len(kinds) > 1:
        return "Some of them are texts and some are numbers."
    if len(set(keys)) < len(keys):
        seen: set[Any] = set()
        twice = next(key for key in keys if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return f"{str(twice)[:40]!r} is there twice."
    return None


def _plain(key: Any) -> Any:
    """A number of numpy as Python's own; an array of several is no key."""
    return key.item() if hasattr(key, "item") and getattr(key, "size", 1) == 1 else key


def _few(groups: int) -> None:
    if groups > MOST:
        raise ParameterError(
            "groups",
            f"there can be at most {MOST:,} groups",
            got={"groups": groups},
            why="Each is drawn, kept in the ledger and printed, though most of so many would be empty.",
            hint="list the combinations that matter, or ask for parts of them in turn: groups with different rows "
            "cost one price together only within one release",
        )


def _refused(rule: str, got: dict[str, Any], *, hint: str = _ONE) -> ParameterError:
    return ParameterError(
        "groups",
        rule,
        got=got,
        why="Keys are public: they must be known before the data are seen, never taken from them.",
        hint=hint,
    )
