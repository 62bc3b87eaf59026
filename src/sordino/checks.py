"""Parameter checks that name themselves: ``positive("laplace", epsilon=epsilon)``.

Each takes the subject of the message and exactly one parameter by keyword, and returns its exact value
as a Fraction: a float means its shortest decimal, so ten times 0.1 is 1. Nothing here sees data.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

from sordino.calling import EXAMPLES
from sordino.errors import ParameterError

Number = int | float | Fraction | Decimal


LARGEST = 308
"""Decimal places before the point that a float can hold."""

PLACES = 1000
"""Places after the point that a Decimal may begin at."""


def _single(named: dict[str, Any]) -> tuple[str, Any]:
    """Unpack the one keyword."""
    ((name, value),) = named.items()
    return name, value


def exact(subject: str, /, *, why: str = "", hint: str = "", **named: Any) -> Fraction:
    """Return a finite number as a Fraction, or raise.

    Example:
        >>> exact("laplace", epsilon=0.1)
        Fraction(1, 10)
        >>> exact("laplace", epsilon=True)
        Traceback (most recent call last):
        ...
        sordino.errors.ParameterError: laplace: epsilon must be a number, got epsilon=True.
            Hint: epsilon=0.5
    """
    name, value = _single(named)
    hint = hint or (f"{name}={EXAMPLES[name]}" if name in EXAMPLES else "")
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 and not isinstance(value, Rational | float):
        value = value.item()  # a numpy scalar or 0-d array
    if isinstance(value, bool) or not isinstance(value, Rational | float | Decimal):
        raise ParameterError(subject, f"{name} must be a number", got={name: value}, why=why, hint=hint)
    if not _finite(value):
        raise ParameterError(
            subject, f"{name} must be a finite number", got={name: value}, why=why, hint=hint
        )
    if not _ordinary(value):
        raise ParameterError(
            subject,
            f"{name} must be a number of ordinary size",
            got={name: value},
            why=why or "Numbers beyond 1e308 or with a thousand places have no float.",
            hint=hint or f"{name}=1",
        )
    return Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)


def _finite(value: Rational | float | Decimal) -> bool:
    return (
        value.is_finite()
        if isinstance(value, Decimal)
        else isinstance(value, Rational) or math.isfinite(value)
    )


def _ordinary(value: Rational | float | Decimal) -> bool:
    """Whether a finite number is one that a person may mean: told before anything is computed with it."""
    if isinstance(value, Decimal):
        return not value or -PLACES < value.adjusted() < LARGEST
    if isinstance(value, Rational):
        return abs(value.numerator) < abs(value.denominator) * 10**LARGEST
    return True


def positive(subject: str, /, *, why: str = "", hint: str = "", **named: Any) -> Fraction:
    """Return a number greater than zero."""
    return greater_than(subject, 0, why=why, hint=hint, **named)


def non_negative(subject: str, /, *, why: str = "", hint: str = "", **named: Any) -> Fraction:
    """Return a number that is zero or more."""
    value = exact(subject, why=why, hint=hint, **named)
    if value < 0:
        name, given = _single(named)
        raise ParameterError(subject, f"{name} must not be negative", got={name: given}, why=why, hint=hint)
    return value


def greater_than(subject: str, bound: Number, /, *, why: str = "", hint: str = "", **named: Any) -> Fraction:
    """Return a number strictly greater than the bound."""
    value = exact(subject, why=why, hint=hint, **named)
    if value <= bound:
        name, given = _single(named)
        rule = f"{name} must be positive" if bound == 0 else f"{name} must be greater than {bound}"
        raise ParameterError(subject, rule, got={name: given}, why=why, hint=hint)
    return value


def between(
    subject: str,
    low: Number,
    high: Number,
    /,
    *,
    closed: bool = False,
    why: str = "",
    hint: str = "",
    **named: Any,
) -> Fraction:
    """Return a number between two bounds, the bounds themselves allowed only if ``closed``."""
    value = exact(subject, why=why, hint=hint, **named)
    inside = low <= value <= high if closed else low < value < high
    if not inside:
        name, given = _single(named)
        words = f"{name} must be between {low} and {high}" + ("" if closed else ", both excluded")
        raise ParameterError(subject, words, got={name: given}, why=why, hint=hint)
    return value


def whole(subject: str, /, *, at_least: int = 0, why: str = "", hint: str = "", **named: Any) -> int:
    """Return a whole number that is at least the given one."""
    name, value = _single(named)
    number = operator.index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else None
    if number is None or number < at_least:
        rule = f"{name} must be a whole number of at least {at_least}"
        raise ParameterError(subject, rule, got={name: value}, why=why, hint=hint)
    return number


def plain_text(subject: str, /, *, hint: str = "", **named: Any) -> str:
    """Return a text that every engine and every ledger can hold: no zero byte, no half of a character.

    Example:
        >>> plain_text("condition", value="north")
        'north'
    """
    name, value = _single(named)
    if not isinstance(value, str) or "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ParameterError(
            subject, f"{name} must be a text without zero bytes and half characters", got={name: value},
            why="No engine could match it.", hint=hint,
        )  # fmt: skip
    return value


def one_of(subject: str, options: tuple[str, ...], /, *, why: str = "", hint: str = "", **named: Any) -> str:
    """Return one of a few words."""
    name, value = _single(named)
    if not isinstance(value, str) or value not in options:
        raise ParameterError(
            subject, f"{name} must be one of {', '.join(options)}", got={name: value}, why=why, hint=hint
        )
    return value


def texts(subject: str, values: Iterable[Any]) -> None:
    r"""Refuse texts that no table could hold: with a NUL, or with half of a surrogate pair, which is not a character.

    Example:
        >>> texts("keys", ["north", 7])
        >>> texts("keys", ["north\0"])
        Traceback (most recent call last):
        ...
        sordino.errors.ParameterError: keys: text must be a text without zero bytes and half characters, got ...
            No engine could match it.
            Hint: "north"
    """
    for value in values:
        if isinstance(value, str):
            plain_text(subject, hint='"north"', text=value)
