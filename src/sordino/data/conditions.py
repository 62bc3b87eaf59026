"""Conditions: which rows of a column in memory fulfil one; no value raises, and what is missing fulfils none."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.kernel import key_index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.data.table import Column
    from sordino.reading.requests import Condition

_COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def listed(condition: Condition) -> tuple[Any, ...]:
    """The values that a condition compares with."""
    return tuple(condition.value) if isinstance(condition.value, tuple | list) else (condition.value,)


def same(column: Column, op: str, wanted: tuple[Any, ...]) -> NDArray[np.bool_]:
    """Which rows fulfil a condition on text or on groups; what is neither never does."""
    found = key_index(column, wanted) >= 0
    if op != "!=":
        return found
    there = column.texts() if column.kind != "number" else np.ones(len(column), bool)
    return (there if column.absent is None else there & ~column.absent) & ~found


def compared(values: NDArray[Any], condition: Condition) -> NDArray[np.bool_]:
    """Which rows fulfil a condition on numbers, compared as doubles as engines do; missing ones never do."""
    values = values.astype(np.float64)
    numbers = [float(value) for value in listed(condition)]
    if condition.op == "in":
        return np.isin(values, numbers) & ~np.isnan(values)
    return np.asarray(_COMPARE[condition.op](values, numbers[0])) & ~np.isnan(values)
