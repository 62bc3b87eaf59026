"""Columns of Python objects: each value is read by itself, by what it is and what is asked, whatever the others are.

Lists, tuples, arrays and frame columns of objects have no type of their own, and none is ever inferred from their
values: one person's entry would then decide how everybody else's is read. No method of a value is called that a class
could have replaced, so nothing raises and nothing is printed.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from types import NoneType
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from sordino.data.numbers import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BLOCK = 1 << 14
"""Values that are looked at together: those of Python's own number types are converted by numpy."""

EXACT = 2**53
"""From here on different whole numbers share one floating-point number."""

_PLAIN = frozenset(map(id, (float, int, bool, NoneType)))
"""Types are compared by identity: a class can replace how it is hashed and compared."""

_NUMPY = set(np.sctypeDict.values()) - {np.timedelta64}  # which numpy derives from the whole numbers
_NUMPY_WHOLE = frozenset(id(kind) for kind in _NUMPY if issubclass(kind, np.integer | np.bool_))
_NUMPY_REAL = frozenset(id(kind) for kind in _NUMPY if issubclass(kind, np.floating))


def gathered(values: Sequence[Any]) -> NDArray[Any]:
    """The values as an array of objects, each as it is: nested lists and arrays are values, not dimensions."""
    return np.fromiter(values, object, len(values))


def numbers(values: list[Any], *, text: bool) -> NDArray[np.float64]:
    """The number of each value as the nearest double, NaN for anything that is not a number.

    Args:
        values: Python objects.
        text: Whether texts are read by the grammar of `sordino.data.numbers`; otherwise they are not numbers.

    Example:
        >>> numbers([1, 2.5, True, Fraction(1, 3), "4", None, [5]], text=False).round(3).tolist()
        [1.0, 2.5, 1.0, 0.333, nan, nan, nan]
    """
    found = np.empty(len(values))
    for start in range(0, len(values), BLOCK):
        some = values[start : start + BLOCK]
        found[start : start + len(some)] = _block(some, text=text)
    return found


def _block(some: list[Any], *, text: bool) -> NDArray[np.float64]:
    """Numbers of one block: by numpy where all are of Python's own types, with what `_number` gives for each."""
    if {id(type(value)) for value in some} <= _PLAIN:
        try:
            return np.fromiter(some, np.float64, len(some))
        except OverflowError:  # a whole number beyond the doubles
            pass
    return np.fromiter((_number(value, text=text) for value in some), np.float64, len(some))


def _number(value: Any, *, text: bool) -> float:
    kind = type(value)
    if kind is float:
        return value
    if kind is str:
        return number(value) if text else math.nan
    if kind is NoneType:
        return math.nan
    if issubclass(kind, float):  # numpy's double is one
        return float.__float__(value)
    if issubclass(kind, int):
        return _double(int.__int__(value))
    if issubclass(kind, str):
        return number(str.__str__(value)) if text else math.nan
    if kind is Decimal:
        return float(value) if value.is_finite() else math.nan
    if kind is Fraction:
        return _double(value.numerator, value.denominator)
    if id(kind) in _NUMPY_REAL or id(kind) in _NUMPY_WHOLE:
        return float(value)
    return math.nan


def _double(above: int, below: int = 1) -> float:
    """The double nearest to a fraction; an infinity beyond them."""
    try:
        return above / below
    except OverflowError:
        return math.inf if above > 0 else -math.inf


def text_of(value: Any) -> str | None:
    """The text that a value is; a UUID counts as its text.

    Example:
        >>> text_of("north"), text_of(3), text_of(UUID(int=5))
        ('north', None, '00000000-0000-0000-0000-000000000005')
    """
    kind = type(value)
    if kind is str:
        return value
    if issubclass(kind, str):
        return str.__str__(value)
    return UUID.__str__(value) if kind is UUID else None


def whole(value: Any) -> int | None:
    """The whole number that a value is.

    A floating-point number is one below 2^53 only: beyond, several whole numbers share it, and which one was meant is
    lost.

    Example:
        >>> [whole(value) for value in (7, True, 7.0, Decimal("7.0"), 7.5, 2.0**60, "7")]
        [7, 1, 7, 7, None, None, None]
    """
    kind = type(value)
    if issubclass(kind, int):
        return int.__int__(value)
    if issubclass(kind, float) or id(kind) in _NUMPY_REAL:
        real = float.__float__(value) if issubclass(kind, float) else float(value)
        return int(real) if real.is_integer() and abs(real) < EXACT else None
    if id(kind) in _NUMPY_WHOLE:
        return int(value)
    if kind is Fraction:
        return value.numerator if value.denominator == 1 else None
    if kind is Decimal and value.is_finite():
        if not value:
            return 0
        if not 0 <= value.adjusted() < 40:  # longer ones would take long to write out
            return None
        above, below = value.as_integer_ratio()
        return above if below == 1 else None
    return None


def identities(values: list[Any]) -> NDArray[np.int64]:
    """A number per different text or whole number, -1 for what is neither.

    Example:
        >>> identities(["a", 1, True, "1", None, 1.5, "a"]).tolist()
        [0, 1, 1, 2, -1, -1, 0]
    """
    places: dict[str | int, int] = {}

    def place(value: Any) -> int:
        kind = type(value)
        known = value if kind is str or kind is int else text_of(value)
        if known is None:
            known = whole(value)
        return -1 if known is None else places.setdefault(known, len(places))

    return np.fromiter(map(place, values), np.int64, len(values))


def key_places(values: list[Any], keys: tuple[str | int, ...]) -> NDArray[np.intp]:
    """The place of each value in a list of keys, -1 where it is none of them.

    Text keys are found in texts. Whole-number keys are found in the whole numbers that equal them, and in texts by what
    they read as, a double.

    Example:
        >>> key_places([1, "1", "01", 1.0, True, 1.5, None], (0, 1)).tolist()
        [1, 1, 1, 1, 1, -1, -1]
    """
    texts: dict[Any, int] = {key: place for place, key in enumerate(keys) if isinstance(key, str)}
    wholes: dict[Any, int] = {key: place for place, key in enumerate(keys) if not isinstance(key, str)}
    doubles = double_places(keys)

    def place(value: Any) -> int:
        text = None if type(value) is int else text_of(value)
        if text is None:
            return wholes.get(value if type(value) is int else whole(value), -1)
        found = texts.get(text, -1)
        return doubles.get(number(text), -1) if found < 0 and doubles else found

    return np.fromiter(map(place, values), np.intp, len(values))


def double_places(keys: tuple[str | int, ...]) -> dict[float, int]:
    """The place of each whole-number key, by the double nearest to it; of keys that share one, the first."""
    places: dict[float, int] = {}
    for place, key in enumerate(keys):
        if not isinstance(key, str) and math.isfinite(double := _double(key)):
            places.setdefault(double, place)
    return places
