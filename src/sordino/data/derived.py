"""Derived columns in memory: the program of `sordino.data.steps`, run by numpy over whole columns.

What a value of a column is (a number, a text, a date) is read value by value, as everywhere.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data import steps
from sordino.data.objects import text_of
from sordino.data.schema import FLOATS
from sordino.data.steps import Term
from sordino.data.table import Column, day_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.reading.formula import Formula

    Numbers = NDArray[np.float64]

DATE = r"^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]$"
"""A date in text. As for numbers, a character that no date holds is looked for first."""

STRANGE = r"[^0-9-]"

_DATE, _STRANGE = re.compile(DATE), re.compile(STRANGE)


class ArraySteps:
    """Arrays as they are."""

    def keep(self, value: Any) -> Any:
        """Arrays are computed at once."""
        return value

    def choose(self, condition: Any, yes: Any, no: Any) -> Any:
        """One of two numbers per row."""
        return np.where(condition, yes, no)

    def clip(self, value: Any, low: float, high: float) -> Any:
        """A number cut to an interval."""
        return np.clip(value, low, high)

    def floor(self, value: Any) -> Any:
        """The whole number below."""
        return np.floor(value)


def derived_column(
    formula: Formula, column: Callable[[str], Column], numeric: Callable[[str], NDArray[Any]]
) -> Column:
    """The column of a formula: doubles, or the place of each row's group among its labels.

    Args:
        formula: What is computed.
        column: A column of the table by its name.
        numeric: Its numbers, NaN where there is none.

    Example:
        >>> from sordino.reading.formula import Formula
        >>> numbers = {"a": np.array([1.0, 4.0, np.nan]), "b": np.array([0.0, 8.0, 1.0])}
        >>> derived_column(Formula.read("(a / b)"), None, numbers.__getitem__).values.tolist()
        [nan, 0.5, nan]
    """
    term = _term(formula, column, numeric)
    if formula.labels is not None:
        return Column("number", term.value.astype(np.int64), ~term.there)
    return Column(FLOATS, np.where(term.there, term.value, np.nan))


def _term(formula: Formula, column: Callable[[str], Column], numeric: Callable[[str], NDArray[Any]]) -> Term:
    run = ArraySteps()
    if formula.op == "number":
        return Term(float(steps.ordinary(run, np.float64(formula.number))))
    if formula.op == "col":
        return _there(run, numeric(formula.name).astype(np.float64))
    if formula.op == "days":
        return _there(run, _days(column(formula.parts[0].name)))
    if formula.op == "map":
        return _mapped(formula, column(formula.parts[0].name))
    terms = [_term(part, column, numeric) for part in formula.parts]
    if formula.op == "log":
        return steps.logarithm(run, terms[0])
    if formula.op == "bin":
        return steps.cell(run, terms[0], formula.edges)
    return steps.combined(run, formula.op, *terms)


def _there(run: ArraySteps, values: Numbers) -> Term:
    there = ~np.isnan(values)
    return Term(steps.ordinary(run, np.where(there, values, 0.0)), there)


def _mapped(formula: Formula, column: Column) -> Term:
    """The place of the group that each text is mapped to."""
    labels = formula.labels
    assert labels is not None
    places = {text: labels.index(group) for text, group in formula.pairs}
    rest = -1 if formula.otherwise is None else labels.index(formula.otherwise)
    texts = map(text_of, column.values.tolist())
    found = np.fromiter(
        (-1 if one is None else places.get(one, rest) for one in texts), np.float64, len(column)
    )
    return Term(np.maximum(found, 0.0), found >= 0)


def _days(column: Column) -> Numbers:
    """The day of each row since 1970-01-01, NaN where there is none."""
    values = column.values
    if column.kind == "dates" and values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        inside = (days >= np.datetime64("0001-01-01")) & (days <= np.datetime64("9999-12-31"))
        return np.where(inside, days.astype(np.int64), np.nan)
    if column.kind == "dates":
        return values
    parts = np.array([_parts(one) for one in values.tolist()], np.float64).reshape(-1, 3)
    return day_numbers(parts[:, 0], parts[:, 1], parts[:, 2])


def _parts(value: Any) -> tuple[float, float, float]:
    """Year, month and day of a text or of an object; year 0, which no date has, where it is none."""
    kind = type(value)
    if issubclass(kind, dt.date) and value is not getattr(sys.modules.get("pandas"), "NaT", None):
        zoned = issubclass(kind, dt.datetime) and dt.datetime.tzinfo.__get__(value) is not None
        ordinal = 0 if zoned else dt.date.toordinal(value)
        day = dt.date.fromordinal(max(ordinal, 1))
        return (float(day.year) if ordinal else 0.0, float(day.month), float(day.day))
    text = text_of(value)
    if text is None or _STRANGE.search(text) or not _DATE.search(text):
        return (0.0, 1.0, 1.0)
    year, month, day_of = text.split("-")
    return (float(year), float(month), float(day_of))
