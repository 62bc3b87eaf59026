"""Combinations of keys counted by numpy: rows over public levels, or people over whatever combinations occur.

What is kept of one person depends on that person's rows alone: where someone has more combinations than may count,
those with the smallest hash of person and combination stay.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.kernel import key_index
from sordino.data.objects import text_of, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sordino.data.table import Column
    from sordino.reading.combinations import Combinations, Keys

    Numbers = NDArray[np.int64]


def cell_counts(
    columns: Sequence[Column], request: Combinations, rows: Numbers | None = None
) -> tuple[Numbers, Numbers]:
    """The occupied cells of a table of public levels, ascending, and how many rows each has.

    Args:
        columns: The columns of keys.
        request: What is counted; with levels.
        rows: How many rows each entry of the columns stands for; one by default.
    """
    assert request.levels is not None
    cell = np.zeros(len(columns[0]), np.int64)
    kept = np.ones(len(columns[0]), bool)
    for column, level, size in zip(columns, request.levels, request.sizes, strict=True):
        place = key_index(column, level).astype(np.int64)
        if request.other:
            place = np.where(place < 0, len(level), place)
        kept &= place >= 0
        cell = cell * size + np.where(place < 0, 0, place)
    found, inverse = np.unique(cell[kept], return_inverse=True)
    if rows is None:
        return found, np.bincount(inverse, minlength=len(found)).astype(np.int64)
    counts = np.zeros(len(found), np.int64)
    np.add.at(counts, inverse, rows[kept])
    return found, counts


def key_weights(
    columns: Sequence[Column],
    request: Combinations,
    units: Column | None = None,
    rows: Numbers | None = None,
    labels: Sequence[tuple[str, ...] | None] | None = None,
) -> tuple[tuple[Keys, ...], Numbers]:
    """The combinations that occur, sorted, and the weight of the people who have each.

    Args:
        columns: The columns of keys.
        request: What is counted; without levels.
        units: To whom each row belongs; without it every row is a person.
        rows: The weight of each entry, where an engine has counted people already.
        labels: For each column what the places in it stand for, where it is derived; None for keys as they are.
    """
    combination, keys = _combined(columns, request, labels or [None] * len(columns))
    there = combination >= 0
    if units is None:
        weights = np.zeros(len(keys), np.int64)
        amounts = np.full(len(combination), request.weights[0], np.int64) if rows is None else rows
        np.add.at(weights, combination[there], amounts[there])
        return _sorted(keys, weights)
    person = units.identities()
    there &= person >= 0
    pairs = np.unique(np.stack([person[there], combination[there]]), axis=1)
    if pairs.shape[1] and int(np.bincount(pairs[0]).max()) > request.most:
        pairs = _fewer(pairs, keys, units, person, request.most)
    many = np.bincount(pairs[0], minlength=1)
    weights = np.zeros(len(keys), np.int64)
    table = np.array([0, *request.weights], np.int64)
    np.add.at(weights, pairs[1], table[many[pairs[0]]])
    return _sorted(keys, weights)


def _combined(
    columns: Sequence[Column], request: Combinations, labels: Sequence[tuple[str, ...] | None]
) -> tuple[Numbers, list[Keys]]:
    """A number per different combination, -1 where a row has none or one that is left out; and the combinations."""
    factored = [_factored(column, words) for column, words in zip(columns, labels, strict=True)]
    parts, values = [place for place, _ in factored], [words for _, words in factored]
    there = np.all([place >= 0 for place in parts], axis=0)
    mixed = parts[0]
    for place, words in factored[
        1:
    ]:  # numbered anew after each column, so that no product grows beyond 64 bits
        _, mixed = np.unique(mixed, return_inverse=True)
        mixed = mixed * (len(words) + 1) + place + 1
    _, first, inverse = np.unique(mixed[there], return_index=True, return_inverse=True)
    rows = np.flatnonzero(there)[first]
    keys = [
        tuple(words[int(place[row])] for place, words in zip(parts, values, strict=True))
        for row in rows.tolist()
    ]
    gone = set(request.without)
    kept = np.array([key not in gone for key in keys], bool)
    number = np.where(kept, np.cumsum(kept) - 1, -1) if keys else np.zeros(0, np.int64)
    combination = np.full(len(mixed), -1, np.int64)
    combination[there] = number[inverse]
    return combination, [key for key, stays in zip(keys, kept.tolist(), strict=True) if stays]


def _factored(column: Column, labels: tuple[str, ...] | None) -> tuple[Numbers, list[Any]]:
    """The place of every value among the different texts and whole numbers of a column, -1 for anything else."""
    values = column.values
    if values.dtype.kind in "iub":
        found, place = np.unique(values, return_inverse=True)
        place = place.astype(np.int64)
        if column.absent is not None:
            place = np.where(column.absent, -1, place)
        numbers = [int(one) for one in found.tolist()]
        return place, numbers if labels is None else [labels[one] for one in numbers]
    places: dict[Any, int] = {}

    def number(value: Any) -> int:
        kind = type(value)
        known = value if kind is str or kind is int else text_of(value)
        if known is None:
            known = whole(value)
        return -1 if known is None else places.setdefault(known, len(places))

    found_places = np.fromiter(map(number, values.tolist()), np.int64, len(values))
    return found_places, list(places)


def _fewer(pairs: Numbers, keys: list[Keys], units: Column, person: Numbers, most: int) -> Numbers:
    """At most so many combinations of each person, by a hash of person and combination."""
    somebody, row = np.unique(person, return_index=True)
    named = units.values[row].tolist()
    people = {one: _hash(name) for one, name in zip(somebody.tolist(), named, strict=True)}
    combinations = np.array([_hash(key) for key in keys], np.uint64)
    own = np.array([people[one] for one in pairs[0].tolist()], np.uint64)
    with np.errstate(over="ignore"):
        mixed = (own ^ combinations[pairs[1]]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
    order = np.lexsort((combinations[pairs[1]], mixed, pairs[0]))
    pairs = pairs[:, order]
    starts = np.flatnonzero(np.diff(pairs[0], prepend=-1) != 0)
    place = np.arange(pairs.shape[1]) - np.repeat(starts, np.diff(starts, append=pairs.shape[1]))
    return pairs[:, place < most]


def _hash(value: Any) -> int:
    """64 bits of a text, a whole number, or a tuple of them; the same in every process and from every source."""
    if isinstance(value, tuple):
        written = "\x1f".join(f"{type(one).__name__}:{one}" for one in value)
    else:
        known = text_of(value)
        written = f"str:{known}" if known is not None else f"int:{whole(value)}"
    return int.from_bytes(
        hashlib.blake2b(written.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )


def sort_key(keys: Keys) -> tuple[Any, ...]:
    """Whole numbers before texts, each in their own order: the same from every source.

    Example:
        >>> sorted([("b",), (2,), ("a",), (10,)], key=sort_key)
        [(2,), (10,), ('a',), ('b',)]
    """
    return tuple((isinstance(one, str), one) for one in keys)


def _sorted(keys: list[Keys], weights: Numbers) -> tuple[tuple[Keys, ...], Numbers]:
    order = sorted(range(len(keys)), key=lambda place: sort_key(keys[place]))
    kept = [place for place in order if weights[place] > 0]
    return tuple(keys[place] for place in kept), weights[kept] if kept else weights[:0]
