"""What is refused by the schema alone, before anything is spent: the same rules for every source.

A column is a word by its declared type (`sordino.data.table.kind_of`): ``"number"`` for whole numbers (booleans count
as 0 and 1), floating-point numbers, decimals, text, objects, or something else. Text is a number only when declared so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sordino import checks
from sordino.errors import DataError, ParameterError
from sordino.reading.formula import Formula, formula_like
from sordino.reading.requests import Blocks, Bundle, Cells, Columns, Combinations, Condition, Links, Request

if TYPE_CHECKING:
    from sordino.lattice import RowLattice
    from sordino.privacy import Unit
    from sordino.reading.requests import Ask

Kinds = Mapping[str, str]
Part = Request | Columns | Cells | Links | Blocks | Combinations

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
    return request.present if isinstance(request, Combinations) else ()


def needed(request: Part) -> list[str]:
    """The columns of a request that must hold numbers."""
    if isinstance(request, Cells | Blocks):
        return []
    if isinstance(request, Columns):
        return list(request.columns)
    if isinstance(request, Combinations):
        return list(request.present)
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
            check_plain(subject, kinds, name, numbers)
        if isinstance(part, Cells):
            check_keys(subject, kinds, part if keys else Cells(part.column, ()), numbers)
        if isinstance(part, Combinations):
            for place, name in enumerate(part.columns):
                listed = part.levels[place] if part.levels is not None and keys else ()
                check_keys(subject, kinds, Cells(name, listed), numbers)
    if unit.column is not None and exists(subject, kinds, unit.column, plain=True) not in IDENTITIES:
        raise _no_identity(
            subject, "the unit must be a column of whole numbers or text", kinds[unit.column], unit.column
        )
    if row is not None and exists(subject, kinds, row, plain=True) not in {*NUMBERS, "object"}:
        raise DataError(
            subject, "the row identifier must be a column of numbers", got={"row": row},
            why="Texts are ordered differently by different engines.",
        )  # fmt: skip


def holds(kind: str) -> str:
    """What a column holds, in words."""
    return _HOLDS.get(kind, kind)


def _no_identity(subject: str, rule: str, kind: str, name: str) -> DataError:
    """Refuse a column whose values cannot tell people or groups apart."""
    why = (
        " From 2^53 on several whole numbers share one, so different people may be one."
        if kind == FLOATS
        else ""
    )
    hint = ""
    if formula_like(name):
        hint = f"bin({name}, 0, 1, 10) puts its numbers into groups"
    elif kind in {FLOATS, "decimal"}:
        hint = f"cast({name} as bigint), or text, in a query or a view"
        if subject == "memory":
            hint = f'read it as whole numbers or text: pd.read_csv(..., dtype={{"{name}": "Int64"}})'
    return DataError(subject, rule, got={"column": name}, why=f"It holds {holds(kind)}.{why}", hint=hint)


def formula_of(kinds: Kinds, name: str) -> Formula | None:
    """The formula that a name stands for; a column that has this very name comes first."""
    return None if name in kinds or not formula_like(name) else Formula.read(name)


def _derived(subject: str, kinds: Kinds, formula: Formula, numbers: tuple[str, ...]) -> str:
    """What a derived column holds; refuse operands that are not there or do not fit."""
    if not formula.columns:
        raise DataError(
            subject, "a derived column is made of columns", got={"column": formula.text},
            hint="(income / household_size)",
        )  # fmt: skip
    for part in formula:
        for inner in part.parts:
            if inner.op != "col":
                continue
            kind = exists(subject, kinds, inner.name, plain=True)
            if part.op == "map" and kind not in {"text", "object"}:
                raise DataError(
                    subject, "a mapping is of a column of text", got={"column": inner.name},
                    why=f"It holds {holds(kind)}.", hint=f"bin({inner.name}, 0, 18, 65) puts numbers into groups",
                )  # fmt: skip
            if part.op == "days" and kind not in {"dates", "text", "object"}:
                raise DataError(
                    subject, "days are of a column of dates", got={"column": inner.name},
                    why=f"It holds {holds(kind)}.",
                    hint="dates, times without a zone, or texts like 2026-02-28",
                )  # fmt: skip
            if part.op not in {"map", "days"}:
                check_number(subject, kinds, inner.name, numbers)
    if formula.op == "col":
        check_number(subject, kinds, formula.name, numbers)
    return FLOATS if formula.labels is None else "text"


def exists(
    subject: str, kinds: Kinds, name: str, numbers: tuple[str, ...] = (), *, plain: bool = False
) -> str:
    """What a column, or a derived one unless it must be ``plain``, holds; refuse one that is not there."""
    checks.texts("column", (name,))
    formula = None if plain else formula_of(kinds, name)
    if formula is not None:
        return _derived(subject, kinds, formula, numbers)
    if name not in kinds:
        listed = "one of " + ", ".join(list(kinds)[:20]) + (", ..." if len(kinds) > 20 else "")
        raise DataError(
            subject, "the column must exist", got={"column": name},
            hint=kinds.hint if isinstance(kinds, Unlisted) else listed,
        )  # fmt: skip
    return kinds[name]


def check_number(subject: str, kinds: Kinds, name: str, numbers: tuple[str, ...]) -> None:
    """Refuse a column that holds no numbers."""
    kind = exists(subject, kinds, name, numbers)
    if kind in NUMBERS or kind in {"decimal", "object"} or (kind == "text" and name in numbers):
        return
    hints = {
        "text": f"numbers=({name!r},) reads its text as numbers; text that is not a number counts as missing",
        "dates": f"(days({name})) counts days, (days(end) - days(start)) those between two dates",
        "durations": "convert it to seconds first",
    }
    raise DataError(
        subject, "the column must hold numbers", got={"column": name}, why=f"It holds {holds(kind)}.",
        hint=hints.get(kind, "convert it to float first"),
    )  # fmt: skip


def check_plain(subject: str, kinds: Kinds, name: str, numbers: tuple[str, ...] = ()) -> None:
    """Refuse a column that is neither numbers nor text: a function gets plain values."""
    kind = exists(subject, kinds, name, numbers)
    if (formula := formula_of(kinds, name)) is not None and formula.labels is not None:
        raise DataError(
            subject, "a function gets columns, not groups of them", got={"column": name},
            hint=f"let the function put {formula.columns[0]} into groups",
        )  # fmt: skip
    if kind not in {*NUMBERS, "decimal", "text", "object"}:
        raise DataError(
            subject, "a function gets columns of numbers and text", got={"column": name},
            why=f"It holds {holds(kind)}.",
            hint="convert it to numbers first: days or seconds since a date of your choice",
        )  # fmt: skip


def check_keys(subject: str, kinds: Kinds, cells: Cells, numbers: tuple[str, ...] = ()) -> None:
    """Refuse columns of dates and floats, and text keys for a column of numbers: no row would ever match."""
    kind = exists(subject, kinds, cells.column, numbers)
    formula = formula_of(kinds, cells.column)
    if formula is not None and formula.labels is not None:
        places(subject, formula, cells.keys)
        return
    if kind not in IDENTITIES:
        raise _no_identity(subject, "a column of keys must hold text or whole numbers", kind, cells.column)
    if kind == "number" and any(isinstance(key, str) for key in cells.keys):
        raise DataError(
            subject, "keys must be of the type of their column", got={"column": cells.column},
            why="It holds numbers and the keys are texts, so no row could match.",
        )  # fmt: skip


def places(subject: str, formula: Formula, keys: tuple[str | int, ...]) -> tuple[int, ...]:
    """The places of keys among the groups of a formula; a key that is none of them is refused."""
    labels = formula.labels or ()
    strange = [key for key in keys if key not in labels]
    if strange:
        raise DataError(
            subject, "a key must be one of the groups of its column", got={"column": formula.text, "key": strange[0]},
            why="No row could match.", hint="one of " + ", ".join(labels[:20]),
        )  # fmt: skip
    return tuple(labels.index(str(key)) for key in keys)


def key_places(subject: str, kinds: Kinds, name: str, keys: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Keys as a column holds them: those of a derived column of groups are places."""
    formula = formula_of(kinds, name)
    return keys if formula is None or formula.labels is None else places(subject, formula, keys)


def labels_of(kinds: Kinds, names: Iterable[str]) -> list[tuple[str, ...] | None]:
    """What the places in derived columns of groups stand for; None for columns of keys as they are."""
    formulas = (formula_of(kinds, name) for name in names)
    return [None if formula is None else formula.labels for formula in formulas]


def in_places(subject: str, kinds: Kinds, request: Combinations) -> Combinations:
    """The same request with levels as the columns hold them."""
    if request.levels is None:
        return request
    pairs = zip(request.columns, request.levels, strict=True)
    return replace(request, levels=tuple(key_places(subject, kinds, name, level) for name, level in pairs))


def check_condition(subject: str, kinds: Kinds, condition: Condition, numbers: tuple[str, ...] = ()) -> str:
    """Refuse a condition that does not fit its column; say whether it compares numbers or text."""
    kind = exists(subject, kinds, condition.column, numbers)
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
    formula = formula_of(kinds, condition.column)
    if formula is not None and formula.labels is not None:
        if not text:
            raise DataError(
                subject, "the condition must fit its column", got={"column": condition.column},
                why="Its groups are texts.",
            )  # fmt: skip
        places(subject, formula, tuple(map(str, values)))
    return "text" if text else "number"
