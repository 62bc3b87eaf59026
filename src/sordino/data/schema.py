"""What is refused by the schema alone, before anything is spent: the same rules for every source.

A column is a word by its declared type (`sordino.data.table.kind_of`): ``"number"`` for whole numbers (booleans count
as 0 and 1), floating-point numbers, decimals, text, objects, or something else. Text is a number only when declared so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sordino import checks
from sordino.errors import DataError, ParameterError
from sordino.reading.requests import Blocks, Bundle, Cells, Columns, Condition, Links, Request

if TYPE_CHECKING:
    from sordino.privacy import Unit
    from sordino.reading.requests import Ask
    from sordino.reading.row_lattice import RowLattice

Kinds = Mapping[str, str]
Part = Request | Columns | Cells | Links | Blocks

FLOATS = "floating-point numbers"
NUMBERS = frozenset({"number", FLOATS})
"""Columns of numbers in a type of their own."""

IDENTITIES = frozenset({"number", "text", "object"})
"""Columns whose values can be keys and units."""

_HOLDS = {"number": "whole numbers", "decimal": "decimals", "object": "Python objects"}


class Unlisted(dict[str, str]):
    """Columns whose names are not shown to help: the first line of a file may be somebody's record.

    Attributes:
        hint: How to see the names.
    """

    hint: str = ""


def parts(requests: tuple[Ask, ...]) -> list[Part]:
    """The requests, bundles opened."""
    return [
        part
        for request in requests
        for part in (request.parts if isinstance(request, Bundle) else (request,))
    ]


def by_column(requests: tuple[Ask, ...]) -> dict[tuple[str, RowLattice], tuple[Request, ...]]:
    """The requests that share a pass: one column on one grid."""
    asked: dict[tuple[str, RowLattice], dict[Request, None]] = {}
    for part in parts(requests):
        if isinstance(part, Request):
            asked.setdefault((part.column, part.grid), {})[part] = None
    return {name: tuple(together) for name, together in asked.items()}


def drops(request: Part) -> tuple[str, ...]:
    """The columns in which a row must have a number to be counted at all."""
    if isinstance(request, Request):
        return (request.column,) if request.grid.drops else ()
    if isinstance(request, Columns):
        return tuple(name for name, grid in zip(request.columns, request.grids, strict=True) if grid.drops)
    return ()


def needed(request: Part) -> list[str]:
    """The columns of a request that must hold numbers."""
    if isinstance(request, Cells | Blocks):
        return []
    if isinstance(request, Columns):
        return list(request.columns)
    if isinstance(request, Links):
        return [name for name in (request.left, request.right, request.weight) if name is not None]
    return [request.column]


def check_requests(
    subject: str,
    kinds: Kinds,
    requests: tuple[Ask, ...],
    *,
    unit: Unit,
    row: str | None = None,
    numbers: tuple[str, ...] = (),
    keys: bool = True,
) -> None:
    """Refuse what the schema cannot answer; ``keys`` asks whether keys could occur in their column as well."""
    for part in parts(requests):
        for name in needed(part):
            check_number(subject, kinds, name, numbers)
        for name in part.columns if isinstance(part, Blocks) else ():
            check_plain(subject, kinds, name)
        if isinstance(part, Cells):
            check_keys(subject, kinds, part if keys else Cells(part.column, ()))
    if unit.column is not None and exists(subject, kinds, unit.column) not in IDENTITIES:
        raise _no_identity(subject, "the unit must be a column of whole numbers or text", kinds, unit.column)
    if row is not None and exists(subject, kinds, row) not in {*NUMBERS, "object"}:
        raise DataError(
            subject, "the row identifier must be a column of numbers", got={"row": row},
            why="Texts are ordered differently by different engines.",
        )  # fmt: skip


def holds(kind: str) -> str:
    """What a column holds, in words."""
    return _HOLDS.get(kind, kind)


def _no_identity(subject: str, rule: str, kinds: Kinds, name: str) -> DataError:
    """Refuse a column whose values cannot tell people or groups apart."""
    kind = kinds[name]
    why = (
        " From 2^53 on several whole numbers share one, so different people may be one."
        if kind == FLOATS
        else ""
    )
    hint = ""
    if kind in {FLOATS, "decimal"}:
        hint = f"cast({name} as bigint), or text, in a query or a view"
        if subject == "memory":
            hint = f'read it as whole numbers or text: pd.read_csv(..., dtype={{"{name}": "Int64"}})'
    return DataError(subject, rule, got={"column": name}, why=f"It holds {holds(kind)}.{why}", hint=hint)


def exists(subject: str, kinds: Kinds, name: str) -> str:
    """What a column holds; refuse one that is not there."""
    checks.texts("column", (name,))
    if name not in kinds:
        listed = "one of " + ", ".join(list(kinds)[:20]) + (", ..." if len(kinds) > 20 else "")
        raise DataError(
            subject, "the column must exist", got={"column": name},
            hint=kinds.hint if isinstance(kinds, Unlisted) else listed,
        )  # fmt: skip
    return kinds[name]


def check_number(subject: str, kinds: Kinds, name: str, numbers: tuple[str, ...]) -> None:
    """Refuse a column that holds no numbers."""
    kind = exists(subject, kinds, name)
    if kind in NUMBERS or kind in {"decimal", "object"} or (kind == "text" and name in numbers):
        return
    hints = {
        "text": f"numbers=({name!r},) reads its text as numbers; text that is not a number counts as missing",
        "dates": "convert it to days or seconds since a date of your choice first",
        "durations": "convert it to seconds first",
    }
    raise DataError(
        subject, "the column must hold numbers", got={"column": name}, why=f"It holds {holds(kind)}.",
        hint=hints.get(kind, "convert it to float first"),
    )  # fmt: skip


def check_plain(subject: str, kinds: Kinds, name: str) -> None:
    """Refuse a column that is neither numbers nor text: a function gets plain values."""
    kind = exists(subject, kinds, name)
    if kind not in {*NUMBERS, "decimal", "text", "object"}:
        raise DataError(
            subject, "a function gets columns of numbers and text", got={"column": name},
            why=f"It holds {holds(kind)}.",
            hint="convert it to numbers first: days or seconds since a date of your choice",
        )  # fmt: skip


def check_keys(subject: str, kinds: Kinds, cells: Cells) -> None:
    """Refuse columns of dates and floats, and text keys for a column of numbers: no row would ever match."""
    kind = exists(subject, kinds, cells.column)
    if kind not in IDENTITIES:
        raise _no_identity(subject, "a column of keys must hold text or whole numbers", kinds, cells.column)
    if kind == "number" and any(isinstance(key, str) for key in cells.keys):
        raise DataError(
            subject, "keys must be of the type of their column", got={"column": cells.column},
            why="It holds numbers and the keys are texts, so no row could match.",
        )  # fmt: skip


def check_condition(subject: str, kinds: Kinds, condition: Condition) -> str:
    """Refuse a condition that does not fit its column; say whether it compares numbers or text."""
    kind = exists(subject, kinds, condition.column)
    values = condition.value if isinstance(condition.value, tuple | list) else (condition.value,)
    several = isinstance(condition.value, tuple | list)
    texts = {isinstance(value, str) for value in values}
    if several != (condition.op == "in") or len(texts) != 1:
        raise ParameterError(
            "condition", "in takes a list of texts or of numbers, the others take one value",
            got={"op": condition.op, "value": condition.value},
        )  # fmt: skip
    text = texts.pop()
    if any(value != value for value in values):  # noqa: PLR0124  NaN
        raise ParameterError(
            "condition", "a value must not be NaN", got={"column": condition.column},
            why="Missing values fulfil no condition, whatever it is.",
        )  # fmt: skip
    if text and condition.op not in {"==", "!=", "in"}:
        raise ParameterError(
            "condition", "texts are compared by ==, != and in only", got={"op": condition.op},
            why="Their order differs from engine to engine.",
        )  # fmt: skip
    fits = kind in {"text", "object"} or (kind in {*NUMBERS, "decimal"} and not text)
    if not fits:
        raise DataError(
            subject, "the condition must fit its column", got={"column": condition.column},
            why=f"It holds {holds(kind)}.",
        )  # fmt: skip
    return "text" if text else "number"
