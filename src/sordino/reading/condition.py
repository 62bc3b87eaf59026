"""`Condition`: a public filter of rows, and the one grammar in which it can be written as text.

``age >= 18``, ``region == north``, ``region in north|south``: a column, a comparison, a value. Numbers are written as
in Python; quotes make a text of anything (``zip == '01234'``). The command line and `Session.where` read the same.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from sordino import checks
from sordino.errors import ParameterError
from sordino.reading.formula import column_name

OPS = ("==", "!=", "<", "<=", ">", ">=", "in")

_WHOLE = re.compile(r"(?a)[+-]?\d{1,400}")
_REAL = re.compile(r"(?a)[+-]?(\d{1,400}\.?\d{0,400}|\.\d{1,400})([eE][+-]?\d{1,3})?")
_WRITTEN = re.compile(r"(?s)\s*(?P<column>.*?)\s*(?P<op>==|!=|>=|<=|>|<|(?<=\s)in(?=\s|$))\s*(?P<value>.*)")
_QUOTED = re.compile(r"(?s)'([^']*)'|\"([^\"]*)\"")


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter that an event can store: ``Condition("age", ">=", 18)``; missing rows never pass.

    Args:
        column: The column that is looked at, or a formula of columns.
        op: ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=`` or ``in``.
        value: What rows are compared with; for ``in`` a tuple.

    Example:
        >>> Condition.of("region in north|south")
        Condition(column='region', op='in', value=('north', 'south'))
        >>> Condition.of(("age", ">=", 18)) == Condition.of("age >= 18")
        True
    """

    column: str
    op: str
    value: float | str | tuple[str | int | float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "column", column_name(self.column))
        if not isinstance(self.column, str) or not self.column:
            raise ParameterError(
                "condition",
                "column must be the name of a column",
                got={"column": self.column},
                hint='where(("age", ">=", 18))',
            )
        checks.plain_text("condition", hint='where(("age", ">=", 18))', column=self.column)
        checks.one_of("condition", OPS, hint='where(("age", ">=", 18))', op=self.op)
        given: Any = self.value
        several = isinstance(given, tuple | list | set | frozenset)
        value = tuple(_plain(self.column, one) for one in given) if several else _plain(self.column, given)
        object.__setattr__(self, "value", value)

    @classmethod
    def of(cls, given: Condition | tuple[str, str, Any] | str) -> Condition:
        """A condition from a text, from column, comparison and value, or from itself."""
        if isinstance(given, Condition):
            return given
        if isinstance(given, str):
            return _read(given)
        if isinstance(given, tuple | list) and len(given) == 3:
            return cls(*given)
        raise ParameterError(
            "condition",
            "a condition has a column, a comparison and a value",
            got={"where": given},
            hint='where(("age", ">=", 18)), or where("age >= 18")',
        )


def _plain(column: str, value: Any) -> Any:
    """A text or a number that a double holds."""
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if isinstance(value, str):
        return checks.plain_text("condition", hint='where(("region", "==", "north"))', value=value)
    if isinstance(value, bool | int | float) and (value != value or _finite(value)):  # noqa: PLR0124  sources refuse NaN
        return value
    raise ParameterError(
        "condition",
        "a value must be a text or a finite number",
        got={"column": column, "value": value},
        why="Columns are compared as doubles or as texts.",
        hint='where(("age", ">=", 18), ("region", "in", ["north", "south"]))',
    )


def _finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _read(text: str) -> Condition:
    """Read a condition, or say how it is written."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        column, equals, value = (part.strip() for part in text.partition("="))
        raise _refusal(text, f"{column}=={value}" if equals and column and value else "age>=18")
    column, op, value = found["column"], found["op"], found["value"].strip()
    if not column or column[-1] in "=<>!" or not value or value[0] in "=<>!":
        raise _refusal(text, f"{column.rstrip('=<>! ') or 'age'}{op}{value.lstrip('=<>! ') or 18}")
    if op != "in":
        return Condition(column, op, _literal(value))
    items = [item.strip() for item in value.split("|")]
    bare = [item for item in items if not _QUOTED.fullmatch(item)]
    if not all(items) or any("," in item or item[0] in "([{" for item in bare):
        listed = "|".join(item.strip() for item in re.split(r"[|,]", value.strip("()[]{}")) if item.strip())
        raise _refusal(
            text, f"{column} in {listed or 'north|south'}", "The values of a list stand between bars."
        )
    return Condition(column, op, tuple(_literal(item) for item in items))


def _refusal(
    text: str, instead: str, why: str = "It has a column, one of == != < <= > >= in, and a value."
) -> ParameterError:
    return ParameterError(
        "condition", "a condition compares a column with a value", got={"where": text}, why=why,
        hint='where("' + re.sub(r"[\"']", "", instead) + '")',
    )  # fmt: skip


def _literal(text: str) -> Any:
    """A number as it is typed, or a text; quotes make anything a text."""
    if quoted := _QUOTED.fullmatch(text):
        return quoted[1] if quoted[1] is not None else quoted[2]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _REAL.fullmatch(text) else text
