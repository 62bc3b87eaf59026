"""Plans as code: statistics, prices and hints as they are typed in Python and on the command line."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.coverage import Coverage, Sample
from sordino.errors import spell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sordino.privacy import Guarantee


def given_fields(statistic: Any) -> list[tuple[Any, Any]]:
    """Fields that are not at their defaults, the relation left out."""
    found = []
    for field in dataclasses.fields(statistic):
        value = getattr(statistic, field.name)
        if not field.init or field.name == "neighbors":
            continue
        if field.default is dataclasses.MISSING or value != field.default:
            found.append((field, value))
    return found


def python_call(statistic: Any) -> str:
    """A statistic as it is made in Python.

    Example:
        >>> from sordino.statistics.median import Median
        >>> python_call(Median("income", low=0, high=500_000))
        'sd.Median("income", low=0, high=500000)'
    """
    inner = []
    for field, value in given_fields(statistic):
        text = code(value)
        inner.append(text if not field.kw_only else f"{field.name}={text}")
    fields = {field.name: field.default for field in dataclasses.fields(statistic)}
    if "neighbors" in fields and statistic.neighbors is not fields["neighbors"]:
        inner.append(f"neighbors=sd.{statistic.neighbors}")
    return f"sd.{type(statistic).__name__}({', '.join(inner)})"


def typed_words(statistic: Any) -> list[str]:
    """The fields of a statistic on the command line: names of columns first, then options."""
    names: list[str] = []
    words: list[str] = []
    for field, value in given_fields(statistic):
        if isinstance(value, str) and str(field.type) == "str" and field.default is dataclasses.MISSING:
            names.append(value)
        else:
            words += [f"--{field.name.replace('_', '-')}", typed(value)]
    return names + words


def price_code(price: Guarantee) -> str:
    """A price in Python."""
    return f"sd.{price!r}"


def price_words(price: Any) -> list[str]:
    """A price on the command line."""
    words = []
    for field in dataclasses.fields(price):
        words += [f"--{field.name}", spell(getattr(price, field.name))]
    return words


def code(value: Any) -> str:
    """As Python source."""
    if isinstance(value, tuple | list):
        return "(" + ", ".join(code(item) for item in value) + ("," if len(value) == 1 else "") + ")"
    if dataclasses.is_dataclass(value) and hasattr(value, "relations"):
        return python_call(value)
    if isinstance(value, Coverage):
        return number(value.level) if value == Sample(value.level) else f"sd.{value!r}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return number(value) if isinstance(value, Fraction | int | float) else repr(value)


def typed(value: Any) -> str:
    """As it is typed on the command line."""
    if isinstance(value, tuple | list):
        inner = (
            "-".join(map(typed, item)) if isinstance(item, tuple | list) else typed(item) for item in value
        )
        return ",".join(inner)
    if isinstance(value, Coverage):
        return number(value.level)
    return value if isinstance(value, str) else number(value)


def number(value: Any) -> str:
    """As a person would type it: whole numbers without a point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return spell(value)


def hint_words(hints: Iterable[tuple[str, Any]]) -> list[str]:
    """Public options as they are typed on the command line."""
    words: list[str] = []
    for name, value in hints:
        words += [f"--{name}"] if value is True else [f"--{name}", typed(value)]
        if isinstance(value, Coverage):
            words += ["--interval-for", value.target] if value.target != "sample" else []
            words += ["--simultaneous"] if value.simultaneous else []
            inclusion = getattr(value, "inclusion", None)
            words += [] if inclusion is None else ["--inclusion", number(inclusion)]
    return words
