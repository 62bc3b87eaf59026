"""The law of rows: questions that see every row, and what one row more may change in their answers.

A table of a few base rows is read without and with one hostile row. The base rows are numbered in the column ``n``, the
hostile one has a number of its own, so each answer says whose rows it counts.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from sordino.errors import SordinoError
from sordino.lattice import RowLattice
from sordino.privacy import Unit
from sordino.reading.requests import Cells, Columns, Condition, Rank, Request, Window

if TYPE_CHECKING:
    from sordino.reading.requests import Summary

Question = tuple[str, Any, Any]
Opened = Callable[..., Any]
"""From a unit and the column that orders its rows to a source; without them the whole table."""

HOSTILE = 9
"""The number of the hostile row in the column ``n``."""

EVERYTHING = (Window(Rank(1, 2), 100),)
GRIDS = (
    RowLattice(-10, 10, missing="drop"),
    RowLattice(0, 2.0**61, missing=3),
    RowLattice(0, 3, step=1, missing="drop"),
)
NUMBER = RowLattice(0, 15, step=1, missing=14)
COUNTED = Request("n", NUMBER, EVERYTHING)
WHOLE_KEYS, TEXT_KEYS = (1, 0, 2, 2**60, 2**60 + 1, -3), ("a", "1", "b", "", "é", "7.5")
CONDITIONS = [
    ("==", 1), ("!=", 1), ("<", 1), ("<=", 0.5), (">", 0), (">=", 2.0**60), ("in", (1, 0, 2)),
    ("==", "a"), ("!=", "a"), ("in", ("1", "b", "")),
]  # fmt: skip


def questions(names: Iterable[str]) -> list[Question]:
    """Every question about plain columns; all sources are asked the same, and may refuse."""
    names = list(names)
    found: list[Question] = [("numbers", name, grid) for name in names for grid in range(len(GRIDS))]
    found += [("counts", name, keys) for name in names for keys in (WHOLE_KEYS, TEXT_KEYS)]
    found += [("groups", name, keys) for name in names for keys in (WHOLE_KEYS, TEXT_KEYS)]
    found += [("units", name, most) for name in names for most in (1, 2)]
    return found + [("where", name, condition) for name in names for condition in CONDITIONS]


def heard(opened: Opened, question: Question, row: str | None = None) -> tuple[Any, str]:
    """What a question sees: a counted answer, or a refusal, and whatever is printed on the way."""
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        try:
            found: Any = _answer(opened, *question, row)
        except SordinoError as error:
            found = (type(error).__name__, str(error))
    return found, printed.getvalue()


def _answer(opened: Opened, kind: str, name: Any, detail: Any, row: str | None) -> Counter[Any]:
    if kind in {"units", "ordered"}:
        unit = Unit(name, detail if kind == "units" else 1)
        source = opened(unit, row if kind == "units" else detail)
        source.check(COUNTED)
        return _codes(source.summary(COUNTED)[0])
    source = opened()
    if kind == "numbers":
        request = Request(name, GRIDS[detail], EVERYTHING, squares=True, cuts=(0, 5, 10**8))
        source.check(request)
        return _codes(source.summary(request)[0])
    if kind == "counts":
        source.check(Cells(name, detail))
        return Counter(dict(zip(detail, counts(source, name, detail), strict=True)))
    if kind == "groups":
        names = (name,) if isinstance(name, str) else name
        levels = (detail,) if isinstance(name, str) else zip(*detail, strict=True)
        source.check(
            *(Cells(one, tuple(set(keys))) for one, keys in zip(names, levels, strict=True)), COUNTED
        )
        groups = source.summaries(name, detail, COUNTED)
        return Counter({(key, n): many for key, (group,) in zip(detail, groups, strict=True)
                        for n, many in _codes(group).items()})  # fmt: skip
    if kind == "where":
        return _codes(source.where(Condition(name, *detail)).summary(COUNTED)[0])
    aligned = Columns(("n", name), (NUMBER, GRIDS[0]))
    source.check(aligned)
    return Counter(map(tuple, source.summary(aligned)[0].codes.T.tolist()))


def counts(source: Any, column: str, keys: tuple[str | int, ...]) -> tuple[int, ...]:
    """How often each key occurs, by the source's own short way where it has one."""
    if hasattr(source, "counts"):
        return tuple(source.counts(column, keys))
    return tuple(source.summary(Cells(column, keys))[0].counts)


def _codes(summary: Summary) -> Counter[int]:
    """All codes of a column, counted; the sums and cuts must be theirs."""
    codes = summary.runs[0].codes.tolist()
    request = summary.request
    below = tuple(sum(code < cut for code in codes) for cut in getattr(request, "cuts", ()))
    squares = sum(code * code for code in codes) if getattr(request, "squares", False) else summary.squares
    said = (summary.rows, summary.total, summary.squares, summary.below)
    if said != (len(codes), sum(codes), squares, below):
        raise AssertionError("rows, sums or cuts are not those of the codes")
    return Counter(codes)


def violation(question: Question, before: tuple[Any, str], after: tuple[Any, str]) -> str:
    """What is wrong with an answer that has seen one row more; nothing when it moved that row alone."""
    (one, printed), (two, more) = before, after
    if printed or more:
        return f"something was printed: {printed or more}"
    if isinstance(one, tuple) or isinstance(two, tuple):
        return "" if one == two else f"refused or not: {one}, {two}"
    lost, gained = one - two, two - one
    if gained.total() > 1:
        return f"more than one row came: {gained}"
    part = {"groups": 1, "aligned": 0}.get(question[0])  # of a key: the number of the row
    whose = {key if part is None else key[part] for key in gained}
    if question[0] not in {"numbers", "counts"} and whose - {HOSTILE}:
        return f"another row came: {gained}"
    shared = question[0] in {"units", "ordered"}  # a unit with a limit may give a row away for the new one
    return f"others moved: {lost}, {gained}" if lost.total() > (gained.total() if shared else 0) else ""
