"""Derived columns in engines: the program of `sordino.data.steps`, written as expressions of a lazy frame.

What is used more than once becomes a column of the frame. Optimisers of PostgreSQL and of its bridge would write such
columns out again wherever they are used; a limit that no table reaches keeps each level apart. On Spark not even that
does: there numpy runs the program on the executors (`sordino.data.spark_derived`).
"""

from __future__ import annotations

import datetime as dt
import functools
import operator
from typing import TYPE_CHECKING, Any

import narwhals as nw

from sordino.data import steps
from sordino.data.derived import DATE, STRANGE
from sordino.data.expressions import number, present
from sordino.data.steps import Term
from sordino.data.table import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sordino.reading.formula import Formula

    Frame = nw.LazyFrame[Any]

STEP = "sordino_step"

BARRIER = 2**62
"""Rows that no table has."""


class Leveled:
    """An expression, and after how many levels of kept columns it can be computed; private."""

    __slots__ = ("expr", "level")

    def __init__(self, expr: Any, level: int = 0) -> None:
        self.expr, self.level = expr, level

    def of(self, operation: Callable[[Any], Any]) -> Leveled:
        """Another expression of this one."""
        return Leveled(operation(self.expr), self.level)

    def _with(self, operation: Callable[[Any, Any], Any], other: Any) -> Leveled:
        if isinstance(other, Leveled):
            return Leveled(operation(self.expr, other.expr), max(self.level, other.level))
        return Leveled(operation(self.expr, other), self.level)

    def __add__(self, other: Any) -> Leveled:
        return self._with(operator.add, other)

    def __sub__(self, other: Any) -> Leveled:
        return self._with(operator.sub, other)

    def __mul__(self, other: Any) -> Leveled:
        return self._with(operator.mul, other)

    def __truediv__(self, other: Any) -> Leveled:
        return self._with(operator.truediv, other)

    def __rsub__(self, other: float) -> Leveled:
        return self.of(lambda one: nw.lit(other).cast(nw.Float64) - one)

    def __rtruediv__(self, other: float) -> Leveled:
        return self.of(lambda one: nw.lit(other).cast(nw.Float64) / one)

    def __and__(self, other: Any) -> Leveled:
        return self._with(operator.and_, other)

    def __or__(self, other: Any) -> Leveled:
        return self._with(operator.or_, other)

    def __invert__(self) -> Leveled:
        return self.of(operator.invert)

    def __lt__(self, other: Any) -> Leveled:
        return self._with(operator.lt, other)

    def __le__(self, other: Any) -> Leveled:
        return self._with(operator.le, other)

    def __gt__(self, other: Any) -> Leveled:
        return self._with(operator.gt, other)

    def __ge__(self, other: Any) -> Leveled:
        return self._with(operator.ge, other)

    def __eq__(self, other: object) -> Leveled:  # type: ignore[override]
        return self._with(operator.eq, other)

    def __ne__(self, other: object) -> Leveled:  # type: ignore[override]
        return self._with(operator.ne, other)

    __hash__ = None  # type: ignore[assignment]
    __radd__, __rmul__ = __add__, __mul__


class FrameSteps:
    """Expressions of a frame; what is kept becomes a column, all of one level together."""

    def __init__(self, name: str) -> None:
        self._name, self._kept = name, 0
        self._levels: list[list[nw.Expr]] = []

    def keep(self, value: Any) -> Any:
        """A column of the frame."""
        if isinstance(value, float):
            return value
        name = f"{self._name}_{self._kept}"
        self._kept += 1
        while len(self._levels) <= value.level:
            self._levels.append([])
        self._levels[value.level].append(value.expr.alias(name))
        return Leveled(nw.col(name), value.level + 1)

    def choose(self, condition: Any, yes: Any, no: Any) -> Any:
        """One of two numbers per row; doubles, where an engine would take decimals."""
        if isinstance(condition, bool):
            return yes if condition else no
        both = [
            one if isinstance(one, Leveled) else Leveled(nw.lit(one).cast(nw.Float64)) for one in (yes, no)
        ]
        level = max(condition.level, *(one.level for one in both))
        return Leveled(nw.when(condition.expr).then(both[0].expr).otherwise(both[1].expr), level)

    def clip(self, value: Any, low: float, high: float) -> Any:
        """A number cut to an interval."""
        if isinstance(value, float):
            return min(max(value, low), high)
        return value.of(lambda one: one.clip(low, high))

    def floor(self, value: Any) -> Any:
        """The whole number below."""
        return value.of(lambda one: one.floor())

    def added_to(self, frame: Frame) -> Frame:
        """The frame with all columns that were kept."""
        for level in self._levels:
            frame = _apart(frame.with_columns(*level))
        return frame


def _apart(frame: Frame) -> Frame:
    """The same rows, behind what an optimiser does not look through."""
    if frame.implementation.is_ibis():
        return frame.head(BARRIER)
    return frame


def with_formulas(frame: Frame, schema: Mapping[str, Any], formulas: Mapping[str, Formula]) -> Frame:
    """The frame with a column for every formula: doubles, or the places of groups; null where a row has none."""
    if frame.implementation.is_pyspark():
        from sordino.data.spark_derived import with_formulas_there

        return nw.from_native(with_formulas_there(nw.to_native(frame), formulas)).lazy()
    run, found = FrameSteps(STEP), []
    for name, formula in formulas.items():
        term = _term(run, schema, formula, server=frame.implementation.is_ibis())
        value = term.value.expr.cast(nw.Int64) if formula.labels is not None else term.value.expr
        found.append(nw.when(term.there.expr).then(value).alias(name))
    return run.added_to(frame).with_columns(*found)


def _term(run: FrameSteps, schema: Mapping[str, Any], formula: Formula, *, server: bool) -> Term:
    if formula.op == "number":
        return Term(_ordinary(formula.number))
    if formula.op == "col":
        dtype = schema[formula.name]
        value = steps.ordinary(run, Leveled(number(formula.name, dtype, 0.0)))
        return Term(value, Leveled(present(formula.name, dtype)))
    if formula.op == "days":
        return _days(run, formula.parts[0].name, schema[formula.parts[0].name], server=server)
    if formula.op == "map":
        return _mapped(run, formula)
    terms = [_term(run, schema, part, server=server) for part in formula.parts]
    if formula.op == "log":
        return steps.logarithm(run, terms[0])
    if formula.op == "bin":
        return steps.cell(run, terms[0], formula.edges)
    return steps.combined(run, formula.op, *terms)


def _ordinary(value: float) -> float:
    from sordino.data.derived import ArraySteps

    return float(steps.ordinary(ArraySteps(), value))


def _mapped(run: FrameSteps, formula: Formula) -> Term:
    """The place of the group that each text is mapped to: one list of texts per group."""
    labels = formula.labels
    assert labels is not None
    column = nw.col(formula.parts[0].name)
    groups: dict[str, list[str]] = {}
    for text, group in formula.pairs:
        groups.setdefault(group, []).append(text)
    there = Leveled(~column.is_null())
    known = run.keep(Leveled(nw.when(~column.is_null()).then(column.cast(nw.String)).otherwise(nw.lit(""))))
    rest = -1.0 if formula.otherwise is None else float(labels.index(formula.otherwise))
    # Rows of no list are the rest: a place is told by how far it is from theirs.
    found = [
        run.choose(Leveled(known.expr.is_in(texts), known.level), float(labels.index(group)) - rest, 0.0)
        for group, texts in groups.items()
    ]
    place = run.keep(steps.added(found) + rest)
    inside = there & (place >= 0.0)
    return Term(run.choose(inside, place, 0.0), inside)


def _days(run: FrameSteps, name: str, dtype: Any, *, server: bool) -> Term:
    """The day of a date, of a time without a zone, or of a text."""
    column = nw.col(name)
    if kind_of(dtype) == "text":
        text = column.cast(nw.String)
        reads = ~column.is_null() & ~text.str.contains(STRANGE) & text.str.contains(DATE)
        safe = run.keep(Leveled(nw.when(reads).then(text).otherwise(nw.lit("0001-01-01"))))
        digits = [
            safe.of(lambda one, at=at: one.str.slice(*at).cast(nw.Float64)) for at in ((0, 4), (5, 2), (8, 2))
        ]
        return steps.day_number(run, digits[0], digits[1], digits[2], Leveled(reads))
    there = ~column.is_null()
    kept = Leveled(column)
    if server:  # PostgreSQL's infinite dates have no year
        first, last = dt.date(1, 1, 1), dt.date(9999, 12, 31)
        ends: list[Any] = [first, last]
        if dtype != nw.Date:
            ends = [dt.datetime.combine(first, dt.time()), dt.datetime.combine(last, dt.time.max)]
        there = there & (column >= nw.lit(ends[0])) & (column <= nw.lit(ends[1]))
        kept = run.keep(Leveled(nw.when(there).then(column).otherwise(nw.lit(ends[0]))))
    found, parts = Leveled(there), []
    for part in ("year", "month", "day"):
        value = run.keep(kept.of(functools.partial(_part, part)))
        found = found & value.of(lambda one: ~one.is_null())
        parts.append(value.of(lambda one: nw.when(~one.is_null()).then(one).otherwise(nw.lit(0.0))))
    return steps.day_number(run, parts[0], parts[1], parts[2], found)


def _part(name: str, dates: Any) -> Any:
    """The year, month or day of dates."""
    return getattr(dates.dt, name)().cast(nw.Float64)
