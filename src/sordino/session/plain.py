"""Releases as JSON writes them, and read back: numbers, lattices, nested values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from sordino.lattice import Lattice

_WORDS = frozenset((str, int, bool, type(None)))
"""What JSON writes as it is."""
_SETTLED = _WORDS | {float}


def lattice(record: Any) -> Any:
    """Read lattices back, one or many by name; version 1 wrote the exponent of a power of two."""
    if record is None:
        return None
    if isinstance(record, list):
        return tuple(lattice(each) for each in record)
    if "exponent" in record:
        return Lattice(Fraction(0), Fraction(2) ** record["exponent"])
    if set(record) == {"origin", "step"}:
        return Lattice.from_dict(record)
    return {name: lattice(each) for name, each in record.items()}


def plain(value: Any) -> Any:
    """Write a value with JSON's types; numbers that JSON does not know become words."""
    if value is None or isinstance(value, str | bool | int):  # most entries
        return value
    if isinstance(value, Mapping):
        if _settled(set(map(type, value.values())), value.values()):  # what is told of one of many groups
            return {str(key): entry for key, entry in value.items()}
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        if _settled(set(map(type, value)), value):  # the numbers of many groups
            return list(value)
        return [plain(entry) for entry in value]
    if isinstance(value, Fraction):
        return real(value)
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if hasattr(value, "item"):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else {"number": repr(value)}
    return str(value)


def _settled(kinds: set[type], values: Iterable[Any]) -> bool:
    """Whether JSON writes all of these as they are."""
    if kinds == {float}:
        return all(map(math.isfinite, values))
    if float not in kinds:
        return kinds <= _WORDS
    return kinds <= _SETTLED and all(math.isfinite(one) for one in values if type(one) is float)


def rich(value: Any) -> Any:
    """Read a released value back."""
    if isinstance(value, list):
        if set(map(type, value)) <= {float, *_WORDS}:
            return tuple(value)
        return tuple(rich(entry) for entry in value)
    return float(value["number"]) if isinstance(value, dict) else value


def real(number: Fraction) -> Any:
    """The float of an exact number, or its words when it is too large for one."""
    try:
        return float(number)
    except OverflowError:
        return {"number": "inf" if number > 0 else "-inf"}
