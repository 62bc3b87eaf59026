"""Derived columns on a Spark cluster: the program of `sordino.data.steps`, run by numpy on its executors.

As expressions such a program is written out again wherever it is used, by optimisers and by the generator of Java code,
until neither ends. As one opaque function of some columns it is computed once per row, to the same bits as everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.derived import derived_column
from sordino.data.table import column_of
from sordino.reading.formula import Formula

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def with_formulas_there(frame: Any, formulas: Mapping[str, Formula]) -> Any:
    """A Spark DataFrame with a column for every formula: doubles, or places of groups; null where a row has none."""
    import pyspark.sql.functions

    sql: Any = pyspark.sql.functions
    found = []
    for name, formula in formulas.items():
        kind = "double" if formula.labels is None else "long"
        # Said to be random, so that no optimiser writes it twice or moves a filter before it.
        computed = sql.arrow_udf(_computing(formula), kind).asNondeterministic()
        found.append(computed(*(sql.col(_quoted(one)) for one in formula.columns)).alias(name))
    return frame.select("*", *found)


def _computing(formula: Formula) -> Callable[..., Any]:
    """A function of Arrow arrays; what it raises says nothing of a value."""
    import pyarrow as pa

    names, text, whole = tuple(formula.columns), str(formula), formula.labels is not None

    def computed(*arrays: pa.Array) -> pa.Array:
        try:
            from sordino.data.spark_derived import column_of_arrays

            return column_of_arrays(text, names, arrays, whole=whole)
        except BaseException:  # noqa: BLE001  an error of Spark's would show the row
            raise RuntimeError("a derived column could not be computed") from None

    # Spark reads the types of these, and cannot look up names of this function.
    computed.__annotations__ = {"arrays": pa.Array, "return": pa.Array}
    return computed


def column_of_arrays(text: str, names: tuple[str, ...], arrays: tuple[Any, ...], *, whole: bool) -> Any:
    """The column of a formula over some arrays.

    Example:
        >>> import pyarrow as pa
        >>> column_of_arrays("(a / b)", ("a", "b"), (pa.array([1.0, 4.0]), pa.array([0, 8])), whole=False).to_pylist()
        [None, 0.5]
    """
    import pyarrow as pa

    columns = {name: column_of(pa.chunked_array([one])) for name, one in zip(names, arrays, strict=True)}
    found = derived_column(
        Formula.read(text), columns.__getitem__, lambda name: columns[name].numeric(text=False)
    )
    if whole:
        return pa.array(found.values, pa.int64(), mask=found.absent)
    return pa.array(found.values, pa.float64(), mask=np.isnan(found.values))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
