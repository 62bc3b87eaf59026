"""Expressions that every engine evaluates to the same bits: numbers, codes, keys, conditions.

Only ``- * / floor`` and adding 2^52: rounding functions and rounding casts differ between engines. Nulls and NaN are
tested before anything else, because ``least(NaN, 1)`` is 1 in some engines.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import narwhals as nw

from sordino.data.numbers import NUMBER, STRANGE
from sordino.data.table import kind_of
from sordino.lattice import RAISED, RowLattice

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.reading.requests import Condition

    Expr = nw.Expr

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def present(name: str, dtype: Any) -> Expr:
    """Whether a row has a number: by the type of the column, and for text by the grammar."""
    column = nw.col(name)
    if kind_of(dtype) == "text":
        text = column.cast(nw.String)
        fine = ~text.str.contains(STRANGE) & text.str.contains(NUMBER)
        return ~column.is_null() & fine
    if dtype.is_decimal():  # PostgreSQL's may be NaN, infinite, or too long for a double
        text = column.cast(nw.String)
        return ~column.is_null() & text.str.contains(NUMBER) & (text.str.len_chars() <= 300)
    if not dtype.is_float():
        return ~column.is_null()
    # Statistics of Parquet files leave NaN out, and DuckDB concludes from them that no row is NaN; with one among the
    # values it looks.
    return ~nw.when(column.is_null()).then(nw.lit(float("nan"))).otherwise(column).is_nan()


def number(name: str, dtype: Any, otherwise: float) -> Expr:
    """The number of a row as a double; ``otherwise`` where it has none."""
    column = nw.col(name)
    if dtype == nw.Boolean:  # PostgreSQL casts truth to whole numbers only, and computes with 1.0 in decimals
        value = nw.when(column).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Float64)
    elif kind_of(dtype) == "text":  # anything that is not a number must not reach the cast: it would raise
        text = nw.when(present(name, dtype)).then(column.cast(nw.String)).otherwise(nw.lit("0"))
        value = text.str.strip_chars(" ").cast(nw.Float64)
    elif dtype.is_decimal():  # casts lose the last bit; through text they are correctly rounded
        text = nw.when(present(name, dtype)).then(column.cast(nw.String)).otherwise(nw.lit("0"))
        value = text.cast(nw.Float64)
    else:
        value = column.cast(nw.Float64)
    return nw.when(present(name, dtype)).then(value).otherwise(nw.lit(float(otherwise)))


def float_number(name: str, otherwise: float) -> Expr:
    """The same for a column of floats in a server where NaN is larger than all numbers, in one comparison."""
    value = nw.col(name).cast(nw.Float64)
    return nw.when(value <= nw.lit(float("inf"))).then(value).otherwise(nw.lit(float(otherwise)))


def code(value: Expr, grid: RowLattice, *, once: bool = False) -> Expr:
    """The code of a number, as a double: the expression of `sordino.lattice.RowLattice.raised`.

    Clip first: then nothing overflows. Differences that would underflow are set to 0, whose code they have:
    PostgreSQL raises on underflow.

    Args:
        value: The number.
        grid: The lattice.
        once: Name the value once: a server computes it as often as it is named.
    """
    step = float(grid.step)
    if once:
        clipped = nw.min_horizontal(nw.max_horizontal(value, nw.lit(grid.low)), nw.lit(grid.high))
    else:
        clipped = value.clip(grid.low, grid.high)
    distance = clipped - grid.low if grid.low else clipped
    if step > 1:
        distance = nw.when(distance < step / 4).then(nw.lit(0.0)).otherwise(distance)
    mantissa, _ = step.hex().lstrip("0x").split("p")
    power_of_two = float.fromhex(f"0x{mantissa}p0") == 1.0 and 1.0 / step * step == 1.0
    scaled = distance * (1.0 / step) if power_of_two else distance / step
    return (scaled + RAISED) - RAISED


def key(name: str, dtype: Any, *, text: bool) -> tuple[Expr, Expr]:
    """A column as keys, and which rows have one: texts as they are, whole numbers exactly, all else as a double."""
    column = nw.col(name)
    if text:
        return column.cast(nw.String), ~column.is_null()
    if dtype.is_integer():
        return column, ~column.is_null()
    return number(name, dtype, 0.0), present(name, dtype)


def fulfils(condition: Condition, name: str, dtype: Any, *, text: bool) -> Expr:
    """Whether a row fulfils a condition on a column of the frame; missing values never do. Numbers are doubles."""
    values = condition.value if isinstance(condition.value, tuple | list) else (condition.value,)
    column = nw.col(name)
    if text:
        compared, there = column.cast(nw.String), ~column.is_null()
        wanted: list[Any] = [str(value) for value in values]
    else:
        compared, there = number(name, dtype, 0.0), present(name, dtype)
        wanted = [float(value) for value in values]
    if condition.op == "in":
        return there & compared.is_in(wanted)
    return there & _COMPARE[condition.op](compared, wanted[0])
