"""A single released number behaves as the number it is: it formats, rounds and compares."""

from __future__ import annotations

import dataclasses
from numbers import Real
from typing import TYPE_CHECKING, Any


class Comparing:
    """What a release shares with a number, for those that hold one."""

    __slots__ = ()

    if TYPE_CHECKING:
        value: Any

    @property
    def _number(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise TypeError(
                "only a single released number can be used as one; answer.table, answer.by_key and "
                "answer.to_frame() hold several"
            )
        return float(self.value)

    def __float__(self) -> float:
        return self._number

    def __int__(self) -> int:
        return int(self._number)

    def __round__(self, digits: int | None = None) -> float:
        return round(self._number, digits)

    def __format__(self, spec: str) -> str:
        """Format the number; several are formatted each, and text without a format is the whole answer."""
        if not spec:
            return str(self)
        return _formatted(self.value, spec)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Comparing):
            return type(self) is type(other) and all(
                getattr(self, field.name) == getattr(other, field.name)
                for field in dataclasses.fields(self)  # type: ignore[arg-type]
            )
        if isinstance(other, Real | str | tuple):
            return bool(self.value == other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # equal to its number, but not one: it does not belong into sets

    def __lt__(self, other: Any) -> bool:
        theirs = _of(other)
        return NotImplemented if theirs is None else self._number < theirs

    def __le__(self, other: Any) -> bool:
        theirs = _of(other)
        return NotImplemented if theirs is None else self._number <= theirs

    def __gt__(self, other: Any) -> bool:
        theirs = _of(other)
        return NotImplemented if theirs is None else self._number > theirs

    def __ge__(self, other: Any) -> bool:
        theirs = _of(other)
        return NotImplemented if theirs is None else self._number >= theirs


def _of(other: Any) -> float | None:
    if isinstance(other, Comparing):
        return other._number
    return float(other) if isinstance(other, Real) else None


def _formatted(value: Any, spec: str) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(_formatted(each, spec) for each in value) + ")"
    return "no answer" if value is None else format(value, spec)
